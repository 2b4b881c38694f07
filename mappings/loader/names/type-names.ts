import type { NamedType, Type } from '../../contract/model.ts';
import {
  byCodeUnit,
  type ContractNames,
  className,
  createNamer,
  type Displaced,
  folded,
  hexOf,
  javaWords,
  longestName,
  type Names,
  type Wanted,
} from './names.ts';
import { isNamedByDocument } from './schema-name.ts';

/** A type that waits for its name. */
export interface Nameless extends Wanted {
  readonly type: NamedType;
  readonly set: (name: string) => void;
}

/** A type that is named after the one it is made of. */
export interface Derived {
  readonly type: NamedType;
  readonly of: Type;
  /** What its key adds to that of the other one: `[]` or `{}`. */
  readonly suffix: string;
  readonly wanted: (of: string) => string;
  readonly set: (name: string, of: string) => void;
}

/** An element of a record or union that waits for its name. */
export interface NamelessElement {
  /** What its key adds to that of the type: `/properties/name`. */
  readonly path: string;
  /** What its digits are of, where another element has the name. */
  readonly tail: string;
  readonly wanted: () => string;
  readonly set: (name: string) => void;
}

/** What is to be named, and what counts before it. */
export interface TypeNamesSource {
  /** Every type that an operation reaches. */
  readonly reached: ReadonlySet<Type>;
  readonly nameless: readonly Nameless[];
  readonly derived: readonly Derived[];
  /** In the order in which they are given names. */
  readonly elements: ReadonlyMap<Type, readonly NamelessElement[]>;
  /** What the elements of a wrapper are known by, their operation's name. */
  readonly wrappers: ReadonlyMap<Type, string>;
  /** The schemas that the document itself names, reached or not: the first to be given a name. */
  readonly components: readonly Wanted[];
  /** What the gateway itself adds to the schema, by its keys in `names.lock`. */
  readonly own: readonly Wanted[];
  readonly pinned: ContractNames;
  /** Whether types that the document names start with a capital too (`names: portable`). */
  readonly isPortable: boolean;
}

/** The names of a contract's types and elements; each was set where it belongs. */
export interface TypeNames {
  readonly jsonType: string;
  /** The names of what the gateway itself adds, by key. */
  readonly own: Names;
  readonly types: Names;
  readonly members: Names;
  readonly displaced: readonly Displaced[];
}

/** The names of types, and what others are given by. */
export interface NamedTypes extends TypeNames {
  readonly keys: ReadonlyMap<Type, string>;
  /** A name that no type has so far, by the key that its digits are of. */
  readonly give: (key: string, wanted: string) => string;
}

/**
 * Names all that an operation reaches, so that no generator of classes meets one name twice. A wrapper's name is taken
 * by its element: generators make a class of that as they do of a type.
 */
export function nameTypes(source: TypeNamesSource): NamedTypes {
  const { reached, nameless, pinned } = source;
  const namer = createNamer(pinned.types, undefined, undefined, longestName);
  for (const name of source.wrappers.values()) namer.reserve(name);
  const wantedOf = ({ key, name }: Wanted): Wanted => {
    const isKept = !source.isPortable && isNamedByDocument(key);
    return { key, name: isKept ? name : className(name) };
  };
  const components = new Map(namer.give(source.components.map(wantedOf).toSorted(byKey)));
  const found = nameless.filter(({ type }) => reached.has(type));
  const inline = found
    .filter(({ key }) => !components.has(key))
    .map(wantedOf)
    .toSorted(byKey);
  const names = new Map([...components, ...namer.give([...inline, { key: 'json', name: 'Json' }])]);
  const keys = new Map<Type, string>();
  for (const { type, key, set } of found) {
    set(names.get(key) ?? key);
    keys.set(type, key);
  }
  const jsonType = names.get('json') ?? 'Json';
  nameDerived(source, jsonType, keys, (wanted) => {
    const given = namer.give([wanted]);
    for (const [key, name] of given) names.set(key, name);
    return given.get(wanted.key) ?? wanted.name;
  });
  // last, so that no type of the document gives way to one of ours
  const own = namer.give(source.own);
  for (const [key, name] of own) names.set(key, name);
  const members = nameElements(source, keys);
  const given = new Set(['json', ...own.keys(), ...keys.values()]);
  return {
    jsonType,
    own,
    types: new Map([...names].filter(([key]) => given.has(key))),
    members: members.names,
    displaced: [...namer.displaced, ...members.displaced],
    keys,
    give: (key, wanted) => {
      const name = className(wanted);
      return namer.give([{ key, name }]).get(key) ?? name;
    },
  };
}

function byKey(a: Wanted, b: Wanted): number {
  return byCodeUnit(a.key, b.key);
}

/** Arrays and maps, those of named types first, then those of them. */
function nameDerived(
  { reached, derived }: TypeNamesSource,
  jsonType: string,
  keys: Map<Type, string>,
  give: (wanted: Wanted) => string,
): void {
  const nameOf = (type: Type): string => {
    if (type.kind !== 'scalar') return type.name;
    return type.scalar === 'json' ? jsonType : type.scalar;
  };
  let open = derived.filter(({ type }) => reached.has(type));
  while (open.length > 0) {
    const waiting = new Set<Type>(open.map(({ type }) => type));
    const ready = open.filter(({ of }) => !waiting.has(of));
    const wanted = ready.map((entry) => {
      const { of, suffix } = entry;
      const key = (keys.get(of) ?? nameOf(of)) + suffix;
      return { ...entry, key, name: entry.wanted(nameOf(of)) };
    });
    for (const { type, of, key, name, set } of wanted.toSorted(byKey)) {
      const given = give({ key, name });
      keys.set(type, key);
      set(given, nameOf(of));
    }
    open = open.filter(({ of }) => waiting.has(of));
  }
}

/**
 * Names that client stacks keep for themselves: in Python the object that a method is called on and zeep's argument of
 * headers, in node-soap the XML attributes of an element.
 */
const namesOfClients: ReadonlySet<string> = new Set(['self', '_soapheaders', 'attributes']);

function usable(name: string, tail: string): string {
  return namesOfClients.has(name) ? `${name}_${hexOf(tail).slice(0, 4)}` : name;
}

/** The element of a method's parameter: Mono's svcutil makes a parameter of that name, which no `-` or `.` may be in. */
function parameterName(name: string): string {
  return name.replace(/[.-]/g, '_');
}

const wordsOfJava: ReadonlySet<string> = new Set(javaWords.map(folded));

/** The elements of each record and union, no two of one alike; of a wrapper none that Java keeps for itself. */
function nameElements(
  { reached, elements, wrappers, pinned }: TypeNamesSource,
  keys: ReadonlyMap<Type, string>,
): { readonly names: Names; readonly displaced: readonly Displaced[] } {
  const names = new Map<string, string>();
  const displaced: Displaced[] = [];
  for (const [type, list] of elements) {
    if (!reached.has(type)) continue;
    const owner = keys.get(type) ?? wrappers.get(type) ?? '';
    const byPath = new Map(list.map((element) => [owner + element.path, element]));
    const own = new Map(
      [...byPath.keys()].flatMap((key) => {
        const name = pinned.members.get(key);
        return name === undefined ? [] : [[key, name] as const];
      }),
    );
    const isWrapper = wrappers.has(type);
    const reserved = isWrapper ? wordsOfJava : undefined;
    const namer = createNamer(own, undefined, (key) => byPath.get(key)?.tail ?? key, undefined, reserved);
    const wanted = list.map(({ path, tail, wanted: name }) => ({
      key: owner + path,
      name: usable(isWrapper ? parameterName(name()) : name(), tail),
    }));
    for (const [key, name] of namer.give(wanted)) {
      names.set(key, name);
      byPath.get(key)?.set(name);
    }
    for (const one of namer.displaced) displaced.push(one);
  }
  return { names, displaced };
}
