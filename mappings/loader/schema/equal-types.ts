// Merges equal inline types: members with the same structure share the type `Address` instead of having a copy each.
// Elements get their names before the merge, so a merge or a later split does not change what callers send and receive.
import {
  type Field,
  type NamedType,
  partsOf,
  type RecordType,
  type Type,
  type Variant,
} from '../../contract/model.ts';
import { addTo } from '../document/node.ts';
import {
  byCodeUnit,
  classIdentifier,
  hexOf,
  identifier,
  type Names,
  pascal,
  upperFirst,
} from '../names/names.ts';
import type { Draft, FieldDraft } from './drafts.ts';

/** Input of the merge. All types and elements have their names already. */
export interface EqualSource {
  /** All types that operations reach, including wrappers. */
  readonly types: ReadonlySet<NamedType>;
  /** Keys in `names.lock`. A wrapper has no key. */
  readonly keys: ReadonlyMap<Type, string>;
  /** Names kept in `names.lock`. A merged type has the key of each equal type, followed by `=`. */
  readonly pinned: Names;
  /** Returns true for a type that must not be merged. */
  readonly isSeparate: (type: NamedType) => boolean;
  /** Returns a name that no type has yet. The digits of a disambiguated name are derived from `key`. */
  readonly give: (key: string, wanted: string) => string;
  /** Throws OverLimit if the time limit for reading the contract has passed. */
  readonly checkTime: () => void;
}

/** Result of the merge. */
export interface Equal {
  /** Names of merged types by the key of each equal type, followed by `=`. */
  readonly names: Names;
  /** Keys of inline types with own names that no longer occur in the contract. */
  readonly removedKeys: ReadonlySet<string>;
}

/** A merged type and all the equal types, including the merged type. */
type Whole = readonly [one: NamedType, all: readonly NamedType[]];

/**
 * Merges inline types that differ only in their descriptions. An inline type that is equal to one component becomes
 * that component. Components are never merged with each other, nor are types with a name of their own in `names.lock`.
 */
export function mergeEqualTypes(source: EqualSource): Equal {
  const { types, pinned, give } = source;
  const facts = factsOf(source);
  const { keyOf, isComponent, mayMerge, nameKept } = facts;
  const labels = labelsOf(types);
  const named = namesOfElements(types);
  const wholes = findEqual(types, facts);
  // A type with no equal types left keeps the name that they shared.
  const ofWholes = new Set<Type>(wholes.flatMap(([, all]) => all));
  const left = [...types].filter(
    (type) => !ofWholes.has(type) && mayMerge(type) && nameKept(type) !== undefined,
  );

  const names = new Map<string, string>();
  const removedKeys = new Set<string>();
  const taken = new Set<string>();
  for (const type of types) if (!ofWholes.has(type) || isComponent(type)) taken.add(type.name);
  const keptOf = (inline: readonly NamedType[]): string | undefined =>
    inline.map(nameKept).find((name) => name !== undefined && !taken.has(name));
  const settle = (one: NamedType, inline: readonly NamedType[]): void => {
    taken.add(one.name);
    for (const type of inline) {
      names.set(equalKey(keyOf(type)), one.name);
      if (!named.has(type) && !(type === one && isCollection(one))) removedKeys.add(keyOf(type));
    }
  };
  // The type of a whole reply is named after its body, so the body's type is named first.
  const rankOf = (type: NamedType): string => `${isWholeReply(type) ? 1 : 0}${keyOf(type)}`;
  for (const [one, all] of wholes.toSorted(([a], [b]) => byCodeUnit(rankOf(a), rankOf(b)))) {
    const inline = all.filter((type) => !isComponent(type));
    if ('takesNull' in one || all.some((type) => 'takesNull' in type))
      Object.assign(one, { takesNull: true });
    if (!isComponent(one)) {
      chooseDocumentation(one, all);
      const labelled = all.flatMap((type) => labels.get(type) ?? []);
      const isOwn = isCollection(one) && !taken.has(one.name);
      const shared = inline.filter((type) => sharedKey.test(keyOf(type)));
      const ofShared = shared.length === 1 ? shared[0]?.name : undefined;
      // If a type left a group of equal types that still has the shared name, its name gets another key.
      const first = equalKey(keyOf(inline[0] ?? one));
      (one as Draft<typeof one>).name =
        keptOf(inline) ??
        (isOwn ? one.name : ofShared) ??
        give(pinned.has(first) ? `${first}=` : first, nameOf(one, labelled));
    }
    settle(one, inline);
  }
  for (const type of left) {
    taken.delete(type.name);
    const kept = keptOf([type]);
    if (kept === undefined) taken.add(type.name);
    else {
      (type as Draft<typeof type>).name = kept;
      settle(type, [type]);
    }
  }
  return { names, removedKeys };
}

const componentKey = /^\/components\/schemas\/[^/#]+$/;
/**
 * Key of a type that is named after a parameter, body, response or header component, which many operations can refer
 * to.
 */
const sharedKey =
  /^\/components\/(?:parameters|requestBodies|responses|headers)\/[^/#]+(?:\/content\/[^/#]+)?(?:\/schema)?(?:#|$)/;

function isCollection({ kind }: NamedType): boolean {
  return kind === 'array' || kind === 'map';
}

/** Returns the `names.lock` key of a merged type: the key of an equal type, followed by `=`. */
function equalKey(key: string): string {
  return `${key}${key.includes('#') ? '' : '#'}=`;
}

/** Properties of types that the search of equal types needs. */
type Facts = ReturnType<typeof factsOf>;

function factsOf({ keys, pinned, isSeparate, checkTime }: EqualSource) {
  /** The key in `names.lock`; empty for a type without a key. */
  const keyOf = (type: NamedType): string => keys.get(type) ?? '';
  const isComponent = (type: NamedType): boolean => componentKey.test(keyOf(type));
  /** The name in `names.lock` of the type merged with its equals. */
  const nameKept = (type: NamedType): string | undefined => pinned.get(equalKey(keyOf(type)));
  /** Returns true if the type may be merged with equal types. */
  const mayMerge = (type: NamedType): boolean => {
    const key = keyOf(type);
    if (key === '' || isComponent(type) || isSeparate(type)) return false;
    return nameKept(type) !== undefined || !pinned.has(key);
  };
  return { keyOf, isComponent, mayMerge, nameKept, checkTime };
}

/** Returns all merged types. Repeats the search because merging parts can make the types that contain them equal. */
function findEqual(
  types: ReadonlySet<NamedType>,
  { keyOf, isComponent, mayMerge, nameKept, checkTime }: Facts,
): readonly Whole[] {
  // Names in `names.lock` do not change, so types with different kept names are not merged.
  const partedByName = (equal: readonly NamedType[]): readonly (readonly NamedType[])[] => {
    const [component, ...others] = equal.filter(isComponent);
    const only = others.length === 0 ? component : undefined;
    const inline = equal.filter(mayMerge).toSorted((a, b) => byCodeUnit(keyOf(a), keyOf(b)));
    const [first = ''] = inline.flatMap((type) => nameKept(type) ?? []);
    const joined = only?.name ?? first;
    const groups = Map.groupBy(inline, (type) => nameKept(type) ?? joined);
    // The type that has the kept name precedes the types that join it.
    return [...groups].map(([name, all]) => [
      ...(only !== undefined && name === joined ? [only] : []),
      ...all.toSorted((a, b) => Number(nameKept(b) === name) - Number(nameKept(a) === name)),
    ]);
  };
  const same = new Map<Type, NamedType>();
  const wholes = new Map<NamedType, readonly NamedType[]>();
  for (let count = -1; count < same.size; ) {
    count = same.size;
    const left = [...types].filter((type) => !same.has(type));
    for (const equal of equalOf(left, mayMerge, checkTime)) {
      for (const [one, ...others] of partedByName(equal)) {
        if (one === undefined) continue;
        if (others.length === 0) continue;
        const all = [one, ...others].flatMap((type) => wholes.get(type) ?? [type]);
        for (const other of others) {
          same.set(other, one);
          wholes.delete(other);
        }
        wholes.set(one, all);
      }
    }
    for (const type of left) if (!same.has(type)) refer(type, same);
  }
  return [...wholes];
}

/** Returns groups of types that are equal including their parts. Parts that may not be merged must be identical. */
function equalOf(
  types: readonly NamedType[],
  mayMerge: (type: NamedType) => boolean,
  checkTime: () => void,
): readonly (readonly NamedType[])[] {
  const indexOf = new Map<Type, number>(types.map((type, index) => [type, index]));
  const insideOf = (type: Type): string =>
    type.kind === 'scalar' || mayMerge(type) ? type.kind : String(indexOf.get(type));
  const alike = [...Map.groupBy(types, (type) => formOf(type, insideOf)).values()];
  const mayBeEqual = new Set(alike.filter((all) => all.length > 1 && all.some(mayMerge)).flat());
  if (mayBeEqual.size === 0) return [];
  const contents = new Map<string, number>();
  /** The same number for equal contents; a unique number for a type that cannot equal any other. */
  const own = types.map((type, index) => {
    if (index % typesPerLook === 0) checkTime();
    return mayBeEqual.has(type) ? numbered(contentOf(type), contents) : -1 - index;
  });
  const parts = types.map((type) => partsOf(type).map((part) => indexOf.get(part) ?? -1));
  const classes = new Classes(
    types.map((type, index) => (mayMerge(type) ? (own[index] ?? 0) : undefined)),
    parts,
  );
  while (classes.part()) checkTime();
  const groups = new Map<string, NamedType[]>();
  for (const [index, type] of types.entries())
    if (mayBeEqual.has(type)) addTo(groups, `${own[index]} ${classes.ofParts(index)}`, type);
  return [...groups.values()].filter((equal) => equal.length > 1);
}

/** Number of types processed between two checks of the time limit. */
const typesPerLook = 1_024;

/** Returns the number of a text. A new text gets the next number. */
function numbered(text: string, numbers: Map<string, number>): number {
  const number = numbers.get(text) ?? numbers.size;
  numbers.set(text, number);
  return number;
}

/** Equivalence classes of types, split until the types of each class also have equal parts (partition refinement). */
class Classes {
  readonly #parts: readonly (readonly number[])[];
  /** By index of a type: the indices of the types that contain it. */
  readonly #users: readonly number[][];
  readonly #classOf: number[];
  readonly #sizes: number[] = [];
  /** By class: the classes of its types' parts when they were last compared. */
  readonly #keys: string[] = [];
  /** Types that may leave their class because the class of a part changed. */
  #changed: Iterable<number>;

  /** @param contents the same number for types that may be equal; undefined for a type that has its own class */
  constructor(contents: readonly (number | undefined)[], parts: readonly (readonly number[])[]) {
    this.#parts = parts;
    this.#users = parts.map(() => []);
    for (const [index, inner] of parts.entries()) for (const part of inner) this.#users[part]?.push(index);
    const first = new Map<number, number>();
    this.#classOf = contents.map((content) => {
      const id = (content === undefined ? undefined : first.get(content)) ?? this.#sizes.length;
      if (content !== undefined) first.set(content, id);
      this.#sizes[id] = (this.#sizes[id] ?? 0) + 1;
      return id;
    });
    this.#changed = this.#classOf.keys();
  }

  /** Returns the classes of the parts of a type, in order. */
  ofParts(index: number): string {
    return (this.#parts[index] ?? []).map((part) => this.#classOf[part]).join();
  }

  /** Splits classes by the changes since the last call. Returns false if no class changed. */
  part(): boolean {
    const byClass = Map.groupBy(this.#changed, (index) => this.#classOf[index] ?? 0);
    const moved = [...byClass].flatMap(([id, indices]) => this.#partClass(id, indices));
    this.#changed = new Set(moved.flatMap((index) => this.#users[index] ?? []));
    return moved.length > 0;
  }

  /** Moves the types that differ from the rest of a class to new classes. Returns the moved types. */
  #partClass(id: number, indices: readonly number[]): readonly number[] {
    const size = this.#sizes[id] ?? 0;
    if (size === 1) return [];
    const groups = Map.groupBy(indices, (index) => this.ofParts(index));
    // If the whole class changed, its largest group keeps the class.
    if (indices.length === size) {
      const [[key] = ['']] = [...groups].toSorted(([, a], [, b]) => b.length - a.length);
      this.#keys[id] = key;
    }
    groups.delete(this.#keys[id] ?? '');
    const parted = [...groups];
    for (const [key, members] of parted) {
      const next = this.#sizes.length;
      this.#sizes.push(members.length);
      this.#keys[next] = key;
      this.#sizes[id] = (this.#sizes[id] ?? 0) - members.length;
      for (const index of members) this.#classOf[index] = next;
    }
    return parted.flatMap(([, members]) => members);
  }
}

/**
 * Returns a key that equal types share and most different types do not.
 *
 * @param insideOf returns the same text for item or value types that may be equal
 */
function formOf(type: NamedType, insideOf: (type: Type) => string): string {
  if (type.kind === 'array') return `array ${insideOf(type.item)}`;
  if (type.kind === 'map') return `map ${insideOf(type.value)}`;
  if (type.kind === 'record') return `record ${type.fields.map(({ json }) => json).join()}`;
  return type.kind === 'enum' ? `enum ${type.values.join()}` : type.kind;
}

/** Serializes a type without its name, its human-readable texts and its part types. */
function contentOf(type: NamedType): string {
  const parts = new Set<unknown>(partsOf(type));
  const { name: _name, ...content } = type;
  return JSON.stringify(content, (key, value: unknown) => {
    if (textKeys.has(key)) return undefined;
    if (!parts.has(value)) return value;
    const { kind, scalar } = value as { kind: string; scalar?: string };
    return scalar ?? kind;
  });
}

const textKeys: ReadonlySet<string> = new Set(['documentation', 'words', 'example', 'hints']);

/** Replaces references to equal types with references to the merged type. */
function refer(type: NamedType, same: ReadonlyMap<Type, NamedType>): void {
  const set = (part: { readonly type: Type } | undefined): void => {
    if (part !== undefined) (part as Draft<{ type: Type }>).type = wholeOf(part.type, same);
  };
  if (type.kind === 'record') {
    for (const field of type.fields) set(field);
    set(type.additional?.typed);
    set(type.additional?.untyped);
  } else if (type.kind === 'union') for (const variant of type.variants) set(variant);
  else if (type.kind === 'tuple') {
    for (const position of type.positions) set(position);
    set(type.rest);
  } else if (type.kind === 'array') (type as Draft<typeof type>).item = wholeOf(type.item, same);
  else if (type.kind === 'map') (type as Draft<typeof type>).value = wholeOf(type.value, same);
}

function wholeOf(type: Type, same: ReadonlyMap<Type, NamedType>): Type {
  let one = type;
  for (let next = same.get(one); next !== undefined; next = same.get(one)) one = next;
  return one;
}

/** If equal types have different documentation, the merged type and each field get the most frequent one. */
function chooseDocumentation(one: NamedType, all: readonly NamedType[]): void {
  if ('documentation' in one) {
    const documentations = all.flatMap((type) => ('documentation' in type ? [type.documentation] : []));
    (one as Draft<typeof one>).documentation = mostOf(documentations) ?? '';
  }
  if (one.kind !== 'record') return;
  for (const [index, field] of one.fields.entries()) {
    const equal = all.flatMap((type) => (type.kind === 'record' ? (type.fields[index] ?? []) : []));
    const most = mostOf(equal, ({ words, example, hints }: Field) => JSON.stringify([words, example, hints]));
    const draft = field as FieldDraft;
    if (most?.words !== undefined) draft.words = most.words;
    if (most?.example !== undefined) draft.example = most.example;
    if (most?.hints !== undefined) draft.hints = most.hints;
  }
}

/** Returns the most frequent value, the first of several; undefined if there are no values. */
function mostOf<T>(values: readonly T[], keyOf: (value: T) => unknown = (value) => value): T | undefined {
  const groups = [...Map.groupBy(values, keyOf).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0];
}

/** Returns types that give elements their names. `names.lock` keeps these type names. */
function namesOfElements(types: ReadonlySet<NamedType>): ReadonlySet<Type> {
  const named = new Set<Type>();
  for (const type of types) {
    if (type.kind === 'array') named.add(type.item);
    if (type.kind !== 'union') continue;
    for (const variant of type.variants) if (labelOf(variant) === undefined) named.add(variant.type);
  }
  return named;
}

/** Returns the element name of a variant; undefined if it is named after its type. */
function labelOf({ xml, type }: Variant): string | undefined {
  return type.kind === 'scalar' || xml !== type.name ? xml : undefined;
}

/** Returns, for each type, the names of the members and variants that have this type. */
function labelsOf(types: ReadonlySet<NamedType>): ReadonlyMap<Type, readonly string[]> {
  const labels = new Map<Type, string[]>();
  const add = (type: Type, label: string | undefined): void => {
    if (type.kind === 'scalar' || label === undefined || general.test(label)) return;
    const known = labels.get(type);
    if (known === undefined) labels.set(type, [upperFirst(identifier(label))]);
    else known.push(upperFirst(identifier(label)));
  };
  for (const type of types) {
    if (type.kind === 'record') for (const { json, type: part } of type.fields) add(part, json);
    else if (type.kind === 'union') for (const variant of type.variants) add(variant.type, labelOf(variant));
  }
  return labels;
}

/** Generic labels, which do not describe a type. */
const general = /^(?:body|request|response|option[0-9a-f]{4})$|result$/i;

/** Maximum number of parts in the name of a type. */
const mostInName = 3;
/** Maximum length of a name made of parts. A longer text is a list rather than a name. */
const longestContent = 30;

/**
 * Returns the name of a merged type. Prefers the label that all its users share, then a short list of its parts, then
 * the most frequent label.
 */
function nameOf(type: NamedType, labels: readonly string[]): string {
  const [first, ...others] = new Set(labels);
  if (first !== undefined && others.length === 0) return classIdentifier(first);
  const parts = partNames(type);
  if (parts.length === 0) return 'Empty';
  const content = classIdentifier(parts.slice(0, mostInName).join(''));
  if (first === undefined) return content;
  const isName = parts.length <= mostInName && content.length <= longestContent;
  return isName ? content : classIdentifier(mostOf(labels.toSorted(byCodeUnit)) ?? first);
}

/**
 * Returns the members, values or variants of a type as parts of a name. A value without letters is replaced with
 * digits.
 */
function partNames(type: NamedType): readonly string[] {
  if (type.kind === 'record') return partsOfRecord(type);
  if (type.kind === 'enum')
    return type.values.map((value) => pascal(value.toLowerCase()) || hexOf(value).slice(0, 4));
  return type.kind === 'union' ? type.variants.map(({ xml }) => pascal(xml)) : ['Tuple'];
}

/** Returns true for the type of a whole reply: status, headers and body. */
function isWholeReply(type: NamedType): boolean {
  return type.kind === 'record' && type.fields[0]?.json === 'StatusCode';
}

/** Returns the members of a record as parts of a name; for a whole reply, the type of its body. */
function partsOfRecord(type: RecordType): readonly string[] {
  const { fields } = type;
  const body = fields.find(({ json }) => json === 'Body')?.type;
  if (!isWholeReply(type) || body === undefined || body.kind === 'scalar')
    return fields.map(({ json }) => pascal(json));
  const item = body.kind === 'array' && body.item.kind !== 'scalar' ? body.item.name : undefined;
  return [`${upperFirst(item ?? body.name)}${item === undefined ? '' : 'List'}Result`];
}
