// Arrays, and tuples: arrays with separate types for the first items.
import type { Position, TupleType, Type } from '../../contract/model.ts';
import { isNode, type Node } from '../document/node.ts';
import { memberDocumentation } from './documentation.ts';
import type { Draft } from './drafts.ts';
import { documentationOf, endsAfter } from './keywords.ts';
import type { SchemaContext } from './schema-context.ts';

/** Returns the type of an array schema; JSON text if any items are allowed. `name` is the name for a tuple. */
export function arrayOf(context: SchemaContext, schema: Node, pointer: string, name: string): Type {
  const { items, prefixItems } = schema;
  if (Array.isArray(prefixItems) && prefixItems.length > 0)
    return tupleOf(context, schema, prefixItems, pointer, name);
  if (items === undefined || items === true || (isNode(items) && Object.keys(items).length === 0))
    return context.drafts.asJson(pointer, 'an array of anything');
  const item = context.itemOf(items, `${pointer}/items`, `${name}Item`);
  return context.drafts.collections.arrayOf(item.type, item.nullable);
}

function tupleOf(
  context: SchemaContext,
  schema: Node,
  prefix: readonly unknown[],
  pointer: string,
  name: string,
): TupleType {
  const { drafts } = context;
  const positions: Position[] = [];
  const documentation = documentationOf(schema);
  const type: Draft<TupleType> = { kind: 'tuple', name, documentation, positions, rest: undefined };
  drafts.fillLater(() => {
    for (const [index, item] of prefix.entries())
      positions.push(positionOf(context, item, `${pointer}/prefixItems/${index}`, name, index));
    if (!endsAfter(schema, prefix.length)) type.rest = restOf(context, schema, pointer, name);
  });
  return drafts.register(type, pointer);
}

function positionOf(
  context: SchemaContext,
  schema: unknown,
  pointer: string,
  owner: string,
  index: number,
): Position {
  const { rules, references } = context;
  const xml = `Item${index + 1}`;
  const { type } = context.itemOf(schema, pointer, owner + xml);
  const member = { schema, pointer, type, allowed: undefined };
  return { xml, type, ...rules.at(schema, pointer), ...memberDocumentation(member, references) };
}

/** Returns the element of the items after the listed ones. */
function restOf(
  context: SchemaContext,
  { items }: Node,
  owner: string,
  name: string,
): NonNullable<TupleType['rest']> {
  const { drafts, rules } = context;
  const pointer = `${owner}/items`;
  const { type, nullable } = isNode(items)
    ? context.itemOf(items, pointer, `${name}Item`)
    : { type: drafts.asJson(pointer, 'items after the listed items can have any type'), nullable: true };
  return {
    xml: 'Items',
    type: drafts.collections.arrayOf(type, nullable),
    ...rules.inside('items', items, pointer),
  };
}
