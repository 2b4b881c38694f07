import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { TLSSocket } from 'node:tls';
import { isListed } from './forwarded.ts';

/** What of a caller's certificate is a credential of it, and where the certificate is told. */
export interface ClientCertificateOptions {
  /** The header that the contract's credential has; what callers say in it themselves is dropped. */
  readonly header: string;
  /** `san`: its first URI, else its first DNS name; `fingerprint`: SHA-256 in hex. */
  readonly from: 'subject' | 'commonName' | 'san' | 'fingerprint';
  /** The header by which a trusted proxy tells it; undefined: the caller's own connection has it. */
  readonly sentIn?: string | undefined;
  /** The header by which that proxy tells that the certificate is good: `SUCCESS`, or `0`. */
  readonly verifiedBy?: string | undefined;
}

/** Puts what a caller's certificate says in the place of a header, before anything reads it. */
export type Identify = (request: IncomingMessage) => void;

/**
 * One function that makes certificates credentials. Characters that a credential can't have, blanks among them, are written as
 * in a URL: `CN=Acme%20Ltd`.
 */
export function compileIdentify(
  { header, from, sentIn, verifiedBy }: ClientCertificateOptions,
  proxies: BlockList | undefined,
): Identify {
  const key = header.toLowerCase();
  const told = sentIn?.toLowerCase();
  const verified = verifiedBy?.toLowerCase();
  // a subject may hold any character, so that `Acme%20Ltd` is another than `Acme Ltd`; URIs and what other proxies tell are escaped
  const isWritten = told === undefined || told === envoys;
  const others =
    isWritten && (from === 'subject' || from === 'commonName') ? /[^\x21-\x24\x26-\x7e]+/g : /[^\x21-\x7e]+/g;
  return (request) => {
    const value = told === undefined ? ofConnection(request, from) : ofProxy(request);
    dropHeader(request, key);
    if (value === undefined || value === '') return;
    const written = value.replace(others, (text) => encodeURIComponent(text.toWellFormed()));
    request.headers[key] = written;
    request.rawHeaders.push(header, written);
  };

  function ofProxy(request: IncomingMessage): string | undefined {
    if (proxies === undefined || !isListed(request.socket.remoteAddress ?? '', proxies)) return undefined;
    if (verified !== undefined && !/^(?:SUCCESS|0)$/.test(String(request.headers[verified] ?? '')))
      return undefined;
    const value = request.headers[told ?? ''];
    if (typeof value !== 'string') return undefined;
    return told === envoys ? ofForwarded(value, from) : value;
  }
}

function ofConnection(
  { socket }: IncomingMessage,
  from: ClientCertificateOptions['from'],
): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  return certificate === undefined ? undefined : partOf(certificate, from);
}

function partOf(certificate: X509Certificate, from: ClientCertificateOptions['from']): string | undefined {
  const subject = certificate.subject.split('\n').toReversed(); // as RFC 4514 and proxies have it
  switch (from) {
    case 'subject':
      return subject.join(',');
    case 'commonName':
      return subject.find((part) => part.startsWith('CN='))?.slice('CN='.length);
    case 'fingerprint':
      return certificate.fingerprint256.replaceAll(':', '').toLowerCase();
    case 'san': {
      const names = certificate.subjectAltName?.split(', ') ?? [];
      const ofKind = (kind: string): string | undefined =>
        names.find((name) => name.startsWith(kind))?.slice(kind.length);
      return ofKind('URI:') ?? ofKind('DNS:');
    }
  }
}

const envoys = 'x-forwarded-client-cert';

/** Of `X-Forwarded-Client-Cert` (Envoy) the last element, which the proxy that we trust has put there. */
function ofForwarded(value: string, from: ClientCertificateOptions['from']): string | undefined {
  const parts = splitOutsideQuotes(splitOutsideQuotes(value, ',').at(-1) ?? '', ';');
  const textOf = (name: string): string | undefined => {
    const part = parts.find((one) => one.trim().toLowerCase().startsWith(`${name}=`));
    return part === undefined ? undefined : unquoted(part.trim().slice(name.length + 1));
  };
  if (from === 'fingerprint') return textOf('hash')?.toLowerCase();
  if (from === 'san') return textOf('uri') ?? textOf('dns');
  const subject = textOf('subject');
  if (from === 'subject' || subject === undefined) return subject;
  const names = subject.match(/(?:\\.|[^\\,])+/g) ?? [];
  return names.find((name) => name.startsWith('CN='))?.slice('CN='.length);
}

function splitOutsideQuotes(text: string, mark: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === '\\') at++;
    else if (letter === '"') isQuoted = !isQuoted;
    else if (letter === mark && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Without the quotes around: what is escaped stays so, as in a subject `\,` is no end of a name. */
function unquoted(text: string): string {
  return text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;
}

function dropHeader(request: IncomingMessage, key: string): void {
  if (request.headers[key] === undefined) return;
  delete request.headers[key];
  for (let at = request.rawHeaders.length - 2; at >= 0; at -= 2)
    if (request.rawHeaders[at]?.toLowerCase() === key) request.rawHeaders.splice(at, 2);
}
