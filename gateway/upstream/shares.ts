/** Caller, network and operation of a call, for fair sharing. */
export interface CallKeys {
  /** A caller within its network. */
  readonly caller: string;
  readonly network: string;
  readonly operation: string;
}

/** Maximum share of one caller, network, operation or contract, as a multiple of the free slots. */
const callerShare = 4;
const networkShare = 8;
const operationShare = 8;
const contractShare = 8;

/** Maximum part of the share of a caller or network that one of its operations may use. */
const operationPart = 0.8;

/** Slots of a caller, network or contract, in total and by operation. */
interface Group {
  count: number;
  readonly operations: Map<string, number>;
}

/** Counts the slots that callers, networks and operations hold, and keeps each from taking all of them. */
export class Shares {
  readonly #callers = new Map<string, Group>();
  readonly #networks = new Map<string, Group>();
  readonly #contract: Group = { count: 0, operations: new Map() };

  constructor(...calls: readonly (readonly { readonly keys: CallKeys }[])[]) {
    for (const list of calls) for (const { keys } of list) this.add(keys, 1);
  }

  /**
   * Returns true if a call may take one of the free slots. A caller has at most 4 times the free slots, a network and an
   * operation 8 times. An operation has at most 80 % of the share of its caller and of its network.
   *
   * @param isExempt returns true for an operation whose slots do not count for callers and networks
   */
  hasSlotFor(
    { caller, network, operation }: CallKeys,
    free: number,
    isExempt: (operation: string) => boolean = () => false,
  ): boolean {
    return (
      (this.#contract.operations.get(operation) ?? 0) < free * operationShare &&
      groupHasSlot(this.#callers.get(caller), operation, free, callerShare, isExempt) &&
      groupHasSlot(this.#networks.get(network), operation, free, networkShare, isExempt)
    );
  }

  /**
   * Returns true if the contract may take a free slot. A contract has at most 8 times the free slots, and an operation at
   * most 80 % of that. All contracts share the slots.
   */
  contractHasSlotFor({ operation }: CallKeys, free: number): boolean {
    return groupHasSlot(this.#contract, operation, free, contractShare, () => false);
  }

  /**
   * Returns true if caller, network and operation hold fewer than `most` slots each.
   *
   * @param isCounted returns true for an operation whose slots count for callers and networks
   */
  hasFewerThan(
    most: number,
    { caller, network, operation }: CallKeys,
    isCounted: (operation: string) => boolean,
  ): boolean {
    return (
      (this.#contract.operations.get(operation) ?? 0) < most &&
      slotsOf(this.#callers.get(caller), isCounted) < most &&
      slotsOf(this.#networks.get(network), isCounted) < most
    );
  }

  /** @param change 1, or -1 for a call that ended */
  add({ caller, network, operation }: CallKeys, change: number): void {
    addToGroup(this.#callers, caller, operation, change);
    addToGroup(this.#networks, network, operation, change);
    this.#contract.count += change;
    add(this.#contract.operations, operation, change);
  }
}

/** Returns true if an operation of a caller, network or contract may take a free slot. */
function groupHasSlot(
  group: Group | undefined,
  operation: string,
  free: number,
  share: number,
  isExempt: (operation: string) => boolean,
): boolean {
  const count = slotsOf(group, (name) => !isExempt(name));
  const most = count + Math.max(0, Math.ceil((share * free - count) / (share + 1)));
  if (count >= most) return false;
  // one or two slots are too few to divide
  const mostOfOne = most < 3 ? most : Math.floor(most * operationPart);
  return (group?.operations.get(operation) ?? 0) < mostOfOne;
}

/** Returns the number of slots that some operations of a caller, network or contract hold. */
function slotsOf(group: Group | undefined, isCounted: (operation: string) => boolean): number {
  let count = 0;
  for (const [name, slots] of group?.operations ?? []) if (isCounted(name)) count += slots;
  return count;
}

function addToGroup(groups: Map<string, Group>, name: string, operation: string, change: number): void {
  let group = groups.get(name);
  if (group === undefined) {
    group = { count: 0, operations: new Map() };
    groups.set(name, group);
  }
  group.count += change;
  if (group.count === 0) groups.delete(name);
  else add(group.operations, operation, change);
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const sum = (counts.get(name) ?? 0) + change;
  if (sum === 0) counts.delete(name);
  else counts.set(name, sum);
}
