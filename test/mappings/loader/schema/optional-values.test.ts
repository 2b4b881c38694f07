import test from 'ava';
import { compileContract } from '../../../../mappings/compile.ts';
import type { Contract } from '../../../../mappings/contract/model.ts';
import { writeWsdl } from '../../../../wsdl/wsdl.ts';
import { load } from '../../../plain/documents.ts';
import { operationOf, readXml, writeReply } from '../../codec/codec-calls.ts';

const state = { type: 'string', enum: ['on', 'off'] };

/** Members of a body: optional values, a nullable and a required one, and types that can be null in .NET. */
const properties = {
  price: { type: 'number' },
  count: { type: 'integer', format: 'int32' },
  ratio: { type: 'number', format: 'double' },
  active: { type: 'boolean' },
  from: { type: 'string', format: 'date-time' },
  day: { type: 'string', format: 'date' },
  takes: { type: 'string', format: 'duration' },
  state: { $ref: '#/components/schemas/State' },
  maybe: { type: 'integer', nullable: true },
  must: { type: 'integer' },
  note: { type: 'string' },
  inner: { type: 'object', properties: { size: { type: 'integer' } } },
  either: {
    oneOf: [
      { type: 'integer' },
      { type: 'boolean' },
      { type: 'object', properties: { x: { type: 'string' } } },
    ],
  },
  list: { type: 'array', items: { type: 'integer' } },
};
const values = ['price', 'count', 'ratio', 'active', 'from', 'day', 'takes', 'state'];

const document = {
  openapi: '3.0.3',
  info: { title: 'Prices', version: '1' },
  paths: {
    '/prices/{sku}': {
      patch: {
        operationId: 'changePrice',
        parameters: [
          { name: 'sku', in: 'path', required: true, schema: { type: 'integer' } },
          { name: 'limit', in: 'query', schema: { type: 'integer', default: 20 } },
          { name: 'state', in: 'query', schema: { $ref: '#/components/schemas/State' } },
          { name: 'X-Since', in: 'header', schema: { type: 'string', format: 'date-time' } },
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Change' } } },
        },
        responses: {
          200: {
            description: '',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Change' } } },
          },
        },
      },
    },
  },
  components: { schemas: { State: state, Change: { type: 'object', required: ['must'], properties } } },
};

const contractOf = (overlay: object): Contract => load(document, undefined, overlay).contract;
const contract = contractOf({ optionalValues: 'nillable' });
const compiled = compileContract(contract);

/** Returns the nillable elements of a contract's WSDL without those of the fault's detail. */
function nillableIn(of: Contract): readonly string[] {
  const elements =
    writeWsdl(of, { address: 'http://a.example' }).match(/<xs:element minOccurs="0" [^>]*nillable="true"/g) ??
    [];
  return elements
    .filter((tag) => !tag.includes('maxOccurs'))
    .map((tag) => / name="([^"]*)"/.exec(tag)?.[1] ?? '');
}

test('optionalValues: nillable makes optional members, parameters and variants nillable', (t) => {
  const expected = [...values, 'maybe', 'limit', 'state', 'X_Since', 'size', 'Integer', 'Boolean'];
  t.deepEqual(nillableIn(contract).toSorted(), expected.toSorted());
});

test('by default only nullable values are nillable', (t) => {
  for (const overlay of [{}, { optionalValues: 'declared' }])
    t.deepEqual(nillableIn(contractOf(overlay)), ['maybe']);
});

/** Returns the upstream call for a request's content. */
function callOf(t: { deepEqual: (a: unknown, b: unknown) => void }, content: string) {
  const { input, problems, missing } = readXml(compiled, 'changePrice', content);
  t.deepEqual([problems, missing], [[], []]);
  return operationOf(compiled, 'changePrice').request(input, { all: new Map(), fromHeaders: new Set() });
}

test('optionalValues: nillable reads nil as absent if the document forbids null', (t) => {
  const nil = (names: readonly string[]) => names.map((name) => `<${name} i:nil="true"/>`).join('');
  const body = `${nil([...values, 'maybe'])}<must>1</must><inner>${nil(['size'])}</inner><either>${nil(['Integer'])}<Boolean>true</Boolean></either>`;
  const call = callOf(t, `<sku>7</sku>${nil(['limit', 'state', 'X_Since'])}<Body>${body}</Body>`);
  t.is(call?.path, '/prices/7');
  t.deepEqual(JSON.parse(String(call?.body)), { maybe: null, must: 1, inner: {}, either: true });
  t.is(call?.headers['x-since'], undefined);
});

test('optionalValues: nillable keeps values, also zero and false', (t) => {
  const body =
    '<price>0</price><active>false</active><from>0001-01-01T00:00:00Z</from><state>on</state><must>0</must>';
  const call = callOf(t, `<sku>7</sku><limit>0</limit><Body>${body}</Body>`);
  t.is(call?.path, '/prices/7?limit=0');
  t.deepEqual(JSON.parse(String(call?.body)), {
    price: 0,
    active: false,
    from: '0001-01-01T00:00:00Z',
    state: 'on',
    must: 0,
  });
});

test('optionalValues: nillable writes a null of a reply as nil', (t) => {
  const { xml } = writeReply(compiled, 'changePrice', '{"price":null,"active":true,"must":1}');
  t.regex(xml, /<price i:nil="true"\/><active>true<\/active><must>1<\/must>/);
});

test('the servicestack dialect accepts optionalValues too', (t) => {
  const written = { ...document, paths: structuredClone(document.paths) } as typeof document;
  Object.assign(written.paths['/prices/{sku}'].patch, {
    responses: {
      200: {
        description: '',
        content: {
          'application/json': { schema: { type: 'object', properties: { ok: { type: 'string' } } } },
        },
      },
    },
  });
  const nillableBy = (overlay: object): ReadonlySet<string> =>
    new Set(
      nillableIn(
        load(written, undefined, { dialect: 'servicestack', soapErrors: 'fault', ...overlay }).contract,
      ),
    );
  const declared = nillableBy({});
  const added = [...nillableBy({ optionalValues: 'nillable' })].filter((name) => !declared.has(name));
  t.deepEqual(added.toSorted(), ['Active', 'Boolean', 'Count', 'Integer', 'Maybe', 'Price', 'Ratio', 'Size']);
});
