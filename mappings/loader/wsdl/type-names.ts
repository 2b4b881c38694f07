import { crc32 } from 'node:zlib';
import type { SchemaType } from '../../contract/type-graph.ts';
import { byCodeUnit } from '../names/names.ts';
import { builtInSchemas } from './built-in-schemas.ts';

/**
 * The JSON names of named types (A19): the local name; of several of one local name the first by namespace (code unit
 * order) has it, the others add `_` and the last four hexadecimal digits of the CRC-32 of their namespace. A name that
 * `locked` keeps, by `{namespace}local`, stays.
 */
export function nameTypes(
  types: ReadonlyMap<string, SchemaType>,
  locked: ReadonlyMap<string, string>,
): ReadonlyMap<SchemaType, string> {
  const names = new Map<SchemaType, string>();
  const taken = new Set<string>();
  const rest: { readonly type: SchemaType; readonly namespace: string; readonly local: string }[] = [];
  for (const [key, type] of types) {
    if (type.name === undefined) continue;
    const kept = locked.get(key);
    if (kept === undefined || taken.has(kept)) rest.push({ type, ...type.name });
    else {
      names.set(type, kept);
      taken.add(kept);
    }
  }
  for (const { type, namespace, local } of rest.toSorted(inOrder)) {
    const digits = crc32(namespace).toString(16).padStart(8, '0');
    const candidates = [local, `${local}_${digits.slice(4)}`, `${local}_${digits}`];
    const name = candidates.find((candidate) => !taken.has(candidate)) ?? `${local}_${names.size}`;
    names.set(type, name);
    taken.add(name);
  }
  return names;
}

/** By namespace, those that come with the code after the documents' own. */
function inOrder(one: { readonly namespace: string }, other: { readonly namespace: string }): number {
  const late = Number(builtInSchemas.has(one.namespace)) - Number(builtInSchemas.has(other.namespace));
  return late || byCodeUnit(one.namespace, other.namespace);
}
