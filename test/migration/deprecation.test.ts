import { resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ContractError } from '../../mappings/loader/document/error.ts';
import {
  contractFolder,
  readScenario,
  type Site,
  type SiteOptions,
  type StubReply,
  startSite,
} from './scenario.ts';

interface Scenario {
  readonly contract: string;
  readonly config: { readonly migration: { readonly deprecate: readonly Record<string, unknown>[] } };
  readonly calls: readonly {
    readonly now: string;
    readonly request: {
      readonly path: string;
      readonly headers: Record<string, string>;
      readonly body: string;
      readonly caller?: string;
    };
    readonly legacy: StubReply;
    readonly expect: {
      readonly operation: string;
      readonly requests: { readonly legacy: number; readonly new: number };
      readonly response: {
        readonly status: number;
        readonly bytesOf?: 'legacy';
        readonly headers?: Record<string, string>;
        readonly fault?: { readonly code: string; readonly error: string; readonly contains?: string };
      };
    };
  }[];
}

const scenario = readScenario<Scenario>('S33');
const [usual, blackout, , exempted] = scenario.calls;
if (usual === undefined || blackout === undefined || exempted === undefined)
  throw new Error('S33: calls missing');
const callers = ['grantsolutions', 'slowco'];
const deprecated = { ...scenario.config.migration.deprecate[0] };
const realNow = Date.now;

/** Sets the clock of the gateway, which runs in this process. */
function setClock(t: ExecutionContext, now: string): void {
  const offset = Date.parse(now) - realNow();
  Date.now = () => realNow() + offset;
  t.teardown(() => {
    Date.now = realNow;
  });
}

function startAgency(t: ExecutionContext, config: object, more: Partial<SiteOptions> = {}): Promise<Site> {
  return startSite(t, { contract: contractFolder(scenario.contract), config, callers, ...more });
}

/** Returns the value of a metric of the gateway. */
function metric({ running }: Site, name: string): readonly string[] {
  const { samples = [] } = running.metrics().find((one) => one.name === name) ?? {};
  return samples.map(({ labels, value }) => `${labels} ${value}`);
}

test.serial('scenario S33 holds over sockets (G64, G65)', async (t) => {
  const site = await startAgency(t, scenario.config);
  const { legacy, upstream } = site;
  for (const { now, request, expect, ...call } of scenario.calls) {
    setClock(t, now);
    legacy.answer = call.legacy;
    const before = [legacy.hits.length, upstream.hits.length] as const;
    const reply = await site.send(request);
    t.is(legacy.hits.length - before[0], expect.requests.legacy);
    t.is(upstream.hits.length - before[1], expect.requests.new);
    const { status, headers = {}, fault, bytesOf } = expect.response;
    const text = reply.body.toString();
    t.is(reply.status, status);
    for (const [name, value] of Object.entries(headers)) t.is(String(reply.headers[name]), value, name);
    if (bytesOf !== undefined)
      t.is(text, call.legacy !== null && 'body' in call.legacy ? String(call.legacy.body) : '');
    if (fault === undefined) continue;
    t.true(text.includes(`:${fault.code}</faultcode>`), text);
    t.true(text.includes(`<faultstring>${fault.error}`), text);
    t.true(text.includes(fault.contains ?? ''), text);
  }
  const labels = 'contract="/",operation="GetOpportunityList"';
  t.deepEqual(metric(site, 'deprecated_calls_total'), [`${labels} 4`]);
  t.deepEqual(metric(site, 'deprecated_refused_total'), [
    `${labels},reason="brownout" 1`,
    `${labels},reason="sunset" 1`,
  ]);
});

test.serial('G64: headers of the legacy service with the same name stay first', async (t) => {
  const site = await startAgency(t, scenario.config);
  setClock(t, usual.now);
  site.legacy.answer = {
    status: 500,
    headers: { 'content-type': 'text/xml', link: '<https://old.example>; rel="help"', sunset: 'never' },
    body: '<fault/>',
  };
  const { rawHeaders, status, body } = await site.send(usual.request);
  t.is(status, 500);
  t.is(body.toString(), '<fault/>');
  const lines = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[at + 1]}`] : [],
  );
  const links = lines.filter((line) => line.startsWith('link:'));
  t.is(links.length, 2);
  t.is(links[0], 'link: <https://old.example>; rel="help"');
  t.deepEqual(
    lines.filter((line) => line.startsWith('sunset:')),
    ['sunset: never', 'sunset: Thu, 31 Dec 2026 23:59:59 GMT'],
  );
});

test.serial('G64: a fault of the gateway and a reply of the new service have the headers', async (t) => {
  const migration = { ...scenario.config.migration, routes: [{ name: 'all', mode: 'new' }] };
  const site = await startAgency(t, { ...scenario.config, migration });
  setClock(t, usual.now);
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  const served = await site.send(usual.request);
  t.is(served.status, 200, served.body.toString());
  t.is(served.headers.deprecation, '@1767225600');
  await site.upstream.refuse();
  const failed = await site.send(usual.request);
  t.is(failed.status, 500);
  t.is(failed.headers.deprecation, '@1767225600');
  t.is(failed.headers.sunset, 'Thu, 31 Dec 2026 23:59:59 GMT');
  const body = usual.request.body.replaceAll('GetOpportunityListRequest', 'GetSubmissionListRequest');
  const other = await site.send({ ...usual.request, body, headers: { 'content-type': 'text/xml' } });
  t.is(other.headers.deprecation, undefined);
});

test.serial(
  'G65: a write is refused after its sunset, before the rest of its body has arrived',
  async (t) => {
    const site = await startAgency(t, {
      ...scenario.config,
      migration: { deprecate: [{ ...deprecated, operations: ['NotifyArrival'] }] },
    });
    setClock(t, '2027-01-02T00:00:00Z');
    const head = usual.request.body.replace(/<a:GetOpportunityListRequest.*/s, '');
    const wrapped = `${head}<a:NotifyArrivalRequest xmlns:a="http://desk.example/services/Agency-V2">`;
    const reply = await site.send({
      path: usual.request.path,
      headers: { 'content-type': 'text/xml', 'transfer-encoding': 'chunked' },
      chunks: [wrapped, ' '.repeat(100_000)],
    });
    t.is(reply.status, 500, reply.body.toString());
    t.true(
      reply.body.includes('<faultstring>Gone: Operation is no longer served. See https://desk.example/rest'),
    );
    t.is(site.legacy.hits.length, 0);
  },
);

test.serial('G65: a refused operation is not forwarded if its payload is unreadable', async (t) => {
  const site = await startAgency(t, scenario.config);
  setClock(t, '2027-01-02T00:00:00Z');
  const reply = await site.send({
    ...usual.request,
    body: usual.request.body.replace('</soap:Body>', '<broken'),
  });
  t.true(reply.body.includes('Gone:'), reply.body.toString());
  t.is(site.legacy.hits.length, 0);
});

const parcels = resolve('test/fixtures/contracts/parcels');
const track = {
  path: '/soap11',
  headers: { 'content-type': 'text/xml' },
};

test.serial('G1, G65: an OpenAPI contract refuses SOAP with a fault and JSON with 410 and 503', async (t) => {
  const entry = {
    since: '2026-01-01T00:00:00Z',
    sunset: '2026-12-31T23:59:59Z',
    message: 'Use REST.',
    brownouts: [{ at: '2026-12-01T09:00:00Z', for: '10m' }],
  };
  const site = await startSite(t, { contract: parcels, config: { migration: { deprecate: [entry] } } });
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  const json = {
    path: '/json/reply/TrackParcel',
    headers: { 'content-type': 'application/json' },
    body: '{"number":"1"}',
  };
  const wsdl = (await site.send({ method: 'GET', path: '/soap11?wsdl' })).body.toString();
  const namespace = /targetNamespace="([^"]*)"/.exec(wsdl)?.[1];
  t.true(
    wsdl.includes('Deprecated since 2026-01-01T00:00:00Z. No longer served after 2026-12-31T23:59:59Z.'),
  );
  const soap = {
    ...track,
    body: `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><TrackParcel xmlns="${namespace}"/></s:Body></s:Envelope>`,
  };
  setClock(t, '2026-11-27T12:00:00Z');
  const before = await site.send(json);
  t.is(before.headers.deprecation, '@1767225600');
  t.is(before.headers.link, undefined);
  const calls = site.upstream.hits.length;
  setClock(t, '2026-12-01T09:09:30Z');
  const out = await site.send(json);
  t.is(out.status, 503);
  t.is(out.headers['retry-after'], '30');
  t.true(out.body.includes('"errorCode":"Brownout"'), out.body.toString());
  const faulted = await site.send(soap);
  t.true(faulted.body.includes(':Server</faultcode><faultstring>Brownout: '), faulted.body.toString());
  t.is(faulted.headers['retry-after'], '30');
  t.is(faulted.headers.deprecation, '@1767225600');
  setClock(t, '2027-01-01T00:00:00Z');
  const gone = await site.send(json);
  t.is(gone.status, 410);
  t.true(gone.body.includes('"errorCode":"Gone","message":"Use REST."'), gone.body.toString());
  const last = await site.send(soap);
  t.true(last.body.includes(':Client</faultcode><faultstring>Gone: Use REST.'), last.body.toString());
  t.is(site.upstream.hits.length, calls);
});

test.serial('G65: without legacy, a caller is exempt up to its date, and not after it', async (t) => {
  const entry = { ...deprecated, exempt: { slowco: '2027-03-31T00:00:00Z' } };
  const site = await startAgency(t, { migration: { deprecate: [entry] } });
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  setClock(t, '2027-03-30T23:59:00Z');
  t.is((await site.send(exempted.request)).status, 200);
  t.is((await site.send({ ...exempted.request, caller: 'grantsolutions' })).status, 500);
  setClock(t, '2027-03-31T00:00:01Z');
  t.is((await site.send(exempted.request)).status, 500);
  t.is(site.upstream.hits.length, 1);
});

test.serial('G65: a brown-out begins at its start and ends before its end', async (t) => {
  const site = await startAgency(t, scenario.config);
  site.legacy.answer = usual.legacy;
  for (const [now, status] of [
    ['2026-12-01T08:59:58Z', 200],
    ['2026-12-01T09:00:00Z', 500],
    ['2026-12-01T09:09:58Z', 500],
    ['2026-12-01T09:10:00Z', 200],
  ] as const) {
    setClock(t, now);
    t.is((await site.send(usual.request)).status, status, now);
  }
});

test.serial('G64: an adopted WSDL keeps its bytes, and documents the deprecation', async (t) => {
  const site = await startAgency(t, scenario.config);
  const plain = await startAgency(t, {});
  const get = async (one: Site): Promise<string> => {
    const text = (await one.send({ method: 'GET', path: `${usual.request.path}?wsdl` })).body.toString();
    return text.replaceAll(String(one.port), 'PORT');
  };
  const [changed, original] = [await get(site), await get(plain)];
  const text =
    'Deprecated since 2026-01-01T00:00:00Z. No longer served after 2026-12-31T23:59:59Z. See https://desk.example/rest';
  t.true(changed.includes(text));
  const element = `<documentation xmlns="http://schemas.xmlsoap.org/wsdl/">${text}</documentation>`;
  t.is(changed.replace(element, '').replace(` ${text}`, ''), original);
});

for (const [title, entries, pointer, message] of [
  [
    'an unknown operation',
    [{ operations: ['GetOpportunityLists'], since: '2026-01-01T00:00:00Z' }],
    '/0/operations/0',
    'expected an operation of the contract, got GetOpportunityLists, did you mean GetOpportunityList?',
  ],
  [
    'an operation in two entries',
    [
      { operations: ['GetOpportunityList'], since: '2026-01-01T00:00:00Z' },
      { operations: ['GetOpportunityList'], since: '2026-01-01T00:00:00Z' },
    ],
    '/1/operations/0',
    'expected an operation of one entry, got GetOpportunityList in two entries',
  ],
  ['no since', [{ operations: [] }], '/0', 'expected since, the time of the deprecation, got none'],
  [
    'a time without an offset',
    [{ since: '2026-01-01T00:00:00' }],
    '/0/since',
    'expected a time with an offset, such as 2027-01-31T00:00:00Z, got "2026-01-01T00:00:00"',
  ],
  [
    'since after sunset',
    [{ since: '2026-01-02T00:00:00Z', sunset: '2026-01-01T00:00:00Z' }],
    '/0/since',
    'expected a time up to sunset, 2026-01-01T00:00:00Z, got 2026-01-02T00:00:00Z',
  ],
  [
    'a brown-out above 24 hours',
    [{ since: '2026-01-01T00:00:00Z', brownouts: [{ at: '2026-02-01T00:00:00Z', for: '25h' }] }],
    '/0/brownouts/0/for',
    'expected at most 24h, got 25h',
  ],
  [
    'a brown-out that ends after sunset',
    [
      {
        since: '2026-01-01T00:00:00Z',
        sunset: '2026-02-01T00:00:00Z',
        brownouts: [{ at: '2026-01-31T23:59:00Z', for: '61s' }],
      },
    ],
    '/0/brownouts/0',
    'expected an end up to sunset, 2026-02-01T00:00:00Z, got 2026-02-01T00:00:01Z',
  ],
  [
    'overlapping brown-outs',
    [
      {
        since: '2026-01-01T00:00:00Z',
        brownouts: [
          { at: '2026-02-01T00:05:00Z', for: '10m' },
          { at: '2026-02-01T00:00:00Z', for: '301s' },
        ],
      },
    ],
    '/0/brownouts/0',
    'expected a start after the brown-out until 2026-02-01T00:05:01Z, got an overlap',
  ],
  [
    'an unknown caller',
    [{ since: '2026-01-01T00:00:00Z', exempt: { slowc: '2026-02-01T00:00:00Z' } }],
    '/0/exempt/slowc',
    'expected a name of callers.yaml or a pseudonym, got slowc, did you mean slowco?',
  ],
  [
    'a link with a character that ends the header field',
    [{ since: '2026-01-01T00:00:00Z', link: 'https://desk.example/>' }],
    '/0/link',
    'expected an http or https URL in printable ASCII, got "https://desk.example/>"',
  ],
] as const)
  test(`G65: ${title} is an error`, async (t) => {
    const error = await t.throwsAsync(startAgency(t, { migration: { deprecate: entries } }), {
      instanceOf: ContractError,
    });
    const [problem] = error?.problems ?? [];
    t.is(problem?.pointer, `/contracts/~1/migration/deprecate${pointer}`);
    t.is(problem?.message, message);
    t.true(problem?.line !== undefined);
  });

test('G65: two brown-outs may touch, of 24 hours, the last one up to sunset', async (t) => {
  const entry = {
    since: '2026-01-01T00:00:00Z',
    sunset: '2026-02-03T00:00:00Z',
    brownouts: [
      { at: '2026-02-01T00:00:00Z', for: '24h' },
      { at: '2026-02-02T00:00:00Z', for: '1d' },
    ],
  };
  await t.notThrowsAsync(startAgency(t, { migration: { deprecate: [entry] } }));
});

test('G1, G4: migration without legacy has only deprecate, and all problems are reported at once', async (t) => {
  const config = { migration: { deprecate: [{ operations: ['x'] }], state: 'state.json' } };
  const error = await t.throwsAsync(startAgency(t, config), { instanceOf: ContractError });
  t.deepEqual(
    error?.problems.map(({ message }) => message),
    ['expected legacy, the legacy service, with migration, got none'],
  );
  const both = {
    legacy: '{legacy}',
    migration: { deprecate: [{ operations: ['x'] }], routes: [{ name: 'a', mode: 'compare' }] },
  };
  const all = await t.throwsAsync(startAgency(t, both), { instanceOf: ContractError });
  t.deepEqual(
    all?.problems.map(({ pointer }) => pointer.replace('/contracts/~1/migration', '')),
    ['/deprecate/0/operations/0', '/deprecate/0', '/routes/0/mode'],
  );
});
