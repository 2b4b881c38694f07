import type { Order } from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import { MismatchError } from '../problem.ts';
import type { Choosing, CompiledContent, ContentMember } from './content-model.ts';

/** Members that exclude each other, and members with several positions (A15). */

const { nothing } = nodeKinds;

/**
 * Returns the choices of an order that contain a member. A choice counts only if the member has no position outside it.
 */
export function orderAround(order: Order, index: number): Order {
  if (order.kind === 'sequence')
    return { ...order, parts: order.parts.map((part) => orderAround(part, index)).filter(isNotEmpty) };
  const isIn =
    order.kind === 'choice' &&
    !order.outside.has(index) &&
    order.parts.some(({ members }) => members.has(index));
  return isIn ? order : { kind: 'sequence', parts: [] };
}

function isNotEmpty(order: Order): boolean {
  return order.kind !== 'sequence' || order.parts.length > 0;
}

export function namesOf(
  { members }: CompiledContent,
  [one, other]: readonly [number, number],
): readonly [string, string] {
  return [(members[one] as ContentMember).json, (members[other] as ContentMember).json];
}

/**
 * Returns two members that exclude each other; undefined if each choice has a branch with all members that occur (A15).
 */
export function conflictOf(
  { choices, order }: Choosing,
  present: readonly number[],
): readonly [number, number] | undefined {
  if (choices === undefined) return undefined;
  if (order !== undefined) return conflictIn(order, present);
  for (const { branches, members } of choices) {
    const its = present.filter((index) => members.has(index));
    if (branches.some((branch) => its.every((index) => branch.has(index)))) continue;
    for (const one of its) {
      const other = its.find((index) => !branches.some((branch) => branch.has(one) && branch.has(index)));
      if (other !== undefined) return [one, other];
    }
  }
  return undefined;
}

/**
 * Finds a conflict if members have several positions: each choice needs a branch that has all members without a
 * position elsewhere.
 */
function conflictIn(order: Order, present: readonly number[]): readonly [number, number] | undefined {
  if (order.kind === 'member') return undefined;
  if (order.kind === 'sequence') {
    for (const part of order.parts) {
      const both = conflictIn(part, present);
      if (both !== undefined) return both;
    }
    return undefined;
  }
  if (present.length < 2) return undefined;
  const { parts, outside } = order;
  const its = present.filter(
    (index) => !outside.has(index) && parts.some(({ members }) => members.has(index)),
  );
  if (its.length < 2) return undefined;
  let within: readonly [number, number] | undefined;
  for (const { members, order: part } of parts) {
    if (!its.every((index) => members.has(index))) continue;
    const both = conflictIn(part, its);
    if (both === undefined) return undefined;
    within ??= both;
  }
  return within ?? [its[0] as number, its.at(-1) as number];
}

/** Returns true if a member's node (-1 for none) holds a value. A null and an empty list are no values. */
export function isThere({ repeats }: ContentMember, { words }: Tape, node: number): boolean {
  return node !== -1 && words[node] !== nothing && !(repeats && words[node + 1] === -1);
}

/** A branch of a choice. */
type Branch = Extract<Order, { readonly kind: 'choice' }>['parts'][number];

const noMember: ReadonlySet<number> = new Set();

/** Weight of a nil element; a value weighs 1. */
const nilWeight = 2 ** -20;

/**
 * Writes members that have several positions (A15): the branch of a choice that takes most of the remaining members,
 * and each element in its first free position.
 */
export function writeOrdered(
  { members }: CompiledContent,
  whole: Order,
  tape: Tape,
  slots: number,
  output: Output,
): void {
  const { words } = tape;
  // by member: 0 before the first write, -1 after the last one, otherwise the next entry of the list
  const next = new Int32Array(members.length);
  const present: number[] = [];
  for (let index = 0; index < members.length; index++) if (words[slots + index] !== -1) present.push(index);
  const weightAt = (index: number): number => {
    const node = words[slots + index] as number;
    const member = members[index] as ContentMember;
    if (next[index] === -1 || node === -1) return 0;
    if (isThere(member, tape, node)) return 1;
    return member.takesNull ? nilWeight : 0;
  };
  /** Returns the members that an order takes; for a choice, those of its heaviest branch. */
  const takenBy = (order: Order): ReadonlySet<number> => {
    if (order.kind === 'member') return new Set([order.index]);
    if (order.kind === 'choice') return heaviest(filled(order.parts))?.taken ?? noMember;
    return new Set(order.parts.flatMap((part) => [...takenBy(part)]));
  };
  /** Returns the branches with something to write. Most choices of a large type have none or one. */
  const filled = (parts: readonly Branch[]): readonly Branch[] =>
    parts.filter((part) => present.some((index) => next[index] !== -1 && part.members.has(index)));
  const heaviest = (parts: readonly Branch[]) => {
    const weighed = parts.map(({ order }) => {
      const taken = takenBy(order);
      return { order, taken, weight: [...taken].reduce((sum, index) => sum + weightAt(index), 0) };
    });
    return weighed.reduce<(typeof weighed)[number] | undefined>(
      (best, one) => (best === undefined || one.weight > best.weight ? one : best),
      undefined,
    );
  };
  const write = (order: Order): void => {
    if (order.kind === 'sequence') {
      for (const part of order.parts) write(part);
      return;
    }
    if (order.kind === 'choice') {
      const parts = filled(order.parts);
      const branch = parts.length > 1 ? heaviest(parts) : parts[0];
      if (branch !== undefined) write(branch.order);
      return;
    }
    const { index, most } = order;
    const member = members[index] as ContentMember;
    if (weightAt(index) === 0) return;
    const node = words[slots + index] as number;
    if (!member.repeats || member.rounds !== undefined) {
      member.write(tape, node, output);
      next[index] = -1;
      return;
    }
    let entry = (next[index] === 0 ? words[node + 1] : next[index]) as number;
    for (let count = 0; count < most && entry !== -1; count++) {
      member.writeItem(tape, entry + 1, output);
      entry = words[entry] as number;
    }
    next[index] = entry;
  };
  write(whole);
  const left = present.find((index) => weightAt(index) === 1);
  if (left !== undefined)
    throw new MismatchError({ expected: 'no more than the schema has places for', got: 'more' }).at(
      (members[left] as ContentMember).json,
    );
}
