import type { Socket } from 'node:net';
import { http, https } from '../node-http.ts';
import { causeOf, ProxyError, sentenceOf } from './cause.ts';

/** Proxies of the environment by the scheme of the called URL, and their exceptions. */
export interface Proxies {
  readonly http: URL | undefined;
  readonly https: URL | undefined;
  /**
   * Format of `NO_PROXY`: hosts and domains with their subdomains. An entry with a port applies only to that port. `*`
   * excludes all.
   */
  readonly except: string;
}

/**
 * Reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY in either case. The name in lower case takes precedence, as in curl.
 * Throws RangeError.
 */
export function proxiesOf(environment: Readonly<Record<string, string | undefined>>): Proxies {
  const textOf = (name: string): string => environment[name.toLowerCase()] ?? environment[name] ?? '';
  return {
    http: proxyUrl(textOf('HTTP_PROXY'), 'HTTP_PROXY: '),
    https: proxyUrl(textOf('HTTPS_PROXY'), 'HTTPS_PROXY: '),
    except: textOf('NO_PROXY'),
  };
}

/**
 * Parses a proxy's address; undefined for an empty text. Throws RangeError without the address, which may contain a
 * password.
 *
 * @param where start of that error's message
 */
export function proxyUrl(text: string, where = ''): URL | undefined {
  if (text === '') return undefined;
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if ((url?.protocol === 'http:' || url?.protocol === 'https:') && isDecodable(url)) return url;
  throw new RangeError(
    `${where}expected the address of an HTTP proxy, such as http://proxy.example:3128, got another value`,
  );
}

/** Returns true if user and password can be decoded. A `%` in them must be encoded as `%25`. */
function isDecodable(url: URL): boolean {
  try {
    proxyAuthorization(url);
    return true;
  } catch {
    return false;
  }
}

/** Returns the proxy for calls to an address. Calls to this machine use none. */
export function proxyFor(address: URL, { http, https, except }: Proxies): URL | undefined {
  const proxy = address.protocol === 'https:' ? https : http;
  if (proxy === undefined || isThisMachine(address.hostname)) return undefined;
  const port = address.port || (address.protocol === 'https:' ? '443' : '80');
  for (const entry of except.toLowerCase().split(/[\s,]+/)) {
    if (entry === '*') return undefined;
    const [, host = '', only] = /^\*?\.?([^:]*|\[[^\]]*\])(?::(\d+))?$/.exec(entry) ?? [];
    if (host === '' || (only !== undefined && only !== port)) continue;
    if (address.hostname === host || address.hostname.endsWith(`.${host}`)) return undefined;
  }
  return proxy;
}

/** Returns true for a host of a URL that names this machine. */
export function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}

/** Returns the Proxy-Authorization header; undefined if the proxy's URL has no user. */
export function proxyAuthorization({ username, password }: URL): string | undefined {
  if (username === '') return undefined;
  const userAndPassword = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(userAndPassword).toString('base64')}`;
}

/**
 * Opens a connection through a proxy (RFC 9110, CONNECT). Rejects with ProxyError.
 *
 * @param target host and port
 * @param timeout in ms
 */
export function openTunnel(proxy: URL, target: string, timeout: number): Promise<Socket> {
  const authorization = proxyAuthorization(proxy);
  const headers = {
    Host: target,
    ...(authorization === undefined ? {} : { 'Proxy-Authorization': authorization }),
  };
  return new Promise((resolve, reject) => {
    const { request } = proxy.protocol === 'https:' ? https() : http;
    const connecting = request({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers,
      agent: false,
      timeout,
    });
    connecting
      .once('connect', ({ statusCode }, socket: Socket) => {
        if (statusCode === 200) resolve(socket);
        else {
          socket.destroy();
          reject(new ProxyError(`${proxy.host} responded to CONNECT with status ${statusCode}`));
        }
      })
      .once('response', ({ statusCode }) => {
        connecting.destroy();
        reject(new ProxyError(`${proxy.host} responded to CONNECT with status ${statusCode}`));
      })
      .once('timeout', () => connecting.destroy(new ProxyError(`${proxy.host} did not respond in time`)))
      .once('error', (error) =>
        reject(
          error instanceof ProxyError
            ? error
            : new ProxyError(`${proxy.host}: ${sentenceOf(causeOf(error))}`),
        ),
      )
      .end();
  });
}
