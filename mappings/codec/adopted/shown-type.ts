import type { AdoptedService } from '../../contract/adopted.ts';
import { attributeMembers, membersOf } from '../../contract/members.ts';
import type { ArrayType, Field, RecordType, Type, UnionType, Variant } from '../../contract/model.ts';
import { type Member, messageElements, reachableTypes, type SchemaType } from '../../contract/type-graph.ts';

/**
 * Returns the type that selects the parts of an adopted service's messages that a log may show. It is an object with
 * every member name of the service, at any depth. XML text of open content (A22 to A24) is not shown.
 */
export function shownTypeOf(service: AdoptedService): RecordType {
  const names = new Set([
    '@headers',
    '@items',
    '@type',
    '@value',
    '@nil',
    '@fault',
    '@message',
    '@code',
    '@actor',
    'value',
  ]);
  const noteMembers = (members: readonly Member[]): void => {
    for (const member of members) {
      if (member.kind === 'any') continue;
      names.add(member.json);
      if (member.kind === 'element') for (const { name } of member.element.substitutes) names.add(name.local);
      if (member.kind === 'rounds') noteMembers(member.content.members);
    }
  };
  const roots: SchemaType[] = [...service.types.values()];
  for (const { input, output, faults } of service.operations) {
    for (const message of output === undefined ? [input] : [input, output])
      for (const element of messageElements(message)) {
        if (message.body.kind !== 'element' || element !== message.body.element)
          names.add(element.name.local);
        roots.push(element.type);
      }
    for (const { element } of faults) roots.push(element.type);
  }
  for (const type of reachableTypes(roots)) {
    if (type.kind === 'simple') continue;
    const members = type.content.kind === 'elements' ? membersOf(type.content.particle).members : [];
    noteMembers(members);
    for (const { json } of attributeMembers(type.attributes, members)) names.add(json);
  }
  return recordOf(names);
}

/**
 * Returns a record with members of these names. Their values are texts, numbers, booleans, the same record, or lists of
 * these.
 */
function recordOf(names: ReadonlySet<string>): RecordType {
  const variants: Variant[] = [];
  const value: UnionType = { kind: 'union', name: 'Shown', documentation: '', variants };
  const fields = [...names].map((json): Field => {
    return {
      json,
      xml: json,
      type: value,
      nillable: true,
      required: false,
      notEmpty: false,
      allowed: undefined,
    };
  });
  const record: RecordType = { kind: 'record', name: 'ShownRecord', documentation: '', fields };
  const list: ArrayType = {
    kind: 'array',
    name: 'ShownList',
    namespace: 'types',
    itemName: 'Item',
    item: value,
  };
  const types: readonly Type[] = [{ kind: 'scalar', scalar: 'string' }, list, record];
  for (const type of types) variants.push({ xml: 'Shown', type, takes: 'any', tag: undefined });
  return record;
}
