/** A malformed DER value (X.690). */
export class DerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DerError';
  }
}

/** A DER value: its identifier octet, all its bytes, and its content. */
export interface Der {
  readonly tag: number;
  readonly bytes: Buffer;
  readonly content: Buffer;
}

/** Identifier octets (X.690, 8.1.2). */
export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Reads one value that fills the bytes. Throws DerError. */
export function readDer(bytes: Buffer, tag?: number): Der {
  const [value, ...others] = readAll(bytes);
  if (value === undefined || others.length > 0) throw new DerError('expected one value');
  return expectTag(value, tag);
}

/** Returns the values in a SEQUENCE, a SET or a context-specific constructed value. Throws DerError. */
export function childrenOf(value: Der): readonly Der[] {
  if ((value.tag & 0x20) === 0) throw new DerError('expected a constructed value');
  return readAll(value.content);
}

/** Returns a value that has an identifier octet. Throws DerError for another or none. */
export function expectTag(value: Der | undefined, tag: number | undefined): Der {
  if (value === undefined || (tag !== undefined && value.tag !== tag))
    throw new DerError(`expected a value with the tag ${tag}`);
  return value;
}

function readAll(bytes: Buffer): Der[] {
  const values: Der[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    if ((tag & 0x1f) === 0x1f) throw new DerError('expected a tag below 31');
    const { length, start } = readLength(bytes, at + 1);
    const end = start + length;
    if (end > bytes.length) throw new DerError('expected more bytes');
    values.push({ tag, bytes: bytes.subarray(at, end), content: bytes.subarray(start, end) });
    at = end;
  }
  return values;
}

/** Reads a definite length in its shortest form (X.690, 10.1). */
function readLength(bytes: Buffer, at: number): { readonly length: number; readonly start: number } {
  const first = bytes[at];
  if (first === undefined) throw new DerError('expected a length');
  if (first < 0x80) return { length: first, start: at + 1 };
  const size = first & 0x7f;
  if (size === 0 || size > 4 || at + 1 + size > bytes.length)
    throw new DerError('expected a definite length');
  const length = bytes.readUIntBE(at + 1, size);
  if (length < 0x80 || bytes[at + 1] === 0) throw new DerError('expected the shortest length');
  return { length, start: at + 1 + size };
}

/** Returns an INTEGER as a number of any size. Throws DerError. */
export function integerOf(value: Der | undefined): bigint {
  const { content } = expectTag(value, derTag.integer);
  if (content.length === 0) throw new DerError('expected an integer');
  return BigInt.asIntN(content.length * 8, BigInt(`0x${content.toString('hex')}`));
}

/** Maximum length of an OBJECT IDENTIFIER in bytes. */
const maxOidBytes = 64;

/**
 * Returns an OBJECT IDENTIFIER in dotted form. One with an arc above 2^53 is returned as `hex` and its bytes. Throws
 * DerError.
 */
export function oidOf(value: Der | undefined): string {
  const { content } = expectTag(value, derTag.oid);
  if (content.length === 0 || content.length > maxOidBytes || ((content.at(-1) ?? 0) & 0x80) !== 0)
    throw new DerError('expected an object identifier');
  const arcs: number[] = [];
  let arc = 0;
  let isStart = true;
  for (const byte of content) {
    if (isStart && byte === 0x80) throw new DerError('expected the shortest arc');
    arc = arc * 128 + (byte & 0x7f);
    isStart = (byte & 0x80) === 0;
    if (!isStart) continue;
    arcs.push(arc);
    arc = 0;
  }
  if (!arcs.every(Number.isSafeInteger)) return `hex ${content.toString('hex')}`;
  const [first = 0, ...others] = arcs;
  const root = Math.min(Math.floor(first / 40), 2);
  return [root, first - root * 40, ...others].join('.');
}

/** Returns a BOOLEAN. Throws DerError. */
export function booleanOf(value: Der | undefined): boolean {
  const { content } = expectTag(value, derTag.boolean);
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff))
    throw new DerError('expected a boolean');
  return content[0] === 0xff;
}

/** Returns the bits of a BIT STRING as bytes. Throws DerError unless `spare` permits unused bits. */
export function bitsOf(value: Der | undefined, spare = false): Buffer {
  const { content } = expectTag(value, derTag.bitString);
  const unused = content[0];
  if (unused === undefined || unused > 7 || (unused !== 0 && (!spare || content.length === 1)))
    throw new DerError('expected a bit string');
  return content.subarray(1);
}

/** Returns the text of a character string; undefined for another type. */
export function textOf({ tag, content }: Der): string | undefined {
  switch (tag) {
    case 0x0c: // UTF8String
      return content.toString('utf8');
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x14: // TeletexString
    case 0x16: // IA5String
    case 0x1a: // VisibleString
      return content.toString('latin1');
    case 0x1e: // BMPString
      return content.length % 2 === 0 ? Buffer.from(content).swap16().toString('utf16le') : undefined;
    case 0x1c: // UniversalString
      return content.length % 4 === 0 ? universal(content) : undefined;
    default:
      return undefined;
  }
}

function universal(content: Buffer): string | undefined {
  let text = '';
  for (let at = 0; at < content.length; at += 4) {
    const code = content.readUInt32BE(at);
    if (code > 0x10ffff) return undefined;
    text += String.fromCodePoint(code);
  }
  return text;
}
