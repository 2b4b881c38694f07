import { requirePackages } from '../../mappings/optional-packages.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Traces } from '../telemetry/traces.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns true if the environment requests traces: a collector's address is set and traces are not disabled. Throws
 * RangeError for values that the library would ignore or does not support.
 */
export function isTracingRequested(environment: Environment): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER = 'otlp' } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === 'true' || OTEL_TRACES_EXPORTER === 'none') return false;
  const isSet = (name: string): boolean => (environment[name] ?? '') !== '';
  const endpoint = endpoints.find(isSet);
  if (endpoint === undefined) return false;
  const expect = (name: string | undefined, what: string, fits: (value: string) => boolean): void => {
    const value = name === undefined ? undefined : environment[name];
    if (value !== undefined && value !== '' && !fits(value))
      // the text before an @ may contain a password
      throw new RangeError(
        `${name}: expected ${what}, got ${JSON.stringify(value.replace(/^.*@/s, '***@'))}`,
      );
  };
  expect(endpoint, 'the URL of a collector, http: or https:', isHttpUrl);
  expect('OTEL_TRACES_EXPORTER', 'otlp or none', (value) => value === 'otlp');
  // Spans are sent as JSON. A collector that accepts protobuf over HTTP accepts JSON, too.
  expect(protocols.find(isSet), 'http/json or http/protobuf', (value) =>
    /^http\/(?:json|protobuf)$/.test(value),
  );
  expect('OTEL_TRACES_SAMPLER', `one of ${samplers.join(', ')}`, (value) => samplers.includes(value));
  if (environment.OTEL_TRACES_SAMPLER?.endsWith('ratio'))
    expect(
      'OTEL_TRACES_SAMPLER_ARG',
      'a number from 0 to 1',
      (value) => Number(value) >= 0 && Number(value) <= 1,
    );
  for (const name of batches)
    expect(name, 'a whole number above 0', (value) => /^0*[1-9]\d{0,8}$/.test(value));
  return true;
}

/** The variable for traces takes precedence over the general one. */
const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
const protocols = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
const samplers: readonly string[] = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
];
const batches = [
  'OTEL_BSP_MAX_QUEUE_SIZE',
  'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_BSP_EXPORT_TIMEOUT',
];

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol);
}

/** Opens traces. The library is loaded only here. Throws MissingPackageError. */
export async function openTraces(log: Logger): Promise<Traces> {
  requirePackages('traces');
  const { OpenTelemetry } = await import('../telemetry/open-telemetry.ts');
  return new OpenTelemetry((isAway, why) => {
    if (isAway) log.warn({ traces: 'lost', why }, 'OpenTelemetry collector unavailable: spans are dropped');
    else log.info({ traces: 'taken' }, 'OpenTelemetry collector available');
  });
}
