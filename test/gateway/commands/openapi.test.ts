import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { folderOf } from '../../plain/folders.ts';
import { envelope, send, startGateway } from '../gateway.ts';
import { file } from './file.ts';
import { run, start } from './run.ts';

const openapi = fileURLToPath(new URL('../../fixtures/contracts/parcels/openapi.yaml', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));
const overlay = openapi.replace('openapi.yaml', 'soap.yaml');

test('serve --openapi needs no overlay: plain dialect, and the document’s calls', async (t) => {
  const upstream = await startGateway(t); // the process calls the scripted upstream of this gateway
  await upstream.send('POST', '/json/reply/GetSearch', { 'X-Api-User': 'u', 'X-Api-Key': 'k' }, '{}');
  const url = `http://${upstream.hits[0]?.headers.host}`;
  upstream.answer({ body: '{"number":"A 1","grams":9007199254740993}' });
  const { port, line } = await start(t, ['--openapi', openapi, '--upstream', url]);
  t.like(JSON.parse(line), { upstream: url, wsdl: [`http://127.0.0.1:${port}/soap11?wsdl`] });
  t.regex((await send(port, 'GET', '/soap11?wsdl')).text, /targetNamespace="urn:ParcelPost"/);
  const body = '<TrackParcel xmlns="urn:ParcelPost"><number>A 1</number></TrackParcel>';
  const reply = await send(port, 'POST', '/soap11', {}, envelope('1.1', { body }));
  t.true(reply.text.includes('<Result><number>A 1</number><grams>9007199254740993</grams></Result>'));
  t.is(upstream.hits.at(-1)?.method, 'GET');
  t.is(upstream.hits.at(-1)?.path, '/parcels/A%201');
});

for (const command of ['check', 'wsdl']) {
  test(`${command} reads a document without and with its overlay`, async (t) => {
    const alone = await run(t, [command, '--openapi', openapi]).ended;
    t.deepEqual([alone.code, alone.err], [0, '']);
    t.true(alone.out.includes('urn:ParcelPost'));
    const both = await run(t, [command, '--openapi', openapi, '--overlay', overlay]).ended;
    t.deepEqual([both.code, both.err], [0, '']);
    t.true(both.out.includes('urn:example:parcels'));
  });
}

for (const [what, text, said] of [
  ['an empty file', '', /#\/openapi: expected OpenAPI 3\.0, 3\.1 or 3\.2, or Swagger 2\.0, got null/],
  ['a list', '- a\n', /#\/openapi: expected OpenAPI 3\.0, 3\.1 or 3\.2, or Swagger 2\.0, got a list/],
  [
    'another format',
    'swagger: "1.2"\n',
    /#\/swagger: expected Swagger 2\.0, or OpenAPI 3\.0 to 3\.2, got Swagger "1\.2"/,
  ],
  ['no YAML', 'a: [', /#: line 1, column 5: /],
  [
    'nothing to serve',
    'openapi: 3.0.3\npaths: {}\n',
    /#\/paths: expected at least one supported operation, got none/,
  ],
] as const) {
  test(`every command exits with 2, the file and a sentence for a document that is ${what}`, async (t) => {
    const path = file(t, text);
    for (const args of [['serve', '--upstream', 'http://127.0.0.1:9'], ['check'], ['wsdl']]) {
      const { code, out, err } = await run(t, [...args, '--openapi', path]).ended;
      t.deepEqual([code, out], [2, '']);
      t.true(err.includes(path));
      t.regex(err, said);
      t.notRegex(err, /\n\s+at /);
    }
  });
}

for (const [what, args, said] of [
  ['a file that isn’t there', ['check', '--openapi', 'none.yaml'], /none\.yaml#: no such file/],
  [
    'no upstream behind a document',
    ['serve', '--openapi', openapi],
    /--upstream: expected the URL of the JSON service/,
  ],
  ['an overlay of no document', ['check', '--overlay', overlay], /--overlay: expected its OpenAPI document/],
  [
    'a folder and a document',
    ['check', '--contract', '.', '--openapi', openapi],
    /option '-o, --openapi <file>' cannot be used with option '-c, --contract <dir>'/,
  ],
] as const) {
  test(`${what}: the command exits with 2 and a sentence`, async (t) => {
    const { code, out, err } = await run(t, args).ended;
    t.deepEqual([code, out], [2, '']);
    t.regex(err, said);
    t.notRegex(err, /\n\s+at /);
  });
}

test('check --json is one document: served, sent as JSON text, not served', async (t) => {
  const { code, out } = await run(t, ['check', '--json', '--openapi', openapi]).ended;
  t.is(code, 0);
  const { service, operations, asJsonText, notServed } = JSON.parse(out);
  t.is(service, 'ParcelPost');
  t.deepEqual(operations[0], {
    name: 'TrackParcel',
    readOnly: true,
    method: 'GET',
    path: '/parcels/{number}',
  });
  t.deepEqual(notServed, []);
  t.true(asJsonText.some(({ pointer }: { pointer: string }) => pointer.endsWith('/properties/extra')));
});

test('check reports how values without a closed type are sent, and which checks are missing', async (t) => {
  const tree = await run(t, ['check', '--contract', folderOf('json-trees')]).ended;
  t.regex(tree.out, /^sent as JSON tree: .*\/properties\/list \(an array of anything\)$/m);
  const strict = await run(t, ['check', '--contract', folderOf('strict-validation')]).ended;
  t.regex(
    strict.out,
    /^not validated: .*\/ahead\/pattern \(no regular expression that matches in linear time\)$/m,
  );
});

test('wsdl --operation prints a part, wsdl --json lists it; an unknown name exits with 2', async (t) => {
  const args = ['wsdl', '--openapi', openapi, '--operation', 'TrackParcel'];
  const { code, out } = await run(t, [...args, '--json']).ended;
  t.is(code, 0);
  const { service, operations, wsdl } = JSON.parse(out);
  t.deepEqual([service, operations], ['ParcelPost', ['TrackParcel']]);
  t.is((await run(t, args).ended).out, wsdl);
  const unknown = await run(t, [...args, 'Track']).ended;
  t.is(unknown.code, 2);
  t.regex(unknown.err, /^operation: expected one of TrackParcel, .*, got "Track"\n$/);
});

test('check --config checks every contract of a configuration', async (t) => {
  const contracts = Object.fromEntries(
    ['/a', '/b'].map((path) => [path, { openapi, upstream: 'http://127.0.0.1:9' }]),
  );
  const config = file(t, JSON.stringify({ contracts }), 'soapbridge.yaml');
  const text = await run(t, ['check', '--config', config]).ended;
  t.is(text.code, 0);
  t.is(text.out.match(/^ParcelPost: /gm)?.length, 2);
  const { out } = await run(t, ['check', '--config', config, '--json']).ended;
  t.is(JSON.parse(out).contracts.length, 2);
  const wrong = await run(t, ['check', '--config', file(t, 'contracts: 1\n')]).ended;
  t.is(wrong.code, 2);
  t.regex(wrong.err, /:1#\/contracts: expected an object with `\/path: \{ contract, upstream \}`, got 1/);
});

test('a closed output pipe ends a command without a message', async (t) => {
  const line = `'${process.execPath}' bin/soapbridge.js wsdl --openapi '${openapi}' | head -c 1`;
  const child = spawn('sh', ['-c', line], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  t.deepEqual(await Promise.all([text(child.stdout), text(child.stderr)]), ['<', '']);
});
