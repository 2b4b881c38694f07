// The last passes: every type that an operation reaches is named (`names/type-names.ts`), what of it is nillable and in
// which order its fields go is settled, and then nothing changes any more.
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

/** The types of a contract as they stay. */
export interface FinishedTypes extends Omit<TypeNames, 'types'> {
  /** Those that an operation reaches, wrappers aside, in the order of the contract. */
  readonly types: readonly NamedType[];
  /** Their names and those of what was asked for besides, by key. */
  readonly names: TypeNames['types'];
}

/** What finishing types goes by. */
export interface FreezeSource {
  readonly document: Node;
  readonly overlay: Overlay;
  /** Names that stay whatever else would have them. */
  readonly pinned: ContractNames;
  /** What the gateway itself adds to the schema. */
  readonly own: readonly Wanted[];
  readonly reportOverlay: Report;
  /** What is left of the time for the contract. */
  readonly allowance: Allowance;
}

/** Names what the operations reach, says what is nillable (W33) and puts fields in the order of the wire (W18). */
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
    reached: new Set([...all, ...drafts.asked]),
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
  const toldOf = new Set([...all].filter(({ name }) => overlay.types.has(name)));
  const isApart = (type: NamedType): boolean => drafts.asked.has(type) || toldOf.has(type);
  const equal =
    settings.equalTypes === 'once'
      ? mergeEqualTypes({
          types: all,
          keys,
          pinned: pinned.types,
          isApart,
          give,
          checkTime: () => allowance.checkTime(),
        })
      : undefined;
  // what the overlay says of equal types, by the name that they have now
  for (const type of equal === undefined ? [] : reached(roots)) {
    const told = toldOf.has(type) || wrappers.has(type) ? undefined : overlay.types.get(type.name);
    if (told === undefined) continue;
    if (type.kind === 'record')
      sortFields(type.name, drafts.facts.get(type)?.fields ?? [], overlay, reportOverlay);
    if (told.item !== undefined)
      reportOverlay(
        `/types${pointerSegment(type.name)}/item`,
        `expected none, since ${type.name} is of equal types, whose elements have names of their own`,
      );
  }
  // once more, as the order of fields is that of what they reach, and equal types are one
  const types = [...reached(roots)].filter((type) => !wrappers.has(type));
  if (dialect.types === 'by-name') types.sort((a, b) => byCodeUnit(a.name, b.name));
  const { types: names, ...told } = equal === undefined ? given : withEqual(given, equal);
  return { types, names, ...told };
}

/** The names that are told, once equal types are one. */
function withEqual(given: TypeNames, { names, gone }: Equal): TypeNames {
  const isLeft = (key: string): boolean => !gone.has(key);
  const ownerOf = (key: string): string =>
    key.replace(/\/(?:properties|additionalProperties|variants)\/[^/]*$/, '');
  return {
    ...given,
    types: new Map([...[...given.types].filter(([key]) => isLeft(key)), ...names]),
    members: new Map([...given.members].filter(([key]) => isLeft(ownerOf(key)))),
  };
}

/** Every named type that these reach, themselves too, each before what it is made of. */
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

/** The schemas that a document has by name (OpenAPI 3.1, 4.8.7). */
export function componentSchemas(document: Node): Node {
  return childOf(childOf(document, 'components'), 'schemas');
}

/** Where the schema stands that a document has under a name. */
export function componentPointer(name: string): string {
  return `/components/schemas${pointerSegment(name)}`;
}

/** Freezes a value and all it reaches, itself again too: types may be recursive. */
export function deepFreeze<T extends object>(root: T): T {
  const seen = new Set<object>([root]);
  for (const value of seen) {
    Object.freeze(value);
    for (const inner of Object.values(value))
      if (typeof inner === 'object' && inner !== null) seen.add(inner);
  }
  return root;
}
