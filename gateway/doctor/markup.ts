import type { Limits } from '../../mappings/contract/limits.ts';
import { namespaces } from '../../mappings/contract/model.ts';
import { sentence } from '../../mappings/contract/reason.ts';
import { XmlError } from '../../mappings/xml/error.ts';
import { XmlReader } from '../../mappings/xml/reader.ts';
import { type Draft, offsetOf } from './draft.ts';

/** Usual namespaces of undeclared prefixes. */
const usualPrefixes: Readonly<Record<string, string>> = {
  soap: namespaces.soap11,
  soapenv: namespaces.soap11,
  'SOAP-ENV': namespaces.soap11,
  s: namespaces.soap11,
  S: namespaces.soap11,
  soap12: namespaces.soap12,
  soap12env: namespaces.soap12,
  env: namespaces.soap12,
  xsi: namespaces.xsi,
  i: namespaces.xsi,
  xsd: namespaces.xsd,
  xs: namespaces.xsd,
  wsse: namespaces.wsse,
  wsu: namespaces.wsu,
  wsa: namespaces.addressing10,
};

/** HTML entities that are often used in XML by mistake. */
const htmlEntities: Readonly<Record<string, string>> = {
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  euro: '€',
  pound: '£',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  laquo: '«',
  raquo: '»',
};

/** Options for correcting markup. */
export interface MarkupOptions {
  readonly limits: Limits;
  /** True if references to characters that XML forbids are accepted (W10). */
  readonly acceptsIllegalReferences: boolean;
  /** Namespace for an undeclared prefix that is not a usual one. */
  readonly typesNamespace: string;
}

/** Maximum number of markup corrections in one message. */
export const maxRepairs = 50;

/**
 * Corrects markup that is not well-formed, one error at a time. Returns false and adds a finding if an error cannot be
 * corrected.
 */
export function fixMarkup(draft: Draft, options: MarkupOptions): boolean {
  fixLastTag(draft);
  for (let repairs = 0; ; repairs++) {
    const error = errorOf(draft.text, options);
    if (error === undefined) return true;
    const at = offsetOf(draft.text, error);
    if (error.limit !== undefined) {
      draft.error(at, `${words(error)}: this is the limit of this service (docs/limits.md)`);
      return false;
    }
    const before = draft.changes;
    const isTried = repairs < (options.limits.explainRepairs ?? maxRepairs);
    if (isTried) fixError(draft, error, at, options);
    if (draft.changes === before) {
      draft.error(at, `the XML is not well-formed here: ${words(error)}`);
      return false;
    }
  }
}

/** Removes an incomplete tag at the end of the message. */
function fixLastTag(draft: Draft): void {
  const { text } = draft;
  const start = text.lastIndexOf('<');
  if (start <= 0 || text.length - start > 512 || !/^<\/?[A-Za-z_][^>]*$|^<\/?$/.test(text.slice(start)))
    return;
  const message = 'the message ends inside a tag: it was truncated, perhaps by a wrong Content-Length';
  draft.error(start, message, 'the end tags that are missing');
  draft.replace(start, text.length, '');
}

/** Returns the first error; undefined for a well-formed document. */
function errorOf(text: string, { limits, acceptsIllegalReferences }: MarkupOptions): XmlError | undefined {
  try {
    new XmlReader(text, limits, { acceptsIllegalReferences }).drain();
    return undefined;
  } catch (error) {
    if (error instanceof XmlError) return error;
    throw error;
  }
}

/** Returns the sentence of an error without its position. */
function words({ reason }: XmlError): string {
  return sentence({ ...reason, where: undefined });
}

/** Reports an error of the message, and corrects the draft if the correction is known. */
function fixError(draft: Draft, error: XmlError, at: number, { typesNamespace }: MarkupOptions): void {
  const { text } = draft;
  const { mistake, subject = '', other } = error;
  const ampersand = mistake === 'reference' ? text.lastIndexOf('&', at) : -1;
  if (ampersand >= 0 && at - ampersand < 64) fixAmpersand(draft, ampersand);
  else if (mistake === 'doctype') fixDoctype(draft, at);
  else if (text.startsWith('<?', at)) fixInstruction(draft, at);
  else if (mistake === 'declaration') fixDeclaration(draft, at);
  else if (mistake === 'endTag') fixEndTag(draft, at, subject, other);
  else if (mistake === 'prefix') declarePrefix(draft, at, subject, usualPrefixes[subject] ?? typesNamespace);
  else if (mistake === 'quotes') fixQuotes(draft, at);
  else if (mistake === 'repeatedAttribute') dropAttribute(draft, at, subject);
  else if (mistake === 'character') dropCharacter(draft, at, words(error));
  else if (mistake === 'lessThan') escapeLessThan(draft, at);
  else if (mistake === 'cdataEnd') {
    draft.error(at, ']]> is outside a CDATA section', ']]&gt;');
    const found = text.indexOf(']]>', Math.max(0, at - 3));
    if (found >= 0) draft.replace(found + 2, found + 3, '&gt;');
  } else if (mistake === 'trailing') {
    draft.error(
      at,
      'content after the end of the envelope: two messages in one, or the rest of a template',
      'left out',
    );
    draft.replace(at, text.length, '');
  }
}

function fixAmpersand(draft: Draft, ampersand: number): void {
  const name = /^&(\w+);/.exec(draft.text.slice(ampersand, ampersand + 20))?.[1];
  const character = name === undefined ? undefined : htmlEntities[name];
  if (name !== undefined && character !== undefined) {
    draft.error(
      ampersand,
      `&${name}; is an HTML entity: XML has only &amp; &lt; &gt; &quot; and &apos;`,
      'the character itself',
    );
    draft.replace(ampersand, ampersand + name.length + 2, character);
    return;
  }
  draft.error(
    ampersand,
    'an & in a value is not escaped: write &amp;, or let the XML library write the value',
    '&amp;',
  );
  draft.replace(ampersand, ampersand + 1, '&amp;');
}

function fixDoctype(draft: Draft, at: number): void {
  const { text } = draft;
  const subset = text.indexOf('[', at);
  const close = text.indexOf('>', at);
  const end = subset >= 0 && subset < close ? text.indexOf(']>', subset) + 2 : close + 1;
  draft.error(
    at,
    'a DTD (<!DOCTYPE>) is not allowed in a SOAP message (SOAP 1.1, 3; SOAP 1.2, 5)',
    'left out',
  );
  if (end > at) draft.replace(at, end, '');
}

function fixInstruction(draft: Draft, at: number): void {
  const { text } = draft;
  const end = text.indexOf('?>', at);
  const isDeclaration = /^<\?xml\s/i.test(text.slice(at, at + 6));
  draft.error(
    at,
    isDeclaration
      ? 'an XML declaration is inside the document: two documents were joined, or white space is before it'
      : 'processing instructions are not allowed in a SOAP message',
    'left out',
  );
  if (end >= 0) draft.replace(at, end + 2, '');
}

function fixDeclaration(draft: Draft, at: number): void {
  const declaration = '<?xml version="1.0" encoding="utf-8"?>';
  const end = draft.text.indexOf('>');
  draft.error(at, 'the XML declaration is not well-formed, or the version is not 1.0', declaration);
  if (end >= 0) draft.replace(0, end + 1, declaration);
}

function declarePrefix(draft: Draft, at: number, prefix: string, namespace: string): void {
  draft.error(
    at,
    `the prefix ${prefix} is not declared: xmlns:${prefix}="…" is missing, often lost when a part of a message is copied`,
    `xmlns:${prefix}="${namespace}"`,
  );
  const place = rootNameEnd(draft.text);
  if (place !== undefined) draft.replace(place, place, ` xmlns:${prefix}="${namespace}"`);
}

function dropAttribute(draft: Draft, at: number, name: string): void {
  const { text } = draft;
  const start = text.lastIndexOf('<', at);
  const again = lastAttribute(text.slice(start, text.indexOf('>', at) + 1), name);
  draft.error(at, `the attribute ${name} occurs twice in one tag`, 'the second one removed');
  if (again !== undefined) draft.replace(start + again.start, start + again.start + again.length, '');
}

function dropCharacter(draft: Draft, at: number, why: string): void {
  const end = draft.text[at] === '&' ? draft.text.indexOf(';', at) + 1 : at + 1;
  draft.error(
    at,
    `a control character is in the message: XML does not allow it, escaped or not: ${why}`,
    'left out',
  );
  if (end > at) draft.replace(at, end, '');
}

function escapeLessThan(draft: Draft, at: number): void {
  const bracket = draft.text.lastIndexOf('<', at);
  if (bracket < 0 || at - bracket > 64) return;
  draft.error(
    bracket,
    'a < in a value is not escaped: write &lt;, or let the XML library write the value',
    '&lt;',
  );
  draft.replace(bracket, bracket + 1, '&lt;');
}

/** Corrects an end tag that is missing or belongs to another element. */
function fixEndTag(draft: Draft, at: number, expected: string, got: string | undefined): void {
  const { text } = draft;
  if (got === undefined) {
    const isEnd = at >= text.trimEnd().length;
    draft.error(
      at,
      isEnd
        ? `the message ends before </${expected}>: it was truncated, perhaps by a wrong Content-Length`
        : `</${expected}> is missing`,
      `</${expected}>`,
    );
    draft.replace(at, at, `</${expected}>`);
    return;
  }
  const start = text.lastIndexOf('</', at + 2);
  const local = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase();
  const isOuter = hasOpen(text, start, got);
  if (local(expected) === local(got) || !isOuter) {
    draft.error(
      start,
      `the end tag </${got}> does not match <${expected}>: case and prefixes must be equal`,
      `</${expected}>`,
    );
    draft.replace(start + 2, start + 2 + got.length, expected);
  } else {
    draft.error(start, `</${expected}> is missing before </${got}>`, `</${expected}>`);
    draft.replace(start, start, `</${expected}>`);
  }
}

/** Returns true if an element with this name is open before an offset. It counts the tags. */
function hasOpen(text: string, end: number, name: string): boolean {
  let open = 0;
  for (let at = text.indexOf(name); at >= 0 && at < end; at = text.indexOf(name, at + 1)) {
    if (!/[\s/>]/.test(text[at + name.length] ?? '')) continue;
    if (text[at - 1] === '<') open += text[text.indexOf('>', at) - 1] === '/' ? 0 : 1;
    else if (text.startsWith('</', at - 2)) open--;
  }
  return open > 0;
}

/** Corrects an attribute value without quotes or with typographic quotes. */
function fixQuotes(draft: Draft, at: number): void {
  const { text } = draft;
  const isTypographic = typographic.test(text[at] ?? '');
  const from = isTypographic ? at + 1 : at;
  let end = from;
  while (end < text.length && !isValueEnd(text[end] ?? '', isTypographic)) end++;
  const past = typographic.test(text[end] ?? '') ? end + 1 : end;
  draft.error(
    at,
    isTypographic
      ? 'typographic quotes around an attribute value: a word processor or web page changed them'
      : 'the value of an attribute has no quotes',
    'straight quotes',
  );
  draft.replace(at, past, `"${text.slice(from, end)}"`);
}

const typographic = /[“”„‘’«»]/;

/** Returns true if a character ends a value without straight quotes. */
function isValueEnd(character: string, isQuoted: boolean): boolean {
  if (typographic.test(character) || /[<>"']/.test(character)) return true;
  return !isQuoted && /[\s/]/.test(character);
}

/** Returns the last attribute with a name in a tag. */
function lastAttribute(tag: string, name: string): { start: number; length: number } | undefined {
  const start = Math.max(...[' ', '\t', '\n'].map((blank) => tag.lastIndexOf(`${blank}${name}`)));
  const quote = /^[^"']*(["'])/.exec(tag.slice(start))?.[1];
  if (start < 0 || quote === undefined) return undefined;
  const open = tag.indexOf(quote, start);
  const close = tag.indexOf(quote, open + 1);
  return close < 0 ? undefined : { start, length: close + 1 - start };
}

/** Returns the offset after the root element's name. */
function rootNameEnd(text: string): number | undefined {
  const found = /<[A-Za-z_][\w.:-]*/.exec(text);
  return found === null ? undefined : found.index + found[0].length;
}
