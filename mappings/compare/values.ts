import { collapse } from '../codec/scalars/numbers.ts';
import { anySimpleType, builtInTypes } from '../contract/built-in-types.ts';
import type { SchemaType } from '../contract/type-graph.ts';
import type { ObjectPart, Part } from '../json/parts.ts';
import { type Aligned, align, isPermutation, pairByPosition } from './lists.ts';
import { openKey } from './open-xml.ts';
import type { ReplyPath } from './paths.ts';
import { contentClass, isLocal, scalarClass, scalarKey, scalarNote } from './scalars.ts';
import type { Shape, Shapes, Slot } from './shapes.ts';
import { type Sink, type State, stateOf, type Value } from './sink.ts';

// The comparison of two values by their types (G35 to G40). The walk is the same for keys and for differences.

/** Number of pairs of items, or of characters, that count as one step. */
const perStep = 32;

type Text = Extract<Part, { kind: 'text' }>;

/** A number for each item of a list. */
type Ids = readonly number[];

const anyShape: Shape = { kind: 'any' };
const anySlot: Slot = { shape: () => anyShape };
const openSlots: ReadonlyMap<string, Slot> = new Map([['@xml', { shape: () => ({ kind: 'xml' }) }]]);
const noMembers: ObjectPart = { kind: 'object', json: '{}', members: [] };

/** Members of an object that describe its value. */
const controls: ReadonlySet<string> = new Set(['@type', '@nil']);

/** Compares values of one reply. */
export class Values {
  readonly #shapes: Shapes;
  readonly #sink: Sink;
  readonly #maxItems: number;

  /** @param maxItems number of items per list that are aligned (`compareItems`) */
  constructor(shapes: Shapes, sink: Sink, maxItems: number) {
    this.#shapes = shapes;
    this.#sink = sink;
    this.#maxItems = maxItems;
  }

  /** Compares the values of a member or an item. */
  compareAt(step: ReplyPath[number], slot: Slot, legacy: Value, fresh: Value): void {
    if (legacy === undefined && fresh === undefined) return;
    this.#sink.take(1);
    if (legacy !== undefined && fresh !== undefined && isSameText(legacy, fresh)) return;
    const { path } = this.#sink;
    path.push(step);
    if (!this.#isDefault(slot, legacy, fresh)) this.#compare(slot.shape(), legacy, fresh);
    path.pop();
  }

  /** Notes an attribute that is absent on one side and has its default on the other. Returns false for others. */
  #isDefault({ shape, default: text }: Slot, legacy: Value, fresh: Value): boolean {
    const given = legacy ?? fresh;
    if (text === undefined || (legacy !== undefined && fresh !== undefined) || given === undefined)
      return false;
    const its = shape();
    if (this.#keyOf(its, given) !== this.#keyOf(its, defaultPart(its, text))) return false;
    this.#sink.note('default', { legacy, new: fresh, shape: its });
    return true;
  }

  #compare(shape: Shape, legacy: Value, fresh: Value): void {
    if (shape.kind === 'list') {
      const [ours, theirs] = [itemsOf(legacy, shape.isBare), itemsOf(fresh, shape.isBare)];
      if (ours !== undefined && theirs !== undefined) {
        this.#compareLists(shape.item(), ours, theirs);
        return;
      }
    }
    const [state, other] = [stateOf(legacy), stateOf(fresh)];
    if (state === 'present' && other === 'absent') this.#sink.add({ kind: 'missing', legacy, shape });
    else if (state === 'absent' && other === 'present') this.#sink.add({ kind: 'extra', new: fresh, shape });
    else if (state !== other && (isNothing(state) || isNothing(other)))
      this.#sink.add({ kind: 'absence', class: `${state} ${other}`, legacy, new: fresh, shape });
    else if (legacy !== undefined && fresh !== undefined) this.#comparePresent(shape, legacy, fresh);
  }

  #comparePresent(shape: Shape, legacy: Part, fresh: Part): void {
    if (legacy.kind === 'object' && fresh.kind === 'object') this.#compareObjects(shape, legacy, fresh);
    else if (legacy.kind === 'list' && fresh.kind === 'list')
      this.#compareLists(anyShape, legacy.items, fresh.items);
    else if (legacy.kind === 'text' && fresh.kind === 'text') this.#compareTexts(shape, legacy, fresh);
    else if (legacy.kind === 'object' && stateOf(legacy) === 'nil')
      this.#compareObjects(shape, legacy, noMembers);
    else if (fresh.kind === 'object' && stateOf(fresh) === 'nil')
      this.#compareObjects(shape, noMembers, fresh);
    else this.#sink.add({ kind: 'value', class: 'other', legacy, new: fresh, shape });
  }

  #compareTexts(shape: Shape, legacy: Text, fresh: Text): void {
    const type = shape.kind === 'scalar' ? shape.type : anySimpleType;
    if (this.#keyOf(shape, legacy) === this.#keyOf(shape, fresh)) {
      const note = scalarNote(type, legacy.text, fresh.text);
      if (note !== undefined) this.#sink.note(note, { legacy, new: fresh, shape });
      return;
    }
    const classOf = shape.kind === 'xml' ? contentClass : scalarClass.bind(undefined, type);
    const its = classOf(legacy.text, fresh.text);
    // a rule with the zone leaves two instants
    const isZoned = its === 'zone' && this.#sink.zone() !== undefined;
    this.#sink.add({ kind: 'value', class: isZoned ? 'other' : its, legacy, new: fresh, type, shape });
  }

  /** Compares the bodies of two replies. Another `@type` is a difference at `@reply`. */
  compareRoots(shape: Shape, legacy: ObjectPart, fresh: ObjectPart): void {
    this.#compareObjects(shape, legacy, fresh);
  }

  #compareObjects(declared: Shape, legacy: ObjectPart, fresh: ObjectPart): void {
    const [ours, theirs] = [new Map(legacy.members), new Map(fresh.members)];
    const [type, other] = [typeIn(ours), typeIn(theirs)];
    if (type !== other) this.#addType(type, other);
    const slots =
      type === other
        ? this.#slotsOf(declared, type)
        : new Map([...this.#slotsOf(declared, type), ...this.#slotsOf(declared, other)]);
    const isOpen = declared.kind !== 'object';
    if (isOpen) this.#sink.openDepth++;
    for (const [name, slot] of slots) this.compareAt(name, slot, ours.get(name), theirs.get(name));
    for (const [name, part] of ours)
      if (!slots.has(name) && !controls.has(name)) this.compareAt(name, anySlot, part, theirs.get(name));
    for (const [name, part] of theirs)
      if (!slots.has(name) && !controls.has(name) && !ours.has(name))
        this.compareAt(name, anySlot, undefined, part);
    if (isOpen) this.#sink.openDepth--;
  }

  #addType(legacy = '(absent)', fresh = '(absent)'): void {
    const { path } = this.#sink;
    const isRoot = path.length === 0;
    if (isRoot) path.push('@reply');
    this.#sink.add({ kind: 'type', texts: { legacy, new: fresh } });
    if (isRoot) path.pop();
  }

  /** Returns the members of an object by its declared type, or by the type that it names. */
  #slotsOf(declared: Shape, name: string | undefined): ReadonlyMap<string, Slot> {
    const type = name === undefined ? undefined : this.#typeNamed(name);
    if (type?.kind === 'complex') return this.#shapes.objectShape(type).slots;
    if (type?.kind === 'simple')
      return new Map([['value', { shape: () => this.#shapes.typeShape(type, true) }]]);
    return declared.kind === 'object' ? declared.slots : openSlots;
  }

  #typeNamed(name: string): SchemaType | undefined {
    return name.startsWith('xs:') ? builtInTypes.get(name.slice(3)) : this.#shapes.typeNamed(name);
  }

  #compareLists(item: Shape, legacy: readonly Part[], fresh: readonly Part[]): void {
    const set = this.#sink.actionAt('sameSet');
    if (set !== undefined) {
      this.#compareSets(item, legacy, fresh, set.key);
      return;
    }
    const isLong = Math.max(legacy.length, fresh.length) > this.#maxItems;
    const head = sameHead(legacy, fresh);
    const ids = new Map<string, number>();
    const tail = isLong ? 0 : this.#sameTail(item, legacy.slice(head), fresh.slice(head), ids);
    const [ours, theirs] = [legacy, fresh].map((items) =>
      this.#idsOf(item, items.slice(head, items.length - tail), ids),
    ) as [Ids, Ids];
    const isSameOrder = ours.every((id, index) => id === theirs[index]);
    if (!isSameOrder && isPermutation(ours, theirs)) this.#sink.add({ kind: 'order' });
    else {
      const pairs = isLong
        ? pairByPosition(ours.length, theirs.length)
        : align(ours, theirs, (count) => this.#sink.take(Math.ceil(count / perStep)));
      this.#comparePairs(item, legacy, fresh, pairs, head);
    }
  }

  /**
   * Returns the number of items with the same JSON at the end that match whatever precedes them. The alignment from the
   * head (G39) can match the first of them with an earlier item only if that has the same key.
   */
  #sameTail(item: Shape, legacy: readonly Part[], fresh: readonly Part[], ids: Map<string, number>): number {
    const tail = sameHead(legacy.toReversed(), fresh.toReversed());
    const [first] = legacy.slice(legacy.length - tail);
    if (tail === 0 || first === undefined) return 0;
    const idsOf = (items: readonly Part[]): Ids => this.#idsOf(item, items, ids);
    const [id = -1] = idsOf([first]);
    const before = [...legacy.slice(0, -tail), ...fresh.slice(0, -tail)];
    return idsOf(before).includes(id) ? 0 : tail;
  }

  /** @param head number of items before those that the pairs count from */
  #comparePairs(
    item: Shape,
    legacy: readonly Part[],
    fresh: readonly Part[],
    pairs: readonly Aligned[],
    head: number,
  ): void {
    const slot: Slot = { shape: () => item };
    for (const { legacy: at, new: by } of pairs) {
      const one = at === undefined ? undefined : legacy[head + at];
      const other = by === undefined ? undefined : fresh[head + by];
      const step = head + (at ?? by ?? 0);
      if (one !== undefined && other !== undefined) this.compareAt(step, slot, one, other);
      else this.#addAlone(step, item, one, other);
    }
  }

  /** Adds the difference of an item that only one side has. */
  #addAlone(step: ReplyPath[number], shape: Shape, legacy: Value, fresh: Value): void {
    const { path } = this.#sink;
    path.push(step);
    if (fresh === undefined) this.#sink.add({ kind: 'missing', legacy, shape });
    else this.#sink.add({ kind: 'extra', new: fresh, shape });
    path.pop();
  }

  /** Compares lists without their order. Items with the same key are compared; without a key, equal items match (G43). */
  #compareSets(item: Shape, legacy: readonly Part[], fresh: readonly Part[], key: string | undefined): void {
    const groupsOf = (parts: readonly Part[]): Map<string, number[]> =>
      Map.groupBy(parts.keys(), (index) => this.#setKey(item, parts[index] as Part, key));
    const theirs = groupsOf(fresh);
    const partners = new Map<number, number>();
    const left = new Set(fresh.keys());
    for (const [group, ours] of groupsOf(legacy))
      for (const [one, by] of this.#pairGroup(item, [legacy, fresh], ours, theirs.get(group) ?? [])) {
        partners.set(one, by);
        left.delete(by);
      }
    const slot: Slot = { shape: () => item };
    for (const [index, one] of legacy.entries()) {
      this.#sink.take(1);
      const by = partners.get(index);
      const step = stepOf(one, key, index);
      if (by === undefined) this.#addAlone(step, item, one, undefined);
      else this.compareAt(step, slot, one, fresh[by]);
    }
    for (const index of left)
      this.#addAlone(stepOf(fresh[index] as Part, key, index), item, undefined, fresh[index]);
  }

  /** Pairs the items of both lists that have the same key: first equal items, then the others in their order. */
  #pairGroup(
    item: Shape,
    [legacy, fresh]: readonly [readonly Part[], readonly Part[]],
    ours: readonly number[],
    theirs: readonly number[],
  ): readonly (readonly [number, number])[] {
    const [only, partner] = [ours[0], theirs[0]];
    if (only === undefined || partner === undefined) return [];
    if (ours.length === 1 && theirs.length === 1) return [[only, partner]];
    const equal = Map.groupBy(theirs, (index) => this.#itemKey(item, fresh[index] as Part));
    // from the end, because removing the first item of a long list takes long
    for (const places of equal.values()) places.reverse();
    const pairs: (readonly [number, number])[] = [];
    const others: number[] = [];
    for (const index of ours) {
      const by = equal.get(this.#itemKey(item, legacy[index] as Part))?.pop();
      if (by === undefined) others.push(index);
      else pairs.push([index, by]);
    }
    const left = [...equal.values()].flat().toSorted((one, other) => one - other);
    for (const [at, by] of left.slice(0, others.length).entries()) pairs.push([others[at] as number, by]);
    return pairs;
  }

  #setKey(item: Shape, part: Part, key: string | undefined): string {
    const value = key === undefined ? undefined : memberOf(part, key);
    if (key === undefined || value === undefined) return `item ${this.#itemKey(item, part)}`;
    const slot = this.#slotsOf(item, part.kind === 'object' ? typeIn(new Map(part.members)) : undefined).get(
      key,
    );
    return `key ${this.#keyOf((slot ?? anySlot).shape(), value)}`;
  }

  /** Returns a number for each item. Equal items have the same number, which is found by their JSON if they share it. */
  #idsOf(item: Shape, items: readonly Part[], ids: Map<string, number>): Ids {
    return items.map((part) => {
      const json = part.kind === 'object' || part.kind === 'list' ? part.json : undefined;
      const known = json === undefined ? undefined : ids.get(json);
      if (known !== undefined) return known;
      const key = this.#itemKey(item, part);
      const id = ids.get(key) ?? ids.size;
      ids.set(key, id);
      if (json !== undefined) ids.set(json, id);
      return id;
    });
  }

  #itemKey(item: Shape, part: Part): string {
    const { path } = this.#sink;
    path.push(0);
    const key = this.#keyOf(item, part);
    path.pop();
    return key;
  }

  /** Returns a text that values without a difference share, and others do not. */
  #keyOf(shape: Shape, value: Part): string {
    this.#sink.take(1);
    if (value.kind === 'null') return 'nil';
    if (value.kind === 'text') return this.#textKey(shape, value.text);
    if (value.kind === 'object') return this.#objectKey(shape, value);
    const item = shape.kind === 'list' ? shape.item() : anyShape;
    const keys = value.items.map((part) => this.#itemKey(item, part));
    const isSet = this.#sink.actionAt('sameSet') !== undefined;
    return `[${(isSet ? keys.toSorted() : keys).map(delimited).join('')}`;
  }

  #textKey(shape: Shape, text: string): string {
    this.#sink.take(Math.ceil(text.length / perStep));
    if (shape.kind === 'xml') return `xml ${openKey(text)}`;
    if (shape.kind !== 'scalar') return `text ${text}`;
    const zone = this.#sink.hasZones && isLocal(shape.type, text) ? this.#sink.zone() : undefined;
    return scalarKey(shape.type, text, zone);
  }

  /** Returns the key of an object: the keys of its members in the order of the schema. */
  #objectKey(shape: Shape, value: ObjectPart): string {
    const isPlain = shape.kind === 'object' && value.members[0]?.[0].startsWith('@') !== true;
    const known = isPlain ? this.#orderedKey(shape.entries, value.members) : undefined;
    if (known !== undefined) return known;
    const given = new Map(value.members);
    const type = typeIn(given);
    const slots = this.#slotsOf(shape, type);
    const entries = [...slots];
    const others = [...given.keys()].filter((name) => !slots.has(name)).toSorted();
    for (const name of others) entries.push([name, anySlot]);
    const members = entries.flatMap(([name]): (readonly [string, Part])[] => {
      const part = given.get(name);
      return part === undefined ? [] : [[name, part]];
    });
    const key = this.#orderedKey(entries, members) ?? '';
    return type === undefined && others.length === 0 ? key : `${type ?? ''}{${others.join()}}${key}`;
  }

  /** Returns the key of members in the order of the slots; undefined for another order or an unknown member. */
  #orderedKey(
    slots: readonly (readonly [string, Slot])[],
    members: readonly (readonly [string, Part])[],
  ): string | undefined {
    const { path } = this.#sink;
    let key = '{';
    let at = 0;
    for (const [index, [name, slot]] of slots.entries()) {
      const member = members[at];
      let part = member?.[0] === name ? member[1] : undefined;
      if (part !== undefined) at++;
      else if (slot.default !== undefined) part = defaultPart(slot.shape(), slot.default);
      if (part === undefined) continue;
      const shape = slot.shape();
      if (part.kind === 'list' && part.items.length === 0 && shape.kind === 'list' && shape.isBare) continue;
      path.push(name);
      key += `${index}=${delimited(this.#keyOf(shape, part))}`;
      path.pop();
    }
    return at === members.length ? key : undefined;
  }
}

/** Returns a text with its length, so that no sequence of such texts equals another one. */
function delimited(text: string): string {
  return `${text.length}:${text}`;
}

/** Returns the value of an absent attribute. */
function defaultPart(shape: Shape, text: string): Part {
  if (shape.kind !== 'list') return { kind: 'text', text };
  const items = collapse(text)
    .split(/[ \t\r\n]+/)
    .filter((item) => item !== '');
  return { kind: 'list', json: '', items: items.map((item) => ({ kind: 'text', text: item })) };
}

function isNothing(state: State): boolean {
  return state === 'absent' || state === 'nil';
}

/** Returns true for values with the same JSON. */
function isSameText(one: Part, other: Part): boolean {
  if (one.kind === 'null' || other.kind === 'null') return one.kind === other.kind;
  if (one.kind === 'text') return other.kind === 'text' && one.text === other.text;
  return one.kind === other.kind && one.json === other.json;
}

/** Returns the number of items with the same JSON at the start of two lists. They match, whatever their keys are. */
function sameHead(legacy: readonly Part[], fresh: readonly Part[]): number {
  const length = Math.min(legacy.length, fresh.length);
  for (let at = 0; at < length; at++) if (!isSameText(legacy[at] as Part, fresh[at] as Part)) return at;
  return length;
}

/** Returns the items of a list; undefined for another value. A list without an element of its own may be absent. */
function itemsOf(value: Value, isBare: boolean): readonly Part[] | undefined {
  if (value?.kind === 'list') return value.items;
  return isBare && value === undefined ? [] : undefined;
}

function memberOf(part: Part, name: string): Value {
  return part.kind === 'object' ? part.members.find(([its]) => its === name)?.[1] : undefined;
}

/** Returns the value of `@type`. */
function typeIn(members: ReadonlyMap<string, Part>): string | undefined {
  const type = members.get('@type');
  return type?.kind === 'text' ? type.text : undefined;
}

/** Returns the step to an item of a set: its key, or its position. */
function stepOf(part: Part, key: string | undefined, index: number): ReplyPath[number] {
  const value = key === undefined ? undefined : memberOf(part, key);
  return key === undefined || value?.kind !== 'text' ? index : { key, text: value.text };
}
