import type { AdoptedService } from '../contract/adopted.ts';
import { isNode, type Node } from '../loader/document/node.ts';
import { anyShape } from './compile-rules.ts';
import type { SchemaReader, Shape } from './schemas.ts';
import { mediaIn, mediaOfForm, type TargetOperation } from './target.ts';

/** The declared faults of an adopted service as a mapping fills them (A29, M7). */

/** By operation: the name that `@fault` has for each name that a mapping may use. */
export type FaultNames = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The names of declared faults: those of their elements, then those that the port type gives them. */
export function faultNamesOf({ operations }: Pick<AdoptedService, 'operations'>): FaultNames {
  return Object.fromEntries(
    operations.map(({ name, faults }) => {
      const names: Record<string, string> = {};
      for (const { name: called, element } of faults) names[called] = element.name.local;
      for (const { element } of faults) names[element.name.local] = element.name.local;
      return [name, names];
    }),
  );
}

/** The detail of each declared fault by the name in `@fault`, from the `4XX` response of a derived document (A32). */
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

/** The members of a detail that rules fill: `@fault` is the key of the fault in the mapping. */
function withoutName({ kinds, members, others, open, items, values, base64 }: Shape): Shape {
  const filled = new Map([...members].filter(([name]) => name !== '@fault'));
  return { kinds, members: filled, others, open, items, values, base64 };
}

/**
 * The body of an error answer. A status that the document does not describe is looked up as `4XX` or `default`. Whatever comes is
 * taken if one of them has no JSON.
 *
 * @param statuses such as `404`; undefined for all that the document describes
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
