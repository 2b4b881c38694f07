import { substituteMembers } from '../../contract/members.ts';
import type { Reason } from '../../contract/reason.ts';
import type {
  Choice,
  ElementDeclaration,
  Member,
  Members,
  Order,
  Wildcard,
} from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { type Output, type Piece, piece } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { enters, writeElement } from '../element.ts';
import { unknownReason } from '../nearest.ts';
import { isFull, MismatchError, miss, type Reading, recordDeviation, refuse, refuseAt } from '../problem.ts';
import { escapeXml, namespaceText, someNames } from '../scalars/text.ts';
import { scanItems } from '../types/entries.ts';
import type { AdoptedContext, Tags, ValueCodec } from './context.ts';
import { elementReader, leaf, tagsOf } from './elements.ts';
import { readOpenElement, scanOpenElement, takesElement } from './open-elements.ts';
import { type FieldsBag, fieldsJson, type OpenFields, openFields } from './open-fields.ts';

/**
 * The content between the tags of a complex type's element: elements, wildcards and the repetitions of repeated groups
 * (A13 to A16, A20, A22).
 */

const { nothing, record } = nodeKinds;

/** The member that a child element belongs to. */
interface Entry {
  /** Index of the member. */
  readonly index: number;
  /** The entry in the repetition of a repeated group. */
  readonly inner: Entry | undefined;
  /**
   * Reads the child from its start tag past its end tag. Returns undefined if it is refused or counts as absent.
   * Undefined for members of `fields`.
   */
  readonly read: ((xml: XmlReader, reading: Reading) => string | undefined) | undefined;
}

/** The member that elements of a name belong to. */
interface NamedEntry extends Entry {
  readonly namespace: string;
  readonly local: string;
  /** True if the member is an array. */
  readonly repeats: boolean;
}

/** The member that elements of a wildcard belong to. */
interface OpenEntry extends Entry {
  readonly wildcards: readonly Wildcard[];
}

/** A choice, with the members of all its branches. */
interface CompiledChoice extends Choice {
  readonly members: ReadonlySet<number>;
}

/** A member with its codec. */
export interface ContentMember {
  readonly json: string;
  /** Its name and a colon, in JSON. */
  readonly jsonKey: string;
  readonly repeats: boolean;
  readonly required: boolean;
  /** True if a null is written as nil. */
  readonly takesNull: boolean;
  /** The content of a repetition of a repeated group. */
  readonly rounds: CompiledContent | undefined;
  /** Undefined unless the elements of its wildcard are members of one object. */
  readonly fields: OpenFields | undefined;
  /** Pushes the node of the member's JSON value. */
  readonly scan: (tape: Tape) => void;
  /** Writes the elements of a node. */
  readonly write: (tape: Tape, node: number, output: Output) => void;
  /** Writes one item of a list, if the schema has the list in several positions. */
  readonly writeItem: (tape: Tape, node: number, output: Output) => void;
  /** Written for a required member that is absent (A27). */
  readonly fixed: Piece | undefined;
}

/** The rules about members that exclude each other. */
interface Choosing {
  /** Undefined for none. */
  readonly choices: readonly CompiledChoice[] | undefined;
  readonly order: Order | undefined;
}

/** The compiled content of one type. */
export interface CompiledContent {
  readonly members: readonly ContentMember[];
  readonly byLocal: ReadonlyMap<string, readonly NamedEntry[]>;
  /** By member: its entry if no other member has its local name. */
  readonly direct: readonly (NamedEntry | undefined)[];
  readonly open: readonly OpenEntry[];
  readonly required: readonly number[];
  /** The arrays with a checked number of items in requests (`validate: strict`); undefined for none. */
  readonly bounds: readonly ItemBounds[] | undefined;
  /** Undefined for none. */
  readonly choices: readonly CompiledChoice[] | undefined;
  /** By member: the choices and the part of the order that another occurrence of the member may affect. */
  readonly around: readonly Choosing[];
  readonly order: Order | undefined;
  readonly context: AdoptedContext;
}

/** Minimum and maximum number of items of an array: `minOccurs` and `maxOccurs` of all its positions. */
interface ItemBounds extends Pick<Member, 'least' | 'most'> {
  /** Index of the member. */
  readonly index: number;
}

/** The repetitions of a repeated group, each an object. */
export interface Rounds extends Pick<ContentMember, 'scan' | 'write'> {
  readonly content: CompiledContent;
}

/**
 * Compiles the members of a content model. It is long because each kind of member has a part, and all share one table.
 */
export function compileContent(
  context: AdoptedContext,
  { members, choices, order }: Members,
  roundsOf: (members: Members) => Rounds,
): CompiledContent {
  const byLocal = new Map<string, NamedEntry[]>();
  const direct: (NamedEntry | undefined)[] = members.map(() => undefined);
  const open: OpenEntry[] = [];
  const enter = (entry: NamedEntry): void => {
    const known = byLocal.get(entry.local);
    if (known === undefined) byLocal.set(entry.local, [entry]);
    else known.push(entry);
  };
  const compiled = members.map((member, index): ContentMember => {
    const { json, repeats, most, required } = member;
    const shared = {
      json,
      jsonKey: `${JSON.stringify(json)}:`,
      repeats,
      required,
      rounds: undefined,
      fields: undefined,
    };
    if (member.kind === 'rounds') {
      const its = roundsOf(member.content);
      const rounds = its.content;
      for (const entries of rounds.byLocal.values())
        for (const inner of entries) enter({ ...inner, index, inner, repeats });
      for (const inner of rounds.open) open.push({ ...inner, index, inner });
      return { ...shared, ...arrayOf(its.scan, its.write, false, most), rounds, fixed: undefined };
    }
    if (member.kind === 'any' && member.fieldsOf !== undefined) {
      const fields = openFields(context, member.fieldsOf, repeats);
      open.push({ index, inner: undefined, read: undefined, wildcards: member.wildcards });
      const { scan, write } = fields;
      return { ...shared, scan, write, writeItem: write, takesNull: false, fixed: undefined, fields };
    }
    if (member.kind === 'any') {
      const read = (xml: XmlReader, reading: Reading) => readOpenElement(context, xml, reading);
      open.push({ index, inner: undefined, read, wildcards: member.wildcards });
      return { ...shared, ...listed(openMember(context), member), fixed: undefined };
    }
    const { element } = member;
    if (element.substitutes.length > 0) {
      const variants = headVariants(context, element, !repeats);
      for (const { declared, json: name, value } of variants) {
        const key = `${JSON.stringify(name)}:`;
        const plain = elementReader(context, declared, value, required || repeats);
        const read = (xml: XmlReader, reading: Reading): string | undefined => {
          const token = plain(xml, reading);
          return token === undefined ? undefined : `{${key}${token}}`;
        };
        enter({ ...declared.name, index, inner: undefined, read, repeats });
      }
      return { ...shared, ...listed(headMember(variants), member), fixed: undefined };
    }
    const value = context.elementOf(element, !repeats);
    const read = elementReader(context, element, value, required || repeats);
    const entry = { ...element.name, index, inner: undefined, read, repeats };
    enter(entry);
    direct[index] = entry;
    return {
      ...shared,
      ...listed(elementMember(context, element, value), member),
      fixed: required ? fixedElement(context, element) : undefined,
    };
  });
  const compiledChoices = choices.map(compileChoice);
  const isAlone = (entry: NamedEntry): boolean => byLocal.get(entry.local)?.length === 1;
  return {
    members: compiled,
    byLocal,
    direct: direct.map((entry) => (entry !== undefined && isAlone(entry) ? entry : undefined)),
    open,
    required: compiled.flatMap(({ required }, index) => (required ? [index] : [])),
    bounds: context.settings.validate === 'strict' ? boundsOf(members) : undefined,
    choices: choices.length === 0 ? undefined : compiledChoices,
    around: members.map((_, index) => ({
      choices: compiledChoices.filter((choice) => choice.members.has(index)),
      order: order === undefined ? undefined : orderAround(order, index),
    })),
    order,
    context,
  };
}

/**
 * Returns the bounds of the arrays among members; undefined for none. Wildcards that are one object have no bounds.
 */
function boundsOf(members: readonly Member[]): readonly ItemBounds[] | undefined {
  const bounds = members.flatMap((member, index) => {
    const { least, most, repeats } = member;
    const isFields = member.kind === 'any' && member.fieldsOf !== undefined;
    const isBounded = repeats && !isFields && (least > 0 || most !== Number.POSITIVE_INFINITY);
    return isBounded ? [{ index, least, most }] : [];
  });
  return bounds.length === 0 ? undefined : bounds;
}

/**
 * Returns the choices of an order that contain a member. A choice counts only if the member has no position outside it.
 */
function orderAround(order: Order, index: number): Order {
  if (order.kind === 'sequence')
    return { ...order, parts: order.parts.map((part) => orderAround(part, index)).filter(isNotEmpty) };
  const isIn =
    order.kind === 'choice' &&
    !order.outside.has(index) &&
    order.parts.some(({ members }) => members.has(index));
  return isIn ? order : { kind: 'sequence', parts: [] };
}

function isNotEmpty(order: Order): boolean {
  return order.kind !== 'sequence' || order.parts.length > 0;
}

function compileChoice({ branches }: Choice): CompiledChoice {
  return { branches, members: new Set(branches.flatMap((branch) => [...branch])) };
}

// --- XML → JSON ---------------------------------------------------------------------------------------

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
  if (xml.stray) refuse(reading, 'InvalidType', { expected: 'elements', got: 'text' });
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

function namesOf(
  { members }: CompiledContent,
  [one, other]: readonly [number, number],
): readonly [string, string] {
  return [(members[one] as ContentMember).json, (members[other] as ContentMember).json];
}

/**
 * Returns two members that exclude each other; undefined if each choice has a branch with all members that occur (A15).
 */
function conflictOf(
  { choices, order }: Choosing,
  present: readonly number[],
): readonly [number, number] | undefined {
  if (choices === undefined) return undefined;
  if (order !== undefined) return conflictIn(order, present);
  for (const { branches, members } of choices) {
    const its = present.filter((index) => members.has(index));
    if (branches.some((branch) => its.every((index) => branch.has(index)))) continue;
    for (const one of its) {
      const other = its.find((index) => !branches.some((branch) => branch.has(one) && branch.has(index)));
      if (other !== undefined) return [one, other];
    }
  }
  return undefined;
}

/**
 * Finds a conflict if members have several positions: each choice needs a branch that has all members without a
 * position elsewhere.
 */
function conflictIn(order: Order, present: readonly number[]): readonly [number, number] | undefined {
  if (order.kind === 'member') return undefined;
  if (order.kind === 'sequence') {
    for (const part of order.parts) {
      const both = conflictIn(part, present);
      if (both !== undefined) return both;
    }
    return undefined;
  }
  if (present.length < 2) return undefined;
  const { parts, outside } = order;
  const its = present.filter(
    (index) => !outside.has(index) && parts.some(({ members }) => members.has(index)),
  );
  if (its.length < 2) return undefined;
  let within: readonly [number, number] | undefined;
  for (const { members, order: part } of parts) {
    if (!its.every((index) => members.has(index))) continue;
    const both = conflictIn(part, its);
    if (both === undefined) return undefined;
    within ??= both;
  }
  return within ?? [its[0] as number, its.at(-1) as number];
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
        got: namespaceText(xml.namespace),
      });
    reading.path.pop();
  }
  xml.skip();
}

// --- JSON → XML ---------------------------------------------------------------------------------------

type Written = Pick<ContentMember, 'scan' | 'write' | 'writeItem' | 'takesNull'>;

/** Returns the codec of a member that is a single value or an array. */
function listed(one: Omit<Written, 'writeItem'>, { repeats, most }: Member): Written {
  return repeats ? arrayOf(one.scan, one.write, one.takesNull, most) : { ...one, writeItem: one.write };
}

/**
 * Returns the codec of an array. On the tape it is a linked list: each entry has a link to the next one and the item's
 * node; -1 ends it.
 *
 * @param most maximum number of items; more are written and counted
 */
function arrayOf(
  scanItem: (tape: Tape) => void,
  writeItem: Written['write'],
  itemsTakeNull: boolean,
  most: number,
): Written {
  const scanOne = (tape: Tape): void => {
    if (!itemsTakeNull && tape.peek() === 110) throw new MismatchError({ expected: 'a value', got: 'null' });
    scanItem(tape);
  };
  const scan = (tape: Tape): void => {
    const count = scanItems(tape, scanOne);
    if (count > most && tape.asked === undefined) tape.passed += count - most;
  };
  const write = (tape: Tape, node: number, output: Output): void => {
    if (tape.words[node] === nothing) return;
    for (let entry = tape.words[node + 1] as number; entry !== -1; entry = tape.words[entry] as number)
      writeItem(tape, entry + 1, output);
  };
  return { scan, write, writeItem, takesNull: false };
}

function elementMember(context: AdoptedContext, element: ElementDeclaration, value: ValueCodec) {
  const tags = tagsOf(context, element);
  return {
    scan: value.scan,
    write: value.isLeaf
      ? (tape: Tape, node: number, output: Output) => writeElement(tags, leaf, tape, node, output)
      : (tape: Tape, node: number, output: Output) => value.write(tags, tape, node, output),
    takesNull: tags.nil !== undefined,
  };
}

function fixedElement(context: AdoptedContext, { name, value, type }: ElementDeclaration): Piece | undefined {
  if (value?.kind !== 'fixed' || type.kind !== 'simple') return undefined;
  const qualified = context.prefixOf(name.namespace) + name.local;
  return piece(`<${qualified}>${escapeXml(value.text, { replaced: 0 })}</${qualified}>`);
}

function openMember(context: AdoptedContext) {
  return {
    scan: (tape: Tape) => scanOpenElement(context, tape),
    write: (tape: Tape, node: number, output: Output) => {
      if (tape.words[node] !== nothing) output.text(tape.made[tape.words[node + 1] as number] as string);
    },
    takesNull: false,
  };
}

/** The head of a substitution group, or one of its substitutes (A20). */
interface HeadVariant {
  readonly declared: ElementDeclaration;
  readonly json: string;
  readonly value: ValueCodec;
  readonly tags: Tags;
}

function headVariants(
  context: AdoptedContext,
  head: ElementDeclaration,
  once: boolean,
): readonly HeadVariant[] {
  return substituteMembers(head).map(({ json, element: declared }) => {
    const value = context.elementOf(declared, once);
    return { declared, json, value, tags: tagsOf(context, declared) };
  });
}

/**
 * Returns the codec of a substitution group: an object with one member, named after the element. Its node has two
 * words, then the value's node.
 */
function headMember(variants: readonly HeadVariant[]) {
  const byName = new Map(variants.map(({ json }, index) => [json, index]));
  const expected = `one of ${someNames(variants.map(({ declared }) => declared.name.local))}`;
  const scan = (tape: Tape): void => {
    if (!enters(tape, 123)) return;
    tape.reserve(2);
    const node = tape.top;
    tape.top = node + 2;
    if (!tape.next(true, 125)) throw new MismatchError({ expected, got: 'an empty object' });
    const name = tape.name();
    const index = byName.get(name);
    if (index === undefined) throw new MismatchError({ expected, got: 'another member' });
    tape.words[node] = record;
    tape.words[node + 1] = index;
    try {
      (variants[index] as HeadVariant).value.scan(tape);
    } catch (error) {
      throw error instanceof MismatchError ? error.at(name) : error;
    }
    if (tape.next(false, 125)) throw new MismatchError({ expected, got: 'several members' });
  };
  const write = (tape: Tape, node: number, output: Output): void => {
    if (tape.words[node] === nothing) return;
    const { value, tags } = variants[tape.words[node + 1] as number] as HeadVariant;
    value.write(tags, tape, node + 2, output);
  };
  return { scan, write, takesNull: false };
}

/**
 * Writes members in the order of the schema.
 *
 * @param slots position of the first member's slot on the tape; a slot holds the node, or -1 for an absent member
 */
export function writeContent(content: CompiledContent, tape: Tape, slots: number, output: Output): void {
  const { members, order } = content;
  if (order !== undefined) {
    writeOrdered(content, order, tape, slots, output);
    return;
  }
  for (let index = 0; index < members.length; index++) {
    const node = tape.words[slots + index] as number;
    const member = members[index] as ContentMember;
    if (node !== -1) member.write(tape, node, output);
    else if (member.fixed !== undefined) output.tags(member.fixed);
  }
}

/** Returns true if a member's node (-1 for none) holds a value. A null and an empty list are no values. */
function isThere({ repeats }: ContentMember, { words }: Tape, node: number): boolean {
  return node !== -1 && words[node] !== nothing && !(repeats && words[node + 1] === -1);
}

/** Returns the number of required members that a reply lacks and for which nothing is written (A28). */
export function missingOnTape({ members, required }: CompiledContent, tape: Tape, slots: number): number {
  const { words } = tape;
  let count = 0;
  for (const index of required) {
    const member = members[index] as ContentMember;
    const node = words[slots + index] as number;
    if (isThere(member, tape, node)) continue;
    const isWritten = node === -1 ? member.fixed !== undefined : member.takesNull;
    if (!isWritten) count++;
  }
  return count;
}

/** Returns the names of two members of a reply that exclude each other; undefined if there are none. */
export function conflictOnTape(
  content: CompiledContent,
  tape: Tape,
  slots: number,
): readonly [string, string] | undefined {
  const present: number[] = [];
  for (let index = 0; index < content.members.length; index++) {
    const node = tape.words[slots + index] as number;
    if (isThere(content.members[index] as ContentMember, tape, node)) present.push(index);
  }
  const both = conflictOf(content, present);
  return both === undefined ? undefined : namesOf(content, both);
}

/** A branch of a choice. */
type Branch = Extract<Order, { readonly kind: 'choice' }>['parts'][number];

const noMember: ReadonlySet<number> = new Set();

/** Weight of a nil element; a value weighs 1. */
const nilWeight = 2 ** -20;

/**
 * Writes members that have several positions (A15): the branch of a choice that takes most of the remaining members,
 * and each element in its first free position.
 */
function writeOrdered(
  { members }: CompiledContent,
  whole: Order,
  tape: Tape,
  slots: number,
  output: Output,
): void {
  const { words } = tape;
  // by member: 0 before it is written, -1 after all of it is written, else the next entry of the list
  const next = new Int32Array(members.length);
  const present: number[] = [];
  for (let index = 0; index < members.length; index++) if (words[slots + index] !== -1) present.push(index);
  const weightAt = (index: number): number => {
    const node = words[slots + index] as number;
    const member = members[index] as ContentMember;
    if (next[index] === -1 || node === -1) return 0;
    if (isThere(member, tape, node)) return 1;
    return member.takesNull ? nilWeight : 0;
  };
  /** Returns the members that an order takes; for a choice, those of its heaviest branch. */
  const takenBy = (order: Order): ReadonlySet<number> => {
    if (order.kind === 'member') return new Set([order.index]);
    if (order.kind === 'choice') return heaviest(filled(order.parts))?.taken ?? noMember;
    return new Set(order.parts.flatMap((part) => [...takenBy(part)]));
  };
  /** Returns the branches with something to write. Most choices of a large type have none or one. */
  const filled = (parts: readonly Branch[]): readonly Branch[] =>
    parts.filter((part) => present.some((index) => next[index] !== -1 && part.members.has(index)));
  const heaviest = (parts: readonly Branch[]) => {
    const weighed = parts.map(({ order }) => {
      const taken = takenBy(order);
      return { order, taken, weight: [...taken].reduce((sum, index) => sum + weightAt(index), 0) };
    });
    return weighed.reduce<(typeof weighed)[number] | undefined>(
      (best, one) => (best === undefined || one.weight > best.weight ? one : best),
      undefined,
    );
  };
  const write = (order: Order): void => {
    if (order.kind === 'sequence') {
      for (const part of order.parts) write(part);
      return;
    }
    if (order.kind === 'choice') {
      const parts = filled(order.parts);
      const branch = parts.length > 1 ? heaviest(parts) : parts[0];
      if (branch !== undefined) write(branch.order);
      return;
    }
    const { index, most } = order;
    const member = members[index] as ContentMember;
    if (weightAt(index) === 0) return;
    const node = words[slots + index] as number;
    if (!member.repeats || member.rounds !== undefined) {
      member.write(tape, node, output);
      next[index] = -1;
      return;
    }
    let entry = (next[index] === 0 ? words[node + 1] : next[index]) as number;
    for (let count = 0; count < most && entry !== -1; count++) {
      member.writeItem(tape, entry + 1, output);
      entry = words[entry] as number;
    }
    next[index] = entry;
  };
  write(whole);
  const left = present.find((index) => weightAt(index) === 1);
  if (left !== undefined)
    throw new MismatchError({ expected: 'no more than the schema has places for', got: 'more' }).at(
      (members[left] as ContentMember).json,
    );
}
