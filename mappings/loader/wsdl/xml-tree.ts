import { bufferOf } from '../../bytes.ts';
import { defaultLimits, type Limits } from '../../contract/limits.ts';
import { namespaces } from '../../contract/model.ts';
import type { QName } from '../../contract/type-graph.ts';
import { resolveReferences } from '../../xml/characters.ts';
import { charsetOf, decodeXml, isWide } from '../../xml/decode.ts';
import { XmlError } from '../../xml/error.ts';
import { type Declaration, xmlNamespace } from '../../xml/namespaces.ts';
import { XmlReader } from '../../xml/reader.ts';
import { type Allowance, OverLimit } from '../document/allowance.ts';

/** An XML file with the data to convert character offsets to lines and bytes. */
export interface XmlSource {
  /** Path for problems. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** IANA name of the encoding. */
  readonly charset: string;
  /** The parsed text. Processing instructions and the DTD are replaced by spaces. */
  readonly text: string;
  /** The original text. */
  readonly whole: string;
  /**
   * Number of bytes before the first character of `text`: a byte order mark, or text before the XML declaration (A3).
   */
  readonly skipped: number;
}

/** An attribute of an element of a WSDL or schema. */
export interface XmlAttribute {
  /** `''` if it has none. */
  readonly namespace: string;
  readonly local: string;
  /** Value after the normalization of XML 1.0. */
  readonly value: string;
  /** Offset of the attribute name in the source's text. */
  readonly offset: number;
}

/** Declared prefixes (`''` is the default namespace). `outer` is the scope of the enclosing element. */
interface Scope {
  readonly outer: Scope | undefined;
  readonly declarations: readonly Declaration[];
}

/** An element of a WSDL or schema. Text is available only for documentation. */
export interface XmlElement {
  readonly source: XmlSource;
  /** Offset of `<` in the source's text. */
  readonly offset: number;
  readonly namespace: string;
  readonly local: string;
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly XmlElement[];
  readonly scope: Scope | undefined;
  /** Offset after the end tag. */
  readonly end: number;
}

/** Elements with content that is not parsed: documentation, which may contain anything. */
const opaque: ReadonlySet<string> = new Set(['documentation', 'appinfo']);

/** Returns the value of an attribute, by default without a namespace; undefined if it is missing. */
export function attributeOf(element: XmlElement, local: string, namespace = ''): string | undefined {
  return findAttribute(element, local, namespace)?.value;
}

/** Returns an attribute with its offset, by default without a namespace; undefined if it is missing. */
export function findAttribute(element: XmlElement, local: string, namespace = ''): XmlAttribute | undefined {
  return element.attributes.find(
    (attribute) => attribute.local === local && attribute.namespace === namespace,
  );
}

/**
 * Returns the namespace of a prefix at an element; `''` is the default prefix. Undefined if the prefix is not bound.
 */
export function namespaceOf(element: XmlElement, prefix: string): string | undefined {
  for (let scope = element.scope; scope !== undefined; scope = scope.outer) {
    const declared = scope.declarations.find((declaration) => declaration.prefix === prefix);
    if (declared !== undefined) return declared.namespace;
  }
  if (prefix === 'xml') return xmlNamespace;
  return prefix === '' ? '' : undefined;
}

/** Parses a QName in an attribute value (Namespaces in XML 1.0, 4). Undefined if its prefix is not bound. */
export function qualifiedName(element: XmlElement, value: string): QName | undefined {
  const text = value.trim();
  const colon = text.indexOf(':');
  const namespace = namespaceOf(element, colon < 0 ? '' : text.slice(0, colon));
  return namespace === undefined ? undefined : { namespace, local: text.slice(colon + 1) };
}

/**
 * Decodes a file. `early` is true if there is text before the XML declaration (A3). Throws XmlError,
 * UnsupportedCharset.
 */
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

/** Returns the offset of the first `<` that does not start a comment; -1 if there is no markup. */
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
 * Replaces processing instructions and the DTD with spaces, keeping line ends. They do not affect a schema; an entity
 * that the DTD declares is rejected where it is used.
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

/** Returns the end of [28] doctypedecl, including its internal subset. Quotes and comments may contain `>` and `]`. */
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

/** Returns the limits of a contract as limits of the XML reader. */
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

/** Namespaces of XML Schema drafts, which early SOAP documents use. */
export const oldSchemas: readonly string[] = [
  'http://www.w3.org/1999/XMLSchema',
  'http://www.w3.org/2000/10/XMLSchema',
];

/** Replaces a draft namespace of XML Schema with the final one. */
function today(namespace: string): string {
  return oldSchemas.includes(namespace) ? namespaces.xsd : namespace;
}

/** Parses a file and returns its root. Throws XmlError if it is not well-formed, and OverLimit. */
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

/** Counts steps at an element. Throws OverLimit with its line. */
export function stepAt(allowance: Allowance, { source, offset }: XmlElement, steps = 1): void {
  try {
    allowance.step(source.file, steps);
  } catch (error) {
    if (!(error instanceof OverLimit)) throw error;
    throw new OverLimit(error.message, source.file, lineOf(source, offset));
  }
}

/** Reads an element from its start tag to its end tag. */
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

/** Returns the text of an element without markup, with whitespace collapsed. */
export function plainText({ source, offset, end }: XmlElement): string {
  const raw = source.text.slice(offset, end);
  let text = '';
  let at = 0;
  while (at < raw.length) {
    const markup = raw.indexOf('<', at);
    text += resolveReferences(raw.slice(at, markup < 0 ? raw.length : markup));
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

/** Number of line ends before each block of `charactersPerCount` characters, by source. */
const lineEnds = new WeakMap<XmlSource, Uint32Array>();
const charactersPerCount = 1_024;

/** Returns the line of an offset, from 1. */
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

/** Returns true at the end of a line: LF, CR or CRLF (XML 1.0, 2.11). */
function endsLine(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a);
}

/** Returns the byte range between two offsets, each next to a quote or angle bracket. */
export function innerSpan(
  source: XmlSource,
  { start, end }: { readonly start: number; readonly end: number },
): { from: number; to: number } {
  return { from: markupByte(source, start - 1) + bytesOfMarkup(source), to: markupByte(source, end) };
}

/** Returns the offsets of an attribute's value, without its quotes. */
export function valueOffsets(
  { text }: XmlSource,
  { offset }: XmlAttribute,
): { readonly start: number; readonly end: number } {
  const opening = /["']/g;
  opening.lastIndex = offset;
  const quote = opening.exec(text)?.index ?? offset;
  return { start: quote + 1, end: text.indexOf(text.charAt(quote), quote + 1) };
}

/** Returns the offsets between the tags of an element; undefined if it has an empty-element tag. */
export function contentOffsets({
  source,
  offset,
  end,
}: XmlElement): { readonly start: number; readonly end: number } | undefined {
  const start = startTagEnd({ source, offset });
  const close = source.text.lastIndexOf('<', end - 1);
  return close < start ? undefined : { start, end: close };
}

/** Returns the byte range between the tags of an element; undefined if it has an empty-element tag. */
export function contentSpan(element: XmlElement): { from: number; to: number } | undefined {
  const offsets = contentOffsets(element);
  return offsets && innerSpan(element.source, offsets);
}

/** Returns the byte range of an element with its tags. */
export function elementSpan({ source, offset, end }: Pick<XmlElement, 'source' | 'offset' | 'end'>): {
  from: number;
  to: number;
} {
  return { from: markupByte(source, offset), to: markupByte(source, end - 1) + bytesOfMarkup(source) };
}

/** Returns the offset after the name of a start tag. */
export function nameEnd({ source, offset }: Pick<XmlElement, 'source' | 'offset'>): number {
  const name = /[^\s/>]+/y;
  name.lastIndex = offset + 1;
  name.test(source.text);
  return name.lastIndex;
}

/** Returns the offset after the `>` of a start tag. */
export function startTagEnd({ source, offset }: Pick<XmlElement, 'source' | 'offset'>): number {
  const startTag = /<(?:[^>"']|"[^"]*"|'[^']*')*>/y;
  startTag.lastIndex = offset;
  startTag.test(source.text);
  return startTag.lastIndex;
}

function bytesOfMarkup({ bytes }: XmlSource): number {
  return isWide(bytes) ? 2 : 1;
}

/** Last converted position in each source. The next one is usually after that. */
const lastPositions = new WeakMap<XmlSource, { readonly offset: number; readonly byte: number }>();

const escapeByte = 0x1b;
const dollar = 0x24;

/**
 * Returns the byte offset of a quote or angle bracket, given its character offset. Its byte is that of ASCII in all
 * supported encodings. No other character contains this byte, except double-byte sequences of ISO-2022-JP between `ESC
 * $` and the next escape (RFC 1468). So the function counts these bytes.
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
