import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '../../../gateway/process/config.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { screeningContract } from '../../../mappings/loader/load.ts';
import { file } from '../commands/file.ts';
import { start } from '../commands/run.ts';
import { envelope, type Gateway, startGateway } from '../gateway.ts';

const openapi = fileURLToPath(new URL('../../fixtures/contracts/parcels/openapi.yaml', import.meta.url));

/** Returns a document with one operation that returns a text. */
function giving(operation: string, path = `/${operation.toLowerCase()}`): string {
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Texts' },
    paths: {
      [path]: {
        get: {
          operationId: operation,
          responses: {
            200: { description: 'it', content: { 'application/json': { schema: { type: 'string' } } } },
          },
        },
      },
    },
  });
}

/** Converts a JSON object to the top level of a YAML document. */
function asYaml(json: string): string {
  return Object.entries(JSON.parse(json))
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join('');
}

const calling = (operation: string): string => envelope('1.1', { body: `<${operation} xmlns="urn:Texts"/>` });

/** Returns the address of a gateway's scripted upstream. */
async function upstreamOf(gateway: Gateway): Promise<string> {
  await gateway.send('POST', '/json/reply/GetSearch', { 'X-Api-User': 'u', 'X-Api-Key': 'k' }, '{}');
  return `http://${gateway.hits[0]?.headers.host}`;
}

async function post(address: string, body: string): Promise<string> {
  const reply = await fetch(`${address}/soap11`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/xml' },
    body,
  });
  return reply.text();
}

/** Creates a configuration of two contracts in one file each. Their upstream is the scripted upstream of a gateway. */
async function twoContracts(t: ExecutionContext) {
  const behind = await startGateway(t);
  const upstream = await upstreamOf(behind);
  behind.answer((hit, response) => response.end(JSON.stringify(`from ${hit.path}`)));
  const first = file(t, giving('First'), 'first.json');
  const second = file(t, giving('Second'), 'second.json');
  const config = file(
    t,
    JSON.stringify({
      contracts: {
        '/one': { openapi: first, upstream },
        '/one/more': { openapi: second, upstream: `${upstream}/base` },
      },
    }),
    'soapbridge.yaml',
  );
  return { config, first, second, upstream };
}

test('the root of several contracts lists them with their pages and WSDLs', async (t) => {
  const { config, first, upstream } = await twoContracts(t);
  const { running } = await startGateway(t, { serve: { config } });
  const page = await fetch(`${running.url}/`);
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  const links = [...(await page.text()).matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
  t.deepEqual(links, ['/one', '/one/soap11?wsdl', '/one/more', '/one/more/soap11?wsdl']);
  for (const link of links) t.is((await fetch(running.url + link)).status, 200, link);
  // A contract at the root serves its own page there.
  const root = JSON.stringify({
    contracts: { '/': { openapi: first, upstream }, '/more': { openapi: first, upstream } },
  });
  const other = await startGateway(t, { serve: { config: file(t, root, 'root.yaml') } });
  t.notRegex(await (await fetch(`${other.running.url}/`)).text(), /<title>Services/);
});

test('a configuration serves each contract at its path, with its own upstream', async (t) => {
  const { config } = await twoContracts(t);
  const { running } = await startGateway(t, { serve: { config } });
  t.deepEqual(running.addresses, [`${running.url}/one`, `${running.url}/one/more`]);
  t.regex(await post(`${running.url}/one`, calling('First')), /<Result>from \/first<\/Result>/);
  t.regex(await post(`${running.url}/ONE/more`, calling('Second')), /<Result>from \/base\/second<\/Result>/);
  t.regex(await post(`${running.url}/one`, calling('Second')), /<faultstring>/);
  const wsdl = await (await fetch(`${running.url}/one/more/soap11?wsdl`)).text();
  t.true(wsdl.includes(`location="${running.url}/one/more/soap11"`));
  t.is((await fetch(`${running.url}/healthz`)).status, 200);
  t.is((await fetch(`${running.url}/two/soap11`)).status, 404);
});

test('a request target with a host or a fragment is routed by its path', async (t) => {
  const { config } = await twoContracts(t);
  const { raw, port } = await startGateway(t, { serve: { config } });
  const host = `127.0.0.1:${port}`;
  const body = calling('Second');
  for (const target of [`http://${host}/one/more/soap11`, `HTTP://${host}/ONE/more/soap11`]) {
    const head = `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: text/xml\r\nConnection: close\r\n`;
    const reply = await raw(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    t.regex(reply, /<Result>from \/base\/second<\/Result>/, target);
  }
  const page = await raw(`GET /one/more#top HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  t.regex(page, /^HTTP\/1.1 200 /);
});

test('a contract at the root leaves the monitoring paths to the process, and handles all others', async (t) => {
  const contract = { openapi: file(t, giving('It')), overlay: undefined };
  const { running } = await startGateway(t, { serve: { contract } });
  for (const page of ['/healthz', '/readyz', '/metrics']) {
    const { status, headers } = await fetch(running.url + page);
    t.is(status, 200, page);
    t.is(headers.get('cache-control'), 'no-store', page);
  }
  t.is((await fetch(`${running.url}/healthz`, { method: 'POST' })).status, 405);
  const nothing = await fetch(`${running.url}/health.xml`);
  t.is(nothing.status, 404);
  t.regex(await nothing.text(), /<FaultDetail /);
});

test('log and metrics name the contract of a call, also after a reload', async (t) => {
  const { config } = await twoContracts(t);
  const gateway = await startGateway(t, { serve: { config } });
  const { running } = gateway;
  await post(`${running.url}/one`, calling('First'));
  await post(`${running.url}/one/more`, calling('Second'));
  await running.reload();
  await post(`${running.url}/ONE/MORE`, calling('Second'));
  const logged = gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('requestId'))
    .map((line) => JSON.parse(line).contract);
  t.deepEqual(logged, ['/one', '/one/more', '/one/more']);
  const page = await (await fetch(`${running.url}/metrics`)).text();
  for (const line of [
    'soapbridge_requests_total{contract="/one",transport="soap11",status="200"} 1',
    'soapbridge_requests_total{contract="/one/more",transport="soap11",status="200"} 2',
    'soapbridge_upstream_breaker_open{contract="/one/more"} 0',
  ]) {
    t.true(page.split('\n').includes(line), `${line}\n${page}`);
  }
});

test('a reload serves the new files; a running call finishes on the old ones', async (t) => {
  const behind = await startGateway(t);
  const upstream = await upstreamOf(behind);
  let finish: (() => void) | undefined;
  const arrived = new Promise<void>((resolve) => {
    behind.answer((_hit, response) => {
      finish = () => response.end('"old"');
      resolve();
    });
  });
  const document = file(t, giving('Old'));
  const { running } = await startGateway(t, {
    serve: { contract: { openapi: document, overlay: undefined }, upstreamUrl: upstream },
  });
  const inFlight = post(running.url, calling('Old'));
  await arrived;
  writeFileSync(document, giving('New'));
  await running.reload();
  behind.answer({ body: '"new"' });
  t.regex(await post(running.url, calling('New')), /<Result>new<\/Result>/);
  t.regex(await post(running.url, calling('Old')), /<faultstring>/);
  finish?.();
  t.regex(await inFlight, /<OldResponse .*<Result>old<\/Result>/);
});

test('calls are answered while a reload reads its files', async (t) => {
  const behind = await startGateway(t);
  const upstream = await upstreamOf(behind);
  behind.answer({ body: '"it"' });
  const document = file(t, giving('Old'));
  const { running } = await startGateway(t, {
    serve: { contract: { openapi: document, overlay: undefined }, upstreamUrl: upstream },
  });
  const notes = Array.from({ length: 20_000 }, (_, at) => `  note${at}: a key of YAML takes its time`);
  writeFileSync(document, `x-notes:\n${notes.join('\n')}\n${asYaml(giving('New'))}`);
  let isReloaded = false;
  const reloaded = running.reload().then(() => {
    isReloaded = true;
  });
  t.regex(await post(running.url, calling('Old')), /<OldResponse /);
  t.false(isReloaded);
  await reloaded;
  t.regex(await post(running.url, calling('New')), /<NewResponse /);
});

/** Starts a gateway with a document that can be rewritten. */
async function serveOld(t: ExecutionContext): Promise<{ gateway: Gateway; document: string }> {
  const behind = await startGateway(t);
  const upstream = await upstreamOf(behind);
  behind.answer({ body: '"it"' });
  const document = file(t, giving('Old'));
  const gateway = await startGateway(t, {
    serve: { contract: { openapi: document, overlay: undefined }, upstreamUrl: upstream },
  });
  return { gateway, document };
}

test('reloads requested during a reload become one more, which reads the latest files', async (t) => {
  const { gateway, document } = await serveOld(t);
  const { running } = gateway;
  const first = running.reload();
  await new Promise(setImmediate); // the reload has started
  const later = Array.from({ length: 50 }, () => running.reload());
  writeFileSync(document, giving('New'));
  await Promise.all([first, ...later]);
  t.is(gateway.log().split('"reloaded"').length - 1, 2);
  t.regex(await post(running.url, calling('New')), /<NewResponse /);
  await running.reload();
  t.is(gateway.log().split('"reloaded"').length - 1, 3);
});

test('a pipe in place of a file is reported, and a later reload works', async (t) => {
  const { gateway, document } = await serveOld(t);
  const { running } = gateway;
  const pipe = join(dirname(document), 'pipe.yaml');
  execFileSync('mkfifo', [pipe]);
  writeFileSync(document, giving('New').replace('"type":"string"', '"$ref":"pipe.yaml"'));
  await running.reload();
  t.true(gateway.log().includes('expected a file, got a pipe'));
  t.regex(await post(running.url, calling('Old')), /<OldResponse /);
  writeFileSync(document, giving('New'));
  await running.reload();
  t.regex(await post(running.url, calling('New')), /<NewResponse /);
});

test('a reload of invalid files changes nothing, and the log lists the errors with positions', async (t) => {
  const { config, first } = await twoContracts(t);
  const gateway = await startGateway(t, { serve: { config } });
  const { running } = gateway;
  writeFileSync(first, '{"openapi": "4.0.0"}');
  await running.reload();
  t.regex(await post(`${running.url}/one`, calling('First')), /<Result>from \/first<\/Result>/);
  const line = gateway
    .log()
    .split('\n')
    .find((each) => each.includes('not reloaded'));
  const [problem] = JSON.parse(line ?? '{}').problems;
  t.deepEqual([problem.file, problem.pointer, problem.line], [first, '/openapi', 1]);
  writeFileSync(first, giving('Third'));
  await running.reload();
  t.regex(await post(`${running.url}/one`, calling('Third')), /<Result>from \/third<\/Result>/);
});

for (const workers of ['1', '2']) {
  test(`SIGHUP reloads a process of ${workers} workers`, async (t) => {
    const { config, second } = await twoContracts(t);
    const { child, ended, line, port } = await start(t, ['--config', config, '--workers', workers], {
      SOAPBRIDGE_LOG_LEVEL: 'info',
      SOAPBRIDGE_DRAIN_DELAY: '0',
    });
    t.like(JSON.parse(line), {
      config,
      workers: Number(workers),
      wsdl: ['/one', '/one/more'].map((path) => `http://127.0.0.1:${port}${path}/soap11?wsdl`),
    });
    writeFileSync(second, giving('Renamed'));
    let reloads = 0;
    const all = new Promise<void>((resolve) => {
      child.stdout?.on('data', (chunk) => {
        reloads += String(chunk).split('"reloaded"').length - 1;
        if (reloads === Number(workers)) resolve();
      });
    });
    child.kill('SIGHUP');
    await all;
    const address = `http://127.0.0.1:${port}/one/more`;
    for (let calls = 0; calls < 6; calls++)
      t.regex(await post(address, calling('Renamed')), /<Result>from \/base\/renamed<\/Result>/);
    child.kill('SIGTERM');
    t.is((await ended).code, 0);
  });
}

for (const [what, text, problem] of [
  ['nothing', '', '#/contracts: expected at least one contract, got none'],
  [
    'a key that is none',
    'contract: a\n',
    ':1#/contract: expected a known key, got "contract". Did you mean contracts?',
  ],
  [
    'a path that is none',
    'contracts:\n  one: { contract: a, upstream: http://a }\n',
    ':2#/contracts/one: expected a path such as /parcels, without a slash at its end',
  ],
  [
    'no upstream',
    'contracts:\n  /one: { contract: a }\n',
    ':2#/contracts/~1one: expected upstream, the URL of the JSON service, got none',
  ],
  [
    'an upstream that is no URL',
    'contracts:\n  /one:\n    contract: a\n    upstream: localhost\n',
    ':4#/contracts/~1one/upstream: expected an http or https URL without credentials and query, got "localhost"',
  ],
  [
    'a folder and a document',
    'contracts:\n  /one: { contract: a, openapi: b, upstream: http://a }\n',
    ':2#/contracts/~1one: expected either contract or openapi, got both keys',
  ],
  [
    'an overlay alone',
    'contracts:\n  /one: { contract: a, overlay: b, upstream: http://a }\n',
    ':2#/contracts/~1one: expected openapi with overlay, got none',
  ],
  [
    'one path twice',
    'contracts:\n  /one: { contract: a, upstream: http://a }\n  /ONE: { contract: a, upstream: http://a }\n',
    ':3#/contracts/~1ONE: expected a unique path, got a path that differs only in case',
  ],
  [
    'a path that hides the pages of another contract',
    'contracts:\n  /one/docs: { contract: a, upstream: http://a }\n  /One: { contract: a, upstream: http://a }\n',
    ':2#/contracts/~1one~1docs: expected a path that hides no endpoint of another contract, got a path below its /one/docs',
  ],
  [
    'a path that hides calls of a contract at the root',
    'contracts:\n  /: { contract: a, upstream: http://a }\n  /JSON/reply: { contract: a, upstream: http://a }\n',
    ':3#/contracts/~1JSON~1reply: expected a path that hides no endpoint of another contract, got a path below its /json',
  ],
] as const) {
  test(`the error for a configuration of ${what} has its line`, (t) => {
    const path = file(t, text, 'soapbridge.yaml');
    const error = t.throws(() => readConfig(path), { instanceOf: ContractError });
    t.is(error?.message.split('\n')[0], path + problem);
  });
}

test('paths in a configuration are relative to its folder', (t) => {
  const path = file(
    t,
    'contracts:\n  /: { contract: a, upstream: http://a }\n  /b: { openapi: b.yaml, overlay: c.yaml, upstream: http://b }\n',
  );
  const at = (name: string) => join(dirname(path), name);
  const places = readConfig(path).map(({ contract, basePath, upstreamUrl }) => [
    contract,
    basePath,
    upstreamUrl,
  ]);
  t.deepEqual(places, [
    [at('a'), '', 'http://a'],
    [{ openapi: at('b.yaml'), overlay: at('c.yaml') }, '/b', 'http://b'],
  ]);
});

test('contracts of both dialects are served together', async (t) => {
  const behind = await startGateway(t);
  const upstream = await upstreamOf(behind);
  const config = file(
    t,
    `contracts:\n  /v2: { contract: ${screeningContract}, upstream: ${upstream} }\n  /: { openapi: ${openapi}, upstream: ${upstream} }\n`,
  );
  const { running } = await startGateway(t, { serve: { config } });
  for (const [address, title] of [
    ['/v2', 'ScreeningApi'],
    ['', 'ParcelPost'],
  ])
    t.true((await (await fetch(`${running.url}${address}/?wsdl`)).text()).includes(`name="${title}"`));
});
