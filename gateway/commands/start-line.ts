import type { Serving } from '../process/workers.ts';

/** The flags of `serve` that the start line shows. */
interface StartFlags {
  readonly config?: string;
  readonly upstream?: string;
  readonly workers: number;
}

/** pino's number for `info`. */
const info = 30;

/**
 * Returns the line that `serve` prints when it listens: a sentence for a terminal, otherwise a JSON object like the
 * lines of the log. Both contain the addresses.
 */
export function startLine(serving: Serving, flags: StartFlags, isTerminal: boolean): string {
  const { url, endpoints } = serving;
  const { config, upstream, workers } = flags;
  const all = endpoints.flat();
  if (!isTerminal) {
    return JSON.stringify({
      level: info,
      time: Date.now(),
      url,
      ...(config === undefined ? { upstream: upstream ?? 'embedded' } : { config }),
      workers,
      wsdl: endpoints.flatMap((each) => wsdlsOf(each)),
      endpoints: all,
      msg: `soapbridge listens on ${url}`,
    });
  }
  const by = workers === 1 ? '' : ` with ${workers} workers`;
  const served = endpoints.length === 1 ? 'the contract' : `the ${endpoints.length} contracts`;
  const what =
    config === undefined
      ? `in front of ${upstream ?? 'the embedded reference upstream'}`
      : `for ${served} of ${config}`;
  const wsdls = endpoints.flatMap((each) => wsdlsOf(each)).join(' · ');
  return `soapbridge listens on ${url}${by} ${what}: WSDL ${wsdls} · SOAP ${all.join(' · ')}`;
}

/**
 * Returns the WSDL address of a contract. There is only one, because all endpoints of a contract serve the same WSDL.
 */
function wsdlsOf([first]: readonly string[]): readonly string[] {
  return first === undefined ? [] : [`${first}?wsdl`];
}
