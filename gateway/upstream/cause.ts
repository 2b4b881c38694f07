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
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'its certificate is self-signed and not trusted. Set tls.ca to this certificate',
  ],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate has an untrusted CA. Set tls.ca to the CA'],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'its certificate has an untrusted CA, or an intermediate certificate is missing. Set tls.ca to the CA',
  ],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'its certificate has an untrusted CA. Set tls.ca to the CA'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'its certificate has an untrusted CA. Set tls.ca to the CA'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not yet valid'],
  ['CERT_REVOKED', 'its certificate was revoked'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate has other names. Correct the URL or set tls.serverName'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not use TLS at this port. Check whether its URL is http'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'it does not use TLS at this port. Check whether its URL is http'],
  ['ERR_SSL_HTTP_REQUEST', 'it does not use TLS at this port. Check whether its URL is http'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'it supports no TLS version of the gateway'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'it offers no TLS version that the gateway accepts'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'it requires a client certificate. Set tls.certificate'],
  [
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'it rejected the handshake. It may require a client certificate or other ciphers',
  ],
  [
    'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
    'it rejected the handshake. It may require a client certificate or other ciphers',
  ],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'it does not trust the CA of the client certificate'],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'it rejected the client certificate'],
  ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'it rejected the client certificate'],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'the client certificate has expired'],
  ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'it does not know the host name'],
]);

const causes: ReadonlyMap<string, Cause> = new Map(
  (
    [
      ['dns', 'its host name is unknown', ['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA']],
      ['dns', 'the name server did not respond', ['EAI_AGAIN', 'EAI_FAIL', 'ESERVFAIL', 'ETIMEOUT']],
      ['refused', 'no process listens at its port', ['ECONNREFUSED']],
      [
        'unreachable',
        'no route to its address',
        ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'EACCES', 'EPERM'],
      ],
      ['exhausted', 'the gateway has too many open files. Raise ulimit -n', ['EMFILE', 'ENFILE']],
      ['exhausted', 'the gateway has no memory for a connection', ['ENOBUFS', 'ENOMEM']],
      ['timeout', 'it did not accept the connection in time', ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']],
      ['reset', 'it closed the connection', ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET']],
      ['invalid', 'its response does not match its Content-Length', ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH']],
      ['invalid', 'its response headers are too long', ['UND_ERR_HEADERS_OVERFLOW']],
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
    return { cause: 'tls', code, reason: 'it closed the connection during the handshake' };
  if (known !== undefined) return known;
  if (of.name === 'HTTPParserError') return { cause: 'invalid', reason: 'its response is not HTTP' };
  const shownCode = /^[A-Z][A-Z0-9_/]{0,63}$/.test(code) ? { code } : {};
  if (tlsReasons.has(code) || /^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_|UNABLE_TO_|EPROTO$)/.test(code))
    return { cause: 'tls', reason: tlsReasons.get(code) ?? 'the handshake failed', ...shownCode };
  return { cause: 'other', ...shownCode };
}

/**
 * Returns a cause as a sentence, for example `the connection was refused: no process listens at its port (ECONNREFUSED)`.
 */
export function sentenceOf({ cause, reason, code }: Cause): string {
  const what = causeWords[cause];
  return `${what}${reason === undefined ? '' : `: ${reason}`}${code === undefined ? '' : ` (${code})`}`;
}

const causeWords: Readonly<Record<Cause['cause'], string>> = {
  dns: 'its address was not found',
  refused: 'the connection was refused',
  unreachable: 'it is unreachable',
  proxy: 'the proxy did not connect',
  tls: 'TLS failed',
  timeout: 'it took too long',
  reset: 'the connection was closed',
  status: 'it responded with an error',
  invalid: 'its response is invalid',
  token: 'no access token for it',
  exhausted: 'the gateway has no free resources',
  breaker: 'circuit breaker open',
  queue: 'no connection was free',
  other: 'the call failed',
};
