import type { TLSSocket } from 'node:tls';
import { type buildConnector, Client } from 'undici';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { encodeTarget } from '../../mappings/places.ts';
import { type Cause, causeOf, sentenceOf } from './cause.ts';
import { createConnector, type Way } from './connector.ts';

/** Result of trying to reach an upstream. */
export type Probed =
  | {
      readonly reached: true;
      /** Duration in ms. */
      readonly ms: number;
      /** TLS version and expiry of the certificate; undefined without TLS. */
      readonly tls: string | undefined;
      /** Status of the response; undefined if no request was sent. */
      readonly status: number | undefined;
    }
  | ({ readonly reached: false; readonly ms: number } & Cause);

/**
 * Tries to reach an upstream: connects to it and, if requested, sends `HEAD` to its base path, which changes nothing.
 * Never throws.
 *
 * @param timeout in ms, for the connection and for the request separately
 * @param sendsRequest true to send the request
 */
export async function probeUpstream(
  address: string,
  way: Way,
  timeout: number,
  sendsRequest: boolean,
): Promise<Probed> {
  const started = performance.now();
  const url = new URL(address);
  const isForwarded = url.protocol === 'http:' && way.proxy !== undefined;
  const target = isForwarded ? (way.proxy ?? url) : url;
  /** Creates a new connector for each connection, so that no TLS session is resumed. */
  const connector = (): buildConnector.connector =>
    createConnector(timeout, () => {}, isForwarded ? {} : way);
  try {
    const tls = await connectOnce(target, connector());
    const path = (isForwarded ? url.origin : '') + (encodeTarget(withoutEndSlashes(url.pathname)) || '/');
    const status = sendsRequest ? await sendRequest(target, connector(), path, url.host, timeout) : undefined;
    return { reached: true, ms: Math.round(performance.now() - started), tls, status };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { reached: false, ms: Math.round(performance.now() - started), ...causeOf(error) };
  }
}

function connectOnce(
  { hostname, host, protocol, port }: URL,
  connect: buildConnector.connector,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    connect({ hostname, host, protocol, port }, (error, socket) => {
      if (error !== null) {
        reject(error);
        return;
      }
      const tls = protocol === 'https:' ? tlsOf(socket as TLSSocket) : undefined;
      socket.on('error', () => {}).destroy();
      resolve(tls);
    });
  });
}

function tlsOf(socket: TLSSocket): string {
  return `${socket.getProtocol()}, certificate until ${socket.getPeerCertificate().valid_to}`;
}

async function sendRequest(
  { origin }: URL,
  connect: buildConnector.connector,
  path: string,
  host: string,
  timeout: number,
): Promise<number> {
  const client = new Client(origin, { connect, headersTimeout: timeout, bodyTimeout: timeout });
  try {
    const { statusCode, body } = await client.request({ method: 'HEAD', path, headers: { host } });
    await body.dump();
    return statusCode;
  } finally {
    await client.destroy();
  }
}

/** Returns the result as a human-readable sentence. */
export function probeSentence(address: string, probed: Probed): string {
  if (!probed.reached) return `${address} is unreachable: ${sentenceOf(probed)}`;
  const { ms, tls, status } = probed;
  const answer = status === undefined ? '' : `, HEAD returns status ${status}`;
  return `${address} is reachable (${ms} ms${tls === undefined ? '' : `, ${tls}`})${answer}`;
}
