// Discriminators of alternatives: discriminator values or a member with distinct fixed values in each alternative.
// Labels of the alternatives are derived from them.
import { isNode, type Node, textOf } from '../document/node.ts';
import { isUnresolved, type Located, type References } from '../document/references.ts';
import { byCodeUnit, classIdentifier, folded, hexOf, type KeptNames, pascal } from '../names/names.ts';
import { nameAt } from '../names/schema-name.ts';
import type { Alternative } from './alternative.ts';
import { fixedValues, kindsOf } from './keywords.ts';
import { membersOf, type SchemaMember } from './members.ts';
import { discriminatorOf, type Labelled, labelled, lastSegment, mappingOf } from './subtypes.ts';

/** Returns a function for the discriminator values that select a variant, each with its label. */
export function tagsOf(
  node: Node,
  pointer: string,
  siblings: readonly Located[],
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
    const fixed = fixedOf(membersByName([...siblings, found], references).get(member), references);
    if (fixed !== undefined) {
      const [first] = fixed;
      const label = Object.hasOwn(variant, '$ref') ? nameAt(found.pointer) : (textOf(first) ?? '');
      return [{ label, tag: { member, values: fixed.map((value) => JSON.stringify(value)) } }];
    }
    return Object.hasOwn(variant, '$ref') ? [labelled(member, lastSegment(found.pointer))] : [];
  };
}

/** If each object has one member with distinct fixed values, uses that member as the discriminator. */
export function byFixedValue(
  list: readonly Alternative[],
  references: References,
  kept: KeptNames,
): readonly Alternative[] {
  const objects = list.filter(({ kind }) => kind === 'object');
  if (objects.length < 2 || objects.some(({ tag }) => tag !== undefined))
    return withLabels(list, references, kept);
  const members = objects.map((object) => membersByName([...object.siblings, object], references));
  const candidates = members[0]?.keys() ?? [];
  for (const member of candidates) {
    const values = valuesOfAll(members, member, references);
    if (values === undefined) continue;
    const tokens = values.map((fixed) => fixed.map((value) => JSON.stringify(value)));
    const all = tokens.flat();
    if (new Set(all).size !== all.length) continue;
    let index = -1;
    const fixed = list.map((alternative) => {
      if (alternative.kind !== 'object') return alternative;
      index++;
      const [value, ...others] = values[index] ?? [];
      const label = alternative.label ?? (others.length === 0 ? String(value) : undefined);
      return { ...alternative, label, tag: { member, values: tokens[index] ?? [] } };
    });
    return withLabels(fixed, references, kept);
  }
  return withLabels(list, references, kept);
}

/**
 * Labels each object by its title, or else by its required or unique members, or else by digits of a hash of its
 * members.
 */
function withLabels(
  list: readonly Alternative[],
  references: References,
  kept: KeptNames,
): readonly Alternative[] {
  const counted = new Map<string, number>();
  for (const alternative of list)
    if (alternative.kind === 'object')
      for (const name of membersByName([...alternative.siblings, alternative], references).keys())
        counted.set(name, (counted.get(name) ?? 0) + 1);
  const isOwn = (member: string): boolean => counted.get(member) === 1;
  const ways = list.map((alternative) => labelsOf(alternative, references, kept, isOwn));
  const taken = list.flatMap(({ label }) => (label === undefined ? [] : [folded(label)]));
  const counts = new Map<string, number>();
  for (const label of [...taken, ...ways.flatMap((labels) => [...new Set(labels.map(folded))])])
    counts.set(label, (counts.get(label) ?? 0) + 1);
  const best = ways.map((labels) => labels.find((one) => counts.get(folded(one)) === 1) ?? labels.at(-1));
  const byDigits = best.filter(
    (label, index) =>
      label !== undefined &&
      /^Option[0-9a-f]{4}$/.test(label) &&
      !kept.keepsOption(label, list[index]?.pointer ?? ''),
  );
  const isOther = byDigits.length === 1 && list.length > 1 && !counts.has('other');
  return list.map((alternative, index) => {
    const label = isOther && best[index] === byDigits[0] ? 'Other' : best[index];
    return label === undefined ? alternative : { ...alternative, label };
  });
}

/** Maximum number of members in a name. */
const mostInName = 3;

/**
 * Returns possible labels for an object, the best first and an always unique one last. Empty if it is labelled
 * otherwise.
 */
function labelsOf(
  alternative: Alternative,
  references: References,
  kept: KeptNames,
  isOwn: (member: string) => boolean,
): readonly string[] {
  if (alternative.label !== undefined || alternative.kind !== 'object') return [];
  const found = membersOf([...alternative.siblings, alternative], references);
  if (found.kind === 'none') return ['Other'];
  // A map is labelled with its type.
  if (found.members.length === 0) return found.additional === undefined ? ['Empty'] : [];
  const shape = found.members.map(
    ({ json, schema }) => `${json} ${isNode(schema) ? kindsOf(schema).join(' ') : ''}`,
  );
  const digits = hexOf(JSON.stringify(shape.toSorted(byCodeUnit))).slice(0, 4);
  if (kept.keepsOption(`Option${digits}`, alternative.pointer)) return [`Option${digits}`];
  const title = pascal(textOf(alternative.node.title) ?? '');
  const required = found.members.filter(({ required: isRequired }) => isRequired);
  const telling = required.length > 0 && required.length <= mostInName ? required : found.members;
  const own = found.members.filter(({ json }) => isOwn(json));
  const named = [
    title === '' || title.length > longestTitle ? '' : classIdentifier(title),
    ...[telling, own, own.slice(0, 1)].map(withMembers),
  ];
  return [...named.filter((name) => name !== '' && name.length <= longestTitle), `Option${digits}`];
}

/** Returns a name from members; `''` if they give none. */
function withMembers(members: readonly SchemaMember[]): string {
  const names = members.slice(0, mostInName).map(({ json }) => pascal(json));
  return names.length === 0 || names.includes('') ? '' : `With${names.join('')}`;
}

/** Maximum length of a title that is used as a name. A longer title is a sentence. */
const longestTitle = 30;

/** Returns the members of an object by name; empty if the schema is not an object. */
function membersByName(parts: readonly Located[], references: References): ReadonlyMap<string, SchemaMember> {
  const found = membersOf(parts, references);
  return new Map(found.kind === 'members' ? found.members.map((member) => [member.json, member]) : []);
}

/** Returns the values that a member has in each of several objects; undefined if any object does not fix them. */
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

/** Returns the values of a member, if the document fixes them. */
function fixedOf(member: SchemaMember | undefined, references: References): readonly unknown[] | undefined {
  if (member === undefined) return undefined;
  const target = references.objectAt(member.schema, member.pointer);
  const values = target && fixedValues(target);
  return values?.every((value) => typeof value !== 'object') === true && values.length > 0
    ? values
    : undefined;
}
