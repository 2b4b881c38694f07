import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

/** Multipart messages for tests, and the contract of the recorded ones. */

export const captures = join(import.meta.dirname, '../../../fixtures/mtom');
export const documents = join(captures, 'contract');

/** The content of recorded messages: byte i is (31·i + 17·(i div 256) + 7) mod 256. */
export function bytesOf(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, i) => (31 * i + 17 * Math.floor(i / 256) + 7) & 255));
}

export interface Part {
  readonly id?: string | undefined;
  readonly bytes: Buffer | string;
  /** Additional header lines. */
  readonly header?: readonly string[];
}

export interface Message {
  readonly form?: 'mtom' | 'swa';
  readonly root: string | Buffer;
  readonly rootHeader?: readonly string[];
  readonly parts?: readonly Part[];
  readonly boundary?: string;
  /** Additional parameters. */
  readonly parameters?: string;
  readonly preamble?: string;
  readonly epilogue?: string;
}

export const xop = 'http://www.w3.org/2004/08/xop/include';

export const include = (href: string): string => `<xop:Include xmlns:xop="${xop}" href="${href}"/>`;

/** A call of StoreDocument with this content of Body. */
export function storeDocument(content: string, header = ''): string {
  const head = header === '' ? '' : `<e:Header>${header}</e:Header>`;
  return `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/">${head}<e:Body><StoreDocument xmlns="urn:example:documents"><Body>${content}</Body></StoreDocument></e:Body></e:Envelope>`;
}

/** Returns a message as it is sent, and its Content-Type. */
export function related(message: Message): {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
} {
  const { form = 'mtom', boundary = `b${randomBytes(8).toString('hex')}`, parts = [] } = message;
  const type = form === 'mtom' ? 'application/xop+xml' : 'text/xml';
  const rootHeader = message.rootHeader ?? [`Content-Type: ${type}; charset=utf-8`, 'Content-ID: <root>'];
  const pieces: Buffer[] = [Buffer.from(message.preamble ?? '')];
  const add = (lines: readonly string[], bytes: Buffer | string, isFirst: boolean): void => {
    const start = isFirst && (message.preamble ?? '') === '' ? '' : '\r\n';
    pieces.push(Buffer.from(`${start}--${boundary}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`));
    pieces.push(Buffer.from(bytes));
  };
  add(rootHeader, message.root, true);
  for (const { id, header = [], bytes } of parts)
    add([...(id === undefined ? [] : [`Content-ID: <${id}>`]), ...header], bytes, false);
  pieces.push(Buffer.from(`\r\n--${boundary}--${message.epilogue ?? '\r\n'}`));
  const contentType = `multipart/related; type="${type}"; start="<root>"; boundary="${boundary}"${message.parameters ?? ''}`;
  return { headers: { 'Content-Type': contentType }, body: Buffer.concat(pieces) };
}
