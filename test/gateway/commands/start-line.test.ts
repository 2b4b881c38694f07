import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { startLine } from '../../../gateway/commands/start-line.ts';
import { send } from '../gateway.ts';
import { run, start } from './run.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const upstream = 'http://127.0.0.1:9';

const serving = {
  url: 'http://127.0.0.1:8080',
  addresses: ['http://127.0.0.1:8080/v2'],
  endpoints: [['http://127.0.0.1:8080/v2/soap11', 'http://127.0.0.1:8080/v2/soap12']],
};

test('a terminal gets one sentence with the served addresses', (t) => {
  t.is(
    startLine(serving, { upstream, workers: 1 }, true),
    'soapbridge listens on http://127.0.0.1:8080 in front of http://127.0.0.1:9: WSDL http://127.0.0.1:8080/v2/soap11?wsdl · SOAP http://127.0.0.1:8080/v2/soap11 · http://127.0.0.1:8080/v2/soap12',
  );
  t.regex(
    startLine(serving, { workers: 2 }, true),
    /^soapbridge listens on \S+ with 2 workers in front of the embedded reference upstream: /,
  );
});

test('a terminal gets the addresses of all contracts of a soapbridge.yaml', (t) => {
  const endpoints = [['http://a/one/soap11'], ['http://a/Calc.svc', 'http://a/Calc.svc/ws']];
  t.is(
    startLine({ ...serving, endpoints }, { config: 'soapbridge.yaml', workers: 1 }, true),
    'soapbridge listens on http://127.0.0.1:8080 for the 2 contracts of soapbridge.yaml: WSDL http://a/one/soap11?wsdl · http://a/Calc.svc?wsdl · SOAP http://a/one/soap11 · http://a/Calc.svc · http://a/Calc.svc/ws',
  );
});

async function adopted(t: ExecutionContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'start-line-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const out = join(folder, 'orders');
  t.is((await run(t, ['adopt', 'docs/adopt/Orders.wsdl', '--out', out]).ended).code, 0);
  return out;
}

test('the start line of an imported contract has the address of its port, which serves the WSDL', async (t) => {
  const { line, port } = await start(t, [await adopted(t), '--upstream', upstream]);
  const { wsdl, endpoints } = JSON.parse(line);
  t.deepEqual(wsdl, [`http://127.0.0.1:${port}/shop/Orders.asmx?wsdl`]);
  t.deepEqual(endpoints, [`http://127.0.0.1:${port}/shop/Orders.asmx`]);
  t.regex((await send(port, 'GET', '/shop/Orders.asmx?wsdl')).text, /<wsdl:definitions /);
});

test('the list at / links to the WSDL of each contract at the path that serves it', async (t) => {
  const orders = await adopted(t);
  const config = join(orders, '../soapbridge.yaml');
  cpSync(join(root, 'docs/tutorial/openapi.yaml'), join(orders, '../library.yaml'));
  writeFileSync(
    config,
    `contracts:
  /old: { contract: orders, upstream: ${upstream} }
  /library: { openapi: library.yaml, upstream: ${upstream} }
`,
  );
  const { port } = await start(t, ['--config', config]);
  const { text } = await send(port, 'GET', '/');
  const links = [...text.matchAll(/href="([^"]*wsdl)"/g)].map(([, link]) => link);
  t.deepEqual(links, ['/old/shop/Orders.asmx?wsdl', '/library/soap11?wsdl']);
  for (const link of links) t.is((await send(port, 'GET', link ?? '')).status, 200, link);
});

for (const [what, headers, status, location] of [
  ['a browser', { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }, 302, './v2'],
  ['a browser that navigates', { 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Mode': 'navigate' }, 302, './v2'],
  ['another client', { Accept: 'application/json' }, 404, undefined],
  ['a client without Accept', {}, 404, undefined],
] as const) {
  test(`/ of a contract below a base path is ${status} to ${what}`, async (t) => {
    const { port } = await start(t);
    const reply = await send(port, 'GET', '/', headers);
    t.is(reply.status, status);
    t.is(reply.headers.location, location);
    t.is((await send(port, 'GET', '/?wsdl', headers)).status, 404);
    t.is((await send(port, 'POST', '/', headers)).status, 405);
  });
}

test('reloaded is logged with / for the contract without a base path', async (t) => {
  const { child } = await start(t, ['docs/tutorial/openapi.yaml', '--upstream', upstream], {
    SOAPBRIDGE_LOG_LEVEL: 'info',
  });
  const reloaded = new Promise<string>((resolve) => {
    let out = '';
    child.stdout?.on('data', (chunk) => {
      out += chunk;
      const line = /^.*"reloaded".*$/m.exec(out)?.[0];
      if (line !== undefined) resolve(line);
    });
  });
  child.kill('SIGHUP');
  t.deepEqual(JSON.parse(await reloaded).basePaths, ['/']);
});

for (const [what, args, environment, message] of [
  ['an unknown option', ['--bogus'], {}, /^unknown option '--bogus'$/],
  ['no upstream', [], {}, /^--upstream: expected the URL of the JSON service, got none\. /],
  ['an unknown variable', ['--demo'], { SOAPBRIDGE_UPSTREAM_URI: 'x' }, /SOAPBRIDGE_UPSTREAM_URI/],
  ['an invalid configuration', ['--config', 'package.json'], {}, /package\.json:2#\/name: unknown key/],
  [
    'a missing contract',
    ['no.yaml', '--upstream', upstream],
    {},
    /^errors in the contract or the settings:\nno\.yaml/,
  ],
  [
    'an invalid contract of workers',
    ['docs', '--upstream', upstream, '--workers', '2'],
    {},
    /openapi\.yaml#/,
  ],
] as const)
  test(`without a terminal, serve reports ${what} as one JSON line`, async (t) => {
    const began = Date.now();
    const { code, out, rawErr } = await run(t, ['serve', ...args], { PORT: '0', ...environment }).ended;
    t.is(code, 2);
    t.is(out, '');
    t.regex(rawErr, /^[^\n]+\n$/);
    const { level, time, msg } = JSON.parse(rawErr);
    t.is(level, 60);
    t.true(time >= began && time <= Date.now());
    t.regex(msg, message);
  });

test('the other commands report errors as text', async (t) => {
  const { code, rawErr } = await run(t, ['check', 'no.yaml']).ended;
  t.is(code, 2);
  t.regex(rawErr, /^errors in the contract or the settings:\nno\.yaml#/);
});
