import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { documentOf, ref } from '../../mappings/contract/shapes.ts';
import { until } from '../../until.ts';
import { file } from './file.ts';
import { run, start } from './run.ts';

const text = { type: 'string' };
const small = documentOf({ Root: { properties: { it: text } } });

/** A document that takes far too long to read. */
const endless = `x-notes:\n${'- a\n'.repeat(3_000_000)}`;

/** A few kilobytes of schemas, each with two references to the previous one in allOf. */
const doubled = documentOf(
  Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `S${at}`,
      at === 0 ? { properties: { it: text } } : { allOf: [ref(`S${at - 1}`), ref(`S${at - 1}`)] },
    ]),
  ),
  'S39',
);

test('check, wsdl, init and names accept a doubled allOf', async (t) => {
  const document = file(t, doubled);
  for (const args of [['check'], ['wsdl'], ['names', '--check'], ['init']]) {
    const { code, err } = await run(t, [...args, '--openapi', document]).ended;
    t.is(err, '');
    t.true(code === 0 || (args[0] === 'names' && code === 1), args.join(' '));
  }
  const { code, out } = await run(t, ['diff', document, document]).ended;
  t.deepEqual([code, out], [0, '0 changes: 0 breaking, 0 breaks strict clients, 0 compatible\n']);
});

test('every command reports a pipe given as a file', async (t) => {
  const document = file(t, documentOf({ Root: { $ref: 'pipe.yaml' } }));
  execFileSync('mkfifo', [join(dirname(document), 'pipe.yaml')]);
  const all = [
    ...['check', 'wsdl', 'init', 'names', 'translate'].map((name) => [name, '--openapi', document]),
    ['serve', '--openapi', document, '--upstream', 'http://127.0.0.1:9'],
    ['diff', document, document],
  ];
  for (const args of all) {
    const { code, err } = await run(t, args).ended;
    t.is(code, 2, args[0]);
    t.regex(err, /api\.yaml:1#\/components\/schemas\/Root\/\$ref: .*expected a file, got a pipe/);
  }
});

test('contractMs: a command that takes longer stops with a message', async (t) => {
  const args = ['check', '--openapi', file(t, endless), '--limits', 'contractMs=1000'];
  const { code, err } = await run(t, args).ended;
  t.is(code, 2);
  t.regex(err, /api\.yaml#: expected to be read within 1000 ms, got a timeout\n$/);
  t.is(
    (await run(t, ['check', '--openapi', file(t, small)], { SOAPBRIDGE_LIMITS: 'contractMs=60000' }).ended)
      .code,
    0,
  );
});

test('contractMs: a reload that takes longer fails, and a later reload works', async (t) => {
  const document = file(t, small);
  const served = await start(t, ['--openapi', document, '--upstream', 'http://127.0.0.1:9'], {
    SOAPBRIDGE_LIMITS: 'contractMs=6000',
    SOAPBRIDGE_LOG_LEVEL: 'info',
  });
  let log = '';
  served.child.stdout?.on('data', (chunk) => {
    log += chunk;
  });
  /** Sends SIGHUP and returns the log output of the reload. */
  const reload = async (): Promise<string> => {
    const before = log.length;
    served.child.kill('SIGHUP');
    await until(() => /"(?:not )?reloaded/.test(log.slice(before)));
    return log.slice(before);
  };
  const wsdl = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${served.port}/soap11?wsdl`)).text();
  writeFileSync(document, endless);
  t.regex(
    await reload(),
    /expected (?:to be read within 6000 ms|contracts to load within 14000 ms), got a timeout.*not reloaded/,
  );
  t.true((await wsdl()).includes('soapAction="Put"'));
  writeFileSync(document, small.replace('"Put"', '"Give"'));
  // A busy machine may need more than one attempt.
  let said = await reload();
  for (let more = 3; more > 0 && said.includes('not reloaded'); more--) said = await reload();
  t.regex(said, /"reloaded"/);
  t.true((await wsdl()).includes('soapAction="Give"'));
});
