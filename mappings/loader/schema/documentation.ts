import { scalarTable } from '../../codec/scalars/table.ts';
import type { RecordType, TupleType, Type, UnionType, Words } from '../../contract/model.ts';
import { isNode, type Node, textOf } from '../document/node.ts';
import type { Located, References } from '../document/references.ts';
import { fixedValues, isTypedFormat } from './keywords.ts';
import type { SchemaMember } from './members.ts';
import { schemaParts } from './resolve.ts';

/** A member as its field has it. */
export interface DocumentedMember extends Pick<SchemaMember, 'pointer' | 'around'> {
  readonly schema?: unknown;
  readonly type: Type;
  /** Enum values it takes, when fewer than its type has. */
  readonly allowed: readonly string[] | undefined;
}

/**
 * What the document says of a member to people, but for what the schema's types say by themselves: their own
 * descriptions, their values. Nothing where that is nothing.
 */
export function memberDocumentation(
  member: DocumentedMember,
  references: References,
): { readonly words?: Words; readonly example?: string } {
  const { type, around, pointer } = member;
  const places = statementsOf({ node: member.schema, pointer }, type, references);
  if (isNode(around)) places.unshift({ node: around, pointer });
  const texts = places.map(({ node }) => (textOf(node.description) ?? '').trim());
  const nearest = texts.find((text) => text !== '') ?? '';
  const description = describes(type, nearest) ? '' : nearest;
  const facts = factsOf(places, member, references);
  const example = exampleOf(places, references.allowance.limits.contractExample);
  references.allowance.stepText(pointer, description.length + facts.length + (example?.length ?? 0));
  return {
    ...(description !== '' || facts !== '' ? { words: { description, facts } } : {}),
    ...(example === undefined ? {} : { example }),
  };
}

/** The nearest example as JSON, else the default; undefined for none that is exact and short enough to be shown. */
function exampleOf(places: readonly Statement[], most: number): string | undefined {
  const stated = places.flatMap(({ node }) => examplesOf(node));
  const defaults = places.flatMap((place) => (place.node.default === undefined ? [] : [place.node.default]));
  for (const value of [...stated, ...defaults]) {
    const json = value === null ? undefined : shortJson(value, most);
    if (json !== undefined) return json;
  }
  return undefined;
}

/** A value as JSON; undefined for one with more characters or with a number whose digits the loader doesn't keep. */
function shortJson(value: unknown, most: number): string | undefined {
  let left = most;
  const write = (one: unknown): string | undefined => {
    if (left-- <= 0) return undefined;
    if (typeof one === 'number' && !isExactNumber(one)) return undefined;
    if (typeof one !== 'object' || one === null) {
      const token = JSON.stringify(one);
      if (token === undefined) return undefined;
      left -= token.length;
      return left < 0 ? undefined : token;
    }
    const isList = Array.isArray(one);
    const parts: string[] = [];
    for (const [key, inner] of Object.entries(one)) {
      if (!isList) left -= key.length;
      const token = write(inner);
      if (token === undefined) return undefined;
      parts.push(isList ? token : `${JSON.stringify(key)}:${token}`);
    }
    return isList ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
  };
  return write(value);
}

/** A schema's or a parameter's examples: one, a list of them, or by names (OpenAPI 3.1, 4.8.12.2, 4.8.24). */
function examplesOf({ example, examples }: Node): readonly unknown[] {
  const one = example === undefined ? [] : [example];
  if (Array.isArray(examples)) return [...one, ...examples.slice(0, 1)];
  if (!isNode(examples)) return one;
  const [first] = Object.values(examples);
  return isNode(first) && first.value !== undefined ? [...one, first.value] : one;
}

interface Statement extends Located {
  readonly node: Node;
}

/** All schemas that say something of a value, the nearest first; a named type with words of its own says them itself. */
function statementsOf(schema: Located, type: Type, references: References): Statement[] {
  const found = new Map<Node, Statement>();
  const gather = ({ node, pointer }: Located): void => {
    references.allowance.step(pointer);
    if (!isNode(node) || found.has(node)) return;
    const refers = Object.hasOwn(node, '$ref');
    const alone = refers && !references.siblingsCount;
    found.set(node, { node: alone ? { description: node.description } : node, pointer });
    if (refers && hasDocumentation(type)) return;
    for (const part of schemaParts(node, pointer, references)) gather(part);
  };
  gather(schema);
  return [...found.values()];
}

/** What several schemas say, each keyword as the nearest has it. */
function placesAsOne(places: readonly Statement[]): Node {
  const stated = places.toReversed().flatMap(({ node }) => Object.entries(node));
  return Object.fromEntries(stated.filter(([, value]) => value !== undefined));
}

/** True for a type that the XSD documents in its own place. */
function hasDocumentation(type: Type): type is RecordType | TupleType | UnionType {
  return type.kind === 'record' || type.kind === 'union' || type.kind === 'tuple';
}

/** True for a type in line, which has the member's words already. */
function describes(type: Type, description: string): boolean {
  return hasDocumentation(type) && type.documentation === description;
}

function factsOf(
  places: readonly Statement[],
  { type, allowed }: Pick<DocumentedMember, 'type' | 'allowed'>,
  references: References,
): string {
  const stated = placesAsOne(places);
  const facts = [
    valuesFact(stated, type, allowed),
    valueFact('Default', stated.default),
    formatFact(stated, type),
    patternFact(stated),
    countFact('Length', stated.minLength, stated.maxLength),
    boundsFact(stated),
    isExactNumber(stated.multipleOf) ? `Multiple of ${stated.multipleOf}` : '',
    countFact('Items', stated.minItems, stated.maxItems),
    stated.uniqueItems === true ? 'No item twice' : '',
    countFact('Members', stated.minProperties, stated.maxProperties),
    stated.readOnly === true ? 'Read only' : '',
    stated.writeOnly === true ? 'Write only' : '',
    stated.deprecated === true ? 'Deprecated' : '',
  ];
  const sentences = facts.filter((fact) => fact !== '').map((fact) => `${fact}.`);
  return [...sentences, ...insideFacts(places, type, references)].join(' ');
}

/** What is said of each item or value; last, as it may be several sentences. */
function insideFacts(places: readonly Statement[], type: Type, references: References): string[] {
  if (type.kind !== 'array' && type.kind !== 'map') return [];
  const [keyword, what, inner] =
    type.kind === 'array'
      ? (['items', 'item', type.item] as const)
      : (['additionalProperties', 'value', type.value] as const);
  const holder = places.find(({ node }) => isNode(node[keyword]));
  if (holder === undefined || hasDocumentation(inner)) return [];
  const schema = { node: holder.node[keyword], pointer: `${holder.pointer}/${keyword}` };
  const of = { type: inner, allowed: undefined };
  const facts = factsOf(statementsOf(schema, inner, references), of, references);
  return facts === '' ? [] : [`Each ${what}: ${facts}`];
}

function valuesFact(stated: Node, type: Type, allowed: DocumentedMember['allowed']): string {
  const values = type.kind === 'enum' ? allowed : fixedValues(stated);
  if (values === undefined || values.length === 0 || !values.every((value) => isExact(value))) return '';
  return `${values.length === 1 ? 'Always' : 'One of'}: ${values.map(wordOf).join(', ')}`;
}

function valueFact(name: string, value: unknown): string {
  return value === undefined || !isExact(value) ? '' : `${name}: ${wordOf(value)}`;
}

function formatFact({ format }: Node, type: Type): string {
  if (type.kind !== 'scalar' || typeof format !== 'string') return '';
  const { xsd, json } = scalarTable[type.scalar];
  const isText = xsd === 'string' && json === 'string';
  return isText || !isTypedFormat(format) ? `Format: ${format}` : '';
}

/** An escaped slash is a slash, and ends no comment in what generators make of it. */
function patternFact({ pattern }: Node): string {
  return typeof pattern === 'string' ? `Pattern: ${pattern.replaceAll('*/', '*\\/')}` : '';
}

function countFact(name: string, least: unknown, most: unknown): string {
  const from = typeof least === 'number' && least > 0 ? least : undefined;
  const to = typeof most === 'number' ? most : undefined;
  if (from === undefined) return to === undefined ? '' : `${name}: at most ${to}`;
  if (to === undefined) return `${name}: at least ${from}`;
  return from === to ? `${name}: ${from}` : `${name}: ${from} to ${to}`;
}

/** Bounds as they are in 3.1, or in 3.0, where `exclusiveMinimum` and `exclusiveMaximum` are booleans. */
function boundsFact(stated: Node): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = stated;
  const bounds = [
    [exclusiveMinimum === true ? 'above' : 'from', minimum],
    ['above', exclusiveMinimum],
    [exclusiveMaximum === true ? 'below' : 'up to', maximum],
    ['below', exclusiveMaximum],
  ] as const;
  const texts = bounds.flatMap(([word, bound]) => (isExactNumber(bound) ? [`${word} ${bound}`] : []));
  const text = texts.join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A value as it is read; in JSON where it would be taken for something else. */
function wordOf(value: unknown): string {
  const plain = typeof value === 'string' && /^[^\s\p{Cc}",]+(?: [^\s\p{Cc}",]+)*$/u.test(value);
  return plain ? value : JSON.stringify(value);
}

/** False for a number whose digits the loader doesn't keep, and for what holds one or goes deeper than anyone reads. */
function isExact(value: unknown, levels = 10): boolean {
  if (typeof value === 'number') return isExactNumber(value);
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isExact(inner, levels - 1));
}

function isExactNumber(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}
