import { bufferOf } from '../../bytes.ts';
import { defaultLimits, type Limits } from '../../contract/limits.ts';
import { namespaces } from '../../contract/model.ts';
import type { QName } from '../../contract/type-graph.ts';
import { charsetOf, decodeXml, isWide } from '../../xml/decode.ts';
import { XmlError } from '../../xml/error.ts';
import { type Declaration, xmlNamespace } from '../../xml/namespaces.ts';
import { XmlReader } from '../../xml/reader.ts';
import { type Allowance, OverLimit } from '../document/allowance.ts';

/** A file of XML as it was read, for places in it: characters to lines and to bytes. */
export interface XmlSource {
  /** The path as problems name it. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** The IANA name of the encoding. */
  readonly charset: string;
  /** What is read of it: blanks stand in place of processing instructions and the DTD. */
  readonly text: string;
  /** The same, as it is. */
  readonly whole: string;
  /** Bytes before the first character of `text`: a byte order mark, and text before the XML declaration (A3). */
  readonly skipped: number;
}

/** An attribute of an element of a WSDL or schema. */
export interface XmlAttribute {
  /** `''` for none. */
  readonly namespace: string;
  readonly local: string;
  /** As XML 1.0 normalises it. */
  readonly value: string;
  /** Offset of its name in the source's text. */
  readonly offset: number;
}

/** Prefixes in scope, `''` the default namespace; those of elements around in `outer`. */
interface Scope {
  readonly outer: Scope | undefined;
  readonly declarations: readonly Declaration[];
}

/** An element of a WSDL or schema. Text is kept of documentation alone. */
export interface XmlElement {
  readonly source: XmlSource;
  /** Offset of its `<` in the source's text. */
  readonly offset: number;
  readonly namespace: string;
  readonly local: string;
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly XmlElement[];
  readonly scope: Scope | undefined;
  /** Offset after its end tag. */
  readonly end: number;
}

/** Elements whose content isn't looked into: documentation, which may be of any form. */
const opaque: ReadonlySet<string> = new Set(['documentation', 'appinfo']);

/** An attribute's value, of those without a namespace unless another is given; undefined where it isn't there. */
export function attributeOf(element: XmlElement, local: string, namespace = ''): string | undefined {
  return findAttribute(element, local, namespace)?.value;
}

/** An attribute with its place, of those without a namespace unless another is given; undefined where it isn't there. */
export function findAttribute(element: XmlElement, local: string, namespace = ''): XmlAttribute | undefined {
  return element.attributes.find(
    (attribute) => attribute.local === local && attribute.namespace === namespace,
  );
}

/** The namespace of a prefix where an element stands, `''` the default one; undefined for one that isn't bound. */
export function namespaceOf(element: XmlElement, prefix: string): string | undefined {
  for (let scope = element.scope; scope !== undefined; scope = scope.outer) {
    const declared = scope.declarations.find((declaration) => declaration.prefix === prefix);
    if (declared !== undefined) return declared.namespace;
  }
  if (prefix === 'xml') return xmlNamespace;
  return prefix === '' ? '' : undefined;
}

/** A QName of an attribute's value (Namespaces in XML 1.0, 4); undefined where its prefix isn't bound. */
export function qualifiedName(element: XmlElement, value: string): QName | undefined {
  const text = value.trim();
  const colon = text.indexOf(':');
  const namespace = namespaceOf(element, colon < 0 ? '' : text.slice(0, colon));
  return namespace === undefined ? undefined : { namespace, local: text.slice(colon + 1) };
}

/** The file's text and where it begins; `early` when something stood before the XML declaration (A3). Throws XmlError, UnsupportedCharset. */
export function readSource(file: string, bytes: Uint8Array): { source: XmlSource; early: boolean } {
  const buffer = bufferOf(bytes);
  const mark = markLength(buffer);
  const markup = firstMarkup(buffer);
  const early = markup > mark && buffer.toString('latin1', markup, markup + 6) === '<?xml ';
  const from = early ? markup : 0;
  const document = buffer.subarray(from);
  const whole = decodeXml(document, undefined);
  const charset = charsetOf(document);
  return {
    source: { file, bytes, charset, text: blanked(whole), whole, skipped: early ? markup : mark },
    early,
  };
}

/** Offset of the first `<` that begins no comment; -1 for none. */
function firstMarkup(bytes: Buffer): number {
  let at = bytes.indexOf('<');
  while (at >= 0 && bytes.toString('latin1', at, at + 4) === '<!--') {
    const end = bytes.indexOf('-->', at);
    at = end < 0 ? -1 : bytes.indexOf('<', end);
  }
  return at;
}

function markLength(bytes: Buffer): number {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 3;
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff) ? 2 : 0;
}

/**
 * A text with blanks in place of its processing instructions and its DTD, which say nothing about a schema: an entity that
 * the DTD declares is refused where it is used. Line ends stay.
 */
export function blanked(text: string): string {
  let result = '';
  let kept = 0;
  let at = text.startsWith('<?xml') ? text.indexOf('?>') + 1 : 0;
  const blank = (end: number): void => {
    result += text.slice(kept, at) + text.slice(at, end).replace(/[^\r\n]/g, ' ');
    kept = end;
    at = end;
  };
  for (at = text.indexOf('<', at); at >= 0; at = text.indexOf('<', at)) {
    const end = text.startsWith('<!--', at)
      ? after(text, '-->', at)
      : text.startsWith('<![CDATA[', at)
        ? after(text, ']]>', at)
        : undefined;
    if (end !== undefined) at = end;
    else if (text.startsWith('<?', at)) blank(after(text, '?>', at));
    else if (text.startsWith('<!DOCTYPE', at)) blank(endOfDtd(text, at));
    else at++;
  }
  return kept === 0 ? text : result + text.slice(kept);
}

function after(text: string, terminator: string, from: number): number {
  const at = text.indexOf(terminator, from);
  return at < 0 ? text.length : at + terminator.length;
}

/** [28] doctypedecl: past its internal subset; quotes and comments may hold `>` and `]`. */
function endOfDtd(text: string, from: number): number {
  let subset = false;
  let at = from;
  while (at < text.length) {
    const letter = text.charAt(at);
    if (letter === '"' || letter === "'") at = after(text, letter, at + 1);
    else if (text.startsWith('<!--', at)) at = after(text, '-->', at);
    else if (letter === '>' && !subset) return at + 1;
    else {
      if (letter === '[') subset = true;
      if (letter === ']') subset = false;
      at++;
    }
  }
  return at;
}

/** The limits of a contract as those of a document. */
function limitsOf({ limits }: Allowance): Limits {
  const { contractDepth, contractElements, contractKey, contractBytes } = limits;
  return {
    ...defaultLimits,
    xmlDepth: contractDepth,
    xmlElements: contractElements,
    xmlChildren: contractElements,
    xmlAttributes: contractKey,
    xmlAllAttributes: contractElements * 8,
    xmlNamespace: contractKey,
    xmlName: contractKey,
    xmlAttributeValue: contractBytes,
    xmlText: contractBytes,
  };
}

/** Namespaces of XML Schema before it was a recommendation, which documents of SOAP's first years still say. */
export const oldSchemas: readonly string[] = [
  'http://www.w3.org/1999/XMLSchema',
  'http://www.w3.org/2000/10/XMLSchema',
];

/** A namespace, an old one of XML Schema as today's. */
function today(namespace: string): string {
  return oldSchemas.includes(namespace) ? namespaces.xsd : namespace;
}

/** The root of a file of XML. Throws XmlError for one that isn't well-formed, OverLimit. */
export function readTree(source: XmlSource, allowance: Allowance): XmlElement {
  const reader = new XmlReader(source.text, limitsOf(allowance));
  try {
    reader.readRoot();
    const root = readElement(reader, source, undefined, allowance);
    reader.finish();
    return root;
  } catch (error) {
    if (error instanceof XmlError && error.limit !== undefined)
      throw new OverLimit(error.message, source.file, error.line);
    if (error instanceof OverLimit)
      throw new OverLimit(error.message, source.file, lineOf(source, reader.position));
    throw error;
  }
}

/** Counts what is done at an element. Throws OverLimit with its line. */
export function stepAt(allowance: Allowance, { source, offset }: XmlElement, steps = 1): void {
  try {
    allowance.step(source.file, steps);
  } catch (error) {
    if (!(error instanceof OverLimit)) throw error;
    throw new OverLimit(error.message, source.file, lineOf(source, offset));
  }
}

/** From a start tag past its end tag. */
function readElement(
  reader: XmlReader,
  source: XmlSource,
  outer: Scope | undefined,
  allowance: Allowance,
): XmlElement {
  const { local, startOffset: offset } = reader;
  const namespace = today(reader.namespace);
  const declarations = reader.declarations.map((declared) => ({
    prefix: declared.prefix,
    namespace: today(declared.namespace),
  }));
  allowance.takeElement();
  const attributes: XmlAttribute[] = [];
  for (let index = 0; index < reader.attributeCount; index++)
    attributes.push({
      namespace: reader.attributeNamespace(index),
      local: reader.attributeLocal(index),
      value: reader.attributeValue(index),
      offset: reader.attributeOffset(index),
    });
  const scope = declarations.length === 0 ? outer : { outer, declarations };
  const children: XmlElement[] = [];
  if (opaque.has(local)) reader.skip();
  else while (reader.nextChild()) children.push(readElement(reader, source, scope, allowance));
  return { source, offset, namespace, local, attributes, children, scope, end: reader.position };
}

/** The text between an element's tags, without markup, blanks folded. */
export function plainText({ source, offset, end }: XmlElement): string {
  const raw = source.text.slice(offset, end);
  let text = '';
  let at = 0;
  while (at < raw.length) {
    const markup = raw.indexOf('<', at);
    text += resolved(raw.slice(at, markup < 0 ? raw.length : markup));
    if (markup < 0) break;
    if (raw.startsWith('<![CDATA[', markup)) {
      at = after(raw, ']]>', markup);
      text += raw.slice(markup + 9, at - 3);
    } else {
      at = after(raw, raw.startsWith('<!--', markup) ? '-->' : '>', markup);
      text += ' ';
    }
  }
  return text.replace(/\s+/g, ' ').trim();
}

function resolved(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp|#\d{1,7}|#x[0-9A-Fa-f]{1,6});/g, (_, name: string) =>
    character(name),
  );
}

function character(name: string): string {
  const named = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }[name];
  if (named !== undefined) return named;
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
}

/** How many lines end before each so many characters of a source. */
const lineEnds = new WeakMap<XmlSource, Uint32Array>();
const charactersPerCount = 1_024;

/** The line of an offset, from 1. */
export function lineOf(source: XmlSource, offset: number): number {
  let counts = lineEnds.get(source);
  if (counts === undefined) {
    counts = countLineEnds(source.text);
    lineEnds.set(source, counts);
  }
  const block = Math.floor(offset / charactersPerCount);
  let line = 1 + (counts[block] ?? 0);
  for (let at = block * charactersPerCount; at < offset; at++) if (endsLine(source.text, at)) line++;
  for (const byte of source.bytes.subarray(0, source.skipped)) if (byte === 0x0a) line++;
  return line;
}

function countLineEnds(text: string): Uint32Array {
  const counts = new Uint32Array(Math.floor(text.length / charactersPerCount) + 1);
  let ends = 0;
  for (let at = 0; at < text.length; at++) {
    if (at % charactersPerCount === 0) counts[at / charactersPerCount] = ends;
    if (endsLine(text, at)) ends++;
  }
  return counts;
}

/** A line ends with LF, CR or CRLF (XML 1.0, 2.11). */
function endsLine(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a);
}

/** The bytes of an attribute's value as it stands, without its quotes. */
export function valueSpan(source: XmlSource, attribute: XmlAttribute): { from: number; to: number } {
  const { start, end } = valueOffsets(source, attribute);
  return { from: markupByte(source, start - 1) + bytesOfMarkup(source), to: markupByte(source, end) };
}

/** The offsets of an attribute's value without its quotes. */
export function valueOffsets(
  { text }: XmlSource,
  { offset }: XmlAttribute,
): { readonly start: number; readonly end: number } {
  const opening = /["']/g;
  opening.lastIndex = offset;
  const quote = opening.exec(text)?.index ?? offset;
  return { start: quote + 1, end: text.indexOf(text.charAt(quote), quote + 1) };
}

/** The offsets between the tags of an element; undefined if it has an empty-element tag. */
export function contentOffsets({
  source,
  offset,
  end,
}: XmlElement): { readonly start: number; readonly end: number } | undefined {
  const start = startTagEnd({ source, offset });
  const close = source.text.lastIndexOf('<', end - 1);
  return close < start ? undefined : { start, end: close };
}

/** The bytes between the tags of an element; undefined if it has an empty-element tag. */
export function contentSpan(element: XmlElement): { from: number; to: number } | undefined {
  const offsets = contentOffsets(element);
  if (offsets === undefined) return undefined;
  const { source } = element;
  const from = markupByte(source, offsets.start - 1) + bytesOfMarkup(source);
  return { from, to: markupByte(source, offsets.end) };
}

/** The bytes of an element with its tags. */
export function elementSpan({ source, offset, end }: XmlElement): { from: number; to: number } {
  return { from: markupByte(source, offset), to: markupByte(source, end - 1) + bytesOfMarkup(source) };
}

/** The offset after the name of a start tag. */
export function nameEnd({ source, offset }: Pick<XmlElement, 'source' | 'offset'>): number {
  const name = /[^\s/>]+/y;
  name.lastIndex = offset + 1;
  name.test(source.text);
  return name.lastIndex;
}

/** The offset after the `>` of a start tag. */
export function startTagEnd({ source, offset }: Pick<XmlElement, 'source' | 'offset'>): number {
  const startTag = /<(?:[^>"']|"[^"]*"|'[^']*')*>/y;
  startTag.lastIndex = offset;
  startTag.test(source.text);
  return startTag.lastIndex;
}

function bytesOfMarkup({ bytes }: XmlSource): number {
  return isWide(bytes) ? 2 : 1;
}

/** The last position that was looked for in a source: the next one is mostly after it. */
const lastPositions = new WeakMap<XmlSource, { readonly offset: number; readonly byte: number }>();

const escapeByte = 0x1b;
const dollar = 0x24;

/**
 * Offset in bytes of the quote or angle bracket at an offset in characters. Encodings differ in the bytes of a character.
 * In all of them a quote and an angle bracket have the byte of ASCII, and no other character contains that byte, except
 * in the double-byte sequences of ISO-2022-JP, between `ESC $` and the next escape (RFC 1468). So they are counted.
 */
function markupByte(source: XmlSource, offset: number): number {
  const { bytes, whole, skipped } = source;
  if (isWide(bytes)) return skipped + 2 * offset;
  if (bytes.length - skipped === whole.length) return skipped + offset;
  const last = lastPositions.get(source);
  const from = last !== undefined && last.offset <= offset ? last : { offset: -1, byte: skipped - 1 };
  let left = 0;
  for (let at = from.offset + 1; at <= offset; at++) if (isMarkup(whole.charCodeAt(at))) left++;
  let byte = from.byte;
  let isDouble = false;
  while (left > 0) {
    const code = bytes[++byte];
    if (code === undefined) break;
    if (code === escapeByte) isDouble = bytes[byte + 1] === dollar;
    else if (!isDouble && isMarkup(code)) left--;
  }
  lastPositions.set(source, { offset, byte });
  return byte;
}

function isMarkup(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x3c || code === 0x3e;
}
