import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Signed requests of seven client stacks, and messages that attack the receiver.

/** The folder of the requests, the attacks and the certificates. */
export const folder = join(import.meta.dirname, '../fixtures/x509');

/** A captured request, and its result by configuration: `accepted` or a fault code. */
export interface Capture {
  readonly receivedAt: string;
  readonly default: string;
  readonly wide?: string;
  readonly transport?: string;
  readonly caller?: { readonly subject?: string; readonly certificate_sha256?: string };
  readonly covered?: Readonly<Record<string, readonly string[]>>;
  /** The body that the upstream gets for an accepted request. */
  readonly upstream?: unknown;
}

/** An attack: the envelope of a request, and the permitted results as text. */
export interface Attack {
  readonly class: string;
  readonly config: string;
  /** The time of receipt. */
  readonly clock: string;
  readonly contentType: string;
  readonly expect: string;
  readonly why: string;
}

/** All cases, by file name. */
export const cases: {
  readonly captures: Readonly<Record<string, Capture>>;
  readonly attacks: Readonly<Record<string, Attack>>;
} = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'));

/** Returns the envelopes of all captures that are not multipart messages. */
export function envelopesOf(): readonly { readonly name: string; readonly text: string }[] {
  return readdirSync(join(folder, 'captures')).flatMap((file) => {
    const text = bodyOf(readFileSync(join(folder, 'captures', file))).toString('utf8');
    return text.startsWith('<') ? [{ name: file, text }] : [];
  });
}

/** Returns the body of an HTTP request without its chunk sizes. */
export function bodyOf(request: Buffer): Buffer {
  const end = request.indexOf('\r\n\r\n');
  const head = request.subarray(0, end).toString('latin1');
  const body = request.subarray(end + 4);
  if (!/^transfer-encoding: *chunked/im.test(head)) return body;
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.subarray(at, line).toString('latin1'), 16);
    if (size === 0 || line === -1) return Buffer.concat(pieces);
    pieces.push(body.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
