import { quoteValue, type Reason } from '../../contract/reason.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { refuseText } from '../element.ts';
import { unknownReason } from '../nearest.ts';
import { isFull, miss, type Reading, recordDeviation, refuse, refuseAt } from '../problem.ts';
import { namespaceText } from '../scalars/text.ts';
import type {
  Choosing,
  CompiledContent,
  ContentMember,
  Entry,
  ItemBounds,
  NamedEntry,
} from './content-model.ts';
import { conflictOf, namesOf } from './member-order.ts';
import { takesElement } from './open-elements.ts';
import { type FieldsBag, fieldsJson } from './open-fields.ts';

/** Reads the children of an element as members of an object (A10, A13 to A16, A20, A22). */

/** State while the children of an element are read. */
interface Bag {
  /**
   * JSON by member; for a repeated member the items, separated by commas. `''` for a value that is refused or counts as
   * absent.
   */
  readonly values: (string | undefined)[];
  /** The members that occur, in the order of their first occurrence. */
  readonly order: number[];
  /** Number of items so far, by repeated member. */
  counts: number[] | undefined;
  /** The open repetition of each repeated group, by member. */
  rounds: (Bag | undefined)[] | undefined;
  /** The elements of a wildcard that are members of one object. */
  fields: FieldsBag | undefined;
  /** Index of the member of the last child; -1 for none. */
  last: number;
}

function emptyBag(): Bag {
  return { values: [], order: [], counts: undefined, rounds: undefined, fields: undefined, last: -1 };
}

/** Reads the children of the current element past its end tag. `json` is the object's text so far. */
export function readContent(
  content: CompiledContent,
  xml: XmlReader,
  reading: Reading,
  json: string,
): string {
  const bag = readChildren(content, xml, reading);
  return finishBag(content, bag, reading, json);
}

/** Reads the children of a type that consists of one repeated member, as an array (A13). */
export function readLone(content: CompiledContent, xml: XmlReader, reading: Reading): string {
  const bag = readChildren(content, xml, reading);
  closeRounds(content, bag, reading);
  const [bounds] = content.bounds ?? [];
  const fault = bounds === undefined ? undefined : countFault(bounds, bag.counts?.[0] ?? 0);
  if (fault !== undefined) refuse(reading, 'OutOfRange', fault);
  return `[${bag.values[0] ?? ''}]`;
}

function readChildren(content: CompiledContent, xml: XmlReader, reading: Reading): Bag {
  const bag = emptyBag();
  while (xml.nextChild()) {
    const entry = findEntry(content, bag, xml) ?? findByLocalName(content, bag, xml, reading);
    if (entry === undefined) passElement(content, xml, reading);
    else put(content, bag, entry, xml, reading);
  }
  refuseText(xml, reading);
  return bag;
}

/** Finds the member of the current child: by namespace and name (A10), else a wildcard (A22). */
function findEntry(content: CompiledContent, bag: Bag, xml: XmlReader): Entry | undefined {
  // fast path: most children follow the order of the schema or repeat the previous one
  const { direct } = content;
  const { local, namespace } = xml;
  const { last } = bag;
  const again = last === -1 ? undefined : direct[last];
  if (again !== undefined && again.local === local && again.repeats && again.namespace === namespace)
    return again;
  const next = direct[last + 1];
  if (
    next !== undefined &&
    next.local === local &&
    next.namespace === namespace &&
    isFree(content, bag, next)
  )
    return next;
  const named = findNamed(content, bag, xml);
  if (named !== undefined) return named;
  return content.open.find(
    (entry) => isFree(content, bag, entry) && takesElement(entry.wildcards, namespace),
  );
}

/** Returns true if the entry's member may occur once more. */
function isFree({ members }: CompiledContent, bag: Bag, { index }: Entry): boolean {
  return bag.values[index] === undefined || members[index]?.repeats === true;
}

/** Returns the best entry for a child's name. A child without a namespace matches an entry with one. */
function findNamed(content: CompiledContent, bag: Bag, xml: XmlReader): NamedEntry | undefined {
  const { namespace } = xml;
  let best: NamedEntry | undefined;
  for (const entry of content.byLocal.get(xml.local) ?? []) {
    if ((entry.namespace !== namespace && namespace !== '') || !isFree(content, bag, entry)) continue;
    if (best === undefined) best = entry;
    else if (entry.namespace === best.namespace) {
      if (rankOf(content, bag, entry) > rankOf(content, bag, best)) best = entry;
    } else if (entry.namespace === namespace) best = entry;
  }
  return best;
}

/**
 * Returns the entry of a child in another namespace, in an rpc message, if exactly one member has its local name (A30).
 */
function findByLocalName(
  content: CompiledContent,
  bag: Bag,
  xml: XmlReader,
  reading: Reading,
): NamedEntry | undefined {
  if (!reading.isRpc) return undefined;
  const [entry, ...others] = content.byLocal.get(xml.local) ?? [];
  if (entry === undefined || others.length > 0 || !isFree(content, bag, entry)) return undefined;
  recordDeviation(reading, 'partNamespace');
  return entry;
}

/** Ranks entries of one name: the open list or repetition first, then a member after the last one. */
function rankOf({ members }: CompiledContent, bag: Bag, { index, inner }: Entry): number {
  if (index !== bag.last) return index > bag.last ? 1 : 0;
  if (inner === undefined) return 2;
  return fits(members[index]?.rounds as CompiledContent, bag.rounds?.[index] as Bag, inner) ? 2 : 0;
}

function put(content: CompiledContent, bag: Bag, entry: Entry, xml: XmlReader, reading: Reading): void {
  const { index, inner } = entry;
  const member = content.members[index] as ContentMember;
  const before = bag.values[index];
  if (before === undefined) bag.order.push(index);
  bag.last = index;
  if (member.rounds !== undefined) {
    if (before === undefined) bag.values[index] = '';
    bag.rounds ??= [];
    let round = bag.rounds[index];
    if (round === undefined || !fits(member.rounds, round, inner as Entry)) {
      closeRound(content, bag, index, reading);
      round = emptyBag();
      bag.rounds[index] = round;
    }
    put(member.rounds, round, inner as Entry, xml, reading);
    return;
  }
  reading.path.push(xml.local);
  if (member.fields !== undefined) {
    bag.values[index] = '';
    bag.fields ??= new Map();
    member.fields.read(xml, reading, bag.fields);
  } else if (!member.repeats) bag.values[index] = entry.read?.(xml, reading) ?? '';
  else {
    bag.counts ??= [];
    const count = bag.counts[index] ?? 0;
    bag.counts[index] = count + 1;
    reading.path.push(count);
    bag.values[index] = joined(before, entry.read?.(xml, reading));
    reading.path.pop();
  }
  reading.path.pop();
}

/** Appends an item to items, if there is one. */
function joined(before: string | undefined, token: string | undefined): string {
  if (token === undefined) return before ?? '';
  return before === undefined || before === '' ? token : `${before},${token}`;
}

/**
 * Returns true if a child may be part of a repetition: it follows the last child and is in no other branch of a choice
 * (A16).
 */
function fits(content: CompiledContent, round: Bag, { index, inner }: Entry): boolean {
  if (index < round.last) return false;
  if (index === round.last) return inner !== undefined || content.members[index]?.repeats === true;
  if (content.choices === undefined) return true;
  // other choices are unaffected; checking all of them for each child would be slow
  return conflictOf(content.around[index] as Choosing, [...round.order, index]) === undefined;
}

function closeRounds(content: CompiledContent, bag: Bag, reading: Reading): void {
  if (bag.rounds === undefined) return;
  for (let index = 0; index < bag.rounds.length; index++) closeRound(content, bag, index, reading);
}

function closeRound(content: CompiledContent, bag: Bag, index: number, reading: Reading): void {
  const round = bag.rounds?.[index];
  const rounds = content.members[index]?.rounds;
  if (round === undefined || rounds === undefined) return;
  bag.values[index] = joined(bag.values[index], `${finishBag(rounds, round, reading, '{')}}`);
  if (content.bounds === undefined) return;
  bag.counts ??= [];
  bag.counts[index] = (bag.counts[index] ?? 0) + 1;
}

function finishBag(content: CompiledContent, bag: Bag, reading: Reading, start: string): string {
  const { members, required } = content;
  closeRounds(content, bag, reading);
  let json = start;
  for (const index of bag.order) {
    const { jsonKey, repeats, fields } = members[index] as ContentMember;
    const value = bag.values[index] as string;
    if (value === '' && !repeats && fields === undefined) continue;
    if (json.length !== 1) json += ',';
    if (fields !== undefined) json += jsonKey + fieldsJson(bag.fields as FieldsBag);
    else json += repeats ? `${jsonKey}[${value}]` : jsonKey + value;
  }
  const both = conflictOf(content, bag.order);
  if (both !== undefined) {
    const [one, other] = namesOf(content, both);
    refuseAt(reading, other, 'DuplicateElement', {
      expected: `it or ${one}, which are a choice`,
      got: 'both',
    });
  }
  for (const index of required)
    if (bag.values[index] === undefined || isEmptied(content, bag, index))
      miss(reading, [...reading.path, (members[index] as ContentMember).json], true);
  if (content.bounds !== undefined) checkCounts(content, content.bounds, bag, reading);
  return json;
}

/**
 * Refuses arrays with too few or too many items (`validate: strict`). An array without items counts as missing if it is
 * required (A28).
 */
function checkCounts(
  { members }: CompiledContent,
  bounds: readonly ItemBounds[],
  bag: Bag,
  reading: Reading,
): void {
  for (const one of bounds) {
    const count = bag.counts?.[one.index] ?? 0;
    const fault = count === 0 ? undefined : countFault(one, count);
    if (fault !== undefined)
      refuseAt(reading, (members[one.index] as ContentMember).json, 'OutOfRange', fault);
  }
}

/** Returns the reason to refuse a number of items; undefined if it is within the bounds. */
function countFault({ least, most }: Omit<ItemBounds, 'index'>, count: number): Reason | undefined {
  if (count >= least && count <= most) return undefined;
  const upTo = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
  return { expected: `${least === 0 ? `at most ${most}` : upTo} items`, got: `${count}` };
}

/** Returns true if a member's only element is empty and counts as absent (`emptyElements: absent`). */
function isEmptied({ members, context }: CompiledContent, bag: Bag, index: number): boolean {
  const { repeats, fields } = members[index] as ContentMember;
  const isAbsent = context.settings.emptyElements === 'absent' && bag.values[index] === '';
  return isAbsent && !repeats && fields === undefined;
}

/**
 * Passes an unknown or repeated child: refuses it, with the nearest name for an unknown one, or ignores and records it
 * (W12).
 */
function passElement({ byLocal, context }: CompiledContent, xml: XmlReader, reading: Reading): void {
  if (context.settings.unknownElements === 'ignore') reading.ignored.push(xml.local);
  else if (!isFull(reading)) {
    reading.path.push(xml.local.slice(0, 64));
    const known = byLocal.get(xml.local);
    if (known === undefined)
      refuse(reading, 'UnknownElement', unknownReason('element', xml.local, [...byLocal.keys()]));
    else if (known.some(({ namespace }) => namespace === xml.namespace || xml.namespace === ''))
      refuse(reading, 'DuplicateElement', { expected: 'the element once', got: 'it again' });
    else
      refuse(reading, 'UnknownElement', {
        expected: `it in ${namespaceText(known[0]?.namespace ?? '')}`,
        got: quoteValue(namespaceText(xml.namespace)),
      });
    reading.path.pop();
  }
  xml.skip();
}
