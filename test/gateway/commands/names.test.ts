import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { writeWsdl } from '../../../wsdl/wsdl.ts';
import { file } from './file.ts';
import { run } from './run.ts';

const text = { 'application/json': { schema: { type: 'string' } } };
const operation = (operationId: string) => ({
  operationId,
  responses: { 200: { description: 'it', content: text } },
});

/** Returns a document with an operation at `/b` and further paths. */
function api(paths: object = {}, title = 'Parcels'): string {
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title },
    paths: { '/b': { get: operation('book-parcel') }, ...paths },
  });
}

/** Creates a document and its names.lock with the command. */
async function locked(t: ExecutionContext): Promise<{ readonly document: string; readonly lock: string }> {
  const document = file(t, api());
  const { code, out, err } = await run(t, ['names', '--openapi', document]).ended;
  const lock = join(dirname(document), 'names.lock');
  t.deepEqual([code, err], [0, '']);
  t.regex(out, /names\.lock written: \d+ names added, 0 removed\n$/);
  return { document, lock };
}

const load = (openapi: string) => readContract({ openapi, overlay: undefined });
const wsdlOf = (openapi: string) => writeWsdl(load(openapi).contract, { address: 'http://127.0.0.1' });

test('names writes names.lock next to the document, and changes nothing', async (t) => {
  const document = file(t, api());
  const before = wsdlOf(document);
  t.is((await run(t, ['names', '--openapi', document]).ended).code, 0);
  t.is(wsdlOf(document), before);
  const { service, operations } = JSON.parse(readFileSync(join(dirname(document), 'names.lock'), 'utf8'));
  t.is(service, 'Parcels');
  t.deepEqual(Object.values(operations), ['book_parcel']);
});

test('a published name is kept if another operation would claim it, and check reports it', async (t) => {
  const { document } = await locked(t);
  const grown = api({ '/a': { get: operation('book.parcel') } });
  writeFileSync(document, grown);
  const names = load(document).contract.operations.map(({ name, upstream }) => `${upstream.path} ${name}`);
  t.true(names.includes('/b book_parcel'));
  const { code, out } = await run(t, ['check', '--openapi', document]).ended;
  t.is(code, 0);
  t.regex(out, /^renamed: book_parcel_[0-9a-f]{4} \(.*names\.lock keeps book_parcel for .*\)$/m);
  // Without the lock, the new operation gets the name because it comes first.
  const unlocked = load(file(t, grown)).contract.operations;
  t.is(unlocked.find(({ upstream }) => upstream.path === '/a')?.name, 'book_parcel');
});

test('service name and namespace stay if the title changes', async (t) => {
  const { document } = await locked(t);
  writeFileSync(document, api({}, 'Parcels of the post'));
  const { contract } = load(document);
  t.deepEqual([contract.service, contract.namespaces.types], ['Parcels', 'urn:Parcels']);
});

test('a name in the overlay wins over names.lock', async (t) => {
  const { document } = await locked(t);
  const overlay = join(dirname(document), 'soap.yaml');
  writeFileSync(overlay, 'operations: { book_parcel: { name: Book } }\n');
  const { operations } = readContract({ openapi: document, overlay }).contract;
  t.deepEqual(
    operations.map(({ name }) => name),
    ['Book'],
  );
});

test('names --check writes nothing, and exits with 1 if names.lock would change', async (t) => {
  const { document, lock } = await locked(t);
  const before = readFileSync(lock, 'utf8');
  const same = await run(t, ['names', '--openapi', document, '--check']).ended;
  t.is(same.code, 0);
  writeFileSync(document, api({ '/c': { get: operation('more') } }));
  const { code, out } = await run(t, ['names', '--openapi', document, '--check']).ended;
  t.is(code, 1);
  t.regex(out, /^not in names\.lock: more \(/m);
  t.is(readFileSync(lock, 'utf8'), before);
});

test('names keeps the names of removed items for their return; --prune deletes them', async (t) => {
  const { document, lock } = await locked(t);
  writeFileSync(document, api({ '/b': undefined, '/c': { get: operation('more') } }));
  t.is((await run(t, ['names', '--openapi', document]).ended).code, 0);
  t.deepEqual(Object.values(JSON.parse(readFileSync(lock, 'utf8')).operations).toSorted(), [
    'book_parcel',
    'more',
  ]);
  const pruned = await run(t, ['names', '--openapi', document, '--prune', '--json']).ended;
  t.deepEqual(
    JSON.parse(pruned.out)
      .removed.map(({ name }: { name: string }) => name)
      .includes('book_parcel'),
    true,
  );
  t.deepEqual(Object.values(JSON.parse(readFileSync(lock, 'utf8')).operations), ['more']);
});

test('callers see a name changed in names.lock: of an operation, a type, an element', (t) => {
  const document = file(
    t,
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Parcels' },
      paths: {
        '/b': {
          post: {
            operationId: 'Book',
            requestBody: {
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Parcel' } } },
            },
            responses: { 204: { description: 'done' } },
          },
        },
      },
      components: { schemas: { Parcel: { type: 'object', properties: { to: { type: 'string' } } } } },
    }),
  );
  const names = load(document).names;
  const renamed = (of: ReadonlyMap<string, string>, from: string, to: string) =>
    Object.fromEntries([...of].map(([key, name]) => [key, name === from ? to : name]));
  const lock = {
    operations: renamed(names.operations, 'Book', 'SendIt'),
    types: renamed(names.types, 'Parcel', 'Packet'),
    members: renamed(names.members, 'to', 'recipient'),
  };
  writeFileSync(join(dirname(document), 'names.lock'), JSON.stringify(lock));
  const wsdl = wsdlOf(document);
  for (const name of ['SendIt', 'SendItResponse', 'Packet', 'recipient'])
    t.true(wsdl.includes(`name="${name}"`), name);
  for (const name of ['Book', 'Parcel', 'to']) t.false(wsdl.includes(`name="${name}"`), name);
});

for (const [what, content, problem] of [
  [
    'two names that generators take for one',
    '{"types": {\n"/a": "A_b",\n"/b": "a-B"}}',
    ':3#/types/~1b: expected a name other than the name of /a, got "a-B"',
  ],
  [
    'a name that none is',
    '{"operations":\n{"/a": "a b"}}',
    ':2#/operations/~1a: expected the name of an XML element',
  ],
  ['a key that none is', '{"names": {}}', ':1#/names: unknown key, expected one of service, operations'],
  ['no JSON', '{', '#: line 1, column '],
] as const) {
  test(`the error for a names.lock with ${what} has its position`, (t) => {
    const document = file(t, api());
    const lock = join(dirname(document), 'names.lock');
    writeFileSync(lock, content);
    const error = t.throws(() => load(document), { instanceOf: ContractError });
    t.true(error?.message.startsWith(lock + problem), error?.message);
  });
}
