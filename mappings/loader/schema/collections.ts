import type { ArrayType, MapType, ScalarName, ScalarType, Type } from '../../contract/model.ts';
import type { Derived } from '../names/type-names.ts';
import type { Overlay } from '../overlay/overlay.ts';

/** A type without its final name. */
type Unnamed<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Creates scalars, arrays and maps, once for each element type. Arrays and maps are named after their element types.
 */
export interface Collections {
  readonly scalar: (name: ScalarName) => ScalarType;
  /** @param takesNull true if the document allows null items or values for this use */
  readonly arrayOf: (item: Type, takesNull?: boolean) => ArrayType;
  readonly mapOf: (value: Type, takesNull?: boolean) => MapType;
  /** All arrays and maps created, each with the setter of its name. */
  readonly derived: readonly Derived[];
}

/**
 * Creates the collections of a contract. Names follow its overlay: dialect, `types.*.item`, namespace of string arrays.
 */
export function createCollections({ dialect, types, arraysNamespace }: Overlay): Collections {
  const scalars = new Map<ScalarName, ScalarType>();
  const arrays = new Map<Type, Unnamed<ArrayType>>();
  const maps = new Map<Type, Unnamed<MapType>>();
  const derived: Derived[] = [];
  const namespaceOf = (type: Type): 'types' | 'arrays' =>
    isStrings(type) && arraysNamespace !== undefined ? 'arrays' : 'types';

  function scalar(name: ScalarName): ScalarType {
    const type = scalars.get(name) ?? { kind: 'scalar', scalar: name };
    scalars.set(name, type);
    return type;
  }

  function arrayOf(item: Type, takesNull = false): ArrayType {
    const known = arrays.get(item);
    if (known !== undefined) return takesNull ? Object.assign(known, { takesNull }) : known;
    const type: Unnamed<ArrayType> = {
      kind: 'array',
      name: '',
      namespace: namespaceOf(item),
      itemName: '',
      item,
      ...(takesNull && { takesNull }),
    };
    arrays.set(item, type);
    const set = (name: string, of: string): void => {
      type.name = name;
      type.itemName = types.get(of)?.item ?? of;
    };
    derived.push({ type, of: item, suffix: '[]', wanted: (of) => `ArrayOf${of}`, set });
    return type;
  }

  function mapOf(value: Type, takesNull = false): MapType {
    const known = maps.get(value);
    if (known !== undefined) return takesNull ? Object.assign(known, { takesNull }) : known;
    const strings = isStrings(value);
    const entryName = strings ? dialect.mapEntry : 'Entry';
    const type: Unnamed<MapType> = {
      kind: 'map',
      name: '',
      namespace: namespaceOf(value),
      entryName,
      value,
      ...(takesNull && { takesNull }),
    };
    maps.set(value, type);
    const set = (name: string): void => {
      type.name = name;
    };
    const wanted = (of: string): string => (strings ? dialect.mapName : `MapOf${of}`);
    derived.push({ type, of: value, suffix: '{}', wanted, set });
    return type;
  }

  return { scalar, arrayOf, mapOf, derived };
}

/** Returns true for the type of JSON text. */
export function isJson(type: Type): boolean {
  return type.kind === 'scalar' && type.scalar === 'json';
}

function isStrings(type: Type): boolean {
  return type.kind === 'scalar' && type.scalar === 'string';
}
