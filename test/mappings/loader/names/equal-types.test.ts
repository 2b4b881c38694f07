import test from 'ava';
import type { RecordType } from '../../../../mappings/contract/model.ts';
import { buildContract, type LoadedContract } from '../../../../mappings/loader/build-contract.ts';
import type { ContractNames } from '../../../../mappings/loader/names/names.ts';

// Equal inline types are merged. `test/documents/equal-types.test.ts` checks that no message changes.

const object = (properties: object): object => ({ type: 'object', properties });
const text = { type: 'string' } as const;
const address = (told = ''): object => object({ street: { ...text, description: told }, city: text });

function build(
  bodies: Readonly<Record<string, object>>,
  {
    schemas = {},
    overlay = {},
    names,
    replies = {},
  }: {
    readonly schemas?: object;
    readonly overlay?: object;
    readonly names?: ContractNames;
    readonly replies?: Readonly<Record<string, object>>;
  } = {},
): LoadedContract {
  const content = (schema: object): object => ({ content: { 'application/json': { schema } } });
  const paths = Object.fromEntries(
    Object.entries(bodies).map(([name, schema]) => {
      const reply = replies[name];
      const responses =
        reply === undefined
          ? { 204: { description: 'done' } }
          : { 200: { description: 'done', ...content(reply) } };
      return [`/${name}`, { post: { operationId: name, requestBody: content(schema), responses } }];
    }),
  );
  return buildContract({
    openapi: { openapi: '3.1.0', info: { title: 'Equal', version: '1' }, paths, components: { schemas } },
    openapiName: 'openapi.yaml',
    overlay,
    overlayName: 'soap.yaml',
    ...(names === undefined ? {} : { names }),
  });
}

const typesOf = ({ contract }: LoadedContract): readonly string[] =>
  contract.types.map(({ name }) => name).filter((name) => name !== 'Empty');

test('equal types have the name that their users share', (t) => {
  const { contract } = build({
    a: object({ address: address() }),
    b: object({ x: text, address: address() }),
  });
  t.deepEqual(
    contract.types.map(({ name }) => name),
    ['ABody', 'Address', 'BBody', 'Empty'],
  );
});

test('equal types with different names are named by their content, or by the majority', (t) => {
  const few = build({ a: object({ from: address(), to: address() }), b: object({ x: text, by: address() }) });
  t.deepEqual(typesOf(few), ['ABody', 'BBody', 'StreetCity']);
  const side = { type: 'string', enum: ['left', 'RIGHT'] };
  t.deepEqual(typesOf(build({ a: object({ x: side, y: side }) })), ['ABody', 'LeftRight']);
  const many = object(Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, text])));
  const most = build({ a: object({ from: many, to: many }), b: object({ x: text, to: many }) });
  t.deepEqual(typesOf(most), ['ABody', 'BBody', 'To']);
});

test('equal bodies are named by their content', (t) => {
  t.deepEqual(typesOf(build({ a: address(), b: address() })), ['StreetCity']);
  t.deepEqual(typesOf(build({ a: object({}), b: object({}) })), []);
});

test('a type equal to a component is the component; components stay separate', (t) => {
  const schemas = { Home: address('where'), Work: object({ tower: text }), Office: object({ tower: text }) };
  const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
  const bodies = {
    a: object({ home: ref('Home'), work: ref('Work'), office: ref('Office') }),
    b: object({ inline: address() }),
    c: object({ one: object({ tower: text }) }),
  };
  t.deepEqual(typesOf(build(bodies, { schemas })), [
    'ABody',
    'BBody',
    'CBody',
    'CBodyOne',
    'Home',
    'Office',
    'Work',
  ]);
});

test('recursive types are equal if their structure is', (t) => {
  const schemas = {
    Tree: object({
      node: object({ label: text, kids: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } }),
    }),
    Bush: object({
      node: object({ label: text, kids: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } }),
      x: text,
    }),
  };
  const bodies = { a: { $ref: '#/components/schemas/Tree' }, b: { $ref: '#/components/schemas/Bush' } };
  t.deepEqual(typesOf(build(bodies, { schemas })), ['ArrayOfTree', 'Bush', 'Node', 'Tree']);
});

test('of different descriptions the most frequent one is used', (t) => {
  const bodies = {
    a: object({ address: address('the one') }),
    b: object({ x: text, address: address('the other') }),
    c: object({ y: text, address: address('the other') }),
  };
  const { contract } = build(bodies);
  const one = contract.types.find(({ name }) => name === 'Address') as RecordType;
  t.is(one.fields.find(({ json }) => json === 'street')?.words?.description, 'the other');
});

test('types are different if anything but descriptions differs', (t) => {
  const differing: Readonly<Record<string, readonly [object, object]>> = {
    'what is required': [address(), { ...address(), required: ['city'] }],
    'an order': [object({ a: text, b: text }), object({ b: text, a: text })],
    'a value of an enum': [
      { type: 'string', enum: ['a', 'b'] },
      { type: 'string', enum: ['a', 'c'] },
    ],
    'what may be null': [address(), object({ street: text, city: { type: ['string', 'null'] } })],
    'other members': [address(), { ...address(), additionalProperties: text }],
    'the type of a member': [address(), object({ street: text, city: { type: 'integer' } })],
  };
  for (const [what, [one, other]] of Object.entries(differing)) {
    const types = typesOf(build({ a: object({ it: one }), b: object({ it: other }) }));
    t.true(types.includes('ABodyIt') && types.includes('BBodyIt'), what);
  }
});

test('equalTypes: apart keeps types, and so does an overlay entry about one of them', (t) => {
  const bodies = { a: object({ address: address() }), b: object({ x: text, address: address() }) };
  t.deepEqual(typesOf(build(bodies, { overlay: { equalTypes: 'apart' } })), [
    'ABody',
    'ABodyAddress',
    'BBody',
    'BBodyAddress',
  ]);
  const overlay = { types: { ABodyAddress: { order: ['city', 'street'] } } };
  t.deepEqual(typesOf(build(bodies, { overlay })), ['ABody', 'ABodyAddress', 'BBody', 'BBodyAddress']);
});

// --- names.lock -------------------------------------------------------------------------------------

const lockOf = ({ names }: LoadedContract): ContractNames => names;
const people = {
  a: object({ address: address(), list: { type: 'array', items: address() } }),
  b: object({ x: text, address: address() }),
  c: object({ y: text, address: address() }),
};

test('the overlay orders the fields of equal types by their common name', (t) => {
  const overlay = { types: { Address: { order: ['city', 'street'] } } };
  const { contract } = build(people, { overlay });
  const type = contract.types.find(({ name }) => name === 'Address') as RecordType;
  t.deepEqual(
    type.fields.map(({ json }) => json),
    ['city', 'street'],
  );
  const wrong = { types: { Address: { order: ['city'], item: 'home' } } };
  t.throws(() => build(people, { overlay: wrong }), {
    message:
      /Address\/order: expected all members of Address, street is missing\n.*Address\/item: expected none, since Address describes several equal types/,
  });
});

test('names.lock keeps the names of equal types, and the separation of earlier ones', (t) => {
  const first = build(people);
  t.deepEqual(lockOf(build(people, { names: lockOf(first) })), lockOf(first));
  const before = build(people, { overlay: { equalTypes: 'apart' } });
  t.deepEqual(typesOf(build(people, { names: lockOf(before) })), typesOf(before));
});

test('a type that becomes different leaves its equals their name', (t) => {
  const names = lockOf(build(people));
  const { a: _a, ...others } = people;
  const parted = build({ a: object({ address: object({ street: text }) }), ...others }, { names });
  t.deepEqual(typesOf(parted), ['ABody', 'ABodyAddress', 'Address', 'BBody', 'CBody']);
  t.deepEqual(parted.displaced, []);
});

test('the last of equal types keeps their common name', (t) => {
  const names = lockOf(build(people));
  const { c } = people;
  t.deepEqual(typesOf(build({ c }, { names })), ['Address', 'CBody']);
  t.deepEqual(typesOf(build({ c })), ['CBody', 'CBodyAddress']);
});

test('a type that no longer equals a component takes no name from it', (t) => {
  const schemas = { Address: address() };
  const here = { $ref: '#/components/schemas/Address' };
  const bodies = { a: object({ here }), b: object({ x: address() }), c: object({ x: address() }) };
  const names = lockOf(build(bodies, { schemas }));
  const kept = [...names.types].find(([key]) => /b\/post.*properties\/x#.*=$/.test(key));
  t.is(kept?.[1], 'Address');
  const changed = build(bodies, { schemas: { Address: object({ street: text }) }, names });
  const all = typesOf(changed);
  t.is(new Set(all).size, all.length);
  t.deepEqual(all, ['ABody', 'Address', 'X', 'X_2531']);
});

test('types with different names in names.lock stay separate, even if they become equal', (t) => {
  const x = object({ one: text });
  const bodies = {
    a: object({ x }),
    b: object({ k: text, x }),
    c: object({ y: address() }),
    d: object({ k: text, y: address() }),
  };
  const names = lockOf(build(bodies));
  const same = { ...bodies, c: object({ y: x }), d: object({ k: text, y: x }) };
  t.deepEqual(typesOf(build(same)), ['ABody', 'BBody', 'CBody', 'DBody', 'One']);
  t.deepEqual(typesOf(build(same, { names })), ['ABody', 'BBody', 'CBody', 'DBody', 'X', 'Y']);
});

test('a type that becomes equal to one in names.lock joins it', (t) => {
  const names = lockOf(build(people));
  const joined = build({ '0': object({ z: text, address: address() }), ...people }, { names });
  t.deepEqual(
    typesOf(joined).filter((name) => name.includes('ddress')),
    ['Address'],
  );
  t.deepEqual(joined.displaced, []);
});
