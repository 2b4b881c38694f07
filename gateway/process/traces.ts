import type { Logger } from 'pino';
import type { Traces } from '../telemetry/traces.ts';

/** Whether the environment asks for traces: by a collector's address, unless it also says that there are none. */
export function asksForTraces(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER = 'otlp' } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === 'true' || OTEL_TRACES_EXPORTER === 'none') return false;
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT } = environment;
  if ((OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || OTEL_EXPORTER_OTLP_ENDPOINT || '') === '') return false;
  if (OTEL_TRACES_EXPORTER !== 'otlp')
    throw new RangeError(
      `OTEL_TRACES_EXPORTER: expected otlp or none, got ${JSON.stringify(OTEL_TRACES_EXPORTER)}`,
    );
  const protocol =
    environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? environment.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/json';
  // what goes out is JSON, which a collector takes where it takes protobuf over HTTP
  if (protocol !== 'http/json' && protocol !== 'http/protobuf')
    throw new RangeError(
      `OTEL_EXPORTER_OTLP_PROTOCOL: expected http/json or http/protobuf, got ${JSON.stringify(protocol)}`,
    );
  return true;
}

/** Opens traces, by a library that nothing else loads. */
export async function openTraces(log: Logger): Promise<Traces> {
  const { createTraces } = await import('../telemetry/open-telemetry.ts');
  return createTraces((isAway, why) => {
    if (isAway) log.warn({ traces: 'lost', why }, 'the collector takes no spans: they are lost, calls go on');
    else log.info({ traces: 'taken' }, 'the collector takes spans again');
  });
}
