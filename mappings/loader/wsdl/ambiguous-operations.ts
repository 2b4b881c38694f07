import type { AdoptedOperation, AdoptedService } from '../../contract/adopted.ts';
import type { Port } from '../../contract/model.ts';
import { expanded } from '../../contract/type-graph.ts';
import { someOf } from '../document/node.ts';

/**
 * Finds operations that no message to their endpoint can select, because other operations have the same body and their
 * actions are not unique (A6). Returns a sentence for each endpoint and body.
 */
export function findAmbiguousOperations(
  { operations: all }: AdoptedService,
  ports: readonly Port[],
): readonly string[] {
  const byName = new Map(all.map((operation) => [operation.name, operation]));
  return [...Map.groupBy(ports, ({ path }) => path)].flatMap(([path, ofPath]) => {
    const servedNames = new Set(ofPath.flatMap(({ operations }) => operations));
    const served = [...servedNames].flatMap((name) => byName.get(name) ?? []);
    return [...Map.groupBy(served, bodyOf)].flatMap(([body, operations]) => {
      const names = withoutOwnAction(operations).map(({ name }) => name);
      if (names.length === 0) return [];
      const shared = body === '' ? 'an empty body' : `the body element ${body}`;
      return [
        `no message to ${path} can select ${someOf(names)}: ${operations.length} operations have ${shared} and no unique action. Set different paths with "endpoints" in soap.yaml, or remove operations with "hide"`,
      ];
    });
  });
}

/** Returns the operations with the same body that have no unique action. Empty for a single operation. */
function withoutOwnAction(operations: readonly AdoptedOperation[]): readonly AdoptedOperation[] {
  if (operations.length < 2) return [];
  const counts = new Map<string, number>();
  for (const { actions } of operations)
    for (const action of new Set(actions)) counts.set(action, (counts.get(action) ?? 0) + 1);
  return operations.filter(({ actions }) => !actions.some((action) => counts.get(action) === 1));
}

/** The expanded name of the first element of the body; `''` for an empty body. */
function bodyOf({ input: { body } }: AdoptedOperation): string {
  if (body.kind === 'empty') return '';
  return expanded(body.kind === 'element' ? body.element.name : body.wrapper);
}
