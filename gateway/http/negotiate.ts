import type { Limits } from '../../mappings/contract/limits.ts';

/** Formats of a reply (W5). */
export type Format = 'json' | 'xml' | 'soap11' | 'soap12';

const formats = ['json', 'xml', 'soap11', 'soap12'] as const satisfies readonly Format[];

/** Returns the format with this name, ignoring case; undefined for another name. */
export function formatNamed(word: string): Format | undefined {
  const lower = word.toLowerCase();
  return formats.find((format) => format === lower);
}

/** Splits the format suffix off the last segment of a path (W5). */
export function cutSuffix(segment: string): {
  readonly segment: string;
  readonly format: Format | undefined;
} {
  const dot = segment.lastIndexOf('.');
  const format = dot === -1 ? undefined : formatNamed(segment.slice(dot + 1));
  return format === undefined ? { segment, format } : { segment: segment.slice(0, dot), format };
}

const mediaTypes: Readonly<Record<string, Format>> = {
  'application/json': 'json',
  'text/json': 'json',
  'application/xml': 'xml',
  'text/xml': 'xml',
  'application/soap+xml': 'soap12',
};

/** Maximum number of media ranges of an Accept header that are read. */
export const maxAcceptRanges = 32;

interface Range {
  readonly type: string;
  readonly q: number;
}

/**
 * Returns the format that an Accept header prefers (RFC 9110 §12.5.1; W5): the highest q. A named type wins over a
 * wildcard. With equal q, `own` wins, then the first named one. Returns undefined if no range is usable.
 */
export function acceptedFormat(accept: string, own: Format, limits: Limits): Format | undefined {
  const ranges = parseAccept(accept, limits.acceptRanges ?? maxAcceptRanges);
  let best: Format | undefined;
  let bestQ = 0;
  const named = ranges.map(({ type }) => mediaTypes[type]).filter((format) => format !== undefined);
  for (const format of [own, ...named, ...formats]) {
    const q = qualityOf(format, ranges);
    if (q > bestQ) {
      best = format;
      bestQ = q;
    }
  }
  return best;
}

/**
 * Returns the q of a format: from its media type, otherwise from a wildcard subtype, otherwise from the full wildcard.
 */
function qualityOf(format: Format, ranges: readonly Range[]): number {
  const exact = ranges.filter(({ type }) => mediaTypes[type] === format);
  if (exact.length > 0) return Math.max(...exact.map(({ q }) => q));
  // SOAP 1.1 has no media type of its own here, and a wildcard never selects an envelope
  if (format === 'soap11' || format === 'soap12') return 0;
  const partial = ranges.filter(({ type }) => type === 'application/*' || type === 'text/*');
  if (partial.length > 0) return Math.max(...partial.map(({ q }) => q));
  return Math.max(0, ...ranges.filter(({ type }) => type === '*/*').map(({ q }) => q));
}

/** Returns the valid ranges. Skips invalid ones, for example Java's `*; q=.2`. */
function parseAccept(accept: string, most: number): Range[] {
  const ranges: Range[] = [];
  for (const part of accept.split(',', most)) {
    const [type = '', ...parameters] = part.split(';');
    const name = type.trim().toLowerCase();
    if (!/^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+$/.test(name)) continue;
    let q = 1;
    for (const parameter of parameters) {
      const equals = parameter.indexOf('=');
      if (equals === -1 || parameter.slice(0, equals).trim().toLowerCase() !== 'q') continue;
      const value = parameter.slice(equals + 1).trim();
      q = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : Number.NaN;
    }
    if (!Number.isNaN(q)) ranges.push({ type: name, q });
  }
  return ranges;
}

/** Returns true if a name is allowed as a JSONP callback (W6). */
export function isCallback(name: string): boolean {
  return /^[A-Za-z_$][\w$.]{0,63}$/.test(name);
}

/** Returns a JSONP body (W6). It starts with a comment, so that no text chosen by the client is at its start. */
export function writeJsonp(callback: string, json: string | Buffer): Buffer {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  return Buffer.concat([Buffer.from(`/**/${callback}(`), escapeSeparators(bytes), Buffer.from(');')]);
}

/**
 * Escapes U+2028 and U+2029, which ended a line of JavaScript before ES2019. Works on bytes, which is faster than
 * replacing text.
 */
function escapeSeparators(json: Buffer): Buffer {
  if (!json.includes('\u2028') && !json.includes('\u2029')) return json;
  const escaped = Buffer.allocUnsafe(2 * json.length);
  const { length } = json;
  let to = 0;
  for (let at = 0; at < length; at++) {
    const byte = json[at] as number;
    if (byte === 0xe2 && json[at + 1] === 0x80 && ((json[at + 2] as number) & 0xfe) === 0xa8) {
      escaped[to] = 0x5c;
      escaped[to + 1] = 0x75;
      escaped[to + 2] = 0x32;
      escaped[to + 3] = 0x30;
      escaped[to + 4] = 0x32;
      escaped[to + 5] = 0x38 + ((json[at + 2] as number) & 1);
      to += 6;
      at += 2;
    } else escaped[to++] = byte;
  }
  return escaped.subarray(0, to);
}
