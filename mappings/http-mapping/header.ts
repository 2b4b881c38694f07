import { type Scalar, tokenIn } from '../codec/scalars/scalar.ts';
import type { HeaderScalar, HeaderShape } from '../contract/model.ts';

/** Converts texts to scalars, by scalar name. */
export type HeaderScalars = Readonly<Record<HeaderScalar, Pick<Scalar, 'fromXml'>>>;

/** Converts a reply's header to JSON. Returns undefined for a text of another shape, which does not fail the reply. */
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

/** Returns the items between commas; none for an empty text. */
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

/** Converts a text to JSON as if it were XML text. */
function scalarJson(text: string, scalar: HeaderScalar, scalars: HeaderScalars): string | undefined {
  return tokenIn(scalars[scalar].fromXml(text));
}

// --- Link (RFC 8288) ---------------------------------------------------------------------------------

interface Link {
  readonly Rel: string;
  readonly Href: string;
}

/** Returns the links of a header, one per relation; none if any part of it is malformed. */
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
