import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { isTls } from '../node-http.ts';
import { type CertificatePart, encodedCharacters, encodePart, partOf } from './certificate-part.ts';
import { isListed } from './forwarded.ts';

/** Settings for the use of client certificates as credentials. */
export interface ClientCertificateOptions {
  /** The header of the contract's credential. A value that the client sends in it is removed. */
  readonly header: string;
  /** The part that is used. `san`: the first URI, otherwise the first DNS name. `fingerprint`: SHA-256 in hex. */
  readonly from: 'subject' | 'commonName' | 'san' | 'fingerprint';
  /** The header in which a trusted proxy sends the certificate data; undefined if clients connect with TLS directly. */
  readonly sentIn?: string | undefined;
  /** The header in which that proxy sends whether the certificate is valid: `SUCCESS` or `0`. */
  readonly verifiedBy?: string | undefined;
}

export type { CertificatePart } from './certificate-part.ts';

/** Replaces a request header with data of the client certificate, before anything reads the header. */
export type Identify = (request: IncomingMessage) => void;

/**
 * Returns a function that sets the credential header from the client certificate. Characters that a credential cannot
 * contain, including spaces, are percent-encoded: `CN=Acme%20Ltd`.
 */
export function compileIdentify(options: ClientCertificateOptions, proxies: BlockList | undefined): Identify {
  const { header } = options;
  const key = header.toLowerCase();
  const certificateOf = compileCertificateValue(options, proxies);
  return (request) => {
    const value = certificateOf(request);
    dropHeader(request, key);
    if (value === undefined) return;
    request.headers[key] = value;
    request.rawHeaders.push(header, value);
  };
}

/** Returns a part of the client certificate of a request, percent-encoded as in `compileIdentify`; undefined for none. */
export function compileCertificateValue(
  {
    from,
    sentIn,
    verifiedBy,
  }: Omit<ClientCertificateOptions, 'from' | 'header'> & {
    readonly from: CertificatePart;
  },
  proxies: BlockList | undefined,
): (request: IncomingMessage) => string | undefined {
  const subjectHeader = sentIn?.toLowerCase();
  const verified = verifiedBy?.toLowerCase();
  // other proxies encode their values
  const characters = encodedCharacters(from, subjectHeader === undefined || subjectHeader === envoys);
  return (request) => {
    const value = subjectHeader === undefined ? ofConnection(request, from) : ofProxy(request);
    if (value === undefined || value === '') return undefined;
    return encodePart(value, characters);
  };

  function ofProxy(request: IncomingMessage): string | undefined {
    if (proxies === undefined || !isListed(request.socket.remoteAddress ?? '', proxies)) return undefined;
    if (verified !== undefined && !/^(?:SUCCESS|0)$/.test(String(request.headers[verified] ?? '')))
      return undefined;
    const value = request.headers[subjectHeader ?? ''];
    if (typeof value !== 'string') return undefined;
    return subjectHeader === envoys ? ofForwarded(value, from) : value;
  }
}

function ofConnection({ socket }: IncomingMessage, from: CertificatePart): string | undefined {
  if (!isTls(socket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  return certificate === undefined ? undefined : partOf(certificate, from);
}

const envoys = 'x-forwarded-client-cert';

/** Returns a part of the last element of `X-Forwarded-Client-Cert` (Envoy), which the trusted proxy added. */
function ofForwarded(value: string, from: CertificatePart): string | undefined {
  const parts = splitOutsideQuotes(splitOutsideQuotes(value, ',').at(-1) ?? '', ';');
  const textOf = (name: string): string | undefined => {
    const part = parts.find((one) => one.trim().toLowerCase().startsWith(`${name}=`));
    return part === undefined ? undefined : unquoted(part.trim().slice(name.length + 1));
  };
  if (from === 'fingerprint') return textOf('hash')?.toLowerCase();
  if (from === 'serial') return undefined; // Envoy does not send it
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

/** Removes the quotes around a text. Escapes stay, because `\,` in a subject does not end a name. */
function unquoted(text: string): string {
  return text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;
}

function dropHeader(request: IncomingMessage, key: string): void {
  if (request.headers[key] === undefined) return;
  delete request.headers[key];
  for (let at = request.rawHeaders.length - 2; at >= 0; at -= 2)
    if (request.rawHeaders[at]?.toLowerCase() === key) request.rawHeaders.splice(at, 2);
}
