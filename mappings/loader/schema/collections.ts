import type { ArrayType, MapType, Type } from '../../contract/model.ts';
import type { Derived } from '../names/type-names.ts';
import type { Overlay } from '../overlay/overlay.ts';

/** Builds arrays and maps, one for each type that they are made of, which they are named after. */
export interface Lists {
  readonly arrayOf: (item: Type) => ArrayType;
  readonly mapOf: (value: Type) => MapType;
  /** All of them, waiting for their names. */
  readonly derived: readonly Derived[];
}

export function createLists({ dialect, types, arraysNamespace }: Overlay): Lists {
  const arrays = new Map<Type, ArrayType>();
  const maps = new Map<Type, MapType>();
  const derived: Derived[] = [];
  const namespaceOf = (type: Type): 'types' | 'arrays' =>
    isStrings(type) && arraysNamespace !== undefined ? 'arrays' : 'types';

  function arrayOf(item: Type): ArrayType {
    const known = arrays.get(item);
    if (known !== undefined) return known;
    const type = { kind: 'array' as const, name: '', namespace: namespaceOf(item), itemName: '', item };
    arrays.set(item, type);
    const set = (name: string, of: string): void => {
      type.name = name;
      type.itemName = types.get(of)?.item ?? of;
    };
    derived.push({ type, of: item, suffix: '[]', wanted: (of) => `ArrayOf${of}`, set });
    return type;
  }

  function mapOf(value: Type): MapType {
    const known = maps.get(value);
    if (known !== undefined) return known;
    const strings = isStrings(value);
    const entryName = strings ? dialect.mapEntry : 'Entry';
    const type = { kind: 'map' as const, name: '', namespace: namespaceOf(value), entryName, value };
    maps.set(value, type);
    const set = (name: string): void => {
      type.name = name;
    };
    const wanted = (of: string): string => (strings ? dialect.mapName : `MapOf${of}`);
    derived.push({ type, of: value, suffix: '{}', wanted, set });
    return type;
  }

  return { arrayOf, mapOf, derived };
}

function isStrings(type: Type): boolean {
  return type.kind === 'scalar' && type.scalar === 'string';
}
