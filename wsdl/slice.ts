import { type Contract, type Operation, reachableFrom } from '../mappings/contract/model.ts';
import { didYouMean } from '../mappings/contract/nearest.ts';

/** Names of operations and tags that select a part of a contract, compared case-insensitively (W1). */
export interface SliceNames {
  readonly operations: readonly string[];
  readonly tags: readonly string[];
}

/** Thrown for an operation or tag that the contract does not have. */
export class UnknownName extends RangeError {
  override readonly name = 'UnknownName';

  constructor(kind: 'operation' | 'tag', given: string, known: readonly string[]) {
    const some =
      known.length > 10 ? `one of ${known.length} such as ${known[0]}` : `one of ${known.join(', ')}`;
    // a name that could be markup is not repeated
    const got = /^[\p{L}\p{N} ._:-]{1,64}$/u.test(given) ? JSON.stringify(given) : `another ${kind}`;
    super(`${kind}: expected ${known.length === 0 ? 'none' : some}, got ${got}${didYouMean(given, known)}`);
  }
}

/** Finds a contract's operations by their names and tags. */
export interface SliceFinder {
  /** Returns the selected operations in the contract's order. Throws UnknownName. */
  readonly find: (names: SliceNames) => readonly Operation[];
}

/** Creates the finder that resolves the query of a `?wsdl` request. */
export function createSliceFinder({ operations }: Contract): SliceFinder {
  const places = new Map(operations.map((operation, index) => [operation, index]));
  const byName = new Map(operations.map((operation) => [operation.name.toLowerCase(), operation]));
  const byTag = groupByTag(operations);
  return {
    find: (names) => {
      const found = new Set<Operation>();
      for (const name of names.operations) {
        const operation = byName.get(name.toLowerCase());
        if (operation === undefined)
          throw new UnknownName(
            'operation',
            name,
            [...places.keys()].map((one) => one.name),
          );
        found.add(operation);
      }
      for (const tag of names.tags) {
        const group = byTag.get(tag.toLowerCase());
        if (group === undefined) throw new UnknownName('tag', tag, tagsOf(operations));
        for (const operation of group) found.add(operation);
      }
      const placeOf = (operation: Operation): number => places.get(operation) ?? 0;
      return [...found].sort((one, other) => placeOf(one) - placeOf(other));
    },
  };
}

/**
 * Returns the contract reduced to the named operations and tags, with only the types and routes that they use. Throws
 * UnknownName.
 */
export function sliceContract(contract: Contract, names: SliceNames): Contract {
  return sliceOf(contract, createSliceFinder(contract).find(names));
}

/** Returns the contract reduced to these operations, with only the types and routes that they use. */
export function sliceOf(contract: Contract, operations: readonly Operation[]): Contract {
  const kept = new Set(operations);
  const reached = new Set(reachableFrom(operations.flatMap(({ input, output }) => [input, output])));
  return {
    ...contract,
    operations,
    types: contract.types.filter((type) => reached.has(type)),
    routes: contract.routes.filter(({ operation }) => kept.has(operation)),
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

function tagsOf(operations: readonly Operation[]): readonly string[] {
  return [...new Set(operations.flatMap(({ tags }) => tags))];
}
