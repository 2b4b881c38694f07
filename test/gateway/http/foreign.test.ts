import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { folderOf } from '../../plain/folders.ts';
import { envelope, keyHeaders, type Reply, send, startGateway } from '../gateway.ts';

const body = '<putStrict xmlns="urn:Strict"><id>GB1</id><Body><code>ab</code></Body></putStrict>';
const soap = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
const calls: readonly (readonly [path: string, body: string])[] = [
  ['/soap11', soap],
  ['/xml/reply/putStrict', body],
  ['/json/reply/putStrict', '{"id":"GB1","Body":{"code":"ab"}}'],
];

const evil = 'https://evil.example';
const unasked = ['text/plain', 'Text/Plain;application/json', 'application/x-www-form-urlencoded', undefined];

/** Sends each call with the headers that a page causes. */
async function callAll(port: number, headers: Record<string, string>): Promise<readonly Reply[]> {
  return Promise.all(calls.map(([path, text]) => send(port, 'POST', path, headers, text)));
}

test('without credentials, a page of another site cannot make a browser call', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: folderOf('strict-validation') } });
  gateway.answer({ status: 200, body: '{}' });
  for (const page of [
    { Origin: evil },
    { Origin: 'null' },
    { Origin: evil, 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'https://a.example', 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'cross-site' },
  ]) {
    for (const type of unasked) {
      const headers = type === undefined ? page : { ...page, 'Content-Type': type };
      for (const reply of await callAll(gateway.port, headers as Record<string, string>)) {
        t.is(reply.status, 415, JSON.stringify(headers));
        t.regex(reply.text, /expected a Content-Type of XML or JSON in a request from another site/);
      }
    }
  }
  t.is(gateway.hits.length, 0);
});

test('stacks, pages with browser headers, callers without them and own pages can call', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: folderOf('strict-validation') } });
  gateway.answer({ status: 200, body: '{}' });
  const own = `http://127.0.0.1:${gateway.port}`;
  for (const headers of [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    {},
    { 'Content-Type': 'text/plain', Origin: own },
    { 'Content-Type': 'text/plain', Origin: evil, 'Sec-Fetch-Site': 'same-origin' },
    { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'none' },
    {
      'Content-Type': 'text/xml; charset=utf-8',
      Origin: 'chrome-extension://abc',
      'Sec-Fetch-Site': 'cross-site',
    },
  ] as Record<string, string>[]) {
    for (const reply of await callAll(gateway.port, headers))
      t.is(reply.status, 200, JSON.stringify(headers));
  }
});

test('origins in cors may call, and others too if credentials are required', async (t) => {
  const page = { Origin: evil, 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'text/plain' };
  const screening = await startGateway(t);
  t.is((await screening.send('POST', '/soap11', page, envelope('1.1'))).status, 200);
  t.is((await screening.send('POST', '/json/reply/GetSearch', { ...page, ...keyHeaders }, '{}')).status, 200);
  const directory = mkdtempSync(join(tmpdir(), 'contract-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  cpSync(folderOf('strict-validation'), directory, { recursive: true });
  appendFileSync(join(directory, 'soap.yaml'), '\ncors: [https://a.example]\n');
  const { port, answer } = await startGateway(t, { serve: { contract: directory } });
  answer({ status: 200, body: '{}' });
  for (const [origin, status] of [
    ['https://a.example', 200],
    [evil, 415],
  ] as const)
    for (const reply of await callAll(port, { ...page, Origin: origin })) t.is(reply.status, status);
});

test('a page of another site cannot make a browser change something by GET', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'contract-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'openapi.yaml'), browsersOwn);
  writeFileSync(join(directory, 'soap.yaml'), 'routes: { GET /do: DoIt, GET /that: GetThat }\n');
  const { port, hits, answer } = await startGateway(t, { serve: { contract: directory } });
  answer({ body: '"done"' });
  for (const page of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: evil }] as Record<string, string>[]) {
    const reply = await send(port, 'GET', '/do', page);
    t.is(reply.status, 415);
    t.regex(reply.text, /expected a POST, because the operation is not read-only/);
    t.is(hits.length, 0);
  }
  t.is((await send(port, 'GET', '/that', { 'Sec-Fetch-Site': 'cross-site' })).status, 200);
  for (const own of [{}, { 'Sec-Fetch-Site': 'none' }, { 'Sec-Fetch-Site': 'same-origin' }] as Record<
    string,
    string
  >[])
    t.is((await send(port, 'GET', '/do', own)).status, 200);
});

/** A contract with no other credentials than those that a browser adds itself. */
const browsersOwn = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Own' },
  paths: {
    '/it': {
      post: {
        operationId: 'DoIt',
        responses: {
          200: { description: 'it', content: { 'application/json': { schema: { type: 'string' } } } },
        },
      },
    },
    '/that': {
      get: {
        operationId: 'GetThat',
        responses: {
          200: { description: 'that', content: { 'application/json': { schema: { type: 'string' } } } },
        },
      },
    },
  },
});

for (const [what, credentials, given] of [
  ['a certificate', '{ headers: { user: X-User } }', { 'X-Subject': 'CN=jo' }],
  [
    'HTTP Basic',
    '{ headers: { user: X-User, key: X-Key }, basic: { username: user, password: key } }',
    { Authorization: 'Basic am86aw==' },
  ],
  ['Authorization as a whole', '{ headers: { login: Authorization } }', { Authorization: 'Basic am86aw==' }],
] as const)
  test(`pages of other sites neither call nor read with ${what}, which browsers send`, async (t) => {
    const behind = await startGateway(t, { serve: { contract: folderOf('strict-validation') } });
    await send(behind.port, 'POST', '/json/reply/putStrict', {}, '{"id":"GB1","Body":{"code":"ab"}}');
    behind.answer({ body: '"secret"' });
    const folder = mkdtempSync(join(tmpdir(), 'browser-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const routes = 'routes: { GET /that: GetThat, POST /it: DoIt }';
    writeFileSync(join(folder, 'openapi.json'), browsersOwn);
    writeFileSync(join(folder, 'soap.yaml'), `jsonp: true\n${routes}\ncredentials: ${credentials}\n`);
    const config = join(folder, 'soapbridge.yaml');
    const upstream = `http://${behind.hits[0]?.headers.host}`;
    const contracts = { '/own': { openapi: 'openapi.json', overlay: 'soap.yaml', upstream } };
    const clientCertificate = { header: 'X-User', from: 'subject', sentIn: 'X-Subject' };
    writeFileSync(
      config,
      JSON.stringify('X-Subject' in given ? { clientCertificate, contracts } : { contracts }),
    );
    const { port } = await startGateway(t, { serve: { config, trustedProxies: ['127.0.0.1'] } });
    const hits = (): number => behind.hits.length;
    const before = hits();
    const page = { ...given, 'Sec-Fetch-Site': 'cross-site' };
    const posted = { ...page, 'Content-Type': 'text/plain' };
    for (const path of ['/own/json/reply/DoIt', '/own/xml/reply/DoIt', '/own/soap11'])
      t.is((await send(port, 'POST', path, posted, '{}')).status, 415, path);
    for (const site of [page, given]) {
      const script = await send(port, 'GET', '/own/that?callback=f', site);
      t.is(script.headers['x-status'], '400');
      t.regex(
        script.text,
        /^\/\*\*\/f\(.*InvalidCallback.*expected no callback with HTTP Basic or a client certificate/,
      );
    }
    t.is(hits(), before);
    const own = await send(port, 'GET', '/own/that?callback=f', {
      ...given,
      'Sec-Fetch-Site': 'same-origin',
    });
    t.is(own.text, '/**/f("secret");');
    t.is((await send(port, 'GET', '/own/that', given)).text, '"secret"');
    const json = { ...page, 'Content-Type': 'application/json' };
    t.is((await send(port, 'POST', '/own/json/reply/DoIt', json, '{}')).status, 200);
  });
