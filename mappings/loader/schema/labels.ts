// What tells alternatives apart: the values of a discriminator, or of a member that each fixes to others; and what each
// is called after that.
import { isNode, type Node, textOf } from '../document/node.ts';
import { isUnresolved, type Located, type References } from '../document/references.ts';
import { byCodeUnit, hexOf } from '../names/names.ts';
import { nameAt } from '../names/schema-name.ts';
import type { Alternative } from './alternative.ts';
import { fixedValues, kindsOf } from './keywords.ts';
import { membersOf, type SchemaMember } from './members.ts';
import { discriminatorOf, type Labelled, labelled, lastSegment, mappingOf } from './subtypes.ts';

/** The values of a schema's discriminator that mean a variant at a place, each with what it is called. */
export function tagsOf(
  node: Node,
  pointer: string,
  base: readonly Located[],
  references: References,
): (variant: unknown, at: string) => readonly Labelled[] {
  const member = discriminatorOf(node);
  if (member === undefined) return () => [];
  const mapping = Map.groupBy(mappingOf(node, pointer, references), ({ target }) => target.pointer);
  return (variant, at) => {
    if (!isNode(variant)) return [];
    const found = references.resolve(variant, at);
    if (isUnresolved(found)) return [];
    const keys = mapping.get(found.pointer);
    if (keys !== undefined) return keys.map(({ key }) => labelled(member, key));
    const fixed = fixedOf(membersByName([...base, found], references).get(member), references);
    if (fixed !== undefined) {
      const [first] = fixed;
      const label = Object.hasOwn(variant, '$ref') ? nameAt(found.pointer) : (textOf(first) ?? '');
      return [{ label, tag: { member, values: fixed.map((value) => JSON.stringify(value)) } }];
    }
    return Object.hasOwn(variant, '$ref') ? [labelled(member, lastSegment(found.pointer))] : [];
  };
}

/** Where each of several objects has one member with values of its own, that member tells them apart. */
export function byFixedValue(list: readonly Alternative[], references: References): readonly Alternative[] {
  const objects = list.filter(({ kind }) => kind === 'object');
  const withLabels = (): readonly Alternative[] =>
    list.map((alternative) => withLabel(alternative, references));
  if (objects.length < 2 || objects.some(({ tag }) => tag !== undefined)) return withLabels();
  const members = objects.map((object) => membersByName([...object.base, object], references));
  const candidates = members[0]?.keys() ?? [];
  for (const member of candidates) {
    const values = valuesOfAll(members, member, references);
    if (values === undefined) continue;
    const tokens = values.map((fixed) => fixed.map((value) => JSON.stringify(value)));
    const all = tokens.flat();
    if (new Set(all).size !== all.length) continue;
    let index = -1;
    return list.map((alternative) => {
      if (alternative.kind !== 'object') return alternative;
      index++;
      const [value, ...others] = values[index] ?? [];
      const label = alternative.label ?? (others.length === 0 ? String(value) : undefined);
      return withLabel({ ...alternative, label, tag: { member, values: tokens[index] ?? [] } }, references);
    });
  }
  return withLabels();
}

function withLabel(alternative: Alternative, references: References): Alternative {
  if (alternative.label !== undefined || alternative.kind !== 'object') return alternative;
  const found = membersOf([...alternative.base, alternative], references);
  if (found.kind === 'none') return { ...alternative, label: 'Other' };
  // a map is called by its type
  if (found.members.length === 0)
    return found.additional === undefined ? { ...alternative, label: 'Empty' } : alternative;
  const shape = found.members.map(
    ({ json, schema }) => `${json} ${isNode(schema) ? kindsOf(schema).join(' ') : ''}`,
  );
  const digits = hexOf(JSON.stringify(shape.toSorted(byCodeUnit))).slice(0, 4);
  return { ...alternative, label: `Option${digits}` };
}

/** The members of an object by their names; none where it is no object alone. */
function membersByName(parts: readonly Located[], references: References): ReadonlyMap<string, SchemaMember> {
  const found = membersOf(parts, references);
  return new Map(found.kind === 'members' ? found.members.map((member) => [member.json, member]) : []);
}

/** The values that a member of each of several objects can be; undefined as soon as one of them doesn't fix them. */
function valuesOfAll(
  objects: readonly ReadonlyMap<string, SchemaMember>[],
  name: string,
  references: References,
): readonly (readonly unknown[])[] | undefined {
  const values: (readonly unknown[])[] = [];
  for (const object of objects) {
    const fixed = fixedOf(object.get(name), references);
    if (fixed === undefined) return undefined;
    values.push(fixed);
  }
  return values;
}

/** The values that a member of an object can be, where the document fixes them. */
function fixedOf(member: SchemaMember | undefined, references: References): readonly unknown[] | undefined {
  if (member === undefined) return undefined;
  const target = references.resolve(member.schema, member.pointer);
  const values = isUnresolved(target) || !isNode(target.node) ? undefined : fixedValues(target.node);
  return values?.every((value) => typeof value !== 'object') === true && values.length > 0
    ? values
    : undefined;
}
