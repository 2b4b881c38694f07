// Inline types that are equal are one: members of the same form have the type `Address`, not one for each place. Every
// element is called before: what callers send and get stays the same, whatever becomes equal or parts again.
import {
  type Field,
  type NamedType,
  partsOf,
  type RecordType,
  type Type,
  type Variant,
} from '../../contract/model.ts';
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

/** What is known of the types before equal ones are one; all of them have their names, and their elements too. */
export interface EqualSource {
  /** All that operations reach, their wrappers too. */
  readonly types: ReadonlySet<NamedType>;
  /** Keys in `names.lock`; none of a wrapper. */
  readonly keys: ReadonlyMap<Type, string>;
  /** What `names.lock` keeps: equal types by the key of each and `=`. */
  readonly pinned: Names;
  /** Types that stay as they are. */
  readonly isApart: (type: NamedType) => boolean;
  /** A name that no type has so far, by the key that its digits are of. */
  readonly give: (key: string, wanted: string) => string;
}

/** What became of equal types. */
export interface Equal {
  /** Names by the key of each that is one with others, and `=`. */
  readonly names: Names;
  /** Keys of those whose own names stand nowhere. */
  readonly gone: ReadonlySet<string>;
}

/** Equal types that are one, that one too. */
type Whole = readonly [one: NamedType, all: readonly NamedType[]];

/**
 * Makes one of inline types that are equal but for what is said of them to people. An inline type that is equal to one
 * component is that component. Never one are components, and types that `names.lock` keeps by themselves.
 */
export function mergeEqualTypes(source: EqualSource): Equal {
  const { types, keys, pinned, isApart, give } = source;
  const keyOf = (type: NamedType): string => keys.get(type) ?? '';
  const isComponent = (type: NamedType): boolean => componentKey.test(keyOf(type));
  const labels = labelsOf(types);
  const named = namesOfElements(types);
  const nameKept = (type: NamedType): string | undefined => pinned.get(equalKey(keyOf(type)));
  const mayMerge = (type: NamedType): boolean => {
    const key = keyOf(type);
    if (key === '' || isComponent(type) || isApart(type)) return false;
    return nameKept(type) !== undefined || !pinned.has(key);
  };
  const wholes = findEqual(types, { keyOf, isComponent, mayMerge, nameKept });
  // what is alone since its equals went keeps the name that it had with them
  const ofWholes = new Set<Type>(wholes.flatMap(([, all]) => all));
  const left = [...types].filter(
    (type) => !ofWholes.has(type) && mayMerge(type) && nameKept(type) !== undefined,
  );

  const names = new Map<string, string>();
  const gone = new Set<string>();
  const taken = new Set<string>();
  for (const type of types) if (!ofWholes.has(type) || isComponent(type)) taken.add(type.name);
  const keptOf = (inline: readonly NamedType[]): string | undefined =>
    inline.map(nameKept).find((name) => name !== undefined && !taken.has(name));
  const settle = (one: NamedType, inline: readonly NamedType[]): void => {
    taken.add(one.name);
    for (const type of inline) {
      names.set(equalKey(keyOf(type)), one.name);
      if (!named.has(type) && !(type === one && isCollection(one))) gone.add(keyOf(type));
    }
  };
  // all that a reply says is called after its body, which is called before
  const rankOf = (type: NamedType): string => `${isWholeReply(type) ? 1 : 0}${keyOf(type)}`;
  for (const [one, all] of wholes.toSorted(([a], [b]) => byCodeUnit(rankOf(a), rankOf(b)))) {
    const inline = all.filter((type) => !isComponent(type));
    if (!isComponent(one)) {
      tellWhatMostSay(one, all);
      const labelled = all.flatMap((type) => labels.get(type) ?? []);
      const isOwn = isCollection(one) && !taken.has(one.name);
      const shared = inline.filter((type) => sharedKey.test(keyOf(type)));
      const ofShared = shared.length === 1 ? shared[0]?.name : undefined;
      // one that was one with others, which have the name now, is called by another key
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
  return { names, gone };
}

const componentKey = /^\/components\/schemas\/[^/#]+$/;
/** Of what is called after a parameter, body, response or header that many operations refer to. */
const sharedKey =
  /^\/components\/(?:parameters|requestBodies|responses|headers)\/[^/#]+(?:\/content\/[^/#]+)?(?:\/schema)?(?:#|$)/;

function isCollection({ kind }: NamedType): boolean {
  return kind === 'array' || kind === 'map';
}

/** The key of what equal types are called: that of one of them, and `=`. */
function equalKey(key: string): string {
  return `${key}${key.includes('#') ? '' : '#'}=`;
}

/** What is asked of types while equal ones are found. */
interface Facts {
  /** The key in `names.lock`; empty for one that has none. */
  readonly keyOf: (type: NamedType) => string;
  readonly isComponent: (type: NamedType) => boolean;
  /** Whether it may become one with its equals. */
  readonly mayMerge: (type: NamedType) => boolean;
  /** What `names.lock` calls it together with its equals. */
  readonly nameKept: (type: NamedType) => string | undefined;
}

/** Has all that is equal be one; again, as what is made of equal types may be equal then. */
function findEqual(
  types: ReadonlySet<NamedType>,
  { keyOf, isComponent, mayMerge, nameKept }: Facts,
): readonly Whole[] {
  // names stay as they are kept: what has one joins none that has another
  const partedByName = (equal: readonly NamedType[]): readonly (readonly NamedType[])[] => {
    const [component, ...others] = equal.filter(isComponent);
    const only = others.length === 0 ? component : undefined;
    const inline = equal.filter(mayMerge).toSorted((a, b) => byCodeUnit(keyOf(a), keyOf(b)));
    const [first = ''] = inline.flatMap((type) => nameKept(type) ?? []);
    const joined = only?.name ?? first;
    const groups = Map.groupBy(inline, (type) => nameKept(type) ?? joined);
    // one that has the name is before those that join it
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
    for (const equal of equalOf(left, mayMerge)) {
      for (const [one, ...others] of partedByName(equal)) {
        if (one === undefined) continue;
        for (const other of others) {
          same.set(other, one);
          wholes.set(one, [...(wholes.get(one) ?? [one]), ...(wholes.get(other) ?? [other])]);
          wholes.delete(other);
        }
      }
    }
    for (const type of left) if (!same.has(type)) refer(type, same);
  }
  return [...wholes];
}

/** Lists of types that are equal, what is below them too; what is made of types that may not be one is equal where those are the same. */
function equalOf(
  types: readonly NamedType[],
  mayMerge: (type: NamedType) => boolean,
): readonly (readonly NamedType[])[] {
  const alike = [...Map.groupBy(types, formOf).values()];
  const mayBeEqual = new Set(alike.filter((all) => all.length > 1 && all.some(mayMerge)).flat());
  const compared = types
    .filter((type) => mayBeEqual.has(type))
    .map((type) => ({ type, own: contentOf(type), parts: partsOf(type), mayMerge: mayMerge(type) }));
  /** Alike for types that are equal as far as is known; scalars have none, as they are in the content. */
  const classes = new Map<Type, string>(types.map((type, index) => [type, `#${index}`]));
  for (const { type, mayMerge: mayBeOne } of compared) if (mayBeOne) classes.set(type, '');
  for (let count = -1; ; ) {
    const ids = new Map<string, string>();
    const contents = compared.map(
      ({ own, parts }) => `${own} ${parts.map((part) => classes.get(part)).join()}`,
    );
    for (const [index, { type, mayMerge: mayBeOne }] of compared.entries()) {
      if (!mayBeOne) continue;
      const content = contents[index] ?? '';
      const id = ids.get(content) ?? String(ids.size);
      ids.set(content, id);
      classes.set(type, id);
    }
    if (ids.size === count) {
      const groups = Map.groupBy(compared, (_, index) => contents[index] ?? '');
      return [...groups.values()]
        .filter((equal) => equal.length > 1)
        .map((equal) => equal.map(({ type }) => type));
    }
    count = ids.size;
  }
}

/** What equal types have in common, and most others don't. */
function formOf(type: NamedType): string {
  if (type.kind === 'record') return `record ${type.fields.map(({ json }) => json).join()}`;
  return type.kind === 'enum' ? `enum ${type.values.join()}` : type.kind;
}

/** All of a type but what it is called, what people are told of it, and the types that it is made of. */
function contentOf(type: NamedType): string {
  const parts = new Set<unknown>(partsOf(type));
  const { name: _name, ...content } = type;
  return JSON.stringify(content, (key, value: unknown) => {
    if (toldToPeople.has(key)) return undefined;
    if (!parts.has(value)) return value;
    const { kind, scalar } = value as { kind: string; scalar?: string };
    return scalar ?? kind;
  });
}

const toldToPeople: ReadonlySet<string> = new Set(['documentation', 'words', 'example']);

/** Has a type refer to the one that equal types are. */
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

/** Where equal types are told of differently, what most of them say is told: of the whole, and of each field. */
function tellWhatMostSay(one: NamedType, all: readonly NamedType[]): void {
  if ('documentation' in one) {
    const told = all.flatMap((type) => ('documentation' in type ? [type.documentation] : []));
    (one as Draft<typeof one>).documentation = mostOf(told) ?? '';
  }
  if (one.kind !== 'record') return;
  for (const [index, field] of one.fields.entries()) {
    const equal = all.flatMap((type) => (type.kind === 'record' ? (type.fields[index] ?? []) : []));
    const most = mostOf(equal, ({ words, example }: Field) => JSON.stringify([words, example]));
    const draft = field as FieldDraft;
    if (most?.words !== undefined) draft.words = most.words;
    if (most?.example !== undefined) draft.example = most.example;
  }
}

/** What comes most often, the first of those; undefined of nothing. */
function mostOf<T>(values: readonly T[], keyOf: (value: T) => unknown = (value) => value): T | undefined {
  const groups = [...Map.groupBy(values, keyOf).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0];
}

/** Types whose names are those of elements: `names.lock` keeps them. */
function namesOfElements(types: ReadonlySet<NamedType>): ReadonlySet<Type> {
  const named = new Set<Type>();
  for (const type of types) {
    if (type.kind === 'array') named.add(type.item);
    if (type.kind !== 'union') continue;
    for (const variant of type.variants) if (labelOf(variant) === undefined) named.add(variant.type);
  }
  return named;
}

/** What a union calls a variant; undefined for one that is called after its type. */
function labelOf({ xml, type }: Variant): string | undefined {
  return type.kind === 'scalar' || xml !== type.name ? xml : undefined;
}

/** By type what those call it that are made of it: a member, a variant, a parameter. */
function labelsOf(types: ReadonlySet<NamedType>): ReadonlyMap<Type, readonly string[]> {
  const labels = new Map<Type, string[]>();
  const add = (type: Type, label: string | undefined): void => {
    if (type.kind === 'scalar' || label === undefined || general.test(label)) return;
    labels.set(type, [...(labels.get(type) ?? []), upperFirst(identifier(label))]);
  };
  for (const type of types) {
    if (type.kind === 'record') for (const { json, type: part } of type.fields) add(part, json);
    else if (type.kind === 'union') for (const variant of type.variants) add(variant.type, labelOf(variant));
  }
  return labels;
}

/** What says nothing of what it is of. */
const general = /^(?:body|request|response|option[0-9a-f]{4})$|result$/i;

/** So many parts of a type are in its name. */
const mostInName = 3;
/** Characters of parts that are a name, rather than a list. */
const longestContent = 30;

/** What equal types are called: as all say that are made of them, else by the little that is in them, else as most say. */
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

/** The members, values or variants of a type as parts of a name; a value without letters has digits. */
function partNames(type: NamedType): readonly string[] {
  if (type.kind === 'record') return partsOfRecord(type);
  if (type.kind === 'enum')
    return type.values.map((value) => pascal(value.toLowerCase()) || hexOf(value).slice(0, 4));
  return type.kind === 'union' ? type.variants.map(({ xml }) => pascal(xml)) : ['Tuple'];
}

/** Whether a type is of all that a reply says: its status, its headers, its body. */
function isWholeReply(type: NamedType): boolean {
  return type.kind === 'record' && type.fields[0]?.json === 'StatusCode';
}

/** The members of a record; of all that a reply says, its body's type. */
function partsOfRecord(type: RecordType): readonly string[] {
  const { fields } = type;
  const body = fields.find(({ json }) => json === 'Body')?.type;
  if (!isWholeReply(type) || body === undefined || body.kind === 'scalar')
    return fields.map(({ json }) => pascal(json));
  const item = body.kind === 'array' && body.item.kind !== 'scalar' ? body.item.name : undefined;
  return [`${upperFirst(item ?? body.name)}${item === undefined ? '' : 'List'}Result`];
}
