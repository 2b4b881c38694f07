import test from 'ava';
import { compileContract } from '../../mappings/compile.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { readXml, writeReply } from '../mappings/codec/codec-calls.ts';
import { load } from './documents.ts';

/** Compiles a contract with one operation, `put`, that takes and returns a `Node`. */
function compileNode(schemas: object) {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } };
  const put = {
    operationId: 'put',
    requestBody: { content },
    responses: { 200: { description: '', content } },
  };
  const info = { title: 'Nodes', version: '1' };
  const { contract } = load({ openapi: '3.1.0', info, paths: { '/': { put } }, components: { schemas } });
  return compileContract(contract, defaultLimits);
}

const node = { $ref: '#/components/schemas/Node' };

test('a reply of nested unions that matches no variant is handled in bounded time', (t) => {
  const variant = (type: string): object => ({
    type: 'object',
    required: ['next', 'value'],
    properties: { next: node, value: { type } },
  });
  const compiled = compileNode({ Node: { oneOf: [variant('integer'), variant('boolean')] } });
  const deepest = 60;
  const value = `${'{"next":'.repeat(deepest)}null${',"value":"neither"}'.repeat(deepest)}`;
  const { xml } = writeReply(compiled, 'put', value);
  t.true(xml.includes(`<Result><Json>${value}</Json></Result>`));
});

test('W42: a missing member of a type that requires itself is reported once', (t) => {
  const compiled = compileNode({
    Node: {
      type: 'object',
      required: ['next', 'name'],
      properties: { next: node, name: { type: 'string' } },
    },
  });
  const { missing } = readXml(compiled, 'put', '<Body><name>n</name></Body>');
  t.deepEqual(missing, ['Body.next.next', 'Body.next.name']);
});

test('a union whose members build it in sums has a finite number of types', (t) => {
  const again = { allOf: [node, { type: 'object', required: ['x'] }] };
  const compiled = compileNode({
    Node: {
      type: 'object',
      properties: { inner: { type: 'object', properties: { again } } },
      oneOf: [{ type: 'object', properties: { x: { type: 'string' } } }, { type: 'string' }],
    },
  });
  t.is(compiled.contract.types.length, 5);
});
