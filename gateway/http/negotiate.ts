import type { Limits } from '../../mappings/contract/limits.ts';

/** What a reply can be written in (W5). */
export type Format = 'json' | 'xml' | 'soap11' | 'soap12';

const formats = ['json', 'xml', 'soap11', 'soap12'] as const satisfies readonly Format[];

/** The format a word names, in any case; undefined for another word. */
export function formatNamed(word: string): Format | undefined {
  const lower = word.toLowerCase();
  return formats.find((format) => format === lower);
}

/** A path's last segment and the format that its suffix asks for (W5). */
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

/** Media ranges of an Accept header that are read. */
export const maxAcceptRanges = 32;

interface Range {
  readonly type: string;
  readonly q: number;
}

/**
 * The format that an Accept header prefers (RFC 9110, 12.5.1; W5): highest q, a named type before a wildcard
 * for it, a tie to `own`, then to the first named. Undefined when nothing in it is usable.
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

/** The q that the ranges give a format: by name first, then `application/*`, then all. */
function qualityOf(format: Format, ranges: readonly Range[]): number {
  const exact = ranges.filter(({ type }) => mediaTypes[type] === format);
  if (exact.length > 0) return Math.max(...exact.map(({ q }) => q));
  // SOAP 1.1 has no media type of its own here; a wildcard never means an envelope nobody named
  if (format === 'soap11' || format === 'soap12') return 0;
  const partial = ranges.filter(({ type }) => type === 'application/*' || type === 'text/*');
  if (partial.length > 0) return Math.max(...partial.map(({ q }) => q));
  return Math.max(0, ...ranges.filter(({ type }) => type === '*/*').map(({ q }) => q));
}

/** The ranges that can be parsed; Java's `*; q=.2` can't and is skipped. */
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

/** W6: what a JSONP callback may be. */
export function isCallback(name: string): boolean {
  return /^[A-Za-z_$][\w$.]{0,63}$/.test(name);
}

/** The JSONP body (W6): a comment first, so that nothing a caller chose starts the file. */
export function writeJsonp(callback: string, json: string | Buffer): Buffer {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  return Buffer.concat([Buffer.from(`/**/${callback}(`), escapeSeparators(bytes), Buffer.from(');')]);
}

/**
 * U+2028 and U+2029 as escapes, since they ended a line of JavaScript before ES2019. By bytes, which takes an eighth of the
 * time of replacing text where a reply is full of them.
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
