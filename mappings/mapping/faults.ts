import type { Contract } from '../contract/model.ts';
import { isNode, type Node } from '../loader/document/node.ts';
import type { SchemaReader, Shape } from './schemas.ts';
import { anyShape } from './shape-checks.ts';
import { mediaIn, mediaOfForm, type TargetOperation } from './target.ts';

/** Declared faults of an adopted service in a mapping (A29, M7). */

/** By operation: the `@fault` value for each fault name that a mapping may use. */
export type FaultNames = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Returns the names of declared faults. Element names take precedence over names in the port type. */
export function faultNamesOf({ operations }: Pick<Contract, 'operations'>): FaultNames {
  return Object.fromEntries(
    operations.map(({ name, binding: { faults } }) => {
      const names: Record<string, string> = {};
      for (const { name: called, element } of faults) names[called] = element.name.local;
      for (const { element } of faults) names[element.name.local] = element.name.local;
      return [name, names];
    }),
  );
}

/**
 * Returns the detail of each declared fault by its `@fault` value, from the `4XX` response of a derived document (A32).
 */
export function faultShapes(old: TargetOperation, reader: SchemaReader): ReadonlyMap<string, Shape> {
  const stated = old.schemas.fault;
  const schema = reader.resolve(stated);
  const alternatives = isNode(schema) && Array.isArray(schema.oneOf) ? schema.oneOf : [stated];
  const shapes = new Map<string, Shape>();
  for (const alternative of alternatives) {
    const shape = reader.shapeOf(alternative);
    const [name] = shape.members.get('@fault')?.shape.values ?? [];
    if (name !== undefined && !shapes.has(name)) shapes.set(name, withoutName(shape));
  }
  return shapes;
}

/** Returns a detail without `@fault`, which the mapping determines by the key of the fault. */
function withoutName({ kinds, members, others, open, items, values, base64 }: Shape): Shape {
  const filled = new Map([...members].filter(([name]) => name !== '@fault'));
  return { kinds, members: filled, others, open, items, values, base64 };
}

/**
 * Returns the body of an error response. Statuses that the document does not describe use `4XX` or `default`. If any of
 * the responses has no JSON, any value is accepted.
 *
 * @param statuses for example `404`; undefined for all described error statuses
 */
export function errorShape(
  { responses }: TargetOperation,
  reader: SchemaReader,
  statuses: readonly string[] | undefined,
): Shape {
  const described = Object.keys(responses).filter((status) => !/^[123]/.test(status));
  const schemas = new Set<unknown>();
  for (const status of statuses ?? described) {
    const response = reader.resolve(responseTo(responses, status));
    const content = isNode(response) ? mediaIn(response.content, reader) : [];
    const json = mediaOfForm(content, 'json');
    if (json === undefined) return anyShape;
    schemas.add(json.schema);
  }
  const [first, ...more] = schemas;
  if (first === undefined) return anyShape;
  return reader.shapeOf(more.length === 0 ? first : { oneOf: [...schemas] });
}

function responseTo(responses: Node, status: string): unknown {
  const range = `${status.charAt(0)}XX`;
  return responses[status] ?? responses[range] ?? responses[range.toLowerCase()] ?? responses.default;
}
