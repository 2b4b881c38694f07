import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { screeningContract } from '../../../mappings/loader/load.ts';
import {
  elementText,
  emptyReply,
  envelope,
  type Gateway,
  getSearch,
  keyHeaders,
  sharedGateways,
  startGateway,
} from '../gateway.ts';

const folders: string[] = [];
/** The screening contract with HTTP Basic as a place for its credentials. */
function contractOf(basic = '{ username: apiUserId, password: apiUserKey }'): string {
  const folder = mkdtempSync(join(tmpdir(), 'basic-'));
  folders.push(folder);
  cpSync(screeningContract, folder, { recursive: true });
  const file = join(folder, 'soap.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('  send: body', `  send: body\n  basic: ${basic}`));
  return folder;
}

const [gateway, without] = await sharedGateways({ serve: { contract: contractOf() } }, {});

test.after.always(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Starts a separate gateway for a test that inspects the upstream requests. */
async function start(t: ExecutionContext): Promise<Gateway> {
  const local = await startGateway(t, { serve: { contract: contractOf() } });
  local.answer({ body: emptyReply });
  return local;
}

const basic = (pair: string): Record<string, string> => ({
  Authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
});
const call = (to: Gateway, headers: Record<string, string>, text = envelope('1.1', { body: getSearch })) =>
  to.send('POST', '/soap11', headers, text);
const bare = envelope('1.1', { body: getSearch.replace(/<Authentication>.*<\/Authentication>/, '') });

test('W24: user and password of HTTP Basic are the credentials that the overlay names', async (t) => {
  const local = await start(t);
  for (const [pair, id, key] of [
    ['demo:demo-key', 'demo', 'demo-key'],
    ['zoë:p:ä', 'zoë', 'p:ä'],
  ] as const) {
    const reply = await call(local, basic(pair), bare);
    t.is(reply.headers['x-status'], undefined, reply.text);
    t.is(reply.headers['www-authenticate'], undefined);
    const { body, headers } = local.hits.at(-1) ?? { body: '', headers: {} };
    t.deepEqual(JSON.parse(body).authentication, { apiUserId: id, apiUserKey: key });
    t.is(headers.authorization, undefined);
  }
  const latin = Buffer.from('zoë:k', 'latin1').toString('base64');
  await call(local, { Authorization: `basic  ${latin}` }, bare);
  t.is(JSON.parse(local.hits.at(-1)?.body ?? '').authentication.apiUserId, 'zoë');
  t.notRegex(local.log(), /demo|zoë|RlbW8/);
});

test('W24: a SOAP call without any credential gets a 401 challenge with the usual text', async (t) => {
  const reply = await call(gateway, {}, bare);
  t.is(reply.status, 401);
  t.is(reply.headers['x-status'], '401');
  t.regex(reply.headers['www-authenticate'] ?? '', /^Basic realm="\w+", charset="UTF-8", WSSE realm=/);
  t.regex(elementText(reply.text, 'Message') ?? '', /in the header X-Api-User, or by HTTP Basic, got none$/);
});

test('W24: incomplete credentials get no challenge: SOAP has 200 and X-Status as before', async (t) => {
  const reply = await call(gateway, { 'X-Api-User': 'demo' }, bare);
  t.is(reply.status, 200);
  t.is(reply.headers['x-status'], '401');
  t.regex(reply.headers['www-authenticate'] ?? '', /^Basic /);
});

test('W24: Basic equal to other credentials is accepted, different ones are a conflict', async (t) => {
  const local = await start(t);
  const given = (pair: string) => call(local, { ...keyHeaders, ...basic(pair) }, bare);
  const { 'X-Api-User': id = '', 'X-Api-Key': key = '' } = keyHeaders as Record<string, string>;
  t.is((await given(`${id}:${key}`)).headers['x-status'], undefined);
  const conflict = await given(`${id}:other-key`);
  t.is(conflict.headers['x-status'], '400');
  t.regex(conflict.text, /the header Authorization and the header X-Api-Key differ/);
  t.notRegex(conflict.text, /other-key/);
  t.is(local.hits.length, 1);
});

for (const [what, value] of [
  ['no base64', 'Basic a!'],
  ['nothing behind the scheme', 'Basic '],
  ['no colon', `Basic ${Buffer.from('demo').toString('base64')}`],
  ['a control character', `Basic ${Buffer.from('de\nmo:key').toString('base64')}`],
  ['more than a credential may have', `Basic ${Buffer.from(`${'a'.repeat(257)}:k`).toString('base64')}`],
  ['more than an Authorization may have', `Basic ${'YWFh'.repeat(2_100)}`],
] as const)
  test(`W24: Basic with ${what} is 401, and the reply does not repeat it`, async (t) => {
    const reply = await call(gateway, { Authorization: value }, bare);
    t.is(reply.headers['x-status'], '401', reply.text);
    t.notRegex(reply.text, /aaaa|YWFh|a!/);
    t.is(gateway.hits.length, 0);
  });

test('W24: two Authorization headers are a conflict', async (t) => {
  const { Authorization = '' } = basic('demo:demo-key');
  const reply = await gateway.raw(
    `POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${Authorization}\r\nAuthorization: ${Authorization}\r\nContent-Length: 2\r\n\r\n{}`,
  );
  t.regex(reply, /^HTTP\/1\.1 400 [\s\S]*the header Authorization was given twice/);
});

test('W24: an error for an unsupported scheme names it and the supported ones', async (t) => {
  const digest = { Authorization: 'Digest username="demo", realm="x", nonce="n", uri="/", response="r"' };
  t.regex(
    (await call(gateway, digest, bare)).text,
    /got none; HTTP digest is not supported. Use HTTP Basic</,
  );
  t.regex(
    (await call(without, basic('a:b'), bare)).text,
    /got none; this contract does not support HTTP Basic</,
  );
});

for (const path of ['/json/reply/GetSearch', '/xml/reply/GetSearch'])
  test(`RFC 9110, 11.6.1: a 401 at ${path} lists the supported schemes`, async (t) => {
    const body = path.startsWith('/json') ? '{}' : '';
    const reply = await without.send('POST', path, {}, body);
    t.is(reply.status, 401);
    t.regex(
      reply.headers['www-authenticate'] ?? '',
      /^WSSE realm="(\w+)", profile="UsernameToken", ApiKey realm="\1", headers="X-Api-User X-Api-Key"$/,
    );
  });

test('W44: another site’s page cannot make a browser call with its stored Basic password', async (t) => {
  const headers = { ...basic('demo:demo-key'), 'Content-Type': 'text/plain', Origin: 'https://evil.example' };
  t.is((await call(gateway, headers, bare)).status, 415);
});

for (const [what, given, said] of [
  [
    'a name that is no credential',
    '{ username: apiUserId, password: key }',
    /basic\/password: expected a name from/,
  ],
  [
    'one name twice',
    '{ username: apiUserId, password: apiUserId }',
    /basic\/password: expected another credential/,
  ],
  ['no password', '{ username: apiUserId }', /basic\/password: expected a name from .*, got none/],
] as const)
  test(`credentials: basic: ${what} is an error at start`, async (t) => {
    await t.throwsAsync(startGateway(t, { serve: { contract: contractOf(given) } }), { message: said });
  });
