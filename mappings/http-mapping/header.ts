import { type Scalar, tokenIn } from '../codec/scalars/scalar.ts';
import type { HeaderScalar, HeaderShape } from '../contract/model.ts';

/** What reads the text of each scalar. */
export type HeaderScalars = Readonly<Record<HeaderScalar, Pick<Scalar, 'fromXml'>>>;

/** A header of a reply as JSON; undefined for a text that isn't of its shape, which fails no reply. */
export function headerJson(text: string, shape: HeaderShape, scalars: HeaderScalars): string | undefined {
  switch (shape.kind) {
    case 'scalar':
      return scalarJson(text, shape.scalar, scalars);
    case 'list': {
      const items = partsOf(text).map((item) => scalarJson(item, shape.item, scalars));
      return items.includes(undefined) ? undefined : `[${items.join(',')}]`;
    }
    case 'object':
      return objectJson(text, shape, scalars);
  }
}

/** Items between commas; none of an empty text. */
function partsOf(text: string): string[] {
  return text.trim() === '' ? [] : text.split(',').map((part) => part.trim());
}

function objectJson(
  text: string,
  { explode, members, others }: Extract<HeaderShape, { kind: 'object' }>,
  scalars: HeaderScalars,
): string | undefined {
  const pairs = explode ? partsOf(text).map(pairOf) : pairUp(partsOf(text));
  const found = new Map<string, string>();
  for (const [name, value] of pairs) {
    const scalar = members.find((member) => member.name === name)?.scalar ?? others;
    const json = value === undefined ? undefined : scalarJson(value, scalar, scalars);
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

/** A text as what XML would have it be. */
function scalarJson(text: string, scalar: HeaderScalar, scalars: HeaderScalars): string | undefined {
  return tokenIn(scalars[scalar].fromXml(text));
}

// --- Link (RFC 8288) ---------------------------------------------------------------------------------

interface Link {
  readonly Rel: string;
  readonly Href: string;
}

/** The links of a header, one per relation; none at all where a part of it isn't clear. */
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
