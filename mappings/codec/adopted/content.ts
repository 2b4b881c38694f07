import { substituteMembers } from '../../contract/members.ts';
import type { Choice, ElementDeclaration, Member, Members } from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { type Output, type Piece, piece } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { type Element, enters, writeElement } from '../element.ts';
import { scanItems } from '../json-scan.ts';
import { MismatchError, type Reading } from '../problem.ts';
import { escapeXml, someNames } from '../scalars/text.ts';
import type {
  CompiledChoice,
  CompiledContent,
  ContentMember,
  ItemBounds,
  NamedEntry,
  OpenEntry,
  Rounds,
} from './content-model.ts';
import type { AdoptedContext, ValueCodec } from './context.ts';
import { elementReader, leaf, tagsOf } from './elements.ts';
import { conflictOf, isThere, namesOf, orderAround, writeOrdered } from './member-order.ts';
import { readOpenElement, scanOpenElement } from './open-elements.ts';
import { openFields } from './open-fields.ts';

/**
 * The content between the tags of a complex type's element: elements, wildcards and the repetitions of repeated groups
 * (A13 to A16, A20, A22).
 */

const { nothing, record } = nodeKinds;

/** Compiles the members of a content model. */
export function compileContent(
  context: AdoptedContext,
  { members, choices, order }: Members,
  roundsOf: (members: Members) => Rounds,
): CompiledContent {
  const table: Entries = { byLocal: new Map(), direct: members.map(() => undefined), open: [] };
  const compiled = members.map((member, index) => compileMember(context, member, index, table, roundsOf));
  const { byLocal, direct, open } = table;
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

/** The entries of all members, filled while the members are compiled. */
interface Entries {
  readonly byLocal: Map<string, NamedEntry[]>;
  readonly direct: (NamedEntry | undefined)[];
  readonly open: OpenEntry[];
}

function enter({ byLocal }: Entries, entry: NamedEntry): void {
  const known = byLocal.get(entry.local);
  if (known === undefined) byLocal.set(entry.local, [entry]);
  else known.push(entry);
}

/** Compiles one member, and adds its entries to the table. */
function compileMember(
  context: AdoptedContext,
  member: Member,
  index: number,
  table: Entries,
  roundsOf: (members: Members) => Rounds,
): ContentMember {
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
      for (const inner of entries) enter(table, { ...inner, index, inner, repeats });
    for (const inner of rounds.open) table.open.push({ ...inner, index, inner });
    return { ...shared, ...arrayOf(its.scan, its.write, false, most), rounds, fixed: undefined };
  }
  if (member.kind === 'any' && member.fieldsOf !== undefined) {
    const fields = openFields(context, member.fieldsOf, repeats);
    table.open.push({ index, inner: undefined, read: undefined, wildcards: member.wildcards });
    const { scan, write } = fields;
    return { ...shared, scan, write, writeItem: write, takesNull: false, fixed: undefined, fields };
  }
  if (member.kind === 'any') {
    const read = (xml: XmlReader, reading: Reading) => readOpenElement(context, xml, reading);
    table.open.push({ index, inner: undefined, read, wildcards: member.wildcards });
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
      enter(table, { ...declared.name, index, inner: undefined, read, repeats });
    }
    return { ...shared, ...listed(headMember(variants), member), fixed: undefined };
  }
  const value = context.elementOf(element, !repeats);
  const read = elementReader(context, element, value, required || repeats);
  const entry = { ...element.name, index, inner: undefined, read, repeats };
  enter(table, entry);
  table.direct[index] = entry;
  return {
    ...shared,
    ...listed(elementMember(context, element, value), member),
    fixed: required ? fixedElement(context, element) : undefined,
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

function compileChoice({ branches }: Choice): CompiledChoice {
  return { branches, members: new Set(branches.flatMap((branch) => [...branch])) };
}

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
    if (count > most && tape.jsonRequest === undefined) tape.passed += count - most;
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
  readonly tags: Element;
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
