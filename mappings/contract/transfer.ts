import { apacheTypes } from './apache-types.ts';
import { anySimpleType, anyType, builtInTypes } from './built-in-types.ts';
import type { Contract } from './model.ts';

/**
 * A contract in the form for another thread: its objects, itself the first. References between types may be nested too
 * deeply for a structured clone, so objects refer to others by index. The types of XSD are the same objects in both
 * threads.
 */
export type SentContract = readonly SentObject[];

/** An object by its members. Other values represent themselves. */
type SentObject =
  | { readonly kind: 'object'; readonly keys: readonly string[]; readonly values: readonly SentValue[] }
  | { readonly kind: 'array'; readonly values: readonly SentValue[] }
  | { readonly kind: 'map'; readonly keys: readonly SentValue[]; readonly values: readonly SentValue[] }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

/** A value that is not an object, or the index of an object as a bigint. */
type SentValue = string | number | boolean | undefined | null | bigint;

/** Objects that both threads have. */
const shared: readonly object[] = [
  ...new Set<object>([anyType, anySimpleType, ...builtInTypes.values(), ...apacheTypes.values()]),
];

/** Converts a contract to its form for another thread. Shared objects have negative indexes. */
export function sendContract(contract: Contract): SentContract {
  const numbers = new Map<object, number>(shared.map((object, index) => [object, -1 - index]));
  const objects: object[] = [];
  const numberOf = (value: unknown): SentValue => {
    if (typeof value !== 'object' || value === null) return value as SentValue;
    let number = numbers.get(value);
    if (number === undefined) {
      number = objects.length;
      numbers.set(value, number);
      objects.push(value);
    }
    return BigInt(number);
  };
  numberOf(contract);
  const sent: SentObject[] = [];
  /** Lists of member names by their text, because a clone contains each list only once. */
  const shapes = new Map<string, readonly string[]>();
  // the loop appends objects that it finds
  for (const object of objects) {
    if (object instanceof Uint8Array) sent.push({ kind: 'bytes', bytes: object });
    else if (Array.isArray(object)) sent.push({ kind: 'array', values: object.map(numberOf) });
    else if (object instanceof Map) {
      const keys = [...object.keys()].map(numberOf);
      sent.push({ kind: 'map', keys, values: [...object.values()].map(numberOf) });
    } else {
      const keys = Object.keys(object);
      const shape = keys.join(' ');
      const known = shapes.get(shape) ?? keys;
      shapes.set(shape, known);
      sent.push({ kind: 'object', keys: known, values: Object.values(object).map(numberOf) });
    }
  }
  return sent;
}

/** Restores a contract from its form for another thread. */
export function receiveContract(sent: SentContract): Contract {
  const made = sent.map((object) => {
    if (object.kind === 'bytes') return object.bytes;
    if (object.kind === 'array') return [];
    return object.kind === 'map' ? new Map() : {};
  });
  const memberOf = (value: SentValue): unknown => {
    if (typeof value !== 'bigint') return value;
    const number = Number(value);
    return number < 0 ? shared[-1 - number] : made[number];
  };
  for (const [number, object] of sent.entries()) {
    const target = made[number];
    if (object.kind === 'array')
      for (const value of object.values) (target as unknown[]).push(memberOf(value));
    else if (object.kind === 'map') {
      for (const [index, key] of object.keys.entries())
        (target as Map<unknown, unknown>).set(memberOf(key), memberOf(object.values[index]));
    } else if (object.kind === 'object') {
      const members = object.keys.map((key, index) => [key, memberOf(object.values[index])]);
      Object.assign(target as object, Object.fromEntries(members));
    }
  }
  return made[0] as Contract;
}
