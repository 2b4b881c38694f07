import type { MovedHeader } from '../../mappings/contract/credentials.ts';
import type { JsonSchema } from './simple-types.ts';

/** Values of SOAP header blocks that are sent to the upstream in HTTP headers instead of members (A8). */

type Schemas = Record<string, JsonSchema>;

/**
 * Returns the OpenAPI security schemes of the HTTP headers: `bearer` and `basic` by the format, otherwise an API key in
 * a header.
 */
export function schemesOf(moved: readonly MovedHeader[]): JsonSchema {
  return Object.fromEntries(
    moved.map(({ name, header, format }) => {
      const [, scheme] = /^(bearer|basic) \{\}$/i.exec(format) ?? [];
      const isScheme = scheme !== undefined && header.toLowerCase() === 'authorization';
      return [
        name,
        {
          ...(isScheme
            ? { type: 'http', scheme: scheme.toLowerCase() }
            : { type: 'apiKey', in: 'header', name: header }),
          description: `${name} of the SOAP header${format === '{}' ? '' : `, as "${format}"`}.`,
        },
      ];
    }),
  );
}

/**
 * Returns the `security` of an operation with these header blocks: either none, since a block may be omitted, or all
 * schemes.
 */
export function securityOf(moved: readonly MovedHeader[], blocks: ReadonlySet<string>): JsonSchema {
  const own = moved.filter(({ block }) => blocks.has(block));
  if (own.length === 0) return {};
  return { security: [{}, Object.fromEntries(own.map(({ name }) => [name, []]))] };
}

/**
 * Removes the moved values from the schemas of a request's header blocks, in place. Shared components are copied, not
 * changed.
 *
 * @param blocks the schemas by the blocks' names
 */
export function takeMoved(blocks: Schemas, moved: readonly MovedHeader[], schemas: Schemas): void {
  for (const { block, path } of moved) {
    const schema = blocks[block];
    if (schema === undefined) continue;
    const left = without(schema, path, schemas);
    if (left === undefined) delete blocks[block];
    else blocks[block] = left;
  }
}

/** Deletes the components without references. */
export function dropUnused(document: JsonSchema, schemas: Schemas): void {
  for (let isDone = false; !isDone; ) {
    const text = JSON.stringify(document);
    const unused = Object.keys(schemas).filter(
      (name) => !text.includes(JSON.stringify(`#/components/schemas/${name}`)),
    );
    for (const name of unused) delete schemas[name];
    isDone = unused.length === 0;
  }
}

/** Returns an object's schema without the member at a path, or undefined if no member is left. */
function without(schema: JsonSchema, [name = '', ...path]: readonly string[], schemas: Schemas) {
  const { $ref, ...siblings } = schema;
  const target = typeof $ref === 'string' ? schemas[$ref.slice($ref.lastIndexOf('/') + 1)] : schema;
  const known = target?.properties as Schemas | undefined;
  const member = known?.[name];
  if (target === undefined || member === undefined) return schema;
  const { [name]: _, ...properties } = known ?? {};
  const inner: JsonSchema | undefined = path.length === 0 ? undefined : without(member, path, schemas);
  if (inner !== undefined) properties[name] = inner;
  if (Object.keys(properties).length === 0) return undefined;
  const required = ((target.required ?? []) as string[]).filter((one) => one in properties);
  const copy: JsonSchema = { ...target, ...($ref === undefined ? {} : siblings), properties };
  delete copy.required;
  if (required.length > 0) copy.required = required;
  return copy;
}
