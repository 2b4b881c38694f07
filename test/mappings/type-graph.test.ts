import { join } from 'node:path';
import test from 'ava';
import { anySimpleType, anyType } from '../../mappings/contract/built-in-types.ts';
import { jsonFormOf } from '../../mappings/contract/members.ts';
import type { ComplexType, SchemaType } from '../../mappings/contract/type-graph.ts';
import { buildContract } from '../../mappings/loader/build-contract.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';

const content = { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } };
const openapi = {
  openapi: '3.1.0',
  info: { title: 'Trees' },
  paths: {
    '/trees': {
      post: {
        operationId: 'Plant',
        requestBody: { content },
        responses: { 200: { description: '', content } },
      },
    },
  },
  components: {
    schemas: {
      Node: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', maxLength: 20 },
          size: { type: 'integer', format: 'int32' },
          state: { type: 'string', enum: ['new', 'old'] },
          children: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
          marks: { type: 'object', additionalProperties: { type: 'boolean' } },
          place: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
          either: { oneOf: [{ type: 'integer' }, { type: 'string' }] },
        },
      },
    },
  },
};
const { contract } = buildContract({
  openapi,
  openapiName: 'openapi.yaml',
  overlay: {},
  overlayName: 'soap.yaml',
});
const graph = typeGraphOf(contract);
const node = contract.types.find(({ name }) => name === 'Node');

/** Returns the element of a member of an object type. */
function elementIn(type: SchemaType, json: string) {
  const form = jsonFormOf(type, true);
  const member = form.kind === 'object' ? form.members.members.find((each) => each.json === json) : undefined;
  if (member?.kind !== 'element') throw new RangeError(`expected a member ${json}`);
  return member.element;
}

function nodeType(): ComplexType {
  const type = node === undefined ? undefined : graph.nodeOf(node);
  if (type?.kind !== 'complex') throw new RangeError('expected a complex type');
  return type;
}

test('a type has one node that refers to its type; a recursive type refers to itself', (t) => {
  const type = nodeType();
  t.is(typeGraphOf(contract), graph);
  t.is(graph.sourceOf(type), node);
  const form = jsonFormOf(elementIn(type, 'children').type, true);
  t.is(form.kind === 'list' && form.item.kind === 'element' ? form.item.element.type : undefined, type);
});

test('the XML side of an object is a sequence of qualified elements with their occurrence', (t) => {
  const { content: inner, name } = nodeType();
  const { types } = contract.namespaces;
  t.deepEqual(name, { namespace: types, local: 'Node' });
  const particle = inner.kind === 'elements' ? inner.particle : undefined;
  const elements = particle?.kind === 'sequence' ? particle.particles : [];
  t.deepEqual(
    elements.map((each) => (each.kind === 'element' ? [each.element.name.local, each.least, each.most] : [])),
    ['name', 'size', 'state', 'children', 'marks', 'place', 'either'].map((local) => [
      local,
      local === 'name' ? 1 : 0,
      1,
    ]),
  );
  t.true(elements.every((each) => each.kind === 'element' && each.element.name.namespace === types));
});

test('each type of an OpenAPI contract has the JSON form of its schema', (t) => {
  const kindOf = (json: string): string => jsonFormOf(elementIn(nodeType(), json).type, true).kind;
  t.deepEqual(['name', 'size', 'state', 'children', 'marks', 'place', 'either'].map(kindOf), [
    'scalar',
    'scalar',
    'scalar',
    'list',
    'map',
    'tuple',
    'union',
  ]);
  const size = elementIn(nodeType(), 'size').type;
  t.is(size.kind === 'simple' ? size.scalar : undefined, 'int');
  const state = elementIn(nodeType(), 'state').type;
  t.deepEqual(state.kind === 'simple' ? state.facets.enumeration : undefined, ['new', 'old']);
});

test('W20: a map is a sequence of entries with a key and a value', (t) => {
  const { type } = elementIn(nodeType(), 'marks');
  if (type.kind !== 'complex' || type.content.kind !== 'map') return t.fail('expected a map');
  const { item, key, value } = type.content;
  t.deepEqual([key.name.local, value.name.local], ['Key', 'Value']);
  t.is(item.type.kind, 'complex');
  t.true(type.isGenerated);
});

test('the positions of a tuple are optional elements that may be nil', (t) => {
  const form = jsonFormOf(elementIn(nodeType(), 'place').type, true);
  if (form.kind !== 'tuple') return t.fail('expected a tuple');
  t.deepEqual(
    form.positions.map(({ nillable }) => nillable),
    [true, true],
  );
});

test('A13: a WSDL type of one repeated member is an array where its element is there once', (t) => {
  const name = { namespace: 'urn:lists', local: 'Names' };
  const element = { ...elementIn(nodeType(), 'name'), type: anySimpleType, demands: undefined };
  const item = { kind: 'element', least: 0, most: Number.POSITIVE_INFINITY, element } as const;
  const particle = { kind: 'sequence', least: 1, most: 1, particles: [item] } as const;
  const list: ComplexType = {
    ...anyType,
    name,
    anyAttribute: false,
    content: { kind: 'elements', particle, mixed: false },
  };
  t.deepEqual(
    [true, false].map((once) => jsonFormOf(list, once).kind),
    ['list', 'object'],
  );
});

test('A7: the messages of a WSDL are those that its bindings declare', (t) => {
  const { contract: orders } = readContract(join(import.meta.dirname, '../fixtures/adopt/orders-rpc'));
  const messages = orders.operations.map((each) => typeGraphOf(orders).messagesOf(each));
  t.true(messages.every(({ input }) => input.body.kind === 'rpc'));
  t.true(messages.some(({ output }) => output === undefined));
});
