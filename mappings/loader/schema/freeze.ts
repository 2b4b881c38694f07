// The last passes. They name each type that operations reach (`names/type-names.ts`), determine nillable fields and the
// field order, and freeze the contract.
import { type NamedType, type Operation, partsOf, type Type } from '../../contract/model.ts';
import type { Allowance } from '../document/allowance.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { childOf, type Node } from '../document/node.ts';
import { byCodeUnit, type ContractNames, type Wanted } from '../names/names.ts';
import { nameAt } from '../names/schema-name.ts';
import { nameTypes, type TypeNames } from '../names/type-names.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { TypeDrafts } from './drafts.ts';
import { type Equal, mergeEqualTypes } from './equal-types.ts';
import { setNillable, sortFields } from './fields.ts';

/** The final types of a contract. */
export interface FinishedTypes extends Omit<TypeNames, 'types'> {
  /** Types that operations reach, except wrappers, in the order of the contract. */
  readonly types: readonly NamedType[];
  /** Names by key, including names of types that were requested in addition. */
  readonly names: TypeNames['types'];
}

/** Input of `finishTypes`. */
export interface FreezeSource {
  readonly document: Node;
  readonly overlay: Overlay;
  /** Kept names, which take precedence over new ones. */
  readonly pinned: ContractNames;
  /** Types that the gateway adds to the schema. */
  readonly own: readonly Wanted[];
  readonly reportOverlay: Report;
  /** Remaining limits for reading the contract. */
  readonly allowance: Allowance;
}

/** Names the types that operations reach, determines nillable fields (W33) and sorts fields into wire order (W18). */
export function finishTypes(
  drafts: TypeDrafts,
  operations: readonly Pick<Operation, 'input' | 'output'>[],
  { document, overlay, pinned, own, reportOverlay, allowance }: FreezeSource,
): FinishedTypes {
  const { dialect, settings } = overlay;
  const inReplies = reached(operations.map(({ output }) => output));
  const roots = operations.flatMap(({ input, output }) => [input, output]);
  const all = reached(roots);
  const { nameless, elements, wrappers, collections } = drafts;
  const { keys, give, ...given } = nameTypes({
    reached: new Set([...all, ...drafts.alwaysNamed]),
    nameless,
    derived: collections.derived,
    elements,
    wrappers,
    components: Object.keys(componentSchemas(document)).map((name) => {
      const key = componentPointer(name);
      return { key, name: nameAt(key) };
    }),
    own,
    pinned,
    isPortable: settings.names === 'portable',
  });
  for (const [type, { fields, ofFields }] of drafts.facts) {
    for (const fact of ofFields) setNillable(fact, overlay, inReplies.has(type));
    if (all.has(type)) sortFields(type.name, fields, overlay, reportOverlay);
  }
  const inOverlay = new Set([...all].filter(({ name }) => overlay.types.has(name)));
  const isSeparate = (type: NamedType): boolean => drafts.alwaysNamed.has(type) || inOverlay.has(type);
  const equal =
    settings.equalTypes === 'once'
      ? mergeEqualTypes({
          types: all,
          keys,
          pinned: pinned.types,
          isSeparate,
          give,
          checkTime: () => allowance.checkTime(),
        })
      : undefined;
  // The overlay may refer to merged types by their new names.
  for (const type of equal === undefined || overlay.types.size === 0 ? [] : reached(roots)) {
    const overlaid = inOverlay.has(type) || wrappers.has(type) ? undefined : overlay.types.get(type.name);
    if (overlaid === undefined) continue;
    if (type.kind === 'record')
      sortFields(type.name, drafts.facts.get(type)?.fields ?? [], overlay, reportOverlay);
    if (overlaid.item !== undefined)
      reportOverlay(
        `/types${pointerSegment(type.name)}/item`,
        `expected none, since ${type.name} describes several equal types with different element names`,
      );
  }
  // The types are collected again because sorting and merging changed the order and the set of reachable types.
  const types = [...reached(roots)].filter((type) => !wrappers.has(type));
  if (dialect.types === 'by-name') types.sort((a, b) => byCodeUnit(a.name, b.name));
  const { types: names, ...rest } = equal === undefined ? given : withEqual(given, equal);
  return { types, names, ...rest };
}

/** Returns the names in the contract after equal types were merged. */
function withEqual(given: TypeNames, { names, removedKeys }: Equal): TypeNames {
  const isLeft = (key: string): boolean => !removedKeys.has(key);
  const ownerOf = (key: string): string =>
    key.replace(/\/(?:properties|additionalProperties|variants)\/[^/]*$/, '');
  return {
    ...given,
    types: new Map([...[...given.types].filter(([key]) => isLeft(key)), ...names]),
    members: new Map([...given.members].filter(([key]) => isLeft(ownerOf(key)))),
  };
}

/** Returns all named types reachable from the given types, including those, each before its parts. */
export function reached(roots: readonly Type[]): Set<NamedType> {
  const seen = new Set<NamedType>();
  const open = roots.toReversed();
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (type.kind === 'scalar' || seen.has(type)) continue;
    seen.add(type);
    for (const part of partsOf(type).toReversed()) open.push(part);
  }
  return seen;
}

/** Returns the named schemas of a document (OpenAPI 3.1, 4.8.7). */
export function componentSchemas(document: Node): Node {
  return childOf(childOf(document, 'components'), 'schemas');
}

/** Returns the pointer of a named schema. */
export function componentPointer(name: string): string {
  return `/components/schemas${pointerSegment(name)}`;
}

/** Freezes a value and all reachable objects. The graph may have cycles because types may be recursive. */
export function deepFreeze<T extends object>(root: T): T {
  const seen = new Set<object>([root]);
  for (const value of seen) {
    Object.freeze(value);
    for (const key in value) {
      const inner: unknown = value[key as keyof typeof value];
      if (typeof inner === 'object' && inner !== null) seen.add(inner);
    }
  }
  return root;
}
