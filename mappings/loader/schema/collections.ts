import type { ArrayType, MapType, ScalarName, ScalarType, Type } from '../../contract/model.ts';
import type { Derived } from '../names/type-names.ts';
import type { Overlay } from '../overlay/overlay.ts';

/** A type without its final name. */
type Unnamed<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Creates scalars, arrays and maps, once for each element type. Arrays and maps are named after their element types, and
 * after the overlay: dialect, `types.*.item`, namespace of string arrays.
 */
export class Collections {
  /** All arrays and maps created, each with the setter of its name. */
  readonly derived: Derived[] = [];
  readonly #overlay: Overlay;
  readonly #scalars = new Map<ScalarName, ScalarType>();
  readonly #arrays = new Map<Type, Unnamed<ArrayType>>();
  readonly #maps = new Map<Type, Unnamed<MapType>>();

  constructor(overlay: Overlay) {
    this.#overlay = overlay;
  }

  scalar(name: ScalarName): ScalarType {
    const type = this.#scalars.get(name) ?? { kind: 'scalar', scalar: name };
    this.#scalars.set(name, type);
    return type;
  }

  /** @param takesNull true if the document allows null items for this use */
  arrayOf(item: Type, takesNull = false): ArrayType {
    const known = this.#arrays.get(item);
    if (known !== undefined) return takesNull ? Object.assign(known, { takesNull }) : known;
    const type: Unnamed<ArrayType> = {
      kind: 'array',
      name: '',
      namespace: this.#namespaceOf(item),
      itemName: '',
      item,
      ...(takesNull && { takesNull }),
    };
    this.#arrays.set(item, type);
    const set = (name: string, of: string): void => {
      type.name = name;
      type.itemName = this.#overlay.types.get(of)?.item ?? of;
    };
    this.derived.push({ type, of: item, suffix: '[]', wanted: (of) => `ArrayOf${of}`, set });
    return type;
  }

  /** @param takesNull true if the document allows null values for this use */
  mapOf(value: Type, takesNull = false): MapType {
    const known = this.#maps.get(value);
    if (known !== undefined) return takesNull ? Object.assign(known, { takesNull }) : known;
    const { dialect } = this.#overlay;
    const strings = isStrings(value);
    const type: Unnamed<MapType> = {
      kind: 'map',
      name: '',
      namespace: this.#namespaceOf(value),
      entryName: strings ? dialect.mapEntry : 'Entry',
      value,
      ...(takesNull && { takesNull }),
    };
    this.#maps.set(value, type);
    const set = (name: string): void => {
      type.name = name;
    };
    const wanted = (of: string): string => (strings ? dialect.mapName : `MapOf${of}`);
    this.derived.push({ type, of: value, suffix: '{}', wanted, set });
    return type;
  }

  #namespaceOf(type: Type): 'types' | 'arrays' {
    return isStrings(type) && this.#overlay.arraysNamespace !== undefined ? 'arrays' : 'types';
  }
}

/** Returns true for the type of JSON text. */
export function isJson(type: Type): boolean {
  return type.kind === 'scalar' && type.scalar === 'json';
}

function isStrings(type: Type): boolean {
  return type.kind === 'scalar' && type.scalar === 'string';
}
