import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Contract } from '../../../../mappings/contract/model.ts';
import { ContractError } from '../../../../mappings/loader/document/error.ts';
import { readContract } from '../../../../mappings/loader/load.ts';

const openapi = `openapi: 3.1.0
info: { title: Parcels }
paths:
  /parcels/{number}:
    get:
      operationId: track.parcel
      tags: [tracking]
      parameters: [{ name: number, in: path, required: true, schema: { type: string } }]
      responses: { "200": { description: it, content: { application/json: { schema: { $ref: "#/components/schemas/Parcel" } } } } }
  /parcels:
    post:
      operationId: BookParcel
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Booking" } } } }
      responses: { "200": { description: it, content: { application/json: { schema: { $ref: "#/components/schemas/Parcel" } } } } }
components:
  schemas:
    Parcel: { type: object, properties: { to: { type: string }, grams: { type: integer } } }
    Booking: { type: object, properties: { parcel: { $ref: "#/components/schemas/Parcel" } } }
`;

/** Creates a folder with the document and this overlay. */
function folder(t: ExecutionContext, overlay: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'overlay-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'openapi.yaml'), openapi);
  writeFileSync(join(directory, 'soap.yaml'), overlay);
  return directory;
}

function contractOf(t: ExecutionContext, overlay: string): Contract {
  return readContract(folder(t, overlay)).contract;
}

const calls = ({ operations }: Contract) =>
  operations.map(({ name, upstream: { method, path } }) => `${name}: ${method} ${path}`);

test('operations.hide removes an operation, and the types that only it uses', (t) => {
  const { operations, types } = contractOf(t, 'operations: { BookParcel: { hide: true } }\n');
  t.deepEqual(
    operations.map(({ name }) => name),
    ['track_parcel'],
  );
  t.deepEqual(
    types.map(({ name }) => name),
    ['Parcel'],
  );
});

test('operations as a list serves only these', (t) => {
  t.deepEqual(calls(contractOf(t, 'operations: [BookParcel]\n')), ['BookParcel: POST /parcels']);
});

test('operations.name is the name that callers, elements and routes use', (t) => {
  const overlay =
    'operations: { track_parcel: { name: WhereIsIt } }\nroutes: { "GET /where/{number}": WhereIsIt }\n';
  const contract = contractOf(t, overlay);
  t.deepEqual(calls(contract), ['WhereIsIt: GET /parcels/{number}', 'BookParcel: POST /parcels']);
  t.is(contract.operations[0]?.output.name, 'WhereIsItResponse');
  t.is(contract.routes[0]?.operation.name, 'WhereIsIt');
});

test('operations.upstream replaces the call of the document', (t) => {
  const overlay =
    'operations: { track_parcel: { upstream: { method: POST, path: "/track/{number}/now" } } }\n';
  const [track] = contractOf(t, overlay).operations;
  t.is(track?.upstream.method, 'POST');
  t.is(track?.upstream.path, '/track/{number}/now');
  t.false(track?.readOnly);
});

test('operations.readOnly allows the gateway to repeat a call', (t) => {
  const { operations } = contractOf(t, 'operations: { BookParcel: { readOnly: true } }\n');
  t.deepEqual(
    operations.map(({ readOnly }) => readOnly),
    [true, true],
  );
});

test('names and order override those of a dialect', (t) => {
  const { types } = contractOf(t, 'names: upper-first\norder: ordinal\n');
  const parcel = types.find(({ name }) => name === 'Parcel');
  t.deepEqual(parcel?.kind === 'record' && parcel.fields.map(({ xml }) => xml), ['Grams', 'To']);
});

test('personal is a part of the contract', (t) => {
  t.deepEqual(contractOf(t, 'personal: [to]\n').personal, ['to']);
});

for (const [what, overlay, problem] of [
  ['an unknown key', 'service: P\n\nunknown: 1\n', '3#/unknown: unknown key, expected one of '],
  [
    'a word that is none',
    'dialect: plain\ndates:\n  never\n',
    '2#/dates: expected one of wcf, iso, text, got "never"',
  ],
  [
    'an operation that isn’t there',
    'operations:\n  BookParcel: {}\n  book: {}\n',
    '3#/operations/book: expected the name of an operation, got "book"',
  ],
  [
    'one of a list that isn’t there',
    'operations:\n  - BookParcel\n  - book\n',
    '1#/operations/book: expected the name of an operation, got "book"',
  ],
  [
    'a misspelt operation of a list',
    'operations:\n  - track_parcel\n  - BookParcl\n',
    '1#/operations/BookParcl: expected the name of an operation, got "BookParcl". Did you mean BookParcel?',
  ],
  [
    'a misspelt operation of a route',
    'routes:\n  GET /x/{number}: track_parcl\n',
    '2#/routes/GET ~1x~1{number}: expected the name of an operation, got "track_parcl". Did you mean track_parcel?',
  ],
  [
    'a misspelt input of a route',
    'routes:\n  GET /x/{numbr}: track_parcel\n',
    '2#/routes/GET ~1x~1{numbr}: expected an input of track_parcel that is not an object or array, got "numbr". Did you mean number?',
  ],
  [
    'a misspelt media type',
    'operations:\n  BookParcel: { as: [application/jsn] }\n',
    '2#/operations/BookParcel/as: expected media types of its request body or its replies, got "application/jsn". Did you mean application/json?',
  ],
  [
    'a misspelt member of an order',
    'types:\n  Parcel: { order: [grms, to] }\n',
    '2#/types/Parcel/order: Parcel has no member grms. Did you mean grams?',
  ],
  [
    'a misspelt credential',
    'credentials:\n  headers: { apiKey: X-Api-Key }\n  secret: [apiKy]\n',
    '3#/credentials/secret: expected names from /credentials/headers, got "apiKy". Did you mean apiKey?',
  ],
  [
    'a misspelt credential of WS-Security',
    'credentials:\n  headers: { user: X-User, password: X-Password }\nwsse:\n  username: usr\n  password: password\n',
    '4#/wsse/username: expected a name from /credentials/headers, got "usr". Did you mean user?',
  ],
  ['a list’s item', 'cors:\n  - "*"\n  - app\n', '3#/cors/1: expected an origin such as https://app.example'],
  [
    'a personal member that no type has',
    'personal: [\n  too]\n',
    '2#/personal/0: expected a JSON member of some type, got "too"',
  ],
  ['a key in quotes', '{\n  "jsonp": "yes"\n}\n', '2#/jsonp: expected true or false, got "yes"'],
  [
    'what the document lacks',
    'types:\n  Letter: { item: letter }\n',
    '2#/types/Letter: expected the name of a type that an operation reaches, got "Letter"',
  ],
] as const) {
  test(`${what} is reported with its line in the overlay`, (t) => {
    const directory = folder(t, overlay);
    const error = t.throws(() => readContract(directory), { instanceOf: ContractError });
    t.true(error?.message.startsWith(`${join(directory, 'soap.yaml')}:${problem}`), error?.message);
  });
}

test('an invalid upstream path removes the operation, with the reason', (t) => {
  const { notServed } = readContract(
    folder(t, 'operations: { track_parcel: { upstream: { path: /track } } }\n'),
  );
  t.deepEqual(
    notServed.map(({ name }) => name),
    ['track_parcel'],
  );
});
