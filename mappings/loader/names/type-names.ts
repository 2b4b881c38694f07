import type { NamedType, Type } from '../../contract/model.ts';
import {
  byCodeUnit,
  type ContractNames,
  className,
  type Displaced,
  folded,
  hexOf,
  javaWords,
  longestName,
  Namer,
  type Names,
  type Wanted,
} from './names.ts';
import { isNamedByDocument } from './schema-name.ts';

/** A type without a name yet. */
export interface Nameless extends Wanted {
  readonly type: NamedType;
  readonly set: (name: string) => void;
}

/** A type that is named after its item or value type. */
export interface Derived {
  readonly type: NamedType;
  readonly of: Type;
  /** Suffix of its key after the key of the other type: `[]` or `{}`. */
  readonly suffix: string;
  readonly wanted: (of: string) => string;
  readonly set: (name: string, of: string) => void;
}

/** An element of a record or union without a name yet. */
export interface NamelessElement {
  /** Suffix of its key after the key of the type: `/properties/name`. */
  readonly path: string;
  /** Text for the hash digits if the name is taken. */
  readonly tail: string;
  readonly wanted: () => string;
  readonly set: (name: string) => void;
}

/** Items that need names, and names that take precedence. */
export interface TypeNamesSource {
  /** All types that operations reach. */
  readonly reached: ReadonlySet<Type>;
  readonly nameless: readonly Nameless[];
  readonly derived: readonly Derived[];
  /** Elements in the order of naming. */
  readonly elements: ReadonlyMap<Type, readonly NamelessElement[]>;
  /** Operation names of wrappers, which are the prefixes of their elements' keys. */
  readonly wrappers: ReadonlyMap<Type, string>;
  /** Schemas that the document names, reached or not. They are named first. */
  readonly components: readonly Wanted[];
  /** Items that the gateway adds to the schema, by their keys in `names.lock`. */
  readonly own: readonly Wanted[];
  readonly pinned: ContractNames;
  /** True if types named by the document also start with a capital letter (`names: portable`). */
  readonly isPortable: boolean;
}

/** The assigned names of types and elements. They are also set in the model. */
export interface TypeNames {
  readonly jsonType: string;
  /** Names of items that the gateway adds, by key. */
  readonly own: Names;
  readonly types: Names;
  readonly members: Names;
  readonly displaced: readonly Displaced[];
}

/** Names of types with the functions to assign more. */
export interface NamedTypes extends TypeNames {
  readonly keys: ReadonlyMap<Type, string>;
  /** Assigns a name that no type has yet. The hash digits are derived from the key. */
  readonly give: (key: string, wanted: string) => string;
}

/**
 * Names all types that operations reach, so that names are unique in generated code. The name of a wrapper is reserved
 * for its element, because code generators create a class for it.
 */
export function nameTypes(source: TypeNamesSource): NamedTypes {
  const { reached, nameless, pinned } = source;
  const namer = new Namer(pinned.types, { most: longestName });
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
  // Named last, so that the types of the document take precedence over those of the gateway.
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

/** Names arrays and maps, those of named types first. */
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
 * Names that client stacks reserve: the receiver of a method in Python, zeep's header argument, and the XML attributes
 * of an element in node-soap.
 */
const namesOfClients: ReadonlySet<string> = new Set(['self', '_soapheaders', 'attributes']);

function usable(name: string, tail: string): string {
  return namesOfClients.has(name) ? `${name}_${hexOf(tail).slice(0, 4)}` : name;
}

/**
 * Returns an element name that is valid as a method parameter. Mono's svcutil creates a parameter with this name, which
 * must not contain `-` or `.`.
 */
function parameterName(name: string): string {
  return name.replace(/[.-]/g, '_');
}

const wordsOfJava: ReadonlySet<string> = new Set(javaWords.map(folded));
const noWords: ReadonlySet<string> = new Set();

/** Returns true if no name is pinned, reserved or equal to another one, so that the namer would not change them. */
function areFree(wanted: readonly Wanted[], pinned: Names, reserved: ReadonlySet<string>): boolean {
  const taken = new Set<string>();
  for (const { key, name } of wanted) {
    const element = folded(name);
    if (pinned.has(key) || reserved.has(element) || taken.has(element)) return false;
    taken.add(element);
  }
  return true;
}

/** Names the elements of each record and union uniquely. Elements of a wrapper are never reserved words of Java. */
function nameElements(
  { reached, elements, wrappers, pinned }: TypeNamesSource,
  keys: ReadonlyMap<Type, string>,
): { readonly names: Names; readonly displaced: readonly Displaced[] } {
  const names = new Map<string, string>();
  const displaced: Displaced[] = [];
  for (const [type, list] of elements) {
    if (!reached.has(type)) continue;
    const owner = keys.get(type) ?? wrappers.get(type) ?? '';
    const isWrapper = wrappers.has(type);
    const reserved = isWrapper ? wordsOfJava : noWords;
    const wanted = list.map(({ path, tail, wanted: name }) => ({
      key: owner + path,
      name: usable(isWrapper ? parameterName(name()) : name(), tail),
    }));
    if (areFree(wanted, pinned.members, reserved)) {
      for (const [index, { key, name }] of wanted.entries()) {
        names.set(key, name);
        list[index]?.set(name);
      }
      continue;
    }
    const byPath = new Map(list.map((element) => [owner + element.path, element]));
    const own = new Map(
      [...byPath.keys()].flatMap((key) => {
        const name = pinned.members.get(key);
        return name === undefined ? [] : [[key, name] as const];
      }),
    );
    const namer = new Namer(own, { tail: (key) => byPath.get(key)?.tail ?? key, reserved });
    for (const [key, name] of namer.give(wanted)) {
      names.set(key, name);
      byPath.get(key)?.set(name);
    }
    for (const one of namer.displaced) displaced.push(one);
  }
  return { names, displaced };
}
