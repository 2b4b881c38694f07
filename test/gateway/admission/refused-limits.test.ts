import test, { type ExecutionContext } from 'ava';
import { claimedCredentials } from '../../../gateway/call/credentials.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { file } from '../commands/file.ts';
import { envelope, type Gateway, type Reply, startGateway, typesNamespace } from '../gateway.ts';

const rulesOf = (t: ExecutionContext, text: string): string => file(t, text, 'caller-limits.yaml');

const ann = { 'X-Api-User': 'ann', 'X-Api-Key': 'k' };
const bob = { 'X-Api-User': 'bob', 'X-Api-Key': 'k' };
const soap11 = { 'Content-Type': 'text/xml', SOAPAction: '"GetSearch"' };

type Headers = Readonly<Record<string, string>>;
type Post = (gateway: Gateway, caller: Headers) => Promise<Reply>;

const post =
  (path: string, headers: Headers, body: string): Post =>
  (gateway, caller) =>
    gateway.send('POST', path, { ...headers, ...caller }, body);

const json = { 'Content-Type': 'application/json' };
const wrongType = `<GetSearch xmlns="${typesNamespace}"><Request><Id>x</Id></Request></GetSearch>`;
const unknownBlock = '<x:T xmlns:x="urn:x" e:mustUnderstand="1"/>';

/** Messages that are refused before the upstream is called. */
const refused: readonly (readonly [title: string, send: Post])[] = [
  ['malformed SOAP 1.1', post('/soap11', soap11, '<broken')],
  ['malformed SOAP 1.2', post('/soap12', { 'Content-Type': 'application/soap+xml' }, '<broken')],
  ['malformed SOAP without a mark of SOAP', post('/soap11', {}, '<broken')],
  ['an empty SOAP body', post('/soap11', soap11, '')],
  ['a DTD', post('/soap11', soap11, '<!DOCTYPE a><a/>')],
  ['an unknown operation', post('/soap11', soap11, envelope('1.1', { body: '<NoSuch xmlns="urn:x"/>' }))],
  ['an unknown header block', post('/soap11', soap11, envelope('1.1', { header: unknownBlock }))],
  ['a wrong type in SOAP', post('/soap11', soap11, envelope('1.1', { body: wrongType }))],
  ['malformed JSON', post('/json/reply/GetSearch', json, '{"a')],
  ['a wrong type in JSON', post('/json/reply/GetSearch', json, '{"request":{"id":"x"}}')],
  ['malformed XML', post('/xml/reply/GetSearch', { 'Content-Type': 'application/xml' }, '<a')],
  [
    'an unsupported media type',
    post('/json/reply/GetSearch', { 'Content-Type': 'multipart/form-data' }, 'a'),
  ],
  ['a JSON call of an unknown operation', post('/json/reply/NoSuch', json, '{}')],
];

const isLimited = ({ status, headers }: Reply): boolean => status === 429 || headers['x-status'] === '429';

for (const [title, send] of refused) {
  test(`${title} counts against the limits of its caller, who is in the log`, async (t) => {
    const gateway = await startGateway(t, {
      serve: {
        callerLimits: rulesOf(t, 'each: { rate: 2/h }'),
        callerFiles: { callers: file(t, 'acme: ["ann"]\nother-co: ["bob"]', 'callers.yaml') },
      },
    });
    t.false(isLimited(await send(gateway, ann)));
    t.false(isLimited(await send(gateway, ann)));
    const third = await send(gateway, ann);
    t.true(isLimited(third), third.text);
    t.true(Number(third.headers['retry-after']) > 3_590, 'Retry-After');
    t.regex(String(third.headers.ratelimit), /^"rate";r=0;/);
    const valid = await gateway.send('POST', '/json/reply/GetSearch', { ...json, ...ann }, '{}');
    t.is(valid.status, 429, 'valid calls of the caller share the limit');
    t.false(isLimited(await send(gateway, bob)), 'another caller');
    const callers = gateway
      .log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).caller);
    t.deepEqual(callers, ['acme', 'acme', 'acme', 'acme', 'other-co']);
    t.is(gateway.hits.length, 0);
  });
}

test('a wrong value counts against the caller whose credentials the SOAP body has', async (t) => {
  const gateway = await startGateway(t, { serve: { callerLimits: rulesOf(t, 'each: { rate: 1/h }') } });
  const bodyOf = (id: string): string =>
    `<GetSearch xmlns="${typesNamespace}"><Authentication><ApiUserId>ann</ApiUserId><ApiUserKey>k</ApiUserKey></Authentication><Request><Id>${id}</Id></Request></GetSearch>`;
  const call = (id: string): Promise<Reply> =>
    gateway.send('POST', '/soap11', soap11, envelope('1.1', { body: bodyOf(id) }));
  t.false(isLimited(await call('x')));
  t.true(isLimited(await call('1')));
});

test('a call without credentials uses nothing of the limit of its network, as it may wait for a challenge', async (t) => {
  const gateway = await startGateway(t, { serve: { callerLimits: rulesOf(t, 'each: { rate: 1/h }') } });
  for (let turn = 0; turn < 3; turn++) {
    const reply = await gateway.send('POST', '/json/reply/GetSearch', json, '{}');
    t.is(reply.status, 401);
  }
  t.is((await gateway.send('GET', '/none')).status, 404);
});

test('malformed messages without credentials share the limit of their network', async (t) => {
  const gateway = await startGateway(t, { serve: { callerLimits: rulesOf(t, 'each: { rate: 1/h }') } });
  const send = (): Promise<Reply> => gateway.send('POST', '/json/reply/GetSearch', json, '{"a');
  t.is((await send()).status, 400);
  t.is((await send()).status, 429);
  t.is((await gateway.send('POST', '/json/reply/GetSearch', { ...json, ...ann }, '{}')).status, 200);
});

test('claimed credentials have the length of accepted ones at most', (t) => {
  const credentials = {
    parts: [{ name: 'user', header: 'X-User', secret: false, required: true, xml: 'User' }],
    send: 'headers',
  } as unknown as NonNullable<Parameters<typeof claimedCredentials>[0]>;
  for (const [length, size] of [
    [256, 1],
    [257, 0],
  ] as const) {
    const head = { headers: { 'x-user': 'a'.repeat(length) }, rawHeaders: [] };
    t.is(claimedCredentials(credentials, undefined, head, defaultLimits).all.size, size);
  }
});
