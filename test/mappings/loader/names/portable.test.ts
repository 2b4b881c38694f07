import test from 'ava';
import { summaryOf } from '../../../../gateway/commands/check.ts';
import { compileContract } from '../../../../mappings/compile.ts';
import { buildContract, type LoadedContract } from '../../../../mappings/loader/build-contract.ts';
import type { ContractNames } from '../../../../mappings/loader/names/names.ts';
import { unusableNames } from '../../../../mappings/loader/names/portable.ts';
import { operationOf, readXml, writeReply } from '../../codec/codec-calls.ts';

const text = { type: 'string' } as const;

/** Returns a document with names that break clients. Members are strings by default. */
function documentOf(properties: object, parameters: readonly object[] = []): object {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/doc' } } };
  const headers = { 'X-Total': { schema: { type: 'integer' } } };
  return {
    openapi: '3.0.3',
    info: { title: 'Names', version: '1' },
    paths: {
      '/docs': {
        post: {
          operationId: 'findDocs',
          parameters,
          requestBody: { required: true, content },
          responses: { 200: { description: '', headers, content } },
        },
      },
    },
    components: { schemas: { doc: { type: 'object', properties } } },
  };
}

function build(document: object, overlay: object = {}, names?: ContractNames): LoadedContract {
  return buildContract({
    openapi: document,
    openapiName: 'openapi.yaml',
    overlay,
    overlayName: 'soap.yaml',
    ...(names === undefined ? {} : { names }),
  });
}

const typesOf = ({ contract }: LoadedContract): readonly string[] => contract.types.map(({ name }) => name);

/** Returns the elements of a type in order. */
function elementsOf({ contract }: LoadedContract, name: string): readonly string[] {
  const type = contract.types.find((one) => one.name === name);
  return type?.kind === 'record' ? type.fields.map(({ xml }) => xml) : [];
}

const awkward = documentOf({
  _id: text,
  '@type': text,
  class: text,
  attributes: {
    type: 'object',
    properties: {
      name: text,
      _links: { type: 'array', items: { type: 'object', properties: { _href: text } } },
    },
  },
});

test('generated type names start with a capital, those of the document are unchanged', (t) => {
  t.deepEqual(typesOf(build(awkward)), [
    'ArrayOfDocAttributes_linksItem',
    'DocAttributes',
    'DocAttributes_linksItem',
    'FindDocsResult',
    'doc',
  ]);
  const hidden = JSON.parse(
    JSON.stringify(awkward).replaceAll('schemas/doc', 'schemas/_doc').replace('"doc":', '"_doc":'),
  );
  t.true(typesOf(build(hidden)).includes('DocAttributes'));
});

test('names.lock keeps type names that start in lower case', (t) => {
  const { names } = build(awkward);
  const key = '/paths/~1docs/post/responses#findDocsResult';
  t.is(names.types.get(key), 'FindDocsResult');
  const lower = (kept: ContractNames['types']): ContractNames['types'] =>
    new Map(
      [...kept].map(([at, name]) => [
        at,
        at === 'json' || at.startsWith('fault') ? name : name.charAt(0).toLowerCase() + name.slice(1),
      ]),
    );
  const locked = { ...names, types: lower(names.types) };
  for (const overlay of [{}, { names: 'portable' }]) {
    const kept = build(awkward, overlay, locked);
    t.true(typesOf(kept).includes('findDocsResult'));
    t.deepEqual(kept.names.types, locked.types);
    t.deepEqual(kept.names.members, locked.members);
    t.deepEqual(elementsOf(kept, 'doc'), ['_id', '_x0040_type', 'class', 'attributes_f1b4']);
  }
});

test('names: portable gives elements and types names that every stack can use', (t) => {
  const loaded = build(awkward, { names: 'portable' });
  t.deepEqual(elementsOf(loaded, 'Doc'), ['id', 'type', 'Class', 'Attributes']);
  t.deepEqual(elementsOf(loaded, 'DocAttributes'), ['name', 'links']);
  t.deepEqual(unusableNames(loaded.names), []);
  const names = [
    '__a__',
    'a b',
    'a.b-c',
    '1st',
    '@',
    '',
    'größe',
    '日本',
    '$ref',
    'x_x0041_',
    'Class',
    'ATTRIBUTES',
  ];
  const others = build(documentOf(Object.fromEntries(names.map((name) => [name, text]))), {
    names: 'portable',
  });
  t.deepEqual(elementsOf(others, 'Doc'), [
    'a',
    'a_b',
    'a_b_c',
    'N1st',
    'N_c364',
    'N',
    'größe',
    '日本',
    'ref',
    'x_x005F_x0041',
    'Class',
    'ATTRIBUTES',
  ]);
});

test('names: portable keeps members separate that would have one name', (t) => {
  const loaded = build(documentOf({ _id: text, id: text, '@id': text }), { names: 'portable' });
  const names = elementsOf(loaded, 'Doc');
  t.is(new Set(names).size, 3);
  t.true(
    names.every((name) => /^id(?:_[0-9a-f]{4})?$/.test(name)),
    names.join(),
  );
});

test('names: portable changes only elements: JSON names are the same in both directions', (t) => {
  const { contract } = build(awkward, { names: 'portable' });
  const compiled = compileContract(contract);
  const body =
    '<Body><id>1</id><type>t</type><Class>c</Class><Attributes><name>n</name><links><DocAttributes_linksItem><href>h</href></DocAttributes_linksItem></links></Attributes></Body>';
  const read = readXml(compiled, 'findDocs', body);
  t.deepEqual(read.problems, []);
  const json = { _id: '1', '@type': 't', class: 'c', attributes: { name: 'n', _links: [{ _href: 'h' }] } };
  t.deepEqual(JSON.parse(operationOf(compiled, 'findDocs').jsonOf(read.input)), { Body: json });
  const { xml } = writeReply(compiled, 'findDocs', JSON.stringify({ StatusCode: 200, Body: json }));
  t.true(xml.includes(body), xml);
  t.regex(
    readXml(compiled, 'findDocs', '<Body><_id>1</_id></Body>').problems.join(),
    /_id: unknown element, did you mean id/,
  );
});

test('check lists names that client stacks cannot use, each once, with the portable name', (t) => {
  const both = ['suds', 'gowsdl (Go)'];
  const expected = [
    { name: '_x0040_type', of: 'element', stacks: both, portable: 'type' },
    { name: '_id', of: 'element', stacks: both, portable: 'id' },
    { name: '_href', of: 'element', stacks: both, portable: 'href' },
    { name: '_links', of: 'element', stacks: both, portable: 'links' },
    { name: 'class', of: 'element', stacks: ['suds'], portable: 'Class' },
    { name: 'doc', of: 'type', stacks: ['gowsdl (Go)'], portable: 'Doc' },
  ];
  const summary = summaryOf(build(awkward)) as {
    readonly unusableNames: readonly { readonly name: string }[];
  };
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => a.name.localeCompare(b.name);
  t.deepEqual([...summary.unusableNames].sort(byName), expected.sort(byName));
});

test('parameter elements have no dash or dot, which Mono’s svcutil cannot handle', (t) => {
  const parameters = [
    { name: 'X-Trace-Id', in: 'header', schema: text },
    { name: 'page.size', in: 'query', schema: { type: 'integer' } },
    { name: 'plain', in: 'query', schema: text },
  ];
  const loaded = build(documentOf({ 'a-b': text }, parameters));
  const [operation] = loaded.contract.operations;
  t.deepEqual(
    operation?.input.fields.map(({ xml }) => xml),
    ['X_Trace_Id', 'page_size', 'plain', 'Body'],
  );
  t.deepEqual(elementsOf(loaded, 'doc'), ['a-b']);
  t.deepEqual(elementsOf(loaded, 'FindDocsResult'), ['StatusCode', 'X-Total', 'Body']);
  const compiled = compileContract(loaded.contract);
  const { input, problems } = readXml(
    compiled,
    'findDocs',
    '<X_Trace_Id>t</X_Trace_Id><page_size>7</page_size><Body><a-b>x</a-b></Body>',
  );
  t.deepEqual(problems, []);
  const call = operationOf(compiled, 'findDocs').request(input, { all: new Map(), fromHeaders: new Set() });
  t.is(call?.headers['x-trace-id'], 't');
  t.regex(call?.path ?? '', /\?page\.size=7$/);
  const locked = build(
    documentOf({ 'a-b': text }, parameters),
    {},
    { ...loaded.names, members: new Map([['findDocs/properties/X-Trace-Id', 'X-Trace-Id']]) },
  );
  t.is(locked.contract.operations[0]?.input.fields[0]?.xml, 'X-Trace-Id');
});
