import type { Version } from '../checks.ts';

/** The requests that a gateway counts since its start. */
export interface Seen {
  /** Number of served documents: WSDLs and schemas. */
  readonly documents: number;
  /** Number of SOAP messages by version. */
  readonly calls: Readonly<Record<Version, number>>;
}

/** Path of a contract whose calls are not counted, because the run makes them itself. */
export const loadPath = '/load';

/** Returns a function that reads the counters of a gateway from its metrics. The reads themselves do not count. */
export function watchRequests(url: string): () => Promise<Seen> {
  let reads = 0;
  return async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const count = (transport: string, status: string): number => {
      const labels = `(?!contract="${loadPath}")[^}]*transport="${transport}",status="${status}"`;
      const samples = text.matchAll(new RegExp(`^soapbridge_requests_total\\{${labels}\\} (\\d+)$`, 'gm'));
      return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
    };
    const documents = count('http', '200') - reads;
    reads += 1;
    return { documents, calls: { '1.1': count('soap11', '\\d+'), '1.2': count('soap12', '\\d+') } };
  };
}

/**
 * Returns the number of calls in the wrong version as a message, or undefined if all calls were in the right version.
 */
export function versionProblem(before: Seen, after: Seen, version: Version): string | undefined {
  const other = version === '1.1' ? '1.2' : '1.1';
  const wrong = after.calls[other] - before.calls[other];
  return wrong === 0 ? undefined : `expected SOAP ${version} in every call, got SOAP ${other} in ${wrong}`;
}

/** Returns undefined if the client fetched the WSDL from the gateway and made calls in the version. */
export function importProblem(before: Seen, after: Seen, version: Version): string | undefined {
  // the second version uses the code that was generated for the first
  if (after.documents === 0) return 'expected a GET of the WSDL, got none';
  return after.calls[version] === before.calls[version] ? 'expected calls, got none' : undefined;
}
