import type { IncomingMessage } from 'node:http';

/**
 * Form of a Host header (RFC 9112 §3.2): a name, an IPv4 address or a bracketed IPv6 address, and optionally a port.
 */
const hostForm = /^(?:[\w.~%!$&'()*+;=-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Returns why a message is ambiguous, which means that two HTTP parsers may read it differently; undefined if it is
 * not. Checks what Node's parser accepts against RFC 9112 §3.2, §6.1 and §6.3. The connection of an ambiguous message
 * must be closed.
 */
export function ambiguityOf(request: IncomingMessage): string | undefined {
  const { headers, httpVersion } = request;
  const url = request.url ?? '';
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0'))
    return 'expected Transfer-Encoding to be chunked, once, in HTTP/1.1';
  const repeated = repeatedHeader(request.rawHeaders);
  if (repeated !== undefined) return repeated;
  const { host } = headers;
  if (host === undefined ? httpVersion !== '1.0' : !isHost(host))
    return 'Host: expected a name with an optional port, got another value';
  if (url.charCodeAt(0) !== 47 && url !== '*' && !isSameHost(url, host))
    return 'expected a path, or an http URL of the same host';
  return undefined;
}

/**
 * Returns why headers that select the host or the operation are ambiguous: two Host headers, or two Content-Type or
 * SOAPAction headers with different values (RFC 9110 §5.3). Node keeps the first or joins them, and reports nothing.
 */
function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  let host: string | undefined;
  let action: string | undefined;
  let type: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (name.length === 4 && isNamed(name, 'Host', 'host')) {
      if (host !== undefined) return 'Host: expected one header, got several';
      host = value;
    } else if (name.length === 10 && isNamed(name, 'SOAPAction', 'soapaction')) {
      if (action !== undefined && action !== value) return 'expected one SOAPAction header, got two values';
      action = value;
    } else if (name.length === 12 && isNamed(name, 'Content-Type', 'content-type')) {
      if (type !== undefined && type !== value) return 'expected one Content-Type header, got two values';
      type = value;
    }
  }
  return undefined;
}

/** Compares header names; most clients use the usual spelling. */
function isNamed(name: string, usual: string, lower: string): boolean {
  return name === usual || name.toLowerCase() === lower;
}

/** The last valid Host header. Most clients send the same one repeatedly. */
let lastHost = '';

function isHost(host: string): boolean {
  if (host === lastHost) return true;
  if (host.length > 255 || !hostForm.test(host)) return false;
  lastHost = host;
  return true;
}

/** Returns true if a target in absolute form has the host of the Host header (RFC 9112 §3.2.2). */
function isSameHost(url: string, host: string | undefined): boolean {
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  return authority !== undefined && authority.toLowerCase() === host?.toLowerCase();
}

/**
 * Returns a predicate for the Host headers that name one of these hosts, ignoring port and case. Requests for other
 * hosts are misdirected (RFC 9110 §15.5.20). Throws RangeError for an invalid name.
 */
export function hostList(names: readonly string[]): (host: string | undefined) => boolean {
  for (const name of names) {
    if (!hostForm.test(name) || portForm.test(name))
      throw new RangeError(`allowed host: expected a name without a port, got ${JSON.stringify(name)}`);
  }
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (host) => host !== undefined && known.has(host.replace(portForm, '').toLowerCase());
}

const portForm = /:\d{1,5}$/;

/**
 * Returns a predicate for the Host headers that a gateway on a loopback address serves: loopback names and addresses,
 * the host of the public URL, and names without a dot, which public DNS does not have. Any other name may belong to an
 * attacker and resolve to 127.0.0.1 (DNS rebinding). A page of that name could read replies and use the console's form.
 * A request without Host does not come from a browser, so it is served.
 */
export function loopbackHosts(publicUrl: string | undefined): (host: string | undefined) => boolean {
  const publicHost = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.hostname.toLowerCase();
  let lastServed = '';
  return (host) => {
    if (host === undefined || host === lastServed) return true;
    const name = host.replace(portForm, '').replace(/\.$/, '').toLowerCase();
    if (name !== publicHost && !isLoopbackName(name)) return false;
    lastServed = host;
    return true;
  };
}

/** Returns true for a lower-case host name without port that no public DNS server can point elsewhere. */
function isLoopbackName(name: string): boolean {
  if (name.startsWith('['))
    return /^\[(?:::1|(?:0{1,4}:){7}0{0,3}1|::ffff:(?:127\.[\d.]+|7f[\da-f]{2}:[\da-f]{1,4}))\]$/.test(name);
  return !name.includes('.') || name.endsWith('.localhost') || /^127(?:\.\d{1,3}){3}$/.test(name);
}
