import test from 'ava';
import { problemText } from '../../../mappings/codec/problem.ts';
import { load } from '../../plain/documents.ts';
import { compile, operationOf, readXml } from '../codec/codec-calls.ts';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const pairs = { type: 'object', properties: { 'a b': text, 'é|': text } };
const query = [
  { name: 'tags[]', schema: texts },
  { name: '$filter', schema: text },
  { name: 'a|b^c`d"e', schema: text },
  { name: 'deep', style: 'deepObject', explode: true, schema: pairs },
  { name: 'deep[x]', style: 'deepObject', explode: true, allowReserved: true, schema: pairs },
  { name: 'pipe', style: 'pipeDelimited', explode: false, schema: texts },
  { name: 'pipes', style: 'pipeDelimited', explode: false, allowReserved: true, schema: pairs },
  { name: 'space', style: 'spaceDelimited', explode: false, schema: texts },
  { name: 'raw', allowReserved: true, schema: text },
  { name: 'json[]', content: { 'application/json': { schema: pairs } } },
];
const document = {
  openapi: '3.1.0',
  info: { title: 'Targets', version: '1' },
  paths: {
    '/find/{id}/{m[]}': {
      get: {
        operationId: 'find',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: text },
          { name: 'm[]', in: 'path', style: 'matrix', explode: true, required: true, schema: texts },
          ...query.map((parameter) => ({ in: 'query', ...parameter })),
        ],
        responses: { 204: { description: '' } },
      },
    },
  },
};

/** A request target of RFC 3986: path (§3.3) and query (§3.4). */
const target = /^\/(?:[\w.~!$&'()*+,;=:@/-]|%[\dA-F]{2})*\?(?:[\w.~!$&'()*+,;=:@/?-]|%[\dA-F]{2})*$/;

test('W35: every name, delimiter and value of a request target is valid by RFC 3986', (t) => {
  const compiled = compile(load(document).contract);
  const { contract } = compiled;
  const operation = contract.operations.find(({ name }) => name === 'find');
  const awkward = 'a[b]{c}^`é"&lt;> \\';
  const elements = (operation?.input.fields ?? []).map(({ xml, type }) => {
    if (type.kind === 'array') return `<${xml}><string>${awkward.replace(' ', '')}</string></${xml}>`;
    if (type.kind !== 'record') return `<${xml}>${awkward}|</${xml}>`;
    const members = type.fields.map((field) => `<${field.xml}>${awkward}</${field.xml}>`);
    return `<${xml}>${members.slice(0, xml.startsWith('pipes') ? 1 : 2).join('')}</${xml}>`;
  });
  const { input, problems } = readXml(compiled, 'find', elements.join(''));
  t.deepEqual(problems, []);
  const path = operationOf(compiled, 'find').request(input, undefined)?.path ?? '';
  t.deepEqual(input.reading.problems, []);
  t.regex(path, target);
  t.true(path.includes('tags%5B%5D='), path);
  t.true(path.includes('deep%5Ba%20b%5D='), path);
  t.true(path.includes('$filter='), path);
});

test('W35: refuses an item of a pipeDelimited list that contains a bar', (t) => {
  const compiled = compile(load(document).contract);
  const { input } = readXml(
    compiled,
    'find',
    '<id>1</id><m_x005B__x005D_><string>a</string></m_x005B__x005D_><pipe><string>a|b</string></pipe>',
  );
  t.is(operationOf(compiled, 'find').request(input, undefined), undefined);
  t.deepEqual(input.reading.problems.map(problemText), [
    'pipe: expected no "|" in an item of a list that bars divide, got an item with "|"',
  ]);
});
