import test from 'ava';
import type { Contract, Field, MapType, TupleType } from '../../mappings/contract/model.ts';
import type { Settings } from '../../mappings/contract/overlay-keys.ts';
import { buildContract } from '../../mappings/loader/build-contract.ts';
import { writeSchema } from '../../wsdl/schema.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { field, parcels, plainParcels, record, scalar } from './parcels.ts';
import { all, descendants, only, readTree, type Tree } from './tree.ts';

const address = 'https://api.example.com/v1';

test('W32: the arrays schema precedes the types schema, each qualified and with its prefixes', (t) => {
  t.deepEqual(
    schemas(parcels).map(({ attributes }) => Object.entries(attributes)),
    [
      [
        ['xmlns:xs', 'http://www.w3.org/2001/XMLSchema'],
        ['xmlns:arr', 'urn:example:arrays'],
        ['elementFormDefault', 'qualified'],
        ['targetNamespace', 'urn:example:arrays'],
      ],
      [
        ['xmlns:xs', 'http://www.w3.org/2001/XMLSchema'],
        ['xmlns:tns', 'urn:example:parcels'],
        ['xmlns:arr', 'urn:example:arrays'],
        ['elementFormDefault', 'qualified'],
        ['targetNamespace', 'urn:example:parcels'],
      ],
    ],
  );
});

test('W32: the types schema imports the arrays namespace without a location', (t) => {
  const [arrays, types] = schemas(parcels);
  t.deepEqual(types?.children[0]?.attributes, { namespace: 'urn:example:arrays' });
  t.is(types?.children[0]?.name, 'xs:import');
  t.true(arrays?.children.every(({ name }) => name !== 'xs:import'));
});

test('one namespace for both is one schema without import, with arrays and maps of prefix tns', (t) => {
  const [types, ...rest] = schemas(plainParcels);
  t.deepEqual(rest, []);
  t.deepEqual(Object.keys(types?.attributes ?? {}), [
    'xmlns:xs',
    'xmlns:tns',
    'elementFormDefault',
    'targetNamespace',
  ]);
  t.is(types?.children[0]?.name, 'xs:element');
  t.deepEqual(fieldsOf(types, 'Parcel'), [
    'Marks tns:ArrayOfstring nillable',
    'Meta tns:ArrayOfKeyValueOfstringint nillable',
    'Parts tns:ArrayOfParcel nillable',
    'State tns:Status nillable',
    'Weight xs:decimal',
  ]);
});

test('a contract without a type in the arrays namespace has no arrays schema', (t) => {
  const bare = { ...parcels, operations: [], types: [parcels.responseStatus] };
  t.is(schemas(bare).length, 1);
  t.false(writeWsdl(bare, { address }).includes('urn:example:arrays'));
  t.is(writeSchema(bare, 1, { address }), undefined);
});

test('the schemas import each other if arrays or maps contain types of the other', (t) => {
  const value = record('Depot', [field('Name', scalar('string'))]);
  const depots: MapType = {
    kind: 'map',
    name: 'ArrayOfKeyValueOfstringDepot',
    namespace: 'arrays',
    entryName: 'KeyValueOfstringDepot',
    value,
  };
  const contract = { ...parcels, types: [depots, value] };
  const arrays = schemas(contract)[0];
  t.is(arrays?.attributes['xmlns:tns'], 'urn:example:parcels');
  t.deepEqual(arrays?.children[0]?.attributes, { namespace: 'urn:example:parcels' });
  t.true(writeWsdl(contract, { address }).includes('name="Value" nillable="true" type="tns:Depot"'));
  t.true(writeSchema(contract, 1, { address })?.includes(`schemaLocation="${address}/soap11?xsd=0"`));
});

test('W32: the only global elements are the wrappers, anonymous and not nillable', (t) => {
  const types = schemas(parcels)[1];
  const elements = all(types ?? readTree(''), 'xs:element');
  t.deepEqual(
    elements.map(({ attributes }) => attributes),
    ['SendParcel', 'SendParcelResponse', 'TrackParcel', 'TrackParcelResponse'].map((name) => ({ name })),
  );
  t.true(elements.every((wrapper) => Object.keys(only(wrapper, 'xs:complexType').attributes).length === 0));
});

test('W33: every field is optional, required ones too, and nillable if the contract says so', (t) => {
  t.true(writeWsdl(parcels, { address }).includes('<xs:element minOccurs="0" name="Id" type="xs:long">'));
  t.deepEqual(fieldsOf(schemas(parcels)[1], 'Parcel'), [
    'Marks arr:ArrayOfstring nillable',
    'Meta arr:ArrayOfKeyValueOfstringint nillable',
    'Parts tns:ArrayOfParcel nillable',
    'State tns:Status nillable',
    'Weight xs:decimal',
  ]);
});

test('W32: only Key and Value of a map are required', (t) => {
  const inner = schemas(parcels).flatMap((schema) =>
    descendants(schema)
      .filter((tree) => tree.name === 'xs:sequence')
      .flatMap((sequence) => sequence.children),
  );
  const required = inner.filter(({ attributes }) => attributes.minOccurs !== '0');
  t.deepEqual(
    required.map(({ attributes }) => attributes),
    [
      { name: 'Key', nillable: 'true', type: 'xs:string' },
      { name: 'Value', nillable: 'true', type: 'xs:int' },
    ],
  );
});

test('W32: an array is a sequence of one repeated nillable item', (t) => {
  const array = typeNamed(schemas(parcels)[1], 'ArrayOfParcel');
  t.deepEqual(only(only(array, 'xs:sequence'), '').attributes, {
    minOccurs: '0',
    maxOccurs: 'unbounded',
    name: 'Parcel',
    nillable: 'true',
    type: 'tns:Parcel',
  });
});

test('W32: a map is marked IsDictionary and has entries of an anonymous type', (t) => {
  const map = typeNamed(schemas(parcels)[0], 'ArrayOfKeyValueOfstringint');
  const mark = only(only(only(map, 'xs:annotation'), 'xs:appinfo'), 'IsDictionary');
  t.is(mark.attributes.xmlns, 'http://schemas.microsoft.com/2003/10/Serialization/');
  t.is(mark.text, 'true');
  const entry = only(only(map, 'xs:sequence'), 'xs:element');
  t.deepEqual(entry.attributes, { minOccurs: '0', maxOccurs: 'unbounded', name: 'KeyValueOfstringint' });
  t.deepEqual(only(entry, 'xs:complexType').attributes, {});
});

test('W32: an enum restricts xs:string to its values in order, without an annotation', (t) => {
  const [restriction, ...rest] = typeNamed(schemas(parcels)[1], 'Status').children;
  t.deepEqual(rest, []);
  t.deepEqual(restriction?.attributes, { base: 'xs:string' });
  t.deepEqual(
    restriction?.children.map(({ name, attributes }) => [name, attributes.value]),
    [
      ['xs:enumeration', 'Sent'],
      ['xs:enumeration', 'Under way'],
      ['xs:enumeration', '<lost & "gone">'],
    ],
  );
});

test('W32: a record has the description of the contract, or no documentation', (t) => {
  const types = schemas(parcels)[1];
  const annotation = only(typeNamed(types, 'Parcel'), 'xs:annotation');
  t.is(only(annotation, 'xs:documentation').text, 'A parcel: é, 漢, 😀 & <more>');
  t.deepEqual(
    typeNamed(types, 'ResponseStatus').children.map(({ name }) => name),
    ['xs:sequence'],
  );
});

const told: Field = {
  ...field('Told', scalar('string')),
  required: true,
  words: { description: 'Two lines,\n& a <form feed\f>', facts: 'Default: 5.' },
};

/** Returns the documentation in the schema of a record with these fields, by name; the record's own is `''`. */
function wordsIn(fields: readonly Field[], documentation: Settings['documentation']): object {
  const type = { ...record('Told', fields), documentation: 'A type.' };
  const contract = {
    ...parcels,
    operations: [],
    types: [type],
    settings: { ...parcels.settings, documentation },
  };
  const tree = typeNamed(readTree(writeSchema(contract, 0, { address }) ?? ''), 'Told');
  const elements = only(tree, 'xs:sequence').children;
  return Object.fromEntries(
    [tree, ...elements].flatMap((node) =>
      all(node, 'xs:annotation').map((says) => [
        node === tree ? '' : node.attributes.name,
        only(says, 'xs:documentation').text,
      ]),
    ),
  );
}

test('W33: a field has its description and a line of facts, or is only marked required', (t) => {
  const fields = [
    told,
    { ...field('Required', scalar('string')), required: true },
    { ...field('Described', scalar('string')), words: { description: 'Words.', facts: '' } },
    field('Silent', scalar('string')),
  ];
  t.deepEqual(wordsIn(fields, 'full'), {
    '': 'A type.',
    Told: 'Two lines,\n& a <form feed\uFFFD>\nRequired. Default: 5.',
    Required: 'Required.',
    Described: 'Words.',
  });
});

test('a position of a list is documented like a field', (t) => {
  const position = { xml: 'Item1', type: scalar('decimal'), words: { description: 'Longitude.', facts: '' } };
  const tuple: TupleType = {
    kind: 'tuple',
    name: 'Place',
    documentation: '',
    positions: [position],
    rest: undefined,
  };
  const xml = writeSchema({ ...parcels, operations: [], types: [tuple] }, 0, { address });
  t.true(xml?.includes('<xs:documentation>Longitude.</xs:documentation>'));
});

test('documentation: types omits texts of fields, none omits all texts', (t) => {
  t.deepEqual(wordsIn([told], 'types'), { '': 'A type.' });
  t.deepEqual(wordsIn([told], 'none'), {});
  for (const contract of [parcels, plainParcels]) {
    const settings = { ...contract.settings, documentation: 'none' } as const;
    t.notRegex(writeWsdl({ ...contract, settings }, { address }), /documentation/);
  }
});

test('W24: credentials are not documented as required, because headers may have them', (t) => {
  const credentials = { member: 'key', parts: [], send: 'body' } as const;
  const input = record('TrackParcel', [
    { ...field('Key', scalar('string')), required: true },
    { ...field('Id', scalar('string')), required: true },
  ]);
  const operations = parcels.operations.map((operation) => ({ ...operation, input }));
  const schema = schemas({ ...parcels, credentials, operations })[1];
  const wrapper = all(schema ?? readTree(''), 'xs:element').find(
    ({ attributes }) => attributes.name === 'TrackParcel',
  );
  const documented = descendants(wrapper ?? readTree('')).filter(
    (node) => node.name === 'xs:element' && all(node, 'xs:annotation').length > 0,
  );
  t.deepEqual(
    documented.map(({ attributes }) => attributes.name),
    ['Id'],
  );
});

test('W2, W34: ?xsd=0 is the types schema, which refers to ?xsd=1, the arrays schema', (t) => {
  const types = readTree(writeSchema(parcels, 0, { address }) ?? '');
  const arrays = readTree(writeSchema(parcels, 1, { address }) ?? '');
  t.deepEqual(types.children[0]?.attributes, {
    namespace: 'urn:example:arrays',
    schemaLocation: `${address}/soap11?xsd=1`,
  });
  t.is(arrays.attributes.targetNamespace, 'urn:example:arrays');
  t.deepEqual(withoutImport(arrays), schemas(parcels)[0]?.children);
  t.deepEqual(withoutImport(types), schemas(parcels)[1]?.children.slice(1));
});

test('a contract with one namespace for both has no ?xsd=1', (t) => {
  t.is(writeSchema(plainParcels, 1, { address }), undefined);
  t.false(writeSchema(plainParcels, 0, { address })?.includes('schemaLocation'));
});

function schemas(contract: Contract): readonly Tree[] {
  return only(readTree(writeWsdl(contract, { address })), 'wsdl:types').children;
}

function typeNamed(schema: Tree | undefined, name: string): Tree {
  const type = schema?.children.find(
    (child) => child.name !== 'xs:element' && child.attributes.name === name,
  );
  if (type === undefined) throw new Error(`schema: expected a type ${name}`);
  return type;
}

function fieldsOf(schema: Tree | undefined, name: string): readonly string[] {
  return only(typeNamed(schema, name), 'xs:sequence').children.map(({ attributes }) =>
    [attributes.name, attributes.type, ...(attributes.nillable === 'true' ? ['nillable'] : [])].join(' '),
  );
}

function withoutImport(schema: Tree): readonly Tree[] {
  return schema.children.filter(({ name }) => name !== 'xs:import');
}

test('required: schema makes request members mandatory, and none of types that replies use', (t) => {
  const { contract } = buildContract({
    openapiName: 'openapi',
    overlayName: 'soap',
    overlay: { required: 'schema' },
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Post', version: '1' },
      paths: {
        '/parcels/{id}': {
          put: {
            operationId: 'PutParcel',
            parameters: [
              { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
              { name: 'note', in: 'query', schema: { type: 'string' } },
            ],
            requestBody: {
              required: true,
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } },
            },
            responses: {
              200: {
                description: '',
                content: { 'application/json': { schema: { $ref: '#/components/schemas/Both' } } },
              },
            },
          },
        },
      },
      components: {
        schemas: {
          Order: {
            type: 'object',
            required: ['a'],
            properties: { a: { type: 'string' }, b: { $ref: '#/components/schemas/Both' } },
          },
          Both: { type: 'object', required: ['c'], properties: { c: { type: 'string' } } },
        },
      },
    },
  });
  const demanded = ({ settings }: Contract, required: Settings['required']): readonly string[] =>
    schemas({ ...contract, settings: { ...settings, required } }).flatMap((schema) =>
      descendants(schema).flatMap(({ attributes: { minOccurs, name = '' } }) =>
        minOccurs === '1' ? [name] : [],
      ),
    );
  t.deepEqual(demanded(contract, 'schema'), ['id', 'Body', 'a']);
  t.deepEqual(demanded(contract, 'words'), []);
  t.is(contract.settings.required, 'schema');
});
