import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { CallerPlaces } from '../../../gateway/admission/caller-places.ts';
import { CallerWindows, windowMs } from '../../../gateway/admission/caller-windows.ts';
import { LimitStore } from '../../../gateway/admission/limit-store.ts';
import { SharedPlaces } from '../../../gateway/admission/shared-places.ts';
import { SharedWindows } from '../../../gateway/admission/shared-windows.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { file } from '../commands/file.ts';
import { envelope, type Gateway, startGateway, typesNamespace } from '../gateway.ts';

const rulesOf = (t: ExecutionContext, text: string): string => file(t, text, 'caller-limits.yaml');

const headersOf = (user: string, key = 'k') => ({ 'X-Api-User': user, 'X-Api-Key': key });

/** Makes a JSON call as a caller. */
async function call(gateway: Gateway, user: string, operation = 'GetSearch', key = 'k') {
  return gateway.send('POST', `/json/reply/${operation}`, headersOf(user, key), '{}');
}

test('a caller above its rate gets Retry-After, and others continue', async (t) => {
  const gateway = await startGateway(t, { serve: { callerLimits: rulesOf(t, 'each: { rate: 2/h }') } });
  const first = await call(gateway, 'ann');
  t.is(first.status, 200);
  t.is(first.headers['ratelimit-policy'], '"rate";q=2;w=3600');
  t.regex(String(first.headers.ratelimit), /^"rate";r=1;t=3600$/);
  t.is((await call(gateway, 'ann')).status, 200);
  const third = await call(gateway, 'ann');
  t.is(third.status, 429);
  t.regex(String(third.headers.ratelimit), /^"rate";r=0;t=\d+$/);
  const seconds = Number(third.headers['retry-after']);
  t.true(seconds > 3590 && seconds <= 3600);
  t.like(JSON.parse(third.text).data.responseStatus, {
    errorCode: 'TooManyRequests',
    message: `expected at most 2 calls in 3600 s, got more. Retry after ${seconds} s`,
  });
  t.is(gateway.hits.length, 2);
  t.is((await call(gateway, 'bob')).status, 200);
});

const search = envelope('1.1', {
  body: `<GetSearch xmlns="${typesNamespace}"><Authentication><ApiUserId>ann</ApiUserId><ApiUserKey>k</ApiUserKey></Authentication></GetSearch>`,
});
const soapHeaders = { 'Content-Type': 'text/xml', SOAPAction: '"GetSearch"' };

for (const [setting, status, said] of [
  [
    'soapErrors: fault',
    500,
    /<faultcode>\w+:Client<\/faultcode><faultstring[^>]*>TooManyRequests: expected at most 1 call a day, got more. Retry after \d+ s/,
  ],
  ['soapErrors: in-band', 200, /<ErrorCode>TooManyRequests<\/ErrorCode>/],
] as const) {
  test(`with ${setting} a SOAP caller above its quota gets the error in its protocol`, async (t) => {
    const gateway = await startGateway(t, {
      overlay: setting,
      serve: { callerLimits: rulesOf(t, 'each: { quota: 1 }') },
    });
    t.is((await gateway.send('POST', '/soap11', soapHeaders, search)).status, 200);
    const reply = await gateway.send('POST', '/soap11', soapHeaders, search);
    t.is(reply.status, status);
    t.is(reply.headers['x-status'], '429');
    t.true(Number(reply.headers['retry-after']) >= 1);
    t.regex(reply.text, said);
  });
}

test('a caller of plain XML gets the error in XML', async (t) => {
  const gateway = await startGateway(t, { serve: { callerLimits: rulesOf(t, 'each: { quota: 1 }') } });
  await call(gateway, 'ann');
  const reply = await gateway.send('POST', '/json/reply/GetSearch?format=xml', headersOf('ann'), '{}');
  t.is(reply.status, 429);
  t.regex(reply.text, /^<\?xml .*TooManyRequests/s);
});

test('an operation’s limit also applies per caller, and refused calls use no quota', async (t) => {
  const gateway = await startGateway(t, {
    serve: {
      callerLimits: rulesOf(t, 'each: { quota: 2 }\noperations: { GetSearch: { rate: 1/min } }'),
    },
  });
  const first = await call(gateway, 'ann');
  t.is(first.headers['ratelimit-policy'], '"GetSearch-rate";q=1;w=60, "quota";q=2;w=86400');
  const refused = await call(gateway, 'ann');
  t.regex(refused.text, /expected at most 1 call of GetSearch in 60 s/);
  t.is((await call(gateway, 'ann', 'CountIncompleteClients')).status, 200);
  t.is((await call(gateway, 'ann', 'CountIncompleteClients')).status, 429);
  t.is((await call(gateway, 'bob')).status, 200);
});

test('a named caller has the limits of its name', async (t) => {
  const gateway = await startGateway(t, {
    serve: {
      callerLimits: rulesOf(t, 'each: { quota: 1 }\ncallers: { acme: { quota: 2 } }'),
      callerFiles: { callers: file(t, 'acme: ["ann"]', 'callers.yaml') },
    },
  });
  const statuses = async (user: string) => {
    const replies = [await call(gateway, user), await call(gateway, user), await call(gateway, user)];
    return replies.map(({ status }) => status);
  };
  t.deepEqual(await statuses('ann'), [200, 200, 429]);
  t.deepEqual(await statuses('bob'), [200, 429, 429]);
});

test('a call with only a caller’s id and no key uses nothing of that caller’s limits', async (t) => {
  const gateway = await startGateway(t, { serve: { callerLimits: rulesOf(t, 'each: { quota: 1 }') } });
  t.is((await call(gateway, 'ann', 'GetSearch', 'guessed')).status, 200);
  t.is((await call(gateway, 'ann', 'GetSearch', 'guessed')).status, 429);
  t.is((await call(gateway, 'ann')).status, 200);
});

test('a caller with a digest that the upstream checks is counted by its id and its network', async (t) => {
  const openapi = file(
    t,
    'openapi: 3.0.3\ninfo: { title: Things, version: "1" }\npaths: { /things: { get: { operationId: GetThings, responses: { "200": { description: ok } } } } }',
    'openapi.yaml',
  );
  const overlay = file(
    t,
    [
      'basePath: /v2',
      'credentials: { send: headers, required: [user], headers: { user: X-User, key: X-Key, digest: X-Digest, nonce: X-Nonce, created: X-Created } }',
      'wsse: { username: user, password: key, digest: { password: digest, nonce: nonce, created: created } }',
    ].join('\n'),
    'soap.yaml',
  );
  const callerLimits = rulesOf(t, 'each: { quota: 2 }');
  const gateway = await startGateway(t, {
    serve: { contract: { openapi, overlay }, callerLimits, trustedProxies: ['127.0.0.1'] },
  });
  const statusOf = async (headers: Record<string, string>, address: string) =>
    (await gateway.send('POST', '/json/reply/GetThings', { ...headers, 'X-Forwarded-For': address }, '{}'))
      .status;
  const digest = (user: string, number: number, address: string) =>
    statusOf(
      { 'X-User': user, 'X-Digest': `d${number}`, 'X-Nonce': `n${number}`, 'X-Created': `c${number}` },
      address,
    );
  t.is(await digest('ann', 1, '10.0.0.1'), 200);
  t.is(await digest('ann', 2, '10.0.0.1'), 200);
  t.is(await digest('ann', 3, '10.0.0.1'), 429);
  t.is(await digest('bob', 4, '10.0.0.1'), 200);
  t.is(await digest('ann', 5, '10.0.1.1'), 200);
  t.is(await statusOf({ 'X-User': 'ann', 'X-Key': 'k' }, '10.0.0.1'), 200);
});

test('concurrent calls are limited, and a slot is free after every outcome of a call', async (t) => {
  const gateway = await startGateway(t, {
    serve: { callerLimits: rulesOf(t, 'each: { concurrent: 1 }') },
  });
  let reached = (): void => {};
  const isReached = new Promise<void>((resolve) => {
    reached = resolve;
  });
  let answer = (): void => {};
  gateway.answer((_hit, response) => {
    reached();
    answer = () => response.writeHead(500).end('no JSON');
  });
  const first = call(gateway, 'ann');
  await isReached;
  const second = await call(gateway, 'ann');
  t.is(second.status, 429);
  t.is(second.headers['retry-after'], '1');
  t.regex(second.text, /expected at most 1 call in progress, got more. Retry after 1 s/);
  answer();
  t.true((await first).status >= 500);
  gateway.answer({ body: '{"data":{"responseStatus":{}}}' });
  t.is((await call(gateway, 'ann')).status, 200);
});

test('refused calls are counted by limit, and the metric identifies no caller', async (t) => {
  const gateway = await startGateway(t, { serve: { callerLimits: rulesOf(t, 'each: { quota: 1 }') } });
  for (let turn = 0; turn < 3; turn++) await call(gateway, 'ann-the-caller', 'GetSearch', 'secret-canary');
  const page = await (await fetch(`${gateway.running.url}/metrics`)).text();
  t.regex(page, /^soapbridge_limited_total\{contract="\/v2",limit="quota"\} 2$/m);
  t.regex(page, /^soapbridge_limit_windows 1$/m);
  t.notRegex(page + gateway.log(), /secret-canary|ann-the-caller/);
});

test('without limits replies have no such headers, and the metrics no such series', async (t) => {
  const gateway = await startGateway(t);
  const { headers } = await call(gateway, 'ann');
  t.false('ratelimit' in headers);
  t.false('ratelimit-policy' in headers);
  t.notRegex(await (await fetch(`${gateway.running.url}/metrics`)).text(), /soapbridge_limit/);
});

test('a reload changes the rules and keeps the counts', async (t) => {
  const rules = rulesOf(t, 'each: { quota: 2 }');
  const gateway = await startGateway(t, { serve: { callerLimits: rules } });
  t.is((await call(gateway, 'ann')).status, 200);
  const { writeFileSync } = await import('node:fs');
  writeFileSync(rules, 'each: { quota: many }');
  await gateway.running.reload();
  t.regex(gateway.log(), /expected a whole number from 1 to 1000000000, got \\"many\\"/);
  writeFileSync(rules, 'each: { quota: 1 }');
  await gateway.running.reload();
  t.is((await call(gateway, 'ann')).status, 429);
});

test('a reload without SOAPBRIDGE_CALLER_KEY keeps the callers’ pseudonyms and counts', async (t) => {
  const serve = { callerLimits: rulesOf(t, 'each: { quota: 1 }'), callerFiles: {} };
  const gateway = await startGateway(t, { serve });
  t.is((await call(gateway, 'ann')).status, 200);
  await gateway.running.reload();
  t.is((await call(gateway, 'ann')).status, 429);
  const pseudonyms = gateway.log().match(/"caller":"[^"]+"/g) ?? [];
  t.is(pseudonyms.length, 2);
  t.is(new Set(pseudonyms).size, 1);
});

for (const [text, line, message] of [
  [
    'each: { rate: 100 }',
    1,
    /expected calls per time window, such as 100\/s, 50\/10s, 600\/min or 5000\/h, got 100$/,
  ],
  ['each:\n  quota: 0', 2, /expected a whole number from 1 to 1000000000, got 0/],
  ['each:\n  speed: 3/s', 2, /unknown key, expected one of rate, quota, concurrent/],
  ['operations:\n  Nope: { quota: 1 }', 2, /expected an operation of the contract/],
  ['contracts:\n  /other: { each: { quota: 1 } }', 2, /expected the path of a served contract, one of \/v2/],
] as const) {
  test(`the limits ${JSON.stringify(text)} are refused at start, with their line`, async (t) => {
    const error = await t.throwsAsync(startGateway(t, { serve: { callerLimits: rulesOf(t, text) } }), {
      instanceOf: ContractError,
    });
    t.is(error?.problems[0]?.line, line);
    t.regex(error?.problems[0]?.message ?? '', message);
  });
}

for (const [options, message] of [
  [
    { limitStore: 'redis://127.0.0.1:1' },
    /SOAPBRIDGE_LIMIT_STORE: expected SOAPBRIDGE_CALLER_LIMITS, or a contract that accepts messages once/,
  ],
  [
    { callerLimits: '', limitStore: 'redis://127.0.0.1:1' },
    /SOAPBRIDGE_LIMIT_STORE: expected SOAPBRIDGE_CALLER_KEY, got none/,
  ],
  [
    { callerLimits: '', metricsOfAll: async () => [] },
    /SOAPBRIDGE_CALLER_LIMITS: expected SOAPBRIDGE_LIMIT_STORE for several workers/,
  ],
] as const) {
  test(`a start with only ${Object.keys(options).join(' and ')} is refused: ${message.source}`, async (t) => {
    const serve =
      'callerLimits' in options ? { ...options, callerLimits: rulesOf(t, 'each: { quota: 1 }') } : options;
    await t.throwsAsync(startGateway(t, { serve }), { instanceOf: RangeError, message });
  });
}

const quota = { name: 'quota', calls: 1, seconds: undefined };
const rate = { name: 'rate', calls: 1, seconds: 10 };

test('limitWindows: keeps that many counts; one more evicts the oldest', (t) => {
  const windows = new CallerWindows(2);
  windows.add('a', rate, 0);
  windows.add('b', rate, 1);
  t.is(windows.add('a', rate, 2).used, 2);
  windows.add('c', rate, 3);
  t.is(windows.size, 2);
  t.is(windows.add('b', rate, 4).used, 2);
  t.is(windows.add('a', rate, 5).used, 1);
});

test('a count ends after its window, and the next sweep deletes it', (t) => {
  const windows = new CallerWindows(10);
  t.deepEqual(windows.add('a', rate, 1000), { used: 1, resetMs: 10_000 });
  t.deepEqual(windows.add('a', rate, 10_999), { used: 2, resetMs: 1 });
  t.deepEqual(windows.add('a', rate, 11_000), { used: 1, resetMs: 10_000 });
  windows.sweep(20_999);
  t.is(windows.size, 1);
  windows.sweep(21_000);
  t.is(windows.size, 0);
});

test('a count started by a fast clock or by a longer rule ends with the current rule’s window', (t) => {
  const windows = new CallerWindows(10);
  windows.add('a', { ...rate, seconds: 3_600 }, 1000);
  t.deepEqual(windows.add('a', rate, 1000), { used: 1, resetMs: 10_000 });
  t.deepEqual(windows.add('b', rate, 1_000_000), { used: 1, resetMs: 10_000 });
  t.deepEqual(windows.add('b', rate, 1000), { used: 1, resetMs: 10_000 });
  t.is(windows.add('b', rate, 1001).used, 2);
});

/** Starts a server that always sends the same answer, unlike a store. */
async function openOther(t: ExecutionContext, answer: string) {
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (asked) => {
        for (const _ of String(asked).matchAll(/^\*\d/gm))
          socket.write(/info/i.test(String(asked)) ? '$0\r\n\r\n' : answer);
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const told: string[] = [];
  const store = await LimitStore.open({
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    timeoutMs: 1_000,
    onChange: (isAway, code) => told.push(isAway ? code : 'back'),
  });
  const places = new SharedPlaces(store, new CallerPlaces(), 30_000);
  t.teardown(() => {
    places.close();
    store.close();
    server.close();
  });
  return { store, windows: new SharedWindows(store, new CallerWindows(10)), places, told };
}

for (const answer of [
  '+OK',
  '$3\r\nabc',
  '*0',
  '*2\r\n:-1\r\n:5',
  '*2\r\n:2\r\n:-1',
  '*2\r\n$1\r\nx\r\n:1',
]) {
  test(`a store that answers ${JSON.stringify(answer)} counts as failed, and calls are counted locally`, async (t) => {
    const { store, windows, places, told } = await openOther(t, `${answer}\r\n`);
    t.deepEqual(await windows.add('ann rate', rate, 0), { used: 1, resetMs: 10_000 });
    t.deepEqual(await windows.add('ann rate', rate, 2_000), { used: 2, resetMs: 8_000 });
    t.is(typeof (await places.take('ann', 1, 4_000)), 'function');
    t.is(await places.take('ann', 1, 6_000), undefined);
    t.is(store.missed, 4);
    t.deepEqual(told, ['answer']);
  });
}

test('a failed store is tried again a second later, even if the clock is set back', async (t) => {
  const { store } = await openOther(t, '+OK\r\n');
  const fails = () => Promise.reject(new Error('away'));
  t.is(await store.query(3_600_000, fails), undefined);
  t.is(await store.query(3_600_999, async () => 1), undefined);
  t.is(await store.query(0, async () => 1), 1);
});

test('a quota ends at midnight UTC', (t) => {
  t.is(windowMs(quota, Date.parse('2026-11-22T23:59:59.000Z')), 1000);
  t.is(windowMs(quota, Date.parse('2026-11-23T00:00:00.000Z')), 86_400_000);
});
