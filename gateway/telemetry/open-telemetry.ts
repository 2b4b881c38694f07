import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import { one } from './metrics.ts';
import type { Observed, Observer } from './observer.ts';
import type { RequestStats } from './request-stats.ts';
import type { Traces } from './traces.ts';

/** The spans of a request that aren't over yet. */
interface Open {
  readonly call: Span;
  readonly context: Context;
  upstream: Span | undefined;
  /** What makes a time of `performance.now()` one since 1970: the same for all spans of a call, so that they fit. */
  readonly offset: number;
  /** When the answer was there, in ms of `performance.now()`. */
  answeredAt: number | undefined;
}

/** How long a stopping process waits for the collector, in ms. */
const closeMs = 2_000;

/**
 * Spans for calls, by OpenTelemetry and OTLP over HTTP, set by the standard variables `OTEL_*`. Nothing is registered in the
 * process: other users of the library have theirs.
 *
 * @param onChange told when the collector takes no spans, with the library's words, and when it takes them again
 */
export function createTraces(onChange: (isAway: boolean, why: string) => void): Traces {
  const exporter = watched(new OTLPTraceExporter(), onChange);
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'soapbridge' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('soapbridge');
  const open = new Map<RequestStats, Open>();

  const begin = ({ head, started, stats }: Observed): Open => {
    const offset = Date.now() - performance.now();
    const options = { kind: SpanKind.SERVER, startTime: offset + started };
    const call = tracer.startSpan(stats.operation ?? stats.method, options, parentOf(head.headers));
    return {
      call,
      context: trace.setSpan(ROOT_CONTEXT, call),
      upstream: undefined,
      offset,
      answeredAt: undefined,
    };
  };

  const observerOf = (contract: string): Observer => ({
    sending: (traced, { method, operation }) => {
      const { started, stats } = traced;
      const { path } = operation.upstream;
      const now = performance.now();
      const spans = begin(traced);
      open.set(stats, spans);
      const { context, offset } = spans;
      tracer.startSpan('decode', { startTime: offset + started }, context).end(offset + now);
      const attributes = { 'http.request.method': method, 'url.template': path };
      const options = { kind: SpanKind.CLIENT, startTime: offset + now, attributes };
      spans.upstream = tracer.startSpan(`${method} ${path}`, options, context);
      return headersOf(spans.upstream);
    },
    settled: ({ stats }) => {
      const spans = open.get(stats);
      const { upstream } = spans ?? {};
      if (spans === undefined || upstream === undefined) return;
      const now = performance.now();
      spans.answeredAt = now;
      const { upstreamStatus, retries } = stats;
      if (upstreamStatus > 0) upstream.setAttribute('http.response.status_code', upstreamStatus);
      if (retries > 0) upstream.setAttribute('http.request.resend_count', retries);
      if (upstreamStatus === 0 || upstreamStatus >= 400) upstream.setStatus({ code: SpanStatusCode.ERROR });
      upstream.end(spans.offset + now);
    },
    finished: (traced) => {
      const { stats } = traced;
      const spans = open.get(stats) ?? begin(traced);
      open.delete(stats);
      const { call, context, offset, answeredAt } = spans;
      const now = traced.started + stats.ms;
      if (answeredAt !== undefined)
        tracer
          .startSpan('encode', { startTime: offset + answeredAt }, context)
          .end(offset + Math.max(answeredAt, now));
      const status = stats.meant ?? stats.status;
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
      if (status >= 500) call.setStatus({ code: SpanStatusCode.ERROR });
      call.end(offset + now);
    },
  });
  return {
    observerOf,
    read: () => [
      one('spans_lost_total', 'counter', 'Spans that the collector did not take.', exporter.lost()),
    ],
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeMs);
      });
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      clearTimeout(timer);
    },
  };
}

/** An exporter that counts what it loses, and tells when that begins and ends. */
function watched(
  exporter: SpanExporter,
  onChange: (isAway: boolean, why: string) => void,
): SpanExporter & { readonly lost: () => number } {
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

/** Version, trace id, parent's id, flags (W3C Trace Context); zeros are none, and ff is no version. */
const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-[\x21-\x7e]*)?$/;
const zeros = /^0+$/;

/** What a request's headers say that it is part of; nothing where they are malformed. */
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

function headersOf(span: Span): Readonly<Record<string, string>> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  const state = traceState?.serialize() ?? '';
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(state === '' ? {} : { tracestate: state }) };
}
