import { join } from 'node:path';
import test from 'ava';
import { compileContract } from '../../../mappings/compile.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { Kits } from '../../../wsdl/kits/kits.ts';
import { folderOf } from '../../mappings/loader/wsdl/wsdl-folder.ts';

const root = join(import.meta.dirname, '../../..');

test('kits of imported contracts and of the screening contract are made of every operation', (t) => {
  for (const place of [
    screeningContract,
    ...['catalogue', 'orders-rpc'].map((name) => join(root, 'test/fixtures/adopt', name)),
  ]) {
    const compiled = compileContract(readContract(place).contract);
    const all = new Kits(compiled, 'https://api.example');
    for (const name of compiled.operations.keys()) t.is(all.snippets(name)?.length, 11);
    t.true(all.files().size > 10);
  }
});

test('a collection has each credential once, and its requests refer to it', (t) => {
  const { contract } = readContract(screeningContract);
  const screening = new Kits(compileContract(contract), 'https://api.example');
  const postman = screening.postman();
  const { variable } = JSON.parse(postman);
  t.deepEqual(
    variable.map(({ value }: { value: string }) => value).slice(1),
    contract.credentials?.parts.map(({ name }) => `YOUR_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`),
  );
  for (const text of [postman, screening.soapUi(), [...screening.bruno().values()].join('')])
    for (const { value } of variable.slice(1)) t.is(text.split(value).length - 1, 1, value);
  t.regex(postman, /\{\{API_USER_KEY\}\}/);
  t.regex(screening.soapUi(), /\$\{#Project#API_USER_KEY\}/);
});

test('optional credentials are marked in programs, collections and README', (t) => {
  const folder = folderOf(t, {
    'openapi.yaml': `openapi: 3.0.3
info: { title: Pets, version: "1" }
components: { securitySchemes: { apiKey: { type: apiKey, in: header, name: X-Key } } }
paths: { /pets: { get: { operationId: listPets, responses: { "204": { description: ok } } } } }
`,
  });
  const optional = new Kits(compileContract(readContract(folder).contract), 'https://api.example');
  for (const { id, text } of optional.snippets('listPets') ?? [])
    if (id !== 'http') t.regex(text, /^(?:#|\/\/) Optional credentials; .*: X-Key\.$/m, id);
  t.regex(optional.files().get('README.txt') ?? '', /Optional credentials; .*: YOUR_API_KEY/);
  t.regex(optional.postman(), /"description": "optional"/);
  const needed = new Kits(compileContract(readContract(screeningContract).contract), 'https://api.example');
  for (const { id, text } of needed.snippets('GetSearch') ?? []) t.notRegex(text, /Optional cred/, id);
});
