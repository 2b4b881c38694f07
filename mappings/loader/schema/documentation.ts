import { scalarTable } from '../../codec/scalars/table.ts';
import type { Check, RecordType, Rules, TupleType, Type, UnionType, Words } from '../../contract/model.ts';
import { pointerSegment } from '../document/error.ts';
import { isNode, type Node, textOf } from '../document/node.ts';
import { isUnresolved, type Located, type References } from '../document/references.ts';
import { fixedValues, isTypedFormat } from './keywords.ts';
import type { SchemaMember } from './members.ts';
import { schemaParts } from './resolve.ts';
import { boundsOf, countsOf, formatOf } from './rules.ts';

/** A member with the type and values of its field. */
export interface DocumentedMember extends Pick<SchemaMember, 'pointer' | 'around'> {
  readonly examples?: SchemaMember['examples'] | undefined;
  readonly schema?: unknown;
  readonly type: Type;
  /** Allowed enum values, if fewer than the values of the enum type. */
  readonly allowed: readonly string[] | undefined;
}

/** Texts, example and hints of a member. */
export interface Documentation {
  readonly words?: Words;
  readonly example?: string;
  readonly hints?: Rules;
}

/**
 * Returns the human-readable documentation of a member. Leaves out the descriptions and values that the member's type
 * documents. Properties without content are absent.
 *
 * @param needsHints false for a member with rules, which samples must satisfy anyway
 */
export function memberDocumentation(
  member: DocumentedMember,
  references: References,
  needsHints = true,
): Documentation {
  const { type, around, pointer, examples } = member;
  const places = statementsOf({ node: member.schema, pointer }, type, references);
  if (isNode(around)) places.unshift({ node: around, pointer });
  let nearest = '';
  for (const { node } of places) nearest ||= (textOf(node.description) ?? '').trim();
  const description = describes(type, nearest) ? '' : nearest;
  const stated = placesAsOne(places);
  const facts = factsOf(stated, places, member, references);
  const nearby =
    examples !== undefined && isNode(examples.node) ? [{ ...examples, node: examples.node }] : [];
  const example = exampleOf([...nearby, ...places], references);
  const hints = needsHints ? hintsOf(stated, places, type, references) : undefined;
  references.allowance.stepText(pointer, description.length + facts.length + (example?.length ?? 0));
  const documentation: { -readonly [Part in keyof Documentation]: Documentation[Part] } = {};
  if (description !== '' || facts !== '') documentation.words = { description, facts };
  if (example !== undefined) documentation.example = example;
  if (hints !== undefined) documentation.hints = hints;
  return documentation;
}

/**
 * Returns the nearest example, or else the default, as JSON. Undefined if no value is exact and short enough to show.
 */
function exampleOf(places: readonly Statement[], references: References): string | undefined {
  const most = references.allowance.limits.contractExample;
  if (!places.some(({ node }) => hasExample(node))) return undefined;
  const stated = places.flatMap((place) => examplesOf(place, references));
  const defaults = places.flatMap((place) => (place.node.default === undefined ? [] : [place.node.default]));
  for (const value of [...stated, ...defaults]) {
    const json = value === null ? undefined : shortJson(value, most);
    if (json !== undefined) return json;
  }
  return undefined;
}

function hasExample({ example, examples, default: standard }: Node): boolean {
  return example !== undefined || examples !== undefined || standard !== undefined;
}

/** Maximum depth of an example in the documentation. */
const deepestExample = 64;

/** Result for a number with digits that the loader does not keep: the member or item is left out. */
const inexact = '';

/**
 * Returns a value as JSON without members and items that are inexact numbers. Undefined for an inexact number, and for
 * a value with more characters or levels than allowed.
 */
function shortJson(value: unknown, most: number): string | undefined {
  let left = most;
  const write = (one: unknown, levels: number): string | undefined => {
    if (left-- <= 0 || levels === 0) return undefined;
    if (typeof one === 'number' && !isExactNumber(one)) return inexact;
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
      const token = write(inner, levels - 1);
      if (token === undefined) return undefined;
      if (token !== inexact) parts.push(isList ? token : `${JSON.stringify(key)}:${token}`);
    }
    return isList ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
  };
  return write(value, deepestExample) || undefined;
}

/** Maximum number of named examples that are considered. */
const mostExamples = 5;

/**
 * Returns the examples of a schema, a parameter or a media type: one, a list, or Example Objects by name (OpenAPI 3.1,
 * 4.8.12.2 and 4.8.19; 3.2 has `dataValue`). An example at an external address (`externalValue`) is ignored.
 */
export function examplesOf({ node, pointer }: Statement, references: References): readonly unknown[] {
  const { example, examples } = node;
  const one = example === undefined ? [] : [example];
  if (Array.isArray(examples)) return [...one, ...examples.slice(0, 1)];
  if (!isNode(examples)) return one;
  const named = Object.entries(examples)
    .slice(0, mostExamples)
    .flatMap(([name, stated]) => {
      const found = exampleObject(stated, `${pointer}/examples${pointerSegment(name)}`, references);
      if (found === undefined) return [];
      const { dataValue, value } = found;
      return [dataValue, value].filter((each) => each !== undefined).slice(0, 1);
    });
  return [...one, ...named];
}

/**
 * Returns an Example Object or the target of a reference to one. Undefined if there is none, because samples do not
 * require one.
 */
function exampleObject(stated: unknown, pointer: string, references: References): Node | undefined {
  if (!isNode(stated)) return undefined;
  const ref = textOf(stated.$ref);
  if (ref === undefined) return stated;
  const found = references.find(ref, pointer);
  const isOne = !isUnresolved(found) && isNode(found.node) && found.node.$ref === undefined;
  return isOne ? (found.node as Node) : undefined;
}

/** Returns the constraints beyond the type that generated samples must satisfy. */
function hintsOf(
  stated: Node,
  places: readonly Statement[],
  type: Type,
  references: References,
): Rules | undefined {
  const { allowance } = references;
  const checks: Check[] = [];
  const { pattern } = stated;
  checks.push(...countsOf('length', stated.minLength, stated.maxLength));
  if (typeof pattern === 'string' && pattern.length <= allowance.limits.contractPattern)
    checks.push({ kind: 'pattern', source: pattern });
  checks.push(...formatOf(stated));
  checks.push(...boundsOf(stated));
  checks.push(...countsOf('items', stated.minItems, stated.maxItems));
  if (stated.uniqueItems === true) checks.push({ kind: 'unique' });
  const inner = hintsInside(places, type, references);
  if (checks.length === 0 && inner === undefined) return undefined;
  return { checks, items: undefined, values: undefined, ...inner };
}

/** Returns the hints of a list's items or a map's values. */
function hintsInside(
  places: readonly Statement[],
  type: Type,
  references: References,
): Partial<Pick<Rules, 'items' | 'values'>> | undefined {
  const inside = insideOf(places, type);
  if (inside === undefined) return undefined;
  const inner = statementsOf(inside.schema, inside.type, references);
  const hints = hintsOf(placesAsOne(inner), inner, inside.type, references);
  return hints === undefined ? undefined : { [inside.kind]: hints };
}

/** A schema or another object of the document that describes a value. */
export interface Statement extends Located {
  readonly node: Node;
}

/**
 * Returns all schemas that describe a value, the nearest first. Leaves out the target of a `$ref` if its type has its
 * own documentation.
 */
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

/** Merges schemas into one. Each keyword has the value of the nearest schema. */
function placesAsOne(places: readonly Statement[]): Node {
  const [only] = places;
  if (only !== undefined && places.length === 1) return only.node;
  const stated: Record<string, unknown> = Object.create(null);
  for (const { node } of places.toReversed())
    for (const [key, value] of Object.entries(node)) if (value !== undefined) stated[key] = value;
  return stated;
}

/** Returns true for a type that has its own documentation in the XSD. */
function hasDocumentation(type: Type): type is RecordType | TupleType | UnionType {
  return type.kind === 'record' || type.kind === 'union' || type.kind === 'tuple';
}

/** Returns true for an inline type that has the member's description already. */
function describes(type: Type, description: string): boolean {
  return hasDocumentation(type) && type.documentation === description;
}

function factsOf(
  stated: Node,
  places: readonly Statement[],
  { type, allowed }: Pick<DocumentedMember, 'type' | 'allowed'>,
  references: References,
): string {
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

/** Returns the facts about each item or value. They come last because they can be several sentences. */
function insideFacts(places: readonly Statement[], type: Type, references: References): string[] {
  const inside = insideOf(places, type);
  if (inside === undefined) return [];
  const of = { type: inside.type, allowed: undefined };
  const inner = statementsOf(inside.schema, inside.type, references);
  const facts = factsOf(placesAsOne(inner), inner, of, references);
  return facts === '' ? [] : [`Each ${inside.kind === 'items' ? 'item' : 'value'}: ${facts}`];
}

/** Returns the schema of a list's items or a map's values. Undefined for items with their own documentation. */
function insideOf(
  places: readonly Statement[],
  type: Type,
): { readonly kind: 'items' | 'values'; readonly schema: Located; readonly type: Type } | undefined {
  if (type.kind !== 'array' && type.kind !== 'map') return undefined;
  const [kind, keyword, inner] =
    type.kind === 'array'
      ? (['items', 'items', type.item] as const)
      : (['values', 'additionalProperties', type.value] as const);
  const holder = places.find(({ node }) => isNode(node[keyword]));
  if (holder === undefined || hasDocumentation(inner)) return undefined;
  const schema = { node: holder.node[keyword], pointer: `${holder.pointer}/${keyword}` };
  return { kind, schema, type: inner };
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

/** Escapes slashes after `*`, so that the pattern does not end a comment in generated code. */
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

/**
 * Returns the bounds as OpenAPI 3.1 or 3.0 has them. In 3.0, `exclusiveMinimum` and `exclusiveMaximum` are booleans.
 */
function boundsFact(stated: Node): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = stated;
  if ((minimum ?? maximum ?? exclusiveMinimum ?? exclusiveMaximum) === undefined) return '';
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

/** Returns a value as plain text, or as JSON if the plain text is ambiguous. */
function wordOf(value: unknown): string {
  const plain = typeof value === 'string' && /^[^\s\p{Cc}",]+(?: [^\s\p{Cc}",]+)*$/u.test(value);
  return plain ? value : JSON.stringify(value);
}

/** Returns false for a value that contains a number with lost digits or has more than `levels` levels. */
function isExact(value: unknown, levels = 10): boolean {
  if (typeof value === 'number') return isExactNumber(value);
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isExact(inner, levels - 1));
}

function isExactNumber(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}
