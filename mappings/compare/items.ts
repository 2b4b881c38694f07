import type { Limits } from '../contract/limits.ts';
import type { Contract } from '../contract/model.ts';
import { type Part, readPart } from '../json/parts.ts';
import type { Duplicate } from './blend.ts';
import type { Comparison } from './comparison.ts';
import { replyLimits } from './reply.ts';
import type { CompareSettings } from './rules.ts';
import { sensitiveMembers } from './sensitivity.ts';
import { type Shape, Shapes } from './shapes.ts';
import { Sink, TooMuchWork } from './sink.ts';
import { Values } from './values.ts';

/** Maximum number of items of one reply that are compared. */
export const maxComparedDuplicates = 1_000;

/**
 * Compares items that both lists of a blended reply have (G30). Paths have the positions in the legacy list.
 *
 * @param list names of members from the reply to the list
 * @param now time in ms, for `until` of rules
 */
export type CompareDuplicates = (
  operation: string,
  list: readonly string[],
  duplicates: readonly Duplicate[],
  now: number,
) => Comparison;

/** Compiles the comparison of items of an adopted contract. */
export function compileDuplicates(
  contract: Contract,
  settings: CompareSettings,
  limits: Limits,
): CompareDuplicates {
  const shapes = new Shapes(contract);
  const sensitive = sensitiveMembers(contract);
  const ofReplies = replyLimits(limits);
  return (name, list, duplicates, now) => {
    const operation = contract.operations.find((one) => one.name === name);
    if (operation === undefined)
      throw new RangeError(`compare: expected an operation of the contract, got ${name}`);
    const sink = new Sink(name, settings, sensitive, now);
    const values = new Values(shapes, sink, limits.compareItems);
    let shape: Shape = shapes.replyOf(operation);
    for (const member of list) {
      sink.path.push(member);
      shape = (shape.kind === 'object' && shape.slots.get(member)?.shape()) || { kind: 'any' };
    }
    const item = shape.kind === 'list' ? shape.item() : shape;
    const read = (json: string): Part => readPart(json, ofReplies);
    const length = sink.path.length;
    try {
      for (const { index, legacy, new: fresh } of duplicates.slice(0, maxComparedDuplicates))
        values.compareAt(index, { shape: () => item }, read(legacy), read(fresh));
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      sink.path.length = length;
    }
    return sink.comparison();
  };
}
