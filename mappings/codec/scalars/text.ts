import type { ReplacementCount } from '../../xml/output.ts';

/** Text between the two grammars: what XML must escape and what it can't carry (W21). */

/** Character data for XML content: `& < >` escaped, CR as `&#13;`, what XML 1.0 can't carry as U+FFFD, counted. */
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

/** An attribute value's escapes: those of content and the quote. */
export function escapeAttribute(text: string): string {
  return escapeXml(text, { replaced: 0 }).replaceAll('"', '&quot;');
}

/**
 * A text with `***` in place of each secret, then cut to `most` characters: so of a secret no part is left by the cut. Takes
 * time linear in what it reads, and reads little more than it gives.
 */
export type Hide = (text: string, most?: number) => string;

/** `value` quoted for a message: cut, control characters escaped. */
export function excerpt(value: string): string {
  const characters = [...value.slice(0, 66)];
  return JSON.stringify(characters.length > 32 ? `${characters.slice(0, 32).join('')}…` : value);
}

/** Characters of a namespace that a message shows. */
const shownNamespace = 200;

/** A namespace for a message: `namespace "urn:x"` or `no namespace`. */
export function namespaceText(namespace: string): string {
  if (namespace === '') return 'no namespace';
  const isLong = namespace.length > shownNamespace;
  return `namespace ${JSON.stringify(isLong ? `${namespace.slice(0, shownNamespace)}…` : namespace)}`;
}

/** The first names of a list for a message, with `, …` for more. */
export function someNames(names: readonly string[]): string {
  return `${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}`;
}

/** A JSON string. Short texts, which are nearly all, are looked at here, because that costs less than a call of `JSON.stringify`. */
export function quoteJson(text: string): string {
  if (text.length > 64) return JSON.stringify(text);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code === 34 || code === 92 || code >= 0xd800) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/** Lower case for A to Z alone: names match without regard to ASCII case (W37). */
export function foldAscii(name: string): string {
  if (!/[A-Z]/.test(name)) return name;
  if (!/[^\0-\x7f]/.test(name)) return name.toLowerCase();
  // letters beyond ASCII keep their case
  const units = Buffer.from(name, 'utf16le');
  for (let at = 0; at < units.length; at += 2) {
    const code = units[at] as number;
    if (units[at + 1] === 0 && code >= 65 && code <= 90) units[at] = code + 32;
  }
  return units.toString('utf16le');
}
