import type { UpstreamFailure } from '../telemetry/request-stats.ts';

/** Human-readable cause of an upstream failure. It never contains data that was sent or received. */
export type Cause = Omit<UpstreamFailure, 'attempt'>;

/** A proxy refused to connect or is not reachable. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code = 'PROXY';
}

/** Human-readable TLS errors by error code of OpenSSL and Node. */
const tlsReasons: ReadonlyMap<string, string> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is self-signed and not trusted here: name it as tls.ca'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is of a CA that is not trusted here: name the CA as tls.ca'],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'its certificate is of a CA that is not trusted here, or it sends no intermediate certificate: name the CA as tls.ca',
  ],
  [
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'its certificate is of a CA that is not trusted here: name the CA as tls.ca',
  ],
  ['UNABLE_TO_GET_ISSUER_CERT', 'its certificate is of a CA that is not trusted here: name the CA as tls.ca'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not yet valid'],
  ['CERT_REVOKED', 'its certificate was revoked'],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'its certificate is for other names: correct the address or set tls.serverName',
  ],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it speaks no TLS at this port: is its address http?'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'it speaks no TLS at this port: is its address http?'],
  ['ERR_SSL_HTTP_REQUEST', 'it speaks no TLS at this port: is its address http?'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'it takes no version of TLS that is offered here'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'it offers no version of TLS that is taken here'],
  [
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    'it asks for a client certificate and got none: set tls.certificate',
  ],
  [
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'it refused the handshake: it may ask for a client certificate or for other ciphers',
  ],
  [
    'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
    'it refused the handshake: it may ask for a client certificate or for other ciphers',
  ],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'it does not know the CA of our client certificate'],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'it refused our client certificate'],
  ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'it refused our client certificate'],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'our client certificate has expired'],
  ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'it serves no host of this name'],
]);

const causes: ReadonlyMap<string, Cause> = new Map(
  (
    [
      ['dns', 'its host name is not known', ['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA']],
      ['dns', 'the name server gave no answer', ['EAI_AGAIN', 'EAI_FAIL', 'ESERVFAIL', 'ETIMEOUT']],
      ['refused', 'nothing listens at its port', ['ECONNREFUSED']],
      [
        'unreachable',
        'there is no way to its address',
        ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'EACCES', 'EPERM'],
      ],
      ['timeout', 'it took no connection in time', ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']],
      ['reset', 'it closed the connection', ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET']],
      ['invalid', 'its answer has another length than it says', ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH']],
      ['invalid', 'the head of its answer is too long', ['UND_ERR_HEADERS_OVERFLOW']],
    ] as const
  ).flatMap(([cause, reason, codes]) => codes.map((code) => [code, { cause, reason, code }] as const)),
);

/** Returns the cause of an error of a connection or an exchange. */
export function causeOf(error: Error): Cause {
  // a host name with several addresses that all failed
  const inner =
    error instanceof AggregateError ? error.errors.find((one) => one instanceof Error) : undefined;
  const of: Error = inner ?? error;
  const code = 'code' in of ? String(of.code) : '';
  if (of instanceof ProxyError) return { cause: 'proxy', reason: of.message };
  const known = causes.get(code);
  if (known?.cause === 'reset' && /before secure TLS/.test(of.message))
    return { cause: 'tls', code, reason: 'it closed the connection amid the handshake' };
  if (known !== undefined) return known;
  if (of.name === 'HTTPParserError') return { cause: 'invalid', reason: 'its answer is no HTTP' };
  const shownCode = /^[A-Z][A-Z0-9_/]{0,63}$/.test(code) ? { code } : {};
  if (tlsReasons.has(code) || /^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_|UNABLE_TO_|EPROTO$)/.test(code))
    return { cause: 'tls', reason: tlsReasons.get(code) ?? 'the handshake failed', ...shownCode };
  return { cause: 'other', ...shownCode };
}

/**
 * Returns a cause as a sentence, for example `the connection was refused: nothing listens at its port (ECONNREFUSED)`.
 */
export function sentenceOf({ cause, reason, code }: Cause): string {
  const what = causeWords[cause];
  return `${what}${reason === undefined ? '' : `: ${reason}`}${code === undefined ? '' : ` (${code})`}`;
}

const causeWords: Readonly<Record<Cause['cause'], string>> = {
  dns: 'its address was not found',
  refused: 'the connection was refused',
  unreachable: 'it is out of reach',
  proxy: 'the proxy did not connect',
  tls: 'TLS failed',
  timeout: 'it took too long',
  reset: 'the connection was closed',
  status: 'it answered with an error',
  invalid: 'its answer is not what was expected',
  token: 'there is no token for it',
  breaker: 'it is left alone for now',
  queue: 'no connection was free',
  other: 'the call failed',
};
