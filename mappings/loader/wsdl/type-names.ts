import { crc32 } from 'node:zlib';
import type { SchemaType } from '../../contract/type-graph.ts';
import { byCodeUnit } from '../names/names.ts';
import { builtInSchemas } from './built-in-schemas.ts';

/**
 * Returns the JSON names of named types (A19): the local name. If several types share it, the first by namespace (code
 * unit order) keeps it; the others add `_` and the last four hexadecimal digits of the namespace's CRC-32. Names in
 * `locked`, by `{namespace}local`, are kept.
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

/** Compares by namespace, with built-in namespaces last. */
function inOrder(one: { readonly namespace: string }, other: { readonly namespace: string }): number {
  const late = Number(builtInSchemas.has(one.namespace)) - Number(builtInSchemas.has(other.namespace));
  return late || byCodeUnit(one.namespace, other.namespace);
}
