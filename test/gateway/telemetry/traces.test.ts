import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { isTracingRequested } from '../../../gateway/process/traces.ts';
import { maxWaits, noteWait, startStats } from '../../../gateway/telemetry/request-stats.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import * as comparing from '../../migration/comparing.ts';
import { contractFolder, readScenario, type StubReply, startSite } from '../../migration/scenario.ts';
import { until } from '../../until.ts';
import { emptyReply, envelope, keyHeaders, startGateway } from '../gateway.ts';

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

/** Starts a collector that accepts OTLP over HTTP, or responds with this status. */
async function startCollector(t: ExecutionContext, status = 200) {
  const spans: OtlpSpan[] = [];
  const resources: Record<string, unknown>[] = [];
  let heard = (): void => {};
  const server = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as {
      resourceSpans: {
        resource: { attributes: OtlpSpan['attributes'] };
        scopeSpans: { spans: OtlpSpan[] }[];
      }[];
    };
    for (const { resource, scopeSpans } of resourceSpans) {
      resources.push(attributesOf(resource));
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    heard();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env.OTEL_BSP_SCHEDULE_DELAY = '20';
  return {
    spans,
    resources,
    /** Waits until at least `count` spans have arrived. */
    atLeast: async (count: number): Promise<void> => {
      while (spans.length < count)
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
    },
  };
}

function attributesOf({ attributes }: Pick<OtlpSpan, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = `00-${traceId}-b7ad6b7169203331-01`;
const soapHeaders = { 'Content-Type': 'text/xml', SOAPAction: '"GetSearch"' };

test.serial(
  'a call is a span with children decode, upstream and encode, in the caller’s trace',
  async (t) => {
    const collector = await startCollector(t);
    const gateway = await startGateway(t, { serve: { traces: true } });
    const headers = { ...soapHeaders, traceparent: parent, tracestate: 'vendor=1' };
    t.is((await gateway.send('POST', '/soap11', headers, envelope('1.1'))).status, 200);
    await collector.atLeast(4);
    const [call] = collector.spans.filter(({ kind }) => kind === 2);
    t.is(call?.name, 'GetSearch');
    t.is(call?.parentSpanId, 'b7ad6b7169203331');
    t.like(call === undefined ? {} : attributesOf(call), {
      'soapbridge.operation': 'GetSearch',
      'soapbridge.contract': '/v2',
      'soapbridge.transport': 'soap11',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
    });
    for (const { traceId: id } of collector.spans) t.is(id, traceId);
    const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === call?.spanId);
    t.deepEqual(below.map(({ name }) => name).sort(), ['POST /json/reply/GetSearch', 'decode', 'encode']);
    const upstream = below.find(({ kind }) => kind === 3);
    t.is(gateway.hits[0]?.headers.traceparent, `00-${traceId}-${upstream?.spanId}-01`);
    t.is(gateway.hits[0]?.headers.tracestate, 'vendor=1');
    // The spans are in order and within the call.
    const [decode, encode] = ['decode', 'encode'].map((wanted) => below.find(({ name }) => name === wanted));
    const times = [call, decode, upstream, encode].map((span) => BigInt(span?.startTimeUnixNano ?? 0));
    t.deepEqual(
      times,
      times.toSorted((a, b) => (a < b ? -1 : 1)),
    );
    t.true(Math.abs(Number((times[0] ?? 0n) / 1_000_000n) - Date.now()) < 60_000);
    t.true(BigInt(encode?.endTimeUnixNano ?? 0) <= BigInt(call?.endTimeUnixNano ?? 0));
    t.is(collector.resources[0]?.['service.name'], 'soapbridge');
    t.notRegex(JSON.stringify(collector), /<ApiUserKey>|"key":"ApiUserKey"|X-Api-Key/);
  },
);

test.serial(
  'an unsampled caller has no spans and is unsampled upstream; without a trace one starts',
  async (t) => {
    const collector = await startCollector(t);
    const gateway = await startGateway(t, { serve: { traces: true } });
    const unsampled = { ...keyHeaders, traceparent: parent.replace(/01$/, '00') };
    await gateway.send('POST', '/json/reply/GetSearch', unsampled, '{}');
    t.regex(String(gateway.hits[0]?.headers.traceparent), new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    for (const wrong of ['ff-1-2-3', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, 'x'.repeat(2_000)]) {
      await gateway.send('POST', '/json/reply/GetSearch', { ...keyHeaders, traceparent: wrong }, '{}');
      t.regex(String(gateway.hits.at(-1)?.headers.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    }
    await collector.atLeast(12);
    t.false(collector.spans.some((span) => span.traceId === traceId));
  },
);

test.serial('a failed call has its error in the span, sent upstream or not', async (t) => {
  const collector = await startCollector(t);
  const gateway = await startGateway(t, { serve: { traces: true } });
  gateway.answer({ status: 500, body: 'no JSON' });
  await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  await gateway.send('POST', '/json/reply/GetSearch', {}, '{}');
  await collector.atLeast(5);
  const calls = collector.spans.filter(({ kind }) => kind === 2).map((span) => attributesOf(span));
  t.is(calls.length, 2);
  t.true(calls.some((attributes) => attributes['error.type'] === 'Unauthorized'));
  const upstream = collector.spans.find(({ kind }) => kind === 3);
  t.is(upstream?.status.code, 2);
  t.is(upstream === undefined ? undefined : attributesOf(upstream)['http.response.status_code'], 500);
});

/** Starts a gateway with traces whose upstream keeps each call until it is released. */
async function startHeld(t: ExecutionContext, limits: Partial<Limits>) {
  const collector = await startCollector(t);
  const gateway = await startGateway(t, { serve: { traces: true }, limits });
  const held: (() => void)[] = [];
  gateway.answer((_hit, response) => held.push(() => response.end(emptyReply)));
  const read = () => gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  const next = async (): Promise<() => void> => {
    await until(() => held.length > 0);
    return held.shift() ?? (() => {});
  };
  return { collector, gateway, read, next };
}

test.serial('the upstream span starts when the call is sent; the wait before is a queue span', async (t) => {
  const { collector, gateway, read, next } = await startHeld(t, { upstreamConnections: 1 });
  const first = read();
  const release = await next();
  const second = read();
  await until(() => gateway.running.load().inFlight === 2);
  release();
  t.is((await first).status, 200);
  (await next())();
  t.is((await second).status, 200);
  await collector.atLeast(9);
  const queued = collector.spans.filter(({ name }) => name === 'queue');
  t.is(queued.length, 1);
  const [queue] = queued;
  const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === queue?.parentSpanId);
  t.deepEqual(
    below.map(({ name }) => name),
    ['queue', 'decode', 'POST /json/reply/GetSearch', 'encode'],
  );
  const [, decode, upstream] = below;
  t.is(upstream?.startTimeUnixNano, queue?.endTimeUnixNano);
  t.true(BigInt(queue?.startTimeUnixNano ?? 0) >= BigInt(decode?.endTimeUnixNano ?? 0));
  t.is(gateway.hits[1]?.headers.traceparent, `00-${queue?.traceId}-${upstream?.spanId}-01`);
});

test.serial('the wait for a slot is a queue span before decode', async (t) => {
  const { collector, gateway, read, next } = await startHeld(t, { inFlight: 1 });
  const first = read();
  const release = await next();
  const second = read();
  await until(() => gateway.running.load().queued === 1);
  release();
  (await next())();
  await Promise.all([first, second]);
  await collector.atLeast(9);
  const queue = collector.spans.find(({ name }) => name === 'queue');
  const decode = collector.spans.find(
    ({ name, parentSpanId }) => name === 'decode' && parentSpanId === queue?.parentSpanId,
  );
  t.is(decode?.startTimeUnixNano, queue?.endTimeUnixNano);
});

test.serial('a call that gets no connection has a queue span and no upstream span', async (t) => {
  const limits = { upstreamConnections: 1, upstreamQueueMs: 50 };
  const { collector, read, next } = await startHeld(t, limits);
  const first = read();
  const release = await next();
  t.is((await read()).status, 503);
  release();
  t.is((await first).status, 200);
  await collector.atLeast(8);
  const queue = collector.spans.find(({ name }) => name === 'queue');
  const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === queue?.parentSpanId);
  t.deepEqual(
    below.map(({ name }) => name),
    ['queue', 'decode', 'encode'],
  );
});

test('maxWaits: further waits of a request are only added to its time', (t) => {
  const stats = startStats('id', 'POST');
  for (let at = 0; at < maxWaits; at++) noteWait(stats, at, at + 1);
  t.is(stats.waits?.length, maxWaits);
  noteWait(stats, maxWaits, maxWaits + 1);
  t.is(stats.waits?.length, maxWaits);
  t.is(stats.queueMs, maxWaits + 1);
});

test.serial('a failing collector affects no call; lost spans are counted, and logged once', async (t) => {
  await startCollector(t, 400);
  const gateway = await startGateway(t, { serve: { traces: true } });
  for (let turn = 0; turn < 5; turn++) {
    const reply = await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
    t.is(reply.status, 200);
    t.is(reply.text, emptyReply);
  }
  let page = '';
  while (!/^soapbridge_spans_lost_total (?:[1-9]\d*)$/m.test(page))
    page = await (await fetch(`${gateway.running.url}/metrics`)).text();
  t.is(gateway.log().split('OpenTelemetry collector unavailable: spans are dropped').length, 2);
});

test.serial('without traces nothing is exported, and the upstream gets no trace headers', async (t) => {
  const gateway = await startGateway(t);
  await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  t.is(gateway.hits[0]?.headers.traceparent, undefined);
  t.notRegex(await (await fetch(`${gateway.running.url}/metrics`)).text(), /spans_lost/);
});

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

for (const [environment, asked] of [
  [{}, false],
  [endpoint, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }, true],
  [{ ...endpoint, OTEL_SDK_DISABLED: 'true' }, false],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, false],
  [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, true],
] as const) {
  test(`${JSON.stringify(environment)} turns traces ${asked ? '' : 'not '}on`, (t) => {
    t.is(isTracingRequested(environment), asked);
  });
}

for (const [name, value, expected] of [
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'http/json or http/protobuf'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc', 'http/json or http/protobuf'],
  ['OTEL_TRACES_EXPORTER', 'zipkin', 'otlp or none'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'the URL of a collector, http: or https:'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'nonsense', 'the URL of a collector, http: or https:'],
  [
    'OTEL_TRACES_SAMPLER',
    'sometimes',
    'one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio',
  ],
  ['OTEL_TRACES_SAMPLER_ARG', '1.01', 'a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', 'half', 'a number from 0 to 1'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '-1', 'a whole number above 0'],
  ['OTEL_BSP_SCHEDULE_DELAY', '5s', 'a whole number above 0'],
] as const) {
  test(`${name}=${value} is refused, unless it is the default or empty`, (t) => {
    const environment = { ...endpoint, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', [name]: value };
    t.throws(() => isTracingRequested(environment), {
      instanceOf: RangeError,
      message: `${name}: expected ${expected}, got ${JSON.stringify(value)}`,
    });
  });
}

test('the error for a refused collector address contains no password', (t) => {
  t.throws(() => isTracingRequested({ OTEL_EXPORTER_OTLP_ENDPOINT: 'user:canary@host' }), {
    message: 'OTEL_EXPORTER_OTLP_ENDPOINT: expected the URL of a collector, http: or https:, got "***@host"',
  });
});

test('settings for traces win over general ones', (t) => {
  const forTraces = { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' };
  t.true(isTracingRequested({ ...endpoint, ...forTraces, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }));
});

test.serial('the log lines of a request, valid or refused, and of its audit have its trace', async (t) => {
  await startCollector(t);
  const gateway = await startGateway(t, { serve: { traces: true } });
  const headers = { ...soapHeaders, traceparent: parent };
  await gateway.send('POST', '/soap11', headers, envelope('1.1'));
  await gateway.send('POST', '/soap11', headers, '<broken');
  await gateway.send('POST', '/soap11', soapHeaders, envelope('1.1'));
  const lines = gateway
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const traces = lines.filter(({ requestId }) => requestId !== undefined).map(({ traceId: id }) => id);
  t.deepEqual(traces.slice(0, 2), [traceId, traceId]);
  t.regex(traces[2], /^[0-9a-f]{32}$/);
  t.not(traces[2], traceId);
});

/** Scenario in which the upstream finds nothing, so that the legacy service answers. */
interface FallbackScenario {
  readonly contract: string;
  readonly config: Record<string, unknown>;
  readonly calls: readonly {
    readonly request: {
      readonly path: string;
      readonly headers: Record<string, string>;
      readonly body: string;
      readonly caller: string;
    };
    readonly legacy: StubReply;
    readonly new: StubReply;
  }[];
}

test.serial('G52: a compared call has the spans legacy, shadow and compare, its children', async (t) => {
  const collector = await startCollector(t);
  const site = await comparing.startComparing(t, {}, { serve: { traces: true } });
  const { path, headers, zip, message } = comparing;
  await site.send({ path, headers, body: message('GRANT1') });
  const named = (name: string) => collector.spans.find((span) => span.name === name);
  await until(() => named('compare') !== undefined && named(zip) !== undefined);
  const call = named(zip);
  for (const name of ['legacy', 'shadow', 'compare']) {
    t.is(named(name)?.parentSpanId, call?.spanId, name);
    t.is(named(name)?.traceId, call?.traceId, name);
  }
  const { traceparent } = site.legacy.hits[0]?.headers ?? {};
  t.is(traceparent, `00-${call?.traceId}-${named('legacy')?.spanId}-01`);
});

for (const [mode, statuses] of [
  ['fallback', [404, 200]],
  ['legacy', [200]],
] as const) {
  test.serial(`each upstream call of migration mode ${mode} has a span`, async (t) => {
    const collector = await startCollector(t);
    const scenario = readScenario<FallbackScenario>('S26');
    const [call] = scenario.calls;
    if (call === undefined) return t.fail();
    const routes = [{ name: 'zips', operations: ['GetApplicationZip'], mode }];
    const site = await startSite(t, {
      contract: contractFolder(scenario.contract),
      config: {
        ...scenario.config,
        migration: { routes, fallback: { GetApplicationZip: ['ApplicationNotFound'] } },
      },
      callers: [call.request.caller],
      serve: { traces: true },
    });
    site.legacy.answer = call.legacy;
    site.upstream.answer = call.new;
    t.is((await site.send(call.request)).status, 200);
    await until(() => collector.spans.some(({ kind }) => kind === 2));
    const served = collector.spans.filter(({ kind }) => kind === 2);
    t.is(served.length, 1);
    const sent = collector.spans
      .filter(({ kind }) => kind === 3)
      .toSorted((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
    t.deepEqual(
      sent.map((span) => Number(attributesOf(span)['http.response.status_code'])),
      [...statuses],
    );
    t.deepEqual(
      sent.map(({ parentSpanId }) => parentSpanId),
      sent.map(() => served[0]?.spanId),
    );
    const hits = [...site.upstream.hits, ...site.legacy.hits];
    t.deepEqual(
      hits.map(({ headers }) => headers.traceparent),
      sent.map(({ traceId: id, spanId }) => `00-${id}-${spanId}-01`),
    );
  });
}
