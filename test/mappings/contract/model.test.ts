import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { scalarTable } from '../../../mappings/codec/scalars/table.ts';
import type { Contract, Field, RecordType, Type } from '../../../mappings/contract/model.ts';
import { buildContract, type LoadedContract } from '../../../mappings/loader/build-contract.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { schemaOf } from '../../../wsdl/schema.ts';
import { writeWsdl } from '../../../wsdl/wsdl.ts';

const parcelsFolder = join(import.meta.dirname, '../../fixtures/contracts/parcels');

// --- screening contract ----------------------------------------------------------------------------

/** One element of a type: XML name, XSD type, nillable. */
type Row = readonly [string, string, boolean];

interface Table {
  readonly operations: readonly string[];
  readonly elements: Readonly<Record<string, readonly Row[]>>;
  readonly records: Readonly<Record<string, readonly Row[]>>;
  readonly arrays: Readonly<
    Record<string, { namespace: string; item: string; type: string; nillable: boolean }>
  >;
  readonly maps: Readonly<Record<string, { namespace: string; entry: string; members: readonly Row[] }>>;
  readonly enums: Readonly<Record<string, readonly string[]>>;
}

const table: Table = JSON.parse(
  readFileSync(new URL('../../fixtures/types-table.json', import.meta.url), 'utf8'),
);
const screening = readContract(screeningContract).contract;

function nameOf(contract: Contract, type: Type): string {
  if (type.kind === 'scalar') return `xs:${scalarTable[type.scalar].xsd}`;
  return `${schemaOf(contract, type) === 'types' ? 'tns' : 'arr'}:${type.name}`;
}

function rows(contract: Contract, { fields }: RecordType): Row[] {
  return fields.map(({ xml, type, nillable }) => [xml, nameOf(contract, type), nillable]);
}

test('W18, W33: the screening model has the table’s operations and wrappers, in its order', (t) => {
  t.deepEqual(
    screening.operations.map(({ name }) => name),
    [...table.operations],
  );
  for (const { name, input, output } of screening.operations) {
    t.deepEqual(rows(screening, input), [...(table.elements[name] ?? [])]);
    t.deepEqual(rows(screening, output), [...(table.elements[`${name}Response`] ?? [])]);
  }
});

test('the screening model has the table’s types, each once, and no other', (t) => {
  const model: Record<string, unknown> = {};
  for (const type of screening.types) {
    t.false(type.name in model);
    if (type.kind === 'record') model[type.name] = rows(screening, type);
    else if (type.kind === 'enum') model[type.name] = type.values;
    else if (type.kind === 'array')
      model[type.name] = {
        namespace: type.namespace,
        item: type.itemName,
        type: nameOf(screening, type.item),
        nillable: true,
      };
    else if (type.kind === 'map') {
      const value = nameOf(screening, type.value);
      const members = [
        ['Key', 'xs:string', true],
        ['Value', value, true],
      ];
      model[type.name] = { namespace: type.namespace, entry: type.entryName, members };
    }
  }
  const expected: Record<string, unknown> = {
    ...table.records,
    ...table.arrays,
    ...table.maps,
    ...table.enums,
  };
  t.deepEqual(Object.keys(model).sort(), Object.keys(expected).sort());
  for (const [name, type] of Object.entries(expected)) t.deepEqual(model[name], type, name);
});

// --- all contracts ---------------------------------------------------------------------------------

for (const [name, folder] of [
  ['screening', screeningContract],
  ['parcels', parcelsFolder],
] as const) {
  test(`the ${name} contract is deeply frozen, recursive types too`, (t) => {
    const loose: unknown[] = [];
    const reached = new Set<object>([readContract(folder).contract]);
    for (const value of reached) {
      if (!Object.isFrozen(value)) loose.push(value);
      for (const inner of Object.values(value))
        if (typeof inner === 'object' && inner !== null) reached.add(inner);
    }
    t.deepEqual(loose, []);
    t.true(reached.size > 100);
  });

  test(`W32: the ${name} contract is the same each time it is loaded, its WSDL byte for byte`, (t) => {
    const first = readContract(folder);
    const second = readContract(folder);
    t.deepEqual(first, second);
    const options = { address: 'http://127.0.0.1/x' };
    t.is(writeWsdl(first.contract, options), writeWsdl(second.contract, options));
  });
}

test('a field of the model has its documented properties and no loader state', (t) => {
  const keys = new Set(screening.operations.flatMap(({ input }) => input.fields.flatMap(Object.keys)));
  t.deepEqual([...keys].sort(), [
    'allowed',
    'example',
    'json',
    'nillable',
    'notEmpty',
    'promised',
    'required',
    'type',
    'words',
    'xml',
  ]);
});

// --- types of schemas ------------------------------------------------------------------------------

type Schema = boolean | object;

interface Source {
  readonly schemas?: Readonly<Record<string, Schema>>;
  readonly overlay?: object;
  readonly openapi?: string;
}

/** Returns a contract whose only operation takes an object with these members. */
function taking(properties: Readonly<Record<string, unknown>>, source: Source = {}): LoadedContract {
  const content = { 'application/json': { schema: { type: 'object', properties } } };
  const done = { type: 'object', properties: { done: { type: 'boolean' } } };
  const responses = { 200: { content: { 'application/json': { schema: done } } } };
  return buildContract({
    openapiName: 'openapi.yaml',
    overlayName: 'soap.yaml',
    openapi: {
      openapi: source.openapi ?? '3.1.0',
      info: { title: 'T', version: '1' },
      paths: { '/a': { post: { operationId: 'Op', requestBody: { content }, responses } } },
      components: { schemas: source.schemas ?? {} },
    },
    overlay: source.overlay ?? {},
  });
}

/** Describes a type briefly: scalars by name, records with the names of their fields. */
function shown(type: Type): string {
  switch (type.kind) {
    case 'scalar':
      return type.scalar;
    case 'enum':
      return `${type.name}: ${type.values.join('|')}`;
    case 'array':
      return `${type.name}[${type.itemName}: ${type.item.kind === 'record' ? type.item.name : shown(type.item)}]`;
    case 'map':
      return `${type.name}{${type.entryName}: ${type.value.kind === 'record' ? type.value.name : shown(type.value)}}`;
    case 'union':
      return `${type.name}<${type.variants.map(({ xml }) => xml).join('|')}>`;
    case 'tuple':
      return `${type.name}<${type.positions.map(({ type: inner }) => shown(inner)).join(' ')}${type.rest === undefined ? '' : ` ${shown(type.rest.type)}`}>`;
    case 'record':
      return `${type.name}(${type.fields.map(({ xml, required, nillable }) => `${xml}${required ? '!' : ''}${nillable ? '?' : ''}`).join(' ')})`;
  }
}

function bodyOf({ contract }: LoadedContract): RecordType {
  const [field] = contract.operations[0]?.input.fields ?? [];
  if (field?.type.kind !== 'record') throw new Error('expected a body, a record');
  return field.type;
}

function fieldOf(loaded: LoadedContract, json = 'm'): Field {
  const field = bodyOf(loaded).fields.find((candidate) => candidate.json === json);
  if (field === undefined) throw new Error(`expected a member ${json}`);
  return field;
}

const schemas = {
  Box: { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'integer' } } },
  Color: { type: 'string', enum: ['red', 'green'] },
  Base: { type: 'object', properties: { id: { type: 'string' }, kind: { type: 'string' } } },
  Pet: {
    type: 'object',
    discriminator: { propertyName: 'kind' },
    properties: { kind: { type: 'string' } },
  },
  Nothing: { type: 'object', additionalProperties: false },
  Boxes: { type: 'array', items: { $ref: '#/components/schemas/Box' } },
  Tree: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Tree' } },
  Loop: { type: 'array', items: { $ref: '#/components/schemas/Loop' } },
  Alias: { $ref: '#/components/schemas/Box' },
  Sum: { allOf: [{ $ref: '#/components/schemas/Sum' }] },
  MaybeBox: { type: ['object', 'null'], properties: { a: { type: 'string' } } },
};
const ref = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

const becomes: readonly (readonly [title: string, schema: unknown, type: string, why?: string])[] = [
  // scalars
  ['a string', { type: 'string' }, 'string'],
  ['a string of a format that no XSD type has', { type: 'string', format: 'email' }, 'string'],
  [
    'a string of a format named like what objects inherit',
    { type: 'string', format: 'constructor' },
    'string',
  ],
  ['a date-time', { type: 'string', format: 'date-time' }, 'dateTime'],
  ['a date', { type: 'string', format: 'date' }, 'date'],
  ['bytes', { type: 'string', format: 'byte' }, 'base64Binary'],
  ['base64 by its contentEncoding', { type: 'string', contentEncoding: 'base64' }, 'base64Binary'],
  ['base64url, which is none', { type: 'string', contentEncoding: 'base64url' }, 'string'],
  ['a UUID outside the family', { type: 'string', format: 'uuid' }, 'string'],
  ['a boolean', { type: 'boolean' }, 'boolean'],
  ['a number', { type: 'number' }, 'decimal'],
  ['a double', { type: 'number', format: 'double' }, 'double'],
  ['a number with an integer’s format', { type: 'number', format: 'int32' }, 'decimal'],
  ['an int32', { type: 'integer', format: 'int32' }, 'int'],
  ['an int64', { type: 'integer', format: 'int64' }, 'long'],
  ['an integer without a format', { type: 'integer' }, 'long'],
  ['an integer of an unknown format', { type: 'integer', format: 'toString' }, 'long'],
  ['an integer with small bounds', { type: 'integer', minimum: 0, maximum: 10 }, 'long'],
  ['an integer up to 2^64 - 1', { type: 'integer', minimum: 0, maximum: 2 ** 64 }, 'unsignedLong'],
  ['an integer up to 2^63 - 1', { type: 'integer', maximum: 2 ** 63 }, 'long'],
  ['an integer beyond 64 bits', { type: 'integer', minimum: 0, maximum: 1e30 }, 'integer'],
  ['an integer below 64 bits', { type: 'integer', exclusiveMinimum: -1e30 }, 'integer'],
  ['an integer with 3.0’s exclusiveMaximum', { type: 'integer', maximum: 5, exclusiveMaximum: true }, 'long'],
  // enums
  ['an enum in line, named after its owner and member', { type: 'string', enum: ['a', 'b'] }, 'OpBodyM: a|b'],
  ['an enum without a type', { enum: ['a', 'b'] }, 'OpBodyM: a|b'],
  ['an enum by reference', ref('Color'), 'Color: red|green'],
  ['an enum with the empty string', { type: 'string', enum: ['', 'a'] }, 'string'],
  ['an enum with a value twice', { type: 'string', enum: ['a', 'a'] }, 'string'],
  ['an enum whose values differ by case', { type: 'string', enum: ['asc', 'ASC'] }, 'string'],
  ['an enum whose values differ by punctuation', { type: 'string', enum: ['+1', '-1'] }, 'string'],
  ['an enum with a tab', { type: 'string', enum: ['a\tb', 'c'] }, 'string'],
  ['an enum with a newline', { type: 'string', enum: ['a\n', 'c'] }, 'string'],
  ['an enum with half a surrogate pair', { type: 'string', enum: ['\ud83d', 'c'] }, 'string'],
  ['an enum of nothing', { type: 'string', enum: [] }, 'string'],
  ['an enum of null alone', { type: ['string', 'null'], enum: [null] }, 'string'],
  ['an enum of other kinds than its type', { type: 'string', enum: [1, 2] }, 'string'],
  ['an enum of integers', { type: 'integer', format: 'int32', enum: [1, 2] }, 'int'],
  ['an enum of numbers without a type', { enum: [1, 2.5] }, 'decimal'],
  ['a constant', { const: 'x' }, 'string'],
  // records
  ['an object in line', { properties: { a: { type: 'string' } } }, 'OpBodyM(a)'],
  ['an object by reference', ref('Box'), 'Box(a! b)'],
  ['a name for another name', ref('Alias'), 'Box(a! b)'],
  ['an object without members, and no others', ref('Nothing'), 'Nothing()'],
  ['a reference with words beside it', { ...ref('Box'), description: 'd', deprecated: true }, 'Box(a! b)'],
  [
    'a reference with members beside it (3.1)',
    { ...ref('Box'), properties: { c: { type: 'string' } } },
    'OpBodyM(a! b c)',
  ],
  ['a reference that requires more (3.1)', { ...ref('Box'), required: ['b'] }, 'OpBodyM(a! b!)'],
  ['a reference to part of a type', { $ref: '#/components/schemas/Box/properties/b' }, 'long'],
  ['a reference that is “required: true”, a slip', { ...ref('Box'), required: true }, 'Box(a! b)'],
  // allOf
  [
    'allOf of one reference and words',
    { allOf: [ref('Box'), { description: 'd' }], description: 'e' },
    'Box(a! b)',
  ],
  ['allOf of one enum', { allOf: [ref('Color')] }, 'Color: red|green'],
  ['allOf of one scalar and a narrower length', { allOf: [{ type: 'string' }, { maxLength: 3 }] }, 'string'],
  ['allOf of two objects, in document order', { allOf: [ref('Base'), ref('Box')] }, 'OpBodyM(id kind a! b)'],
  ['allOf with members of its own', { allOf: [ref('Base')], properties: { x: {} } }, 'OpBodyM(id kind x?)'],
  [
    'allOf with a part that only requires',
    { allOf: [{ required: ['id'] }, ref('Base')] },
    'OpBodyM(id! kind)',
  ],
  [
    'allOf within allOf',
    { allOf: [{ allOf: [ref('Base')] }, { properties: { x: {} } }] },
    'OpBodyM(id kind x?)',
  ],
  [
    'allOf of a base type with a discriminator',
    { allOf: [ref('Pet'), { properties: { x: {} } }] },
    'OpBodyM(kind x?)',
  ],
  // maps and arrays
  [
    'a map of strings',
    { type: 'object', additionalProperties: { type: 'string' } },
    'MapOfstring{Entry: string}',
  ],
  ['a map of records', { additionalProperties: ref('Box') }, 'MapOfBox{Entry: Box}'],
  [
    'a map of an object in line',
    { additionalProperties: { properties: { x: {} } } },
    'MapOfOpBodyMValue{Entry: OpBodyMValue}',
  ],
  ['an array of strings', { type: 'array', items: { type: 'string' } }, 'ArrayOfstring[string: string]'],
  [
    'an array of dates',
    { type: 'array', items: { type: 'string', format: 'date' } },
    'ArrayOfdate[date: date]',
  ],
  [
    'an array of an object in line',
    { type: 'array', items: { properties: { x: {} } } },
    'ArrayOfOpBodyMItem[OpBodyMItem: OpBodyMItem]',
  ],
  [
    'an array of arrays',
    { type: 'array', items: ref('Boxes') },
    'ArrayOfArrayOfBox[ArrayOfBox: ArrayOfBox[Box: Box]]',
  ],
  [
    'an array of what may be null',
    { type: 'array', items: { type: ['integer', 'null'] } },
    'ArrayOflong[long: long]',
  ],
  [
    'an array of any of several',
    { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'integer' }] } },
    'ArrayOfOpBodyMItem[OpBodyMItem: OpBodyMItem<String|Integer|Json>]',
  ],
  // restrictions that describe no type
  [
    'an object of which one of two is required',
    {
      type: 'object',
      properties: { a: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { not: { required: ['a'] } }],
    },
    'OpBodyM(a)',
  ],
  // JSON text
  ['anything', {}, 'json', ': it has no single type'],
  ['true', true, 'json', ': any value is allowed'],
  ['a base type that nothing extends', ref('Pet'), 'Pet(kind)'],
  ['text where a schema should be', 'text', 'json', ': expected a schema, got "text"'],
  ['false', false, 'json', ': expected a schema, got false'],
  [
    'an allOf of itself',
    ref('Sum'),
    'json',
    '/components/schemas/Sum: refers to itself without an object in between; expected an object with members',
  ],
  ['a free object', { type: 'object' }, 'json', ': an object with any members'],
  ['a map of anything', { type: 'object', additionalProperties: {} }, 'json', ': an object with any members'],
  ['an array of anything', { type: 'array', items: {} }, 'json', ': an array of anything'],
  ['a list of nothing said', { type: 'array' }, 'json', ': an array of anything'],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ type: 'string' }] },
    'OpBodyM<string ArrayOfJson[Json: json]>',
    '/items: items after the listed items can have any type',
  ],
  [
    'a map of itself',
    ref('Tree'),
    'MapOfJson{Entry: json}',
    '/components/schemas/Tree: an array or map of itself',
  ],
  [
    'an array of itself',
    ref('Loop'),
    'ArrayOfJson[Json: json]',
    '/components/schemas/Loop: an array or map of itself',
  ],
];

const at = '/paths/~1a/post/requestBody/content/application~1json/schema/properties/m';

for (const [title, schema, expected, why] of becomes) {
  test(`${title} becomes ${expected}${why === undefined ? '' : ', which is reported'}`, (t) => {
    const loaded = taking({ m: schema }, { schemas });
    t.is(shown(fieldOf(loaded).type), expected);
    const notes = loaded.notes.map(({ pointer, why: says }) => `${pointer}: ${says}`);
    // notes about the shared schemas above do not belong to this row
    const [first] = notes.filter((note) => !/\/(?:x|a): it has no single type$/.test(note));
    t.is(first, why?.startsWith('/components') ? why : why && at + why);
  });
}

for (const [title, schema, nillable, openapi] of [
  ['a string', { type: 'string' }, false],
  ['3.0’s nullable', { type: 'string', nullable: true }, true, '3.0.3'],
  ['a type list with null', { type: ['string', 'null'] }, true],
  ['an enum with null', { type: ['string', 'null'], enum: ['a', null] }, true],
  ['an enum with null whose type has none', { type: 'string', enum: ['a', null] }, true],
  ['anyOf with null', { anyOf: [ref('Box'), { type: 'null' }] }, true],
  ['oneOf with null, first', { oneOf: [{ type: 'null' }, ref('Color')] }, true],
  ['a nullable allOf of one, as 3.0 writes it', { allOf: [ref('Box')], nullable: true }, true, '3.0.3'],
  ['a reference to what may be null', ref('MaybeBox'), true],
  ['a nullable beside a reference', { ...ref('Box'), nullable: true }, true],
  ['an enum narrowed to some and null', { ...ref('Color'), enum: ['red', null] }, true],
  ['a record of its own', ref('Box'), false],
] as const) {
  test(`in the plain dialect, a member of ${title} is ${nillable ? '' : 'not '}nillable`, (t) => {
    t.is(fieldOf(taking({ m: schema }, { schemas, openapi: openapi ?? '3.1.0' })).nillable, nillable);
  });
}

test('keywords next to anyOf with null apply: default, description', (t) => {
  const loaded = taking(
    { m: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: 3 } },
    { overlay: { dialect: 'servicestack', soapErrors: 'fault' }, openapi: '3.1.0' },
  );
  t.true(loaded.contract.operations[0]?.input.fields[0]?.nillable);
});

test('OpenAPI 3.0 ignores keywords next to a reference', (t) => {
  const schema = { ...ref('Box'), properties: { c: { type: 'string' } } };
  t.is(shown(fieldOf(taking({ m: schema }, { schemas, openapi: '3.0.3' })).type), 'Box(a! b)');
});

test('W42: an enum narrowed next to its reference accepts only those values, and is the same type', (t) => {
  const loaded = taking({ m: { ...ref('Color'), enum: ['red', null] }, n: ref('Color') }, { schemas });
  t.deepEqual(fieldOf(loaded).allowed, ['red']);
  t.is(fieldOf(loaded, 'n').allowed, undefined);
  t.is(fieldOf(loaded).type, fieldOf(loaded, 'n').type);
});

test('a member repeated in an allOf is refined in its position if the addition is compatible', (t) => {
  const loaded = taking({
    m: {
      allOf: [
        {
          properties: {
            narrower: { type: 'number' },
            wider: { type: 'integer' },
            words: { type: 'string', format: 'date' },
            bare: { type: 'string', format: 'date' },
            closer: { type: 'string' },
            other: { type: 'string' },
          },
        },
        {
          properties: {
            narrower: { type: 'integer' },
            wider: { type: 'number' },
            words: { description: 'more of it' },
            bare: { type: 'string' },
            closer: { type: 'string', format: 'date' },
            other: { type: 'integer' },
          },
        },
      ],
    },
  });
  const { type } = fieldOf(loaded);
  t.deepEqual(type.kind === 'record' && type.fields.map(({ json, type: of }) => [json, shown(of)]), [
    ['narrower', 'long'],
    ['wider', 'long'],
    ['words', 'date'],
    ['bare', 'date'],
    ['closer', 'date'],
    ['other', 'string'],
  ]);
  t.deepEqual(loaded.contradictions, [
    {
      pointer: `${at}/allOf/1/properties/other`,
      why: `integer here, string at ${at}/allOf/0/properties/other`,
    },
  ]);
});

test('a component that requests and replies share is one type', (t) => {
  const { contract } = readContract(parcelsFolder);
  const book = contract.operations.find(({ name }) => name === 'BookParcel');
  t.is(book?.input.fields[0]?.type, book?.output.fields[0]?.type);
  t.is(contract.types.filter(({ name }) => name === 'Parcel').length, 1);
});

test('a recursive type is one type, at any distance', (t) => {
  const far = Object.fromEntries(
    Array.from({ length: 3000 }, (_, index) => [
      `T${index}`,
      { type: 'object', properties: { next: ref(`T${(index + 1) % 3000}`) } },
    ]),
  );
  const { contract } = taking({ m: ref('T0') }, { schemas: far });
  t.is(contract.types.filter(({ name }) => name.startsWith('T')).length, 3000);
});

test('two arrays of one item are one type, however they are reached', (t) => {
  const loaded = taking(
    { m: { type: 'array', items: ref('Box') }, n: ref('Boxes'), o: { type: 'array', items: ref('Alias') } },
    { schemas },
  );
  t.is(fieldOf(loaded).type, fieldOf(loaded, 'n').type);
  t.is(fieldOf(loaded).type, fieldOf(loaded, 'o').type);
});

test('W21: arrays and maps of GUIDs are those of strings; a single GUID is a GUID', (t) => {
  const uuid = { type: 'string', format: 'uuid' };
  const { contract } = taking(
    { m: { type: 'array', items: uuid }, n: { type: 'array', items: { type: 'string' } }, o: uuid },
    { overlay: { dialect: 'servicestack', soapErrors: 'fault' } },
  );
  t.deepEqual(
    contract.operations[0]?.input.fields.map(({ json, type }) => [json, shown(type)]),
    [
      ['m', 'ArrayOfstring[string: string]'],
      ['n', 'ArrayOfstring[string: string]'],
      ['o', 'guid'],
    ],
  );
  t.is(contract.types.filter(({ kind }) => kind === 'array').length, 1);
});

for (const [json, xml] of [
  ['name', 'name'],
  ['größe', 'größe'],
  ['價格', '價格'],
  ['a b', 'a_x0020_b'],
  ['@type', '_x0040_type'],
  ['1st', '_x0031_st'],
  ['a-b.c', 'a-b.c'],
  ['-a', '_x002D_a'],
  ['a:b', 'a_x003A_b'],
  ['_x0041_', '_x005F_x0041_'],
  ['_xfoo', '_xfoo'],
  ['😀', '_xD83D__xDE00_'],
  ['', '_'],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
] as const) {
  test(`a member called ${JSON.stringify(json)} is the element <${xml}>`, (t) => {
    const loaded = taking(
      JSON.parse(`{${JSON.stringify(json)}: {"type": "string"}, "m": {"type": "string"}}`),
    );
    t.is(fieldOf(loaded, json).xml, xml);
  });
}

test('__proto__ as a key, a member and a component changes no prototype', (t) => {
  const { contract } = taking(
    JSON.parse('{"__proto__": {"$ref": "#/components/schemas/__proto__"}, "m": {}}'),
    {
      schemas: JSON.parse(
        '{"__proto__": {"type": "object", "properties": {"polluted": {"type": "string"}}}}',
      ),
    },
  );
  t.deepEqual(
    contract.types.map(shown).toSorted(),
    ['OpBody(__proto__ m?)', '__proto__(polluted)', 'OpResult(done)'].toSorted(),
  );
  t.false('polluted' in {});
});

// --- operations ------------------------------------------------------------------------------------

/** Returns a contract with these paths. */
function serving(paths: object, overlay: object = {}, components: object = {}): Contract {
  return buildContract({
    openapiName: 'openapi.yaml',
    overlayName: 'soap.yaml',
    openapi: { openapi: '3.1.0', info: { title: 'parcel post' }, paths, components },
    overlay,
  }).contract;
}

test('W32: a contract without a name in the overlay has the name of the document’s title', (t) => {
  const { service, namespaces, basePath, credentials, routes } = serving({
    '/a': { get: { responses: { 204: {} } } },
  });
  t.deepEqual(
    { service, namespaces, basePath, credentials, routes },
    {
      service: 'ParcelPost',
      namespaces: { types: 'urn:ParcelPost', arrays: 'urn:ParcelPost' },
      basePath: '',
      credentials: undefined,
      routes: [],
    },
  );
});

test('W1: operations whose names collide, or equal another one’s reply, have unique names', (t) => {
  const done = { responses: { 204: {} } };
  const { operations } = serving({
    '/a': { get: { ...done, operationId: 'SendParcel' }, put: { ...done, operationId: 'send-parcel' } },
    '/b': {
      get: { ...done, operationId: 'SendParcelResponse' },
      put: { ...done, operationId: 'SendParcel' },
    },
    '/b/{c}': { get: { ...done, parameters: [{ name: 'c', in: 'path', schema: { type: 'string' } }] } },
    '/b/c': { get: done },
  });
  t.deepEqual(
    operations.map(({ name }) => name),
    ['SendParcel', 'send_parcel_a941', 'SendParcelResponse_160d', 'SendParcel_332d', 'getBC_a037', 'getBC'],
  );
});

for (const [id, path, name] of [
  [undefined, '/parcels/{number}/events', 'getParcelsNumberEvents'],
  ['', '/a', 'getA'],
  ['parcels.list', '/a', 'parcels_list'],
  ['list parcels/all', '/a', 'list_parcels_all'],
  ['2list', '/a', 'N_2list'],
] as const) {
  test(`the operation ${JSON.stringify(id)} at ${path} is called ${name}`, (t) => {
    const parameters = path.includes('{number}')
      ? [{ name: 'number', in: 'path', schema: { type: 'string' } }]
      : [];
    const { operations } = serving({
      [path]: { parameters, get: { operationId: id, responses: { 204: {} } } },
    });
    t.deepEqual(
      operations.map((operation) => operation.name),
      [name],
    );
  });
}

test('an operation’s parameter replaces its path’s parameter in the same place only', (t) => {
  const [operation] = serving({
    '/a/{id}': {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
      ],
      get: {
        operationId: 'Get',
        parameters: [
          { name: 'x-trace', in: 'header', required: true, schema: { type: 'integer' } },
          { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int32' } },
        ],
        responses: { 204: {} },
      },
    },
  }).operations;
  t.deepEqual(
    operation?.input.fields.map(({ json, type, required }) => [json, shown(type), required]),
    [
      ['id', 'int', true],
      ['x-trace', 'long', true],
    ],
  );
});

test('headers reserved by OpenAPI, the connection or the credentials are no inputs', (t) => {
  const names = ['Accept', 'content-type', 'Authorization', 'Host', 'Content-Length', 'X-API-KEY', 'X-Trace'];
  const parameters = names.map((name) => ({
    name,
    in: 'header',
    required: true,
    schema: { type: 'string' },
  }));
  const { operations } = serving(
    { '/a': { get: { operationId: 'Get', parameters, responses: { 204: {} } } } },
    { credentials: { headers: { key: 'X-Api-Key' } } },
  );
  t.deepEqual(
    operations[0]?.input.fields.map(({ json }) => json),
    ['X-Trace'],
  );
});

test('a parameter that two operations share has one type', (t) => {
  const parameters = [{ $ref: '#/components/parameters/Sort' }];
  const { types } = serving(
    {
      '/a': {
        parameters,
        get: { operationId: 'A', responses: { 204: {} } },
        put: { operationId: 'B', responses: { 204: {} } },
      },
    },
    {},
    { parameters: { Sort: { name: 'sort', in: 'query', schema: { type: 'string', enum: ['up', 'down'] } } } },
  );
  t.deepEqual(
    types.filter(({ kind }) => kind === 'enum').map(({ name }) => name),
    ['SortParameter'],
  );
});

for (const [title, responses, expected] of [
  ['204 alone', { 204: {} }, 'Empty()'],
  [
    'a 200 with a body and a 202 without',
    { 202: { content: {} }, 200: 'boolean' },
    'OpResult(StatusCode Body)',
  ],
  ['two statuses of one body', { 201: 'boolean', 200: 'boolean' }, 'boolean'],
  ['two bodies', { 201: 'boolean', 200: 'string' }, 'OpResult(StatusCode Body200 Body201)'],
  ['2XX', { '2XX': 'boolean', default: 'string' }, 'boolean'],
  ['default alone', { default: 'boolean' }, 'boolean'],
  ['errors and a default', { 404: 'string', default: 'boolean' }, 'boolean'],
  ['nothing', {}, 'Empty()'],
] as const) {
  test(`of the replies ${title}, the success is ${expected}`, (t) => {
    const given = Object.entries<string | object>(responses).map(([status, type]) => [
      status,
      typeof type === 'string' ? { content: { 'application/json': { schema: { type } } } } : type,
    ]);
    const { operations } = serving({
      '/a': { get: { operationId: 'Op', responses: Object.fromEntries(given) } },
    });
    const [field] = operations[0]?.output.fields ?? [];
    t.is(field && shown(field.type), expected);
  });
}

for (const media of [
  'application/json; charset=utf-8',
  'application/vnd.parcels.v2+json',
  'application/problem+json',
]) {
  test(`${media} is JSON`, (t) => {
    const { operations } = serving({
      '/a': {
        get: {
          operationId: 'Op',
          responses: { 200: { content: { 'text/csv': {}, [media]: { schema: { type: 'integer' } } } } },
        },
      },
    });
    t.is(operations[0]?.output.fields[0]?.type.kind, 'scalar');
  });
}

test('only GET is read-only by default; the overlay can change it for each operation', (t) => {
  const responses = { 204: {} };
  const { operations } = serving(
    {
      '/a': { get: { operationId: 'A', responses }, post: { operationId: 'B', responses } },
      '/b': { get: { operationId: 'C', responses }, post: { operationId: 'D', responses } },
    },
    { operations: { A: { readOnly: false }, B: { readOnly: true } } },
  );
  t.deepEqual(
    operations.map(({ name, readOnly }) => [name, readOnly]),
    [
      ['A', false],
      ['B', true],
      ['C', true],
      ['D', false],
    ],
  );
});

test('W18: the overlay sets the order of a type and of a wrapper, element by element', (t) => {
  const { operations, types } = serving(
    {
      '/a/{x}': {
        post: {
          operationId: 'Op',
          parameters: [{ name: 'x', in: 'path', required: true, schema: { type: 'string' } }],
          requestBody: { content: { 'application/json': { schema: ref('Box') } } },
          responses: { 204: {} },
        },
      },
    },
    { types: { Op: { order: ['Body', 'x'] }, Box: { order: ['b', 'a'] } } },
    { schemas },
  );
  t.deepEqual(
    operations[0]?.input.fields.map(({ json }) => json),
    ['Body', 'x'],
  );
  t.deepEqual(types.map(shown), ['Box(b a!)', 'Empty()']);
});
