import { type Quote, quoteValue } from '../../contract/reason.ts';
import type { ReplacementCount } from '../../xml/output.ts';

/** Escaping of text, and characters that XML does not allow (W21). */

/**
 * Escapes text for XML content: `& < >` and CR as `&#13;`. Characters that XML 1.0 does not allow become U+FFFD and are
 * counted.
 */
export function escapeXml(text: string, count: ReplacementCount): string {
  let escaped = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 63 && code < 0xd800) continue;
    let entity: string | undefined;
    if (code === 38) entity = '&amp;';
    else if (code === 60) entity = '&lt;';
    else if (code === 62) entity = '&gt;';
    else if (code === 13) entity = '&#13;';
    else if (code < 32 ? code !== 9 && code !== 10 : code >= 0xfffe) entity = '\ufffd';
    else if (code >= 0xd800 && code <= 0xdfff) {
      const next = text.charCodeAt(at + 1);
      if (code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) at++;
      else entity = '\ufffd';
    }
    if (entity === undefined) continue;
    if (entity === '\ufffd') count.replaced++;
    escaped += text.slice(from, at) + entity;
    from = at + 1;
  }
  return from === 0 ? text : escaped + text.slice(from);
}

/** Escapes text for an attribute value: as for content, and the quote. */
export function escapeAttribute(text: string): string {
  return escapeXml(text, { replaced: 0 }).replaceAll('"', '&quot;');
}

/**
 * Returns a text with each secret replaced by `***`, then cut to `most` characters, so that no part of a secret
 * remains. It takes linear time and reads little more than it returns.
 */
export type Hide = (text: string, most?: number) => string;

/** Quotes a value for a message: shortened, with control characters escaped. */
export function excerpt(value: string): string {
  const characters = [...value.slice(0, 66)];
  return JSON.stringify(characters.length > 32 ? `${characters.slice(0, 32).join('')}…` : value);
}

/** Quotes a value for a reason. */
export function quoteText(value: string): Quote {
  return quoteValue(excerpt(value), 'a text');
}

/** Maximum number of characters of a namespace in a message. */
const shownNamespace = 200;

/** Formats a namespace for a message: `namespace "urn:x"` or `no namespace`. */
export function namespaceText(namespace: string): string {
  if (namespace === '') return 'no namespace';
  const isLong = namespace.length > shownNamespace;
  return `namespace ${JSON.stringify(isLong ? `${namespace.slice(0, shownNamespace)}…` : namespace)}`;
}

/** Formats the first names of a list for a message, with `, …` if there are more. */
export function someNames(names: readonly string[]): string {
  return `${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}`;
}

/**
 * Returns a text as a JSON string. Most texts are short and are checked here, because that is faster than
 * `JSON.stringify`.
 */
export function quoteJson(text: string): string {
  if (text.length > 64) return JSON.stringify(text);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code === 34 || code === 92 || code >= 0xd800) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/** Converts A to Z to lower case: names match without regard to ASCII case (W37). */
export function foldAscii(name: string): string {
  if (!/[A-Z]/.test(name)) return name;
  if (!/[^\0-\x7f]/.test(name)) return name.toLowerCase();
  // other letters keep their case
  const units = Buffer.from(name, 'utf16le');
  for (let at = 0; at < units.length; at += 2) {
    const code = units[at] as number;
    if (units[at + 1] === 0 && code >= 65 && code <= 90) units[at] = code + 32;
  }
  return units.toString('utf16le');
}
