import { type Piece, piece } from '../../xml/output.ts';
import { type Leaf, leafKinds } from './leaf.ts';
import type { MemberPlan, Plan } from './plan.ts';

/** The tags of types as one group of callers writes them, and the JSON that is written for each. */

/** Bytes that are looked for, as groups of eight and as bytes; the last group overlaps the one before it. */
export interface Mark {
  readonly bytes: Buffer;
  readonly length: number;
  /** Doubles: no eight bytes of UTF-8 are a NaN. None for a mark of less than eight bytes. */
  readonly groups: Float64Array;
}

function markOf(text: string): Mark {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  const groups = new Float64Array(length < 8 ? 0 : Math.ceil(length / 8));
  for (let index = 0; index < groups.length; index++)
    groups[index] = bytes.readDoubleLE(Math.min(index * 8, length - 8));
  return { bytes, length, groups };
}

/** Returns true if a mark is at an offset of a document. */
export function isMarkAt(
  view: DataView,
  document: Buffer,
  at: number,
  { bytes, length, groups }: Mark,
): boolean {
  const end = at + length;
  if (end > document.length) return false;
  const last = groups.length - 1;
  if (last < 0) {
    for (let index = 0; index < length; index++) if (document[at + index] !== bytes[index]) return false;
    return true;
  }
  let from = at;
  for (let index = 0; index < last; index++) {
    if (view.getFloat64(from, true) !== groups[index]) return false;
    from += 8;
  }
  return view.getFloat64(end - 8, true) === groups[last];
}

/** Kinds of content of an element. */
export const tagKinds = { ...leafKinds, object: 9, list: 10 } as const;

const nothing: Leaf = {
  kind: leafKinds.other,
  tokenOf: () => undefined,
  maxLength: 0,
  takesEmpty: false,
  safeDigits: 0,
  isSigned: false,
  takesZoneless: false,
  words: [],
};

/** An element of a type under one name, with its prefix. */
export class Tag {
  /** Position of the member in its type. */
  readonly index: number;
  readonly member: MemberPlan;
  readonly kind: (typeof tagKinds)[keyof typeof tagKinds];
  /** `<p:Name>` and `</p:Name>`. */
  readonly start: Mark;
  readonly end: Mark;
  /** The JSON before the value, a comma first; `again` is for the second value of a member that repeats, and for items. */
  readonly key: Piece;
  readonly again: Piece;
  /** True if the value is in an object of its own. */
  readonly isWrapped: boolean;
  readonly repeats: boolean;
  /** True if the value is needed apart from the JSON. */
  readonly isAside: boolean;
  /** True for those, and if some tokens are no value here. */
  readonly isSpecial: boolean;
  readonly leaf: Leaf;
  /** The table of an object or a list. */
  readonly table: Table | undefined;

  /** @param name the element's, with its prefix */
  constructor(index: number, member: MemberPlan, name: string, isItem: boolean, spelling: Spelling) {
    const value = member.value();
    if (value === undefined) throw new RangeError(`expected a member with a plan, got ${name}`);
    const inner = value.kind === 'leaf' ? value.member : undefined;
    const wrapper = inner === undefined ? '' : `{${JSON.stringify(inner)}:`;
    this.index = index;
    this.member = member;
    this.kind = value.kind === 'leaf' ? value.leaf.kind : tagKinds[value.kind];
    this.start = markOf(`<${name}>`);
    this.end = markOf(`</${name}>`);
    this.again = piece(`,${wrapper}`);
    this.key = isItem
      ? this.again
      : piece(`,${JSON.stringify(member.json)}:${member.repeats ? '[' : ''}${wrapper}`);
    this.isWrapped = inner !== undefined;
    this.repeats = member.repeats;
    this.isAside = member.slot !== undefined || member.isKept;
    this.isSpecial = this.isAside || member.required;
    this.leaf = value.kind === 'leaf' ? value.leaf : nothing;
    this.table = value.kind === 'leaf' ? undefined : spelling.tableOf(value);
  }
}

/** The namespaces of prefixes, `''` for the default namespace; all that are in scope at the element of a payload. */
export type Bindings = ReadonlyMap<string, string>;

/** A type's tags that were met under some bindings. */
export class Table {
  readonly plan: Plan;
  readonly spelling: Spelling;
  /** By the position of a member, and 0 before the first one: the tag that followed it last time. */
  readonly followers: (Tag | undefined)[];
  /** The required members, by words of 31 bits. */
  readonly required: Int32Array;
  readonly #tags = new Map<number, Tag>();

  constructor(plan: Plan, spelling: Spelling) {
    const { members } = plan;
    this.plan = plan;
    this.spelling = spelling;
    this.followers = new Array(members.length + 1).fill(undefined);
    this.required = new Int32Array(Math.ceil(members.length / 31));
    for (const [index, { required }] of members.entries())
      if (required) this.required[(index / 31) | 0] = bitOf(this.required, index);
  }

  /**
   * The tag of a name; undefined for an element that has none.
   *
   * @param hash of the name's bytes; two names may have the same
   */
  tagOf(hash: number, bytes: Buffer, start: number, end: number): Tag | undefined {
    const known = this.#tags.get(hash);
    if (known !== undefined && isName(known, bytes, start, end)) return known;
    const tag = this.#find(bytes.toString('utf8', start, end));
    if (tag !== undefined) this.#tags.set(hash, tag);
    return tag;
  }

  #find(name: string): Tag | undefined {
    const { plan, spelling } = this;
    const colon = name.indexOf(':');
    const namespace = spelling.namespaceOf(colon === -1 ? '' : name.slice(0, colon));
    const local = name.slice(colon + 1);
    const index = plan.members.findIndex((member) => member.local === local);
    const member = plan.members[index];
    if (member === undefined || namespace === undefined || !member.namespaces.includes(namespace))
      return undefined;
    if (name.length > spelling.maxName || member.value() === undefined) return undefined;
    return new Tag(index, member, name, plan.kind === 'list', spelling);
  }
}

/** The bit of a member in its word, with the bits that are set. */
function bitOf(words: Int32Array, index: number): number {
  return (words[(index / 31) | 0] as number) | (1 << (index % 31));
}

/** Returns true if a tag's name is that of the bytes of a range. */
function isName({ start: { bytes: its, length } }: Tag, bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== length - 2) return false;
  for (let at = start, place = 1; at < end; at++, place++) if (its[place] !== bytes[at]) return false;
  return true;
}

/** The tables of all types under some bindings. */
export class Spelling {
  /** Characters of a name, with its prefix. */
  readonly maxName: number;
  readonly #bindings: Bindings;
  readonly #tables = new Map<Plan, Table>();

  constructor(bindings: Bindings, maxName: number) {
    this.#bindings = bindings;
    this.maxName = maxName;
  }

  namespaceOf(prefix: string): string | undefined {
    return this.#bindings.get(prefix) ?? (prefix === '' ? '' : undefined);
  }

  tableOf(plan: Plan): Table {
    const table = this.#tables.get(plan) ?? new Table(plan, this);
    this.#tables.set(plan, table);
    return table;
  }
}
