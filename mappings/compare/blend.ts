import { collapse } from '../codec/scalars/numbers.ts';
import { quoteJson } from '../codec/scalars/text.ts';
import { createZone, type Zone } from '../codec/scalars/zone.ts';
import type { Limits } from '../contract/limits.ts';
import { compareDecimals, type Decimal, decimalOf, plainText, zero } from '../json/decimal.ts';
import { membersOf, skipped } from '../json/parts.ts';
import { JsonReader } from '../json/reader.ts';
import {
  anyMomentOf,
  compareMoments,
  durationKey,
  durationOf,
  inZone,
  type Moment,
  momentKey,
} from './moments.ts';

// One list of the items of two replies (G28 to G31). Replies are JSON texts of the contract's types. Values keep their
// text: only keys and values to sort by are parsed.

/** The service that sent a reply. */
export type Side = 'legacy' | 'new';

/** A scalar in an item. */
export interface ItemScalar {
  /** Names of members from the item on; empty for an item that is itself a scalar. */
  readonly path: readonly string[];
  readonly kind: 'boolean' | 'date' | 'duration' | 'hex' | 'number' | 'text';
  readonly whiteSpace: 'preserve' | 'replace' | 'collapse';
}

/** A choice in an object: the names of the members of each branch. */
export type Branches = readonly ReadonlySet<string>[];

/** The settings of a blended list (G28). */
export interface BlendRule {
  /** Names of members from the reply to the list. */
  readonly list: readonly string[];
  /** Path of the list that the reader of XML reports; `''` if each of its paths may be in an item. */
  readonly readAt: string;
  /** Choices of the objects along the path, the reply first. */
  readonly choices: readonly (readonly Branches[])[];
  /** True if an item may be null. */
  readonly takesNull: boolean;
  readonly key: ItemScalar | undefined;
  readonly prefer: Side;
  readonly order: (ItemScalar & { readonly descending: boolean }) | undefined;
  /** IANA name of the zone of dates without an offset. */
  readonly timeZone: string | undefined;
  /** Paths of the integers that receive the number of items. */
  readonly counts: readonly (readonly string[])[];
}

/** Two items with the same key, as JSON. */
export interface Duplicate {
  /** Position in the legacy list. */
  readonly index: number;
  readonly legacy: string;
  readonly new: string;
}

/** The blended reply, or the side whose list cannot be blended. */
export type Blended =
  | {
      readonly kind: 'blended';
      readonly json: string;
      readonly items: number;
      readonly duplicates: readonly Duplicate[];
    }
  | {
      readonly kind: 'failed';
      readonly side: Side;
      /** Path of the value in the reply. */
      readonly path: string;
      readonly expected: string;
    };

/** The members of an object, as JSON or parsed. */
type Members = Map<string, string | Members | List>;

/** The list to blend, read in one pass: its items, and the texts of their keys and of the values to sort by. */
interface List {
  readonly items: readonly string[];
  readonly keys: readonly (string | undefined)[];
  readonly values: readonly (string | undefined)[];
}

const noList: List = { items: [], keys: [], values: [] };

interface Item {
  readonly json: string;
  readonly side: Side;
  /** Position in the list of its side. */
  readonly index: number;
  readonly key: string | undefined;
  readonly value: Sortable | undefined;
}

type Sortable =
  | { readonly kind: 'number'; readonly number: Decimal; readonly infinity: -1 | 0 | 1 }
  | { readonly kind: 'date'; readonly moment: Moment }
  | { readonly kind: 'text'; readonly text: string };

/** Thrown for an item that cannot be blended. */
class Unusable extends Error {
  readonly side: Side;
  readonly path: string;
  readonly expected: string;

  constructor(side: Side, path: string, expected: string) {
    super(`${path}: expected ${expected}`);
    this.name = 'Unusable';
    this.side = side;
    this.path = path;
    this.expected = expected;
  }
}

/**
 * Blends two replies, which match their type (G28). Undefined is a reply with an empty list and without other members.
 * Throws JsonError.
 */
export function blend(
  rule: BlendRule,
  legacy: string | undefined,
  fresh: string | undefined,
  limits: Limits,
): Blended {
  try {
    const [ofLegacy, ofNew] = [readReply(legacy, rule, limits), readReply(fresh, rule, limits)];
    const legacyItems = itemsIn(rule, 'legacy', ofLegacy);
    const newItems = itemsIn(rule, 'new', ofNew);
    const { kept, duplicates } = withoutDuplicates(rule, legacyItems, newItems);
    const items = rule.order === undefined ? kept : sorted(kept, rule, rule.order);
    const merged = mergeAlong(ofLegacy, ofNew, rule.list);
    mergeHeaders(merged, ofLegacy, ofNew, limits);
    const hasItems = items.length > 0;
    if (hasItems || valueAt(merged, rule.list) !== undefined)
      setAt(merged, rule.list, `[${items.map(({ json }) => json).join(',')}]`, limits, hasItems);
    for (const path of rule.counts) setAt(merged, path, String(items.length), limits, true);
    endConflicts(merged, ofLegacy, rule, hasItems);
    return { kind: 'blended', json: textOf(merged), items: items.length, duplicates };
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    const { side, path, expected } = error;
    return { kind: 'failed', side, path, expected };
  }
}

/** Returns a reply with each item of the list twice; undefined for a reply without items. Throws JsonError. */
export function withItemsTwice(json: string, rule: BlendRule, limits: Limits): string | undefined {
  const members = readReply(json, rule, limits);
  const list = valueAt(members, rule.list);
  if (list === undefined || typeof list === 'string' || list instanceof Map || list.items.length === 0)
    return undefined;
  setAt(members, rule.list, `[${[...list.items, ...list.items].join(',')}]`, limits, false);
  return textOf(members);
}

function readReply(json: string | undefined, rule: BlendRule, limits: Limits): Members {
  if (json === undefined) return new Map();
  const reader = new JsonReader(json, limits);
  return reader.peek() === 123 ? readMembers(reader, rule, 0) : new Map();
}

/** Reads the members of the object at the reader. Objects along the path of the list, and the list, are parsed. */
function readMembers(reader: JsonReader, rule: BlendRule, depth: number): Members {
  const members: Members = new Map();
  const wanted = rule.list[depth];
  const isLast = depth === rule.list.length - 1;
  reader.enter();
  for (let first = true; reader.next(first, 125); first = false) {
    const name = reader.name();
    const code = reader.peek();
    if (name === wanted && isLast && code === 91) members.set(name, readList(reader, rule));
    else if (name === wanted && !isLast && code === 123)
      members.set(name, readMembers(reader, rule, depth + 1));
    else members.set(name, skipped(reader));
  }
  return members;
}

function readList(reader: JsonReader, { key, order }: BlendRule): List {
  const items: string[] = [];
  const keys: (string | undefined)[] = [];
  const values: (string | undefined)[] = [];
  const wanted: Wanted[] = [];
  if (key !== undefined) wanted.push({ path: key.path, texts: keys });
  if (order !== undefined) wanted.push({ path: order.path, texts: values });
  reader.enter();
  for (let index = 0; reader.next(index === 0, 93); index++) {
    reader.peek();
    const start = reader.position;
    readWanted(reader, wanted, 0, index);
    items.push(reader.text.slice(start, reader.position));
  }
  return { items, keys, values };
}

/** A scalar that is wanted of each item, and its texts by item. */
interface Wanted {
  readonly path: readonly string[];
  readonly texts: (string | undefined)[];
}

/** Moves past a value and stores the wanted scalars in it. A null or another value is no scalar. */
function readWanted(reader: JsonReader, wanted: readonly Wanted[], depth: number, index: number): void {
  const code = reader.peek();
  if (wanted.length === 0) reader.skip();
  else if (code === 123) {
    reader.enter();
    for (let first = true; reader.next(first, 125); first = false) {
      const name = reader.name();
      let inner: Wanted[] | undefined;
      for (const one of wanted)
        if (one.path[depth] === name) {
          inner ??= [];
          inner.push(one);
        }
      if (inner === undefined) reader.skip();
      else readWanted(reader, inner, depth + 1, index);
    }
  } else if (code === 91 || code === 110) reader.skip();
  else {
    const text = code === 34 ? reader.string() : skipped(reader);
    for (const { path, texts } of wanted) if (path.length === depth) texts[index] = text;
  }
}

/** Returns the members of both objects; those of legacy precede. Objects along the path are merged, too. */
function mergeAlong(legacy: Members, fresh: Members, [name = '', ...rest]: readonly string[]): Members {
  const merged: Members = new Map([...fresh, ...legacy]);
  const order = [...legacy.keys(), ...fresh.keys()];
  const [one, other] = [legacy.get(name), fresh.get(name)];
  if (one instanceof Map && other instanceof Map) merged.set(name, mergeAlong(one, other, rest));
  else if (one === 'null' && other !== undefined) merged.set(name, other);
  const result: Members = new Map(order.map((key) => [key, merged.get(key) ?? 'null']));
  // nil only if no side has content (A25)
  if (hasContent(legacy) || hasContent(fresh)) result.delete('@nil');
  return result;
}

function hasContent(members: Members): boolean {
  return members.size > 0 && members.get('@nil') !== 'true';
}

/** Adds the header blocks that only the new reply has. */
function mergeHeaders(merged: Members, legacy: Members, fresh: Members, limits: Limits): void {
  const [one, other] = [legacy.get('@headers'), fresh.get('@headers')];
  if (typeof one !== 'string' || typeof other !== 'string') return;
  const [ofLegacy, ofNew] = [membersOf(one, limits), membersOf(other, limits)];
  if (ofLegacy !== undefined && ofNew !== undefined) merged.set('@headers', new Map([...ofNew, ...ofLegacy]));
}

/**
 * Removes members of other branches of a choice where the sides took different ones. The branch with the items stays,
 * otherwise that of the legacy reply.
 */
function endConflicts(
  merged: Members,
  ofLegacy: Members,
  { list, choices }: BlendRule,
  hasItems: boolean,
): void {
  let members = merged;
  let legacy = ofLegacy;
  for (const [depth, name] of list.entries()) {
    for (const branches of choices[depth] ?? []) {
      const present = branches.filter((branch) => isPresent(branch, members));
      if (present.length < 2) continue;
      const kept =
        present.find((branch) => hasItems && branch.has(name)) ??
        present.find((branch) => isPresent(branch, legacy)) ??
        present.find((branch) => [...branch].some((member) => !isEmptyList(members.get(member)))) ??
        present[0];
      for (const branch of present)
        for (const member of branch) if (kept?.has(member) !== true) members.delete(member);
    }
    const inner = members.get(name);
    const ofOther = legacy.get(name);
    if (!(inner instanceof Map)) return;
    members = inner;
    legacy = ofOther instanceof Map ? ofOther : new Map();
  }
}

function isPresent(branch: ReadonlySet<string>, members: Members): boolean {
  return [...branch].some((name) => (members.get(name) ?? 'null') !== 'null');
}

function isEmptyList(value: string | Members | List | undefined): boolean {
  if (value === undefined || value === 'null') return true;
  return typeof value === 'string' && value.startsWith('[') && value.slice(1).trimStart() === ']';
}

function valueAt(members: Members, path: readonly string[]): string | Members | List | undefined {
  let value: string | Members | List | undefined = members;
  for (const name of path) value = value instanceof Map ? value.get(name) : undefined;
  return value;
}

/**
 * Sets a value, unless an object along its path is missing. Returns true if it was set.
 *
 * @param endsNil if true, no object along the path stays nil (A25)
 */
function setAt(
  members: Members,
  [name = '', ...rest]: readonly string[],
  value: string,
  limits: Limits,
  endsNil: boolean,
): boolean {
  if (rest.length === 0) members.set(name, value);
  else {
    const inner = members.get(name);
    const isObject = typeof inner === 'string' && inner.startsWith('{');
    const object = isObject ? new Map<string, string>(membersOf(inner, limits)) : inner;
    if (!(object instanceof Map) || !setAt(object, rest, value, limits, endsNil)) return false;
    members.set(name, object);
  }
  if (endsNil) members.delete('@nil');
  return true;
}

function textOf(members: Members): string {
  const parts = [...members].map(([name, value]) => {
    const text =
      typeof value === 'string' ? value : value instanceof Map ? textOf(value) : `[${value.items.join(',')}]`;
    return `${quoteJson(name)}:${text}`;
  });
  return `{${parts.join(',')}}`;
}

function itemsIn(rule: BlendRule, side: Side, members: Members): readonly Item[] {
  const found = valueAt(members, rule.list) ?? noList;
  const list = found === 'null' ? noList : found;
  const path = rule.list.join('.');
  if (typeof list === 'string' || list instanceof Map) throw new Unusable(side, path, 'a list');
  const { key, order, takesNull } = rule;
  const { keys, values } = list;
  return list.items.map((json, index) => {
    if (json === 'null' && !takesNull) throw new Unusable(side, `${path}[${index}]`, 'an item');
    const [keyText, text] = [keys[index], values[index]];
    const value = order === undefined || text === undefined ? undefined : sortable(text, order);
    if (order !== undefined && value === 'invalid')
      throw new Unusable(side, [`${path}[${index}]`, ...order.path].join('.'), `a ${order.kind} to sort by`);
    return {
      json,
      side,
      index,
      key: key === undefined || keyText === undefined ? undefined : keyOf(keyText, key),
      value: value === 'invalid' ? undefined : value,
    };
  });
}

/** Returns the same text for equal keys (G30); undefined for an empty text. */
function keyOf(text: string, { kind, whiteSpace }: ItemScalar): string | undefined {
  if (kind === 'number') {
    const number = numberOf(text);
    return number === undefined ? text : plainText(number);
  }
  if (kind === 'date') {
    const moment = anyMomentOf(collapse(text));
    return moment === undefined ? text : momentKey(moment);
  }
  if (kind === 'duration') return durationKey(collapse(text)) ?? text;
  if (kind === 'boolean' || kind === 'hex') return canonical(text, kind) || undefined;
  const folded =
    whiteSpace === 'collapse'
      ? collapse(text).replace(/[ \t\n\r]+/g, ' ')
      : whiteSpace === 'replace'
        ? text.replace(/[\t\n\r]/g, ' ')
        : text;
  return folded === '' ? undefined : folded;
}

/** Returns the same text for all texts of a boolean or of bytes. */
function canonical(text: string, kind: 'boolean' | 'hex'): string {
  const collapsed = collapse(text);
  if (kind === 'hex') return collapsed.toUpperCase();
  return collapsed === '1' ? 'true' : collapsed === '0' ? 'false' : collapsed;
}

function numberOf(text: string): Decimal | undefined {
  const token = collapse(text).replace(/^\+/, '');
  return /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[Ee][+-]?\d+)?$/.test(token) ? decimalOf(token) : undefined;
}

/** Parses a value to sort by. A value that is not a number (NaN) has no position, as if it were missing. */
function sortable(text: string, { kind }: ItemScalar): Sortable | 'invalid' | undefined {
  if (kind === 'text') return { kind, text };
  if (kind === 'boolean' || kind === 'hex') return { kind: 'text', text: canonical(text, kind) };
  const collapsed = collapse(text);
  if (kind === 'date') {
    const moment = anyMomentOf(collapsed);
    return moment === undefined ? 'invalid' : { kind, moment };
  }
  if (kind === 'duration') {
    const number = lengthOf(collapsed);
    return number === undefined ? 'invalid' : { kind: 'number', number, infinity: 0 };
  }
  if (collapsed === 'NaN') return undefined;
  const infinity = /^-?INF$/.test(collapsed) ? (collapsed === 'INF' ? 1 : -1) : 0;
  const number = infinity === 0 ? numberOf(collapsed) : zero;
  return number === undefined ? 'invalid' : { kind, number, infinity };
}

/** Mean length of a month in the Gregorian calendar, in seconds. */
const monthSeconds = 2_629_746n;

/** Returns the length of a duration in seconds; undefined for another text. */
function lengthOf(text: string): Decimal | undefined {
  const duration = durationOf(text);
  if (duration === undefined) return undefined;
  const { months, seconds, fraction, isNegative } = duration;
  return decimalOf(`${isNegative ? '-' : ''}${months * monthSeconds + seconds}.${fraction}`);
}

function withoutDuplicates(
  { key, prefer }: BlendRule,
  legacy: readonly Item[],
  fresh: readonly Item[],
): { readonly kept: readonly Item[]; readonly duplicates: readonly Duplicate[] } {
  if (key === undefined) return { kept: [...legacy, ...fresh], duplicates: [] };
  const firstOf = new Map<string, Item>();
  for (const item of legacy)
    if (item.key !== undefined && !firstOf.has(item.key)) firstOf.set(item.key, item);
  const both = new Map<string, Duplicate>();
  for (const item of fresh) {
    const twin = item.key === undefined ? undefined : firstOf.get(item.key);
    if (twin !== undefined && item.key !== undefined && !both.has(item.key))
      both.set(item.key, { index: twin.index, legacy: twin.json, new: item.json });
  }
  const isDropped = (item: Item): boolean =>
    item.side !== prefer && item.key !== undefined && both.has(item.key);
  const kept = [...legacy, ...fresh].filter((item) => !isDropped(item));
  return { kept, duplicates: [...both.values()] };
}

/** Sorts items (G29): stable, items without a value last. */
function sorted(
  items: readonly Item[],
  { timeZone, list }: BlendRule,
  { path, descending }: NonNullable<BlendRule['order']>,
): readonly Item[] {
  const moments = items.map(({ value }) => (value?.kind === 'date' ? value.moment : undefined));
  const hasOffsets = moments.some((moment) => moment?.offset !== undefined);
  const bare = moments.findIndex((moment) => moment !== undefined && moment.offset === undefined);
  const without = items[bare];
  if (hasOffsets && without !== undefined && timeZone === undefined) {
    const place = [`${list.join('.')}[${without.index}]`, ...path].join('.');
    throw new Unusable(
      without.side,
      place,
      'an offset, because other dates have one and timeZone is not set',
    );
  }
  const zone = timeZone === undefined ? undefined : zoneNamed(timeZone);
  const sign = descending ? -1 : 1;
  const valued: { readonly item: Item; readonly value: Sortable }[] = [];
  for (const item of items)
    if (item.value !== undefined) valued.push({ item, value: zoned(item.value, zone) });
  valued.sort((one, other) => sign * compare(one.value, other.value));
  return [...valued.map(({ item }) => item), ...items.filter(({ value }) => value === undefined)];
}

/** The zones of the settings, because each computes its changes of offset once. */
const zones = new Map<string, Zone>();

function zoneNamed(name: string): Zone {
  const zone = zones.get(name) ?? createZone(name);
  zones.set(name, zone);
  return zone;
}

function zoned(value: Sortable, zone: Zone | undefined): Sortable {
  if (value.kind !== 'date' || zone === undefined || value.moment.offset !== undefined) return value;
  return { kind: 'date', moment: inZone(value.moment, zone) };
}

function compare(one: Sortable, other: Sortable): number {
  if (one.kind === 'text' && other.kind === 'text')
    return one.text === other.text ? 0 : one.text < other.text ? -1 : 1;
  if (one.kind === 'date' && other.kind === 'date') return compareMoments(one.moment, other.moment);
  if (one.kind !== 'number' || other.kind !== 'number') return 0; // values of one list have one kind
  return one.infinity - other.infinity || compareDecimals(one.number, other.number);
}
