import { childrenOf, type Der, DerError, derTag, oidOf, readDer, textOf } from './der.ts';

/** An attribute of a distinguished name: its type as OID, and its value in a form for comparison. */
type NameAttribute = readonly [oid: string, value: string];

/** OIDs of attribute types by their short names, in lower case (RFC 4514, 3; RFC 2253; OpenSSL and Java add others). */
const types: Readonly<Record<string, string>> = {
  cn: '2.5.4.3',
  sn: '2.5.4.4',
  surname: '2.5.4.4',
  serialnumber: '2.5.4.5',
  c: '2.5.4.6',
  l: '2.5.4.7',
  st: '2.5.4.8',
  s: '2.5.4.8',
  street: '2.5.4.9',
  o: '2.5.4.10',
  ou: '2.5.4.11',
  t: '2.5.4.12',
  title: '2.5.4.12',
  postalcode: '2.5.4.17',
  gn: '2.5.4.42',
  g: '2.5.4.42',
  givenname: '2.5.4.42',
  initials: '2.5.4.43',
  dnq: '2.5.4.46',
  dnqualifier: '2.5.4.46',
  organizationidentifier: '2.5.4.97',
  uid: '0.9.2342.19200300.100.1.1',
  dc: '0.9.2342.19200300.100.1.25',
  e: '1.2.840.113549.1.9.1',
  email: '1.2.840.113549.1.9.1',
  emailaddress: '1.2.840.113549.1.9.1',
};

/** Maximum number of characters of a written name. */
export const maxNameText = 4_096;

/**
 * Returns true if a written name (RFC 4514, RFC 2253) names the same attributes as a Name in DER, in either order.
 * Blanks and letter case are ignored (X10).
 */
export function isNameOf(text: string, name: Buffer): boolean {
  const written = text.length > maxNameText ? undefined : parseName(text);
  if (written === undefined) return false;
  const encoded = attributesOf(name);
  return areEqual(written, encoded) || areEqual(written.toReversed(), encoded);
}

function areEqual(one: readonly NameAttribute[], other: readonly NameAttribute[]): boolean {
  return (
    one.length === other.length &&
    one.every(([oid, value], index) => oid === other[index]?.[0] && value === other[index]?.[1])
  );
}

/** Returns the attributes of a Name in DER, in the order of the encoding. Throws DerError. */
function attributesOf(name: Buffer): readonly NameAttribute[] {
  return childrenOf(readDer(name, derTag.sequence)).flatMap((set) =>
    childrenOf(set).map((pair): NameAttribute => {
      const [type, value] = childrenOf(pair);
      if (value === undefined) throw new DerError('expected a value of an attribute');
      return [oidOf(type), comparable(shownValue(value))];
    }),
  );
}

function shownValue(value: Der): string {
  return textOf(value) ?? `#${value.bytes.toString('hex')}`;
}

function comparable(value: string): string {
  return value.toLowerCase().replace(/[ \t\r\n]/g, '');
}

/** Parses a written name in one pass; undefined for a malformed one. */
function parseName(text: string): readonly NameAttribute[] | undefined {
  const attributes: NameAttribute[] = [];
  let at = 0;
  while (at < text.length) {
    const equals = text.indexOf('=', at);
    if (equals === -1) return undefined;
    const oid = oidNamed(text.slice(at, equals).trim().toLowerCase());
    const read = readValue(text, equals + 1);
    if (oid === undefined || read === undefined) return undefined;
    attributes.push([oid, comparable(read.value)]);
    at = read.end + 1;
  }
  return attributes.length === 0 ? undefined : attributes;
}

function oidNamed(type: string): string | undefined {
  const number = type.startsWith('oid.') ? type.slice(4) : type;
  if (/^\d+(?:\.\d+)+$/.test(number)) return number;
  return Object.hasOwn(types, type) ? types[type] : undefined;
}

/** Reads a value up to a `,`, `;` or `+` outside quotes. Resolves escapes and quotes. */
function readValue(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  const bytes: number[] = [];
  let isQuoted = false;
  let at = from;
  for (; at < text.length; at++) {
    const letter = text[at] ?? '';
    if (letter === '"') isQuoted = !isQuoted;
    else if (letter === '\\') {
      const pair = text.slice(at + 1, at + 3);
      if (/^[0-9a-f]{2}$/i.test(pair)) {
        bytes.push(Number.parseInt(pair, 16));
        at += 2;
      } else if (at + 1 < text.length) {
        bytes.push(...Buffer.from(text[++at] ?? ''));
      } else return undefined;
    } else if (!isQuoted && (letter === ',' || letter === ';' || letter === '+')) break;
    else {
      const point = String.fromCodePoint(text.codePointAt(at) ?? 0);
      bytes.push(...Buffer.from(point));
      at += point.length - 1;
    }
  }
  if (isQuoted) return undefined;
  const value = Buffer.from(bytes).toString('utf8');
  return { value: value.trim().startsWith('#') ? encodedValue(value.trim()) : value, end: at };
}

/** Returns the value of `#` and the hex of its DER (RFC 4514, 2.4). */
function encodedValue(value: string): string {
  const hex = value.slice(1);
  if (!/^(?:[0-9a-f]{2})+$/i.test(hex)) return value;
  try {
    return shownValue(readDer(Buffer.from(hex, 'hex')));
  } catch (error) {
    if (error instanceof DerError) return value;
    throw error;
  }
}
