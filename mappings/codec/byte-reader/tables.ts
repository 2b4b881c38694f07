import type { Limits } from '../../contract/limits.ts';
import { XmlError } from '../../xml/error.ts';
import type { Declaration } from '../../xml/namespaces.ts';
import { type Piece, piece } from '../../xml/output.ts';
import { XmlReader } from '../../xml/reader.ts';
import { escapeAttribute } from '../scalars/text.ts';
import { isNil } from '../schema-instance.ts';
import { type Leaf, leafKinds } from './leaf.ts';
import type { MemberPlan, Nil, Plan, Value } from './plan.ts';

/** The tags of types as one group of callers writes them, and the JSON that is written for each. */

/** Bytes that are looked for, as groups of eight and as bytes; the last group overlaps the one before it. */
export interface Mark {
  readonly bytes: Buffer;
  readonly length: number;
  /** Doubles: no eight bytes of UTF-8 are a NaN. None for a mark of less than eight bytes. */
  readonly groups: Float64Array;
}

function markOf(bytes: Buffer): Mark {
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
export const tagKinds = { ...leafKinds, object: 9, list: 10, null: 11, absent: 12 } as const;

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

/** A start tag of a type, byte by byte. */
export class Tag {
  /** Position of the member in its type. */
  readonly index: number;
  readonly member: MemberPlan;
  readonly kind: (typeof tagKinds)[keyof typeof tagKinds];
  readonly start: Mark;
  /** `</p:Name>` */
  readonly end: Mark;
  /** True for a start tag that closes itself. */
  readonly isEmpty: boolean;
  /** Namespace declarations and attributes. */
  readonly attributes: number;
  /** The JSON before the value, a comma first; `again` is for the second value of a member that repeats, and for items. */
  readonly key: Piece;
  readonly again: Piece;
  /** True if the value is in an object of its own. */
  readonly isWrapped: boolean;
  readonly repeats: boolean;
  /** True if the value is stored separately from the JSON. */
  readonly isSeparate: boolean;
  /** True for those, and if some tokens are no value here. */
  readonly isSpecial: boolean;
  readonly leaf: Leaf;
  /** The table of an object or a list. */
  readonly table: Table | undefined;

  /** @param isItem true for an item of a list */
  constructor(index: number, member: MemberPlan, value: Value, text: StartTag, isItem: boolean) {
    const { bytes, name, nil, isEmpty, attributes, spelling } = text;
    const inner = value.kind === 'leaf' && nil === undefined ? value.member : undefined;
    const wrapper = inner === undefined ? '' : `{${JSON.stringify(inner)}:`;
    this.index = index;
    this.member = member;
    this.kind =
      nil !== undefined ? tagKinds[nil] : value.kind === 'leaf' ? value.leaf.kind : tagKinds[value.kind];
    this.start = markOf(bytes);
    this.end = markOf(Buffer.from(`</${name}>`));
    this.isEmpty = isEmpty;
    this.attributes = attributes;
    this.again = piece(`,${wrapper}`);
    this.key = isItem
      ? this.again
      : piece(`,${JSON.stringify(member.json)}:${member.repeats ? '[' : ''}${wrapper}`);
    this.isWrapped = inner !== undefined;
    this.repeats = member.repeats;
    this.isSeparate = member.slot !== undefined || member.isKept;
    this.isSpecial = nil !== 'absent' && (this.isSeparate || member.required);
    this.leaf = value.kind === 'leaf' ? value.leaf : nothing;
    this.table = value.kind === 'leaf' || nil !== undefined ? undefined : spelling.tableOf(value);
  }
}

/** A start tag that was read. */
interface StartTag {
  readonly bytes: Buffer;
  /** With its prefix. */
  readonly name: string;
  /** Undefined for an element without `xsi:nil`. */
  readonly nil: Nil | undefined;
  readonly isEmpty: boolean;
  readonly attributes: number;
  /** The spelling of what the element holds. */
  readonly spelling: Spelling;
}

/** The namespaces of prefixes, `''` for the default namespace; all that are in scope at an element. */
export type Bindings = ReadonlyMap<string, string>;

/** A type's start tags that were met under some bindings. */
export class Table {
  readonly plan: Plan;
  /** By the position of a member, and 0 before the first one: the tag that followed it last time. */
  readonly followers: (Tag | undefined)[];
  /** The required members, by words of 31 bits. */
  readonly required: Int32Array;
  readonly spelling: Spelling;
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

  /** The known tag of these bytes; undefined for another one, which may have the same hash. */
  known(hash: number, bytes: Buffer, start: number, end: number): Tag | undefined {
    const tag = this.#tags.get(hash);
    return tag?.start.length === end - start && tag.start.bytes.compare(bytes, start, end) === 0
      ? tag
      : undefined;
  }

  /** Reads a start tag and keeps it; undefined for one that the usual reader must read. */
  learn(hash: number, bytes: Buffer, start: number, end: number): Tag | undefined {
    const tag = this.#read(Buffer.from(bytes.subarray(start, end)));
    if (tag === undefined) return undefined;
    this.#tags.set(hash, tag);
    this.spelling.family.grow();
    return tag;
  }

  #read(bytes: Buffer): Tag | undefined {
    const { plan } = this;
    const xml = this.spelling.readerOf(bytes);
    if (xml === undefined) return undefined;
    const index = plan.members.findIndex(({ local }) => local === xml.local);
    const member = plan.members[index];
    const value = member?.value();
    if (member === undefined || value === undefined || !member.namespaces.includes(xml.namespace))
      return undefined;
    const hasNil = xml.attributeCount === 1 && isNil(xml);
    const nil = hasNil ? member.nil : undefined;
    const isPlain = hasNil
      ? nil !== undefined && !(nil === 'absent' && member.isKept)
      : xml.attributeCount === 0;
    if (!isPlain) return undefined;
    const { prefix, local, empty: isEmpty, declarations } = xml;
    const attributes = xml.attributeCount + declarations.length;
    const spelling = this.spelling.within(declarations);
    const name = prefix === '' ? local : `${prefix}:${local}`;
    const tag = { bytes, name, nil, isEmpty, attributes, spelling };
    return new Tag(index, member, value, tag, plan.kind === 'list');
  }
}

/** The bit of a member in its word, with the bits that are set. */
function bitOf(words: Int32Array, index: number): number {
  return (words[(index / 31) | 0] as number) | (1 << (index % 31));
}

/** Bindings that are kept at one element: no toolkit declares more. */
const mostBindings = 32;

/** Maximum number of cached start tags of a contract: some megabytes. */
const mostTags = 16_384;

/** Cache of the spellings of a contract's requests. The least recently used are dropped first. */
export class Spellings {
  readonly #families = new Map<string, Family>();
  #tags = 0;

  /** The spelling of an operation's requests under some bindings. */
  of(operation: string, bindings: Bindings, limits: Limits): Spelling {
    const key = JSON.stringify([operation, ...bindings]);
    const family = this.#families.get(key) ?? new Family(bindings, limits, () => this.#grow());
    this.#families.delete(key);
    this.#families.set(key, family);
    return family.spelling;
  }

  #grow(): void {
    this.#tags++;
    for (const [key, family] of this.#families) {
      if (this.#tags <= mostTags) return;
      this.#families.delete(key);
      this.#tags -= family.tags;
      family.isDropped = true;
    }
  }
}

/** A spelling, with those within elements that declare more namespaces. */
class Family {
  readonly spelling: Spelling;
  /** Tags of all of them. */
  tags = 0;
  /** True for one that is no longer kept. */
  isDropped = false;
  readonly #grow: () => void;

  constructor(bindings: Bindings, limits: Limits, grow: () => void) {
    this.spelling = new Spelling(bindings, limits, this);
    this.#grow = grow;
  }

  grow(): void {
    this.tags++;
    if (!this.isDropped) this.#grow();
  }
}

/** The tables of all types under some bindings. */
export class Spelling {
  readonly family: Family;
  readonly #bindings: Bindings;
  readonly #limits: Limits;
  readonly #tables = new Map<Plan, Table>();
  /** The beginning of a document in which the bindings are in scope. */
  #before: string | undefined;

  constructor(bindings: Bindings, limits: Limits, family: Family) {
    this.family = family;
    this.#bindings = bindings;
    this.#limits = limits;
  }

  tableOf(plan: Plan): Table {
    const table = this.#tables.get(plan) ?? new Table(plan, this);
    this.#tables.set(plan, table);
    return table;
  }

  /** The spelling within an element with these declarations. */
  within(declarations: readonly Declaration[]): Spelling {
    const isSame = declarations.every(({ prefix, namespace }) => this.#bindings.get(prefix) === namespace);
    if (isSame) return this;
    const declared = declarations.map(({ prefix, namespace }) => [prefix, namespace] as const);
    return new Spelling(new Map([...this.#bindings, ...declared]), this.#limits, this.family);
  }

  /** The usual reader at a start tag; undefined for other bytes, and with more than `mostBindings`. */
  readerOf(bytes: Buffer): XmlReader | undefined {
    if (this.#bindings.size > mostBindings) return undefined;
    this.#before ??= `<_${[...this.#bindings].map(declarationOf).join('')}>`;
    const text = this.#before + bytes.toString();
    const xml = new XmlReader(text, this.#limits);
    try {
      xml.readRoot();
      const isStartTag = xml.nextChild() && xml.position === text.length;
      return isStartTag ? xml : undefined;
    } catch (error) {
      if (error instanceof XmlError) return undefined;
      throw error;
    }
  }
}

function declarationOf([prefix, namespace]: readonly [prefix: string, namespace: string]): string {
  return ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeAttribute(namespace)}"`;
}
