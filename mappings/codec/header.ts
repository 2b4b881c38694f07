import { JsonError } from '../json/reader.ts';
import type { Limits } from '../limits.ts';
import type { HeaderScalar, HeaderShape } from '../model.ts';
import { checkJson } from './part.ts';

/** A header of a reply as JSON; undefined for a text that isn't of its shape, which fails no reply. */
export function headerJson(text: string, shape: HeaderShape, limits: Limits): string | undefined {
  switch (shape.kind) {
    case 'scalar':
      return scalarJson(text, shape.scalar, limits);
    case 'list': {
      const items = partsOf(text).map((item) => scalarJson(item, shape.item, limits));
      return items.includes(undefined) ? undefined : `[${items.join(',')}]`;
    }
    case 'object':
      return objectJson(text, shape, limits);
  }
}

/** Items between commas; none of an empty text. */
function partsOf(text: string): string[] {
  return text.trim() === '' ? [] : text.split(',').map((part) => part.trim());
}

function objectJson(
  text: string,
  { explode, members, others }: Extract<HeaderShape, { kind: 'object' }>,
  limits: Limits,
): string | undefined {
  const pairs = explode ? partsOf(text).map(pairOf) : pairUp(partsOf(text));
  const found = new Map<string, string>();
  for (const [name, value] of pairs) {
    const scalar = members.find((member) => member.name === name)?.scalar ?? others;
    const json = value === undefined ? undefined : scalarJson(value, scalar, limits);
    if (name === undefined || json === undefined || found.has(name)) return undefined;
    found.set(name, json);
  }
  return `{${[...found].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}

type Pair = readonly [string | undefined, string | undefined];

function pairOf(part: string): Pair {
  const equals = part.indexOf('=');
  return equals === -1 ? [part, undefined] : [part.slice(0, equals), part.slice(equals + 1)];
}

function pairUp(parts: readonly string[]): Pair[] {
  return parts.flatMap((part, index) => (index % 2 === 0 ? [[part, parts[index + 1]] as const] : []));
}

const lexical = {
  long: /^-?(?:0|[1-9]\d{0,17})$/,
  decimal: /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
  boolean: /^(?:true|false)$/,
} as const;

function scalarJson(text: string, scalar: HeaderScalar, limits: Limits): string | undefined {
  if (scalar === 'string') return JSON.stringify(text);
  if (scalar === 'json') return isJson(text, limits) ? text : undefined;
  return lexical[scalar].test(text) ? text : undefined;
}

function isJson(text: string, limits: Limits): boolean {
  try {
    checkJson(text, limits);
    return true;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

// --- Link (RFC 8288) ---------------------------------------------------------------------------------

interface Link {
  readonly Rel: string;
  readonly Href: string;
}

/** The links of a header, one per relation; none at all where some of it can't be told. */
export function linksOf(header: string): readonly Link[] {
  const links: Link[] = [];
  const link =
    /\s*<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~-]+\*?(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s",;]+))?)*)\s*(?:,|$)/y;
  while (link.lastIndex < header.length) {
    const [, href, parameters = ''] = link.exec(header) ?? [];
    if (href === undefined) return [];
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i.exec(parameters);
    for (const relation of (rel?.[1] ?? rel?.[2] ?? '').split(/\s+/)) {
      if (relation !== '') links.push({ Rel: relation, Href: href });
    }
  }
  return links;
}
