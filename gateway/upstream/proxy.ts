import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Socket } from 'node:net';
import { causeOf, ProxyError, sentenceOf } from './cause.ts';

/** The proxies of the environment, by the scheme of what is called, and what goes without. */
export interface Proxies {
  readonly http: URL | undefined;
  readonly https: URL | undefined;
  /** As `NO_PROXY` says it: hosts, domains and all below them, with a port where only that is meant; `*` is all. */
  readonly except: string;
}

/** HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in either case; the lower one first, as curl does. Throws RangeError. */
export function proxiesOf(environment: Readonly<Record<string, string | undefined>>): Proxies {
  const textOf = (name: string): string => environment[name.toLowerCase()] ?? environment[name] ?? '';
  return {
    http: proxyUrl(textOf('HTTP_PROXY'), 'HTTP_PROXY: '),
    https: proxyUrl(textOf('HTTPS_PROXY'), 'HTTPS_PROXY: '),
    except: textOf('NO_PROXY'),
  };
}

/**
 * Returns a proxy's address; undefined for none. Throws RangeError, without the address: it may hold a password.
 *
 * @param where the start of that error's message
 */
export function proxyUrl(text: string, where = ''): URL | undefined {
  if (text === '') return undefined;
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if ((url?.protocol === 'http:' || url?.protocol === 'https:') && isDecodable(url)) return url;
  throw new RangeError(
    `${where}expected the address of an HTTP proxy, such as http://proxy.example:3128, got another text`,
  );
}

/** Whether user and password can be told to the proxy: a `%` of theirs stands as `%25`. */
function isDecodable(url: URL): boolean {
  try {
    proxyAuthorization(url);
    return true;
  } catch {
    return false;
  }
}

/** The proxy that calls to an address go through; this machine is called without. */
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

function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}

/** What a proxy is told of who asks; undefined where its address has no user. */
export function proxyAuthorization({ username, password }: URL): string | undefined {
  if (username === '') return undefined;
  const userAndPassword = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(userAndPassword).toString('base64')}`;
}

/**
 * A connection through a proxy (RFC 9110, CONNECT). Rejects with ProxyError.
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
    const request = proxy.protocol === 'https:' ? requestTls : requestPlain;
    const asked = request({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers,
      agent: false,
      timeout,
    });
    asked
      .once('connect', ({ statusCode }, socket: Socket) => {
        if (statusCode === 200) resolve(socket);
        else {
          socket.destroy();
          reject(new ProxyError(`${proxy.host} answered CONNECT with status ${statusCode}`));
        }
      })
      .once('response', ({ statusCode }) => {
        asked.destroy();
        reject(new ProxyError(`${proxy.host} answered CONNECT with status ${statusCode}`));
      })
      .once('timeout', () => asked.destroy(new ProxyError(`${proxy.host} did not answer in time`)))
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
