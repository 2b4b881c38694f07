import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  NodeTracerProvider,
  RandomIdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import { one, type Snapshot } from './metrics.ts';
import type { Observed, ObservedCall, Observer } from './observer.ts';
import type { RequestStats } from './request-stats.ts';
import type { Traces } from './traces.ts';

/** Id and attributes of an upstream span. */
interface UpstreamSpan {
  readonly id: string;
  readonly method: string;
  /** Path template; undefined for a call to a legacy service. */
  readonly path: string | undefined;
}

/** Open spans of a request. */
interface Open {
  readonly call: Span;
  readonly context: Context;
  /** The upstream span, which is created when its start is known. Undefined without a call. */
  upstream: UpstreamSpan | undefined;
  /**
   * Difference between ms since 1970 and `performance.now()`. All spans of a call use the same difference, so that
   * their times are consistent.
   */
  readonly offset: number;
  /** Times when the upstream request was ready and when its response arrived, in ms of `performance.now()`. */
  decodedAt: number | undefined;
  answeredAt: number | undefined;
}

/** Maximum time that a stopping process waits for the collector, in ms. */
const closeMs = 2_000;

/**
 * Spans of calls, sent by OpenTelemetry with OTLP over HTTP and configured by the standard variables `OTEL_*`. It
 * registers nothing globally in the process, because other users of the library may have their own providers.
 */
export class OpenTelemetry implements Traces {
  readonly #exporter: WatchedExporter;
  readonly #provider: NodeTracerProvider;
  readonly #tracer: Tracer;
  readonly #ids = new ChosenIds();
  readonly #open = new Map<RequestStats, Open>();
  /** Spans of answered calls whose replies may still be compared. */
  readonly #compared = new WeakMap<RequestStats, Open>();

  /**
   * @param onChange called when the collector stops accepting spans, with the library's reason, and when it accepts
   * them again
   */
  constructor(onChange: (isAway: boolean, why: string) => void) {
    this.#exporter = watched(new OTLPTraceExporter(), onChange);
    this.#provider = new NodeTracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': 'soapbridge' }))
        .merge(detectResources({ detectors: [envDetector] })),
      idGenerator: this.#ids,
      spanProcessors: [new BatchSpanProcessor(this.#exporter)],
    });
    this.#tracer = this.#provider.getTracer('soapbridge');
  }

  observerOf(contract: string): Observer {
    return {
      sending: (exchange, call) => this.#beginUpstream(exchange, call),
      settled: ({ stats }) => {
        const spans = this.#open.get(stats);
        if (spans !== undefined) spans.answeredAt = performance.now();
      },
      compared: ({ stats }, work, from, to) => {
        const spans = this.#open.get(stats) ?? this.#compared.get(stats);
        if (spans !== undefined) this.#write(spans, work, from, to);
      },
      finished: (exchange) => this.#end(exchange, contract),
    };
  }

  read(): Snapshot {
    const lost = this.#exporter.lost();
    return [one('spans_lost_total', 'counter', 'Spans not delivered to the collector.', lost)];
  }

  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeMs);
    });
    await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
  }

  #begin({ head, started, stats }: Observed): Open {
    const offset = Date.now() - performance.now();
    const options = { kind: SpanKind.SERVER, startTime: offset + started };
    const name = stats.operation ?? stats.method;
    const call = this.#tracer.startSpan(name, options, parentOf(head.headers));
    const context = trace.setSpan(ROOT_CONTEXT, call);
    stats.traceId = call.spanContext().traceId;
    return { call, context, upstream: undefined, offset, decodedAt: undefined, answeredAt: undefined };
  }

  /**
   * Returns the header fields that add the upstream's spans to the trace. With migration mode `fallback` a request has a
   * second call, to the legacy service.
   */
  #beginUpstream(exchange: Observed, { method, operation }: ObservedCall): Readonly<Record<string, string>> {
    const { stats } = exchange;
    const spans = this.#open.get(stats) ?? this.#begin(exchange);
    this.#open.set(stats, spans);
    if (spans.answeredAt !== undefined) this.#writeUpstream(spans, stats, spans.answeredAt);
    spans.answeredAt = undefined;
    spans.decodedAt ??= performance.now();
    const isNew = stats.route === undefined || stats.route.side === 'new';
    const path = isNew ? operation.upstream.path : undefined;
    spans.upstream = { id: this.#ids.generateSpanId(), method, path };
    // A child span has the sampling decision of its parent.
    return headersOf({ ...spans.call.spanContext(), spanId: spans.upstream.id });
  }

  /** Writes a part of a call as a span. Times are in ms of `performance.now()`. */
  #write({ offset, context }: Open, name: string, from: number, to: number): void {
    this.#tracer.startSpan(name, { startTime: offset + from }, context).end(offset + to);
  }

  /** Writes the spans of the parts of a call: `queue`, `decode`, the upstream call and `encode`. */
  #writeParts(spans: Open, { started, stats }: Observed, end: number): void {
    const { decodedAt, answeredAt } = spans;
    const { waits = [] } = stats;
    for (const wait of waits) this.#write(spans, 'queue', ...wait);
    if (decodedAt !== undefined) {
      const [, admittedAt = started] = waits.findLast(([, to]) => to <= decodedAt) ?? [];
      this.#write(spans, 'decode', admittedAt, decodedAt);
    }
    // the reply of a legacy service is streamed, and can end before the call is settled
    if (answeredAt !== undefined || isLegacy(spans.upstream))
      this.#writeUpstream(spans, stats, answeredAt ?? end);
    if (answeredAt !== undefined) this.#write(spans, 'encode', answeredAt, Math.max(answeredAt, end));
  }

  /**
   * Writes the span of an upstream call that was sent. It begins when the request is passed to a connection, after all
   * waits for one.
   */
  #writeUpstream({ upstream, context, offset }: Open, stats: RequestStats, end: number): void {
    if (upstream === undefined) return;
    const { id, method, path } = upstream;
    const { sentAt, status, retries } = path === undefined ? legacyCallOf(stats, end) : upstreamCallOf(stats);
    if (sentAt === undefined) return;
    const template = path === undefined ? {} : { 'url.template': path };
    const attributes = { 'http.request.method': method, ...template };
    const options = { kind: SpanKind.CLIENT, startTime: offset + sentAt, attributes };
    this.#ids.next = id;
    const span = this.#tracer.startSpan(
      path === undefined ? 'legacy' : `${method} ${path}`,
      options,
      context,
    );
    if (status > 0) span.setAttribute('http.response.status_code', status);
    if (retries > 0) span.setAttribute('http.request.resend_count', retries);
    if (status === 0 || status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(offset + end);
  }

  #end(exchange: Observed, contract: string): void {
    const { started, stats } = exchange;
    const spans = this.#open.get(stats) ?? this.#begin(exchange);
    this.#open.delete(stats);
    if (stats.route?.mode === 'compare') this.#compared.set(stats, spans);
    const { call, offset } = spans;
    const now = started + stats.ms;
    this.#writeParts(spans, exchange, now);
    call.setAttributes({
      'http.request.method': stats.method,
      'http.response.status_code': stats.status,
      'soapbridge.contract': contract,
      'soapbridge.transport': stats.transport,
      'soapbridge.request_id': stats.requestId,
    });
    if (stats.operation !== undefined) call.setAttribute('soapbridge.operation', stats.operation);
    if (stats.caller !== undefined) call.setAttribute('soapbridge.caller', stats.caller);
    const error = stats.error ?? stats.fault;
    if (error !== undefined) call.setAttribute('error.type', error);
    if ((stats.meant ?? stats.status) >= 500) call.setStatus({ code: SpanStatusCode.ERROR });
    call.end(offset + now);
  }
}

function isLegacy(upstream: UpstreamSpan | undefined): boolean {
  return upstream !== undefined && upstream.path === undefined;
}

/** Result of an upstream call. `sentAt` is undefined if it was not sent. */
interface CallResult {
  readonly sentAt: number | undefined;
  /** 0 without a response. */
  readonly status: number;
  readonly retries: number;
}

function upstreamCallOf({ sent, sentAt, upstreamStatus: status, retries }: RequestStats): CallResult {
  return { sentAt: sent > 0 ? sentAt : undefined, status, retries };
}

function legacyCallOf({ route }: RequestStats, end: number): CallResult {
  const { legacyMs, legacyStatus = 0 } = route ?? {};
  return { sentAt: legacyMs === undefined ? undefined : end - legacyMs, status: legacyStatus, retries: 0 };
}

/** Generates random ids, and can give a span an id that was chosen before the span is created. */
class ChosenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  readonly generateTraceId = (): string => this.#random.generateTraceId();
  /** Id of the next span; undefined for a random one. */
  next: string | undefined;

  readonly generateSpanId = (): string => {
    const id = this.next ?? this.#random.generateSpanId();
    this.next = undefined;
    return id;
  };
}

type WatchedExporter = SpanExporter & { readonly lost: () => number };

/** Wraps an exporter: counts lost spans, and calls `onChange` when losses begin and end. */
function watched(exporter: SpanExporter, onChange: (isAway: boolean, why: string) => void): WatchedExporter {
  let lost = 0;
  let isAway = false;
  return {
    lost: () => lost,
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        const isLost = result.error !== undefined || result.code !== 0;
        if (isLost) lost += spans.length;
        if (isLost !== isAway) {
          isAway = isLost;
          onChange(isAway, result.error?.name ?? '');
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/** Version, trace id, parent's id, flags (W3C Trace Context). Ids of zeros and version ff are invalid. */
const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-[\x21-\x7e]*)?$/;
const zeros = /^0+$/;

/** Returns the trace context of a request's headers; the root context if they are malformed. */
function parentOf(headers: IncomingHeaders): Context {
  const given = headers.traceparent;
  const [, version, traceId = '', spanId = '', flags] =
    (typeof given === 'string' ? traceparent.exec(given) : undefined) ?? [];
  if (version === undefined || version === 'ff' || zeros.test(traceId) || zeros.test(spanId))
    return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags ?? '00', 16) & TraceFlags.SAMPLED;
  const state = headers.tracestate;
  const traceState = typeof state === 'string' ? { traceState: createTraceState(state) } : {};
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true, ...traceState });
}

type IncomingHeaders = Observed['head']['headers'];

function headersOf({
  traceId,
  spanId,
  traceFlags,
  traceState,
}: SpanContext): Readonly<Record<string, string>> {
  const flags = traceFlags.toString(16).padStart(2, '0');
  const state = traceState?.serialize() ?? '';
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(state === '' ? {} : { tracestate: state }) };
}
