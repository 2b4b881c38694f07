/** Client stacks that calls are attributed to (G62). */
export type ClientStack =
  | 'unknown'
  | '.NET WCF'
  | '.NET asmx proxy'
  | 'CXF'
  | 'Axis 1'
  | 'Axis 2'
  | 'JAX-WS RI'
  | 'zeep'
  | 'suds'
  | 'PHP SoapClient'
  | 'SOAP::Lite'
  | 'node-soap'
  | 'gSOAP';

/** Texts in `User-Agent`, in order of precedence. */
const byUserAgent: readonly (readonly [text: string, stack: ClientStack])[] = [
  ['MS Web Services Client Protocol', '.NET asmx proxy'],
  ['Apache-CXF', 'CXF'],
  ['Apache CXF', 'CXF'],
  ['Axis2', 'Axis 2'],
  ['Axis/', 'Axis 1'],
  ['JAX-WS RI', 'JAX-WS RI'],
  ['JAXWS-RI', 'JAX-WS RI'],
  ['XML-WS Runtime', 'JAX-WS RI'],
  ['Metro/', 'JAX-WS RI'],
  ['Zeep/', 'zeep'],
  ['PHP-SOAP', 'PHP SoapClient'],
  ['PHP SOAP', 'PHP SoapClient'],
  ['SOAP::Lite', 'SOAP::Lite'],
  ['node-soap/', 'node-soap'],
  ['gSOAP/', 'gSOAP'],
  ['suds', 'suds'],
];

/** Returns true if the stack of a client depends on its messages. */
export function needsMessage(userAgent: string | undefined): boolean {
  return userAgent === undefined || userAgent.startsWith('Python-urllib/');
}

/**
 * Returns the client stack of a caller (G62).
 *
 * @param start the first bytes of a SOAP message as text; undefined if they are not known
 */
export function clientStackOf(userAgent: string | undefined, start: string | undefined): ClientStack {
  const found = byUserAgent.find(([text]) => userAgent?.includes(text) === true);
  if (found !== undefined) return found[1];
  const envelope = start === undefined ? undefined : startTagOf(start);
  if (envelope === undefined) return 'unknown';
  // WCF sends no User-Agent
  if (userAgent === undefined) return envelope.startsWith('<s:Envelope ') ? '.NET WCF' : 'unknown';
  const isSuds = envelope.startsWith('<SOAP-ENV:Envelope ') && envelope.includes(' xmlns:ns0=');
  return isSuds && needsMessage(userAgent) ? 'suds' : 'unknown';
}

/** Returns the start tag of the envelope; undefined for none. */
function startTagOf(text: string): string | undefined {
  const name = text.indexOf('Envelope');
  if (name < 0) return undefined;
  const end = text.indexOf('>', name);
  return text.slice(text.lastIndexOf('<', name), end < 0 ? text.length : end);
}
