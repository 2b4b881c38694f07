import type { ArrayType, MapType, ScalarName, ScalarType, Type } from '../../contract/model.ts';
import type { Derived } from '../names/type-names.ts';
import type { Overlay } from '../overlay/overlay.ts';

/** A type until its name is set. */
type Unnamed<T> = { -readonly [Key in keyof T]: T[Key] };

/** Makes scalars, arrays and maps, one of each kind and element type; arrays and maps are named after that. */
export interface Collections {
  readonly scalar: (name: ScalarName) => ScalarType;
  /** @param takesNull whether the document allows null items, or values, at the place that this is for */
  readonly arrayOf: (item: Type, takesNull?: boolean) => ArrayType;
  readonly mapOf: (value: Type, takesNull?: boolean) => MapType;
  /** All arrays and maps so far, each with its setter for the name that it still lacks. */
  readonly derived: readonly Derived[];
}

/** Those of one contract, named as its overlay has it: dialect, `types.*.item`, namespace of arrays of strings. */
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

/** True for the type of JSON that no closed type fits. */
export function isJson(type: Type): boolean {
  return type.kind === 'scalar' && type.scalar === 'json';
}

function isStrings(type: Type): boolean {
  return type.kind === 'scalar' && type.scalar === 'string';
}
