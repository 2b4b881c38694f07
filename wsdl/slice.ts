import { type Contract, type NamedType, type Operation, partsOf, type Type } from '../mappings/model.ts';

/** A part of a contract's operations, asked for by name; in any case, as paths are (W1). */
export interface SliceNames {
  readonly operations: readonly string[];
  readonly tags: readonly string[];
}

/** A name that a contract doesn't have. */
export class UnknownName extends RangeError {
  override readonly name = 'UnknownName';

  constructor(kind: 'operation' | 'tag', given: string, known: readonly string[]) {
    const some =
      known.length > 10 ? `one of ${known.length} such as ${known[0]}` : `one of ${known.join(', ')}`;
    super(
      `${kind}: expected ${known.length === 0 ? 'none' : some}, got ${JSON.stringify(given.slice(0, 64))}`,
    );
  }
}

/**
 * The contract with the named operations and those of the named tags alone, and the types and routes of theirs.
 * Throws UnknownName.
 */
export function sliceContract(contract: Contract, names: SliceNames): Contract {
  const chosen = new Set<Operation>();
  const byName = new Map(contract.operations.map((operation) => [operation.name.toLowerCase(), operation]));
  for (const name of names.operations) {
    const operation = byName.get(name.toLowerCase());
    if (operation === undefined) throw new UnknownName('operation', name, namesOf(contract.operations));
    chosen.add(operation);
  }
  const byTag = groupByTag(contract.operations);
  for (const tag of names.tags) {
    const group = byTag.get(tag.toLowerCase());
    if (group === undefined) throw new UnknownName('tag', tag, tagsOf(contract.operations));
    for (const operation of group) chosen.add(operation);
  }
  const reached = reachedFrom(chosen);
  return {
    ...contract,
    operations: contract.operations.filter((operation) => chosen.has(operation)),
    types: contract.types.filter((type) => reached.has(type)),
    routes: contract.routes.filter(({ operation }) => chosen.has(operation)),
  };
}

function groupByTag(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    for (const tag of operation.tags) {
      const group = groups.get(tag.toLowerCase()) ?? [];
      group.push(operation);
      groups.set(tag.toLowerCase(), group);
    }
  }
  return groups;
}

function namesOf(operations: readonly Operation[]): readonly string[] {
  return operations.map(({ name }) => name);
}

function tagsOf(operations: readonly Operation[]): readonly string[] {
  return [...new Set(operations.flatMap(({ tags }) => tags))];
}

function reachedFrom(operations: Iterable<Operation>): ReadonlySet<NamedType> {
  const reached = new Set<Type>();
  for (const { input, output } of operations) reached.add(input).add(output);
  for (const type of reached) {
    if (type.kind !== 'scalar') for (const part of partsOf(type)) reached.add(part);
  }
  return reached as ReadonlySet<NamedType>;
}
