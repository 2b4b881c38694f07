import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { compileAdopted } from '../../mappings/codec/adopted/compile.ts';
import type { MovedHeader } from '../../mappings/contract/credentials.ts';
import { openFieldsOf } from '../../mappings/loader/wsdl/renames.ts';
import { compareDerived } from '../../wsdl/derived-openapi/compare.ts';
import { deriveOpenapi, writeDerivedOpenapi } from '../../wsdl/derived-openapi/document.ts';
import { tryMessages } from '../adopt/derived-messages.ts';
import { element as e, many, maybe, sequence } from '../mappings/codec/adopted/messages.ts';
import { getOf, serviceOf } from '../mappings/loader/wsdl/wsdl-folder.ts';

/** Returns the schema of the body of `Get`, and the components. */
function derived(t: ExecutionContext, type: string, declarations = '', settings = {}) {
  const { document, open } = deriveOpenapi(serviceOf(t, getOf(type, declarations)), settings);
  // biome-ignore lint/suspicious/noExplicitAny: a document is looked into at many depths
  const { paths, components } = JSON.parse(JSON.stringify(document)) as any;
  return {
    operation: paths['/Get'].post,
    // request and reply have the same element, so it is a component
    body: components.schemas.Get,
    schemas: components?.schemas ?? {},
    open,
  };
}

test('A7, A32: an operation is a POST with its name, its SOAP names and its body', (t) => {
  const { operation, body } = derived(t, sequence(e('id', 'xs:int')));
  t.is(operation.operationId, 'Get');
  t.deepEqual(Object.keys(operation['x-soap']), ['port', 'operation', 'action']);
  t.deepEqual(body, {
    type: 'object',
    properties: { id: { type: 'integer', format: 'int32' } },
    required: ['id'],
    additionalProperties: false,
  });
});

test('A12, A14, A32: attributes come first and are marked; the text of the element is value', (t) => {
  const { body } = derived(
    t,
    '<xs:complexType><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="currency" type="xs:string" default="EUR"/></xs:extension></xs:simpleContent></xs:complexType>',
  );
  t.deepEqual(body.properties, {
    currency: { type: 'string', default: 'EUR', xml: { attribute: true } },
    value: { type: 'number', format: 'decimal' },
  });
  t.deepEqual(body.required, ['value']);
});

test('A13, A32: a type of one repeated element is an array, its object form {Type}Item', (t) => {
  const { body, schemas } = derived(
    t,
    sequence(e('Ids', 't:Ids', maybe) + e('More', 't:Ids', many)),
    `<xs:complexType name="Ids"><xs:sequence>${e('string', 'xs:string', many)}</xs:sequence></xs:complexType>`,
  );
  t.deepEqual(body.properties.Ids, { $ref: '#/components/schemas/Ids' });
  t.deepEqual(body.properties.More, { type: 'array', items: { $ref: '#/components/schemas/IdsItem' } });
  t.deepEqual(schemas.Ids, { type: 'array', items: { type: 'string' } });
  t.deepEqual(schemas.IdsItem.properties, { string: { type: 'array', items: { type: 'string' } } });
});

test('A15, A16, A32: choice members are optional; a repeated choice is a list', (t) => {
  const once = derived(t, `<xs:complexType><xs:choice>${e('a')}${e('b')}</xs:choice></xs:complexType>`);
  t.is(once.body.required, undefined);
  t.is(once.body.description, 'At most one of: a; b.');
  const repeated = derived(
    t,
    `<xs:complexType><xs:sequence>${e('c')}<xs:choice ${many}>${e('a')}${e('b')}</xs:choice></xs:sequence></xs:complexType>`,
  );
  t.deepEqual(repeated.body.properties['@items'].items, {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
  });
});

const animals =
  `<xs:complexType name="Animal"><xs:sequence>${e('Name', 'xs:string', maybe)}</xs:sequence></xs:complexType>` +
  '<xs:complexType name="Dog"><xs:complexContent><xs:extension base="t:Animal"/></xs:complexContent></xs:complexType>';

test('A18, A32: derived types become oneOf with the discriminator @type', (t) => {
  const { body, schemas } = derived(t, sequence(e('Pet', 't:Animal') + e('Dog', 't:Dog')), animals);
  t.deepEqual(body.properties.Pet, { $ref: '#/components/schemas/Animal' });
  t.deepEqual(schemas.Animal, {
    oneOf: [{ $ref: '#/components/schemas/AnimalItself' }, { $ref: '#/components/schemas/DogTyped' }],
    discriminator: {
      propertyName: '@type',
      mapping: { Animal: '#/components/schemas/AnimalItself', Dog: '#/components/schemas/DogTyped' },
    },
  });
  t.deepEqual(schemas.DogTyped.properties['@type'], { type: 'string', enum: ['Dog'] });
  t.deepEqual(schemas.DogTyped.required, ['@type']);
  t.is(schemas.AnimalItself.required, undefined);
  t.is(schemas.Dog.properties['@type'], undefined);
});

test('A18: with types: always each named type may have its name', (t) => {
  const { schemas } = derived(t, sequence(e('Dog', 't:Dog')), animals, { types: 'always' });
  t.deepEqual(schemas.Dog.properties['@type'], { type: 'string', enum: ['Dog'] });
});

test('A20, A32: a substitution group is an object with one member', (t) => {
  const { body, schemas } = derived(
    t,
    '<xs:complexType><xs:sequence><xs:element ref="t:Path"/></xs:sequence></xs:complexType>',
    '<xs:element name="Path" abstract="true" type="xs:string"/><xs:element name="Field" type="xs:string" substitutionGroup="t:Path"/>',
  );
  t.deepEqual(body.properties.Path, { $ref: '#/components/schemas/PathSubstitutes' });
  t.deepEqual(schemas.PathSubstitutes, {
    type: 'object',
    properties: { Field: { type: 'string' } },
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
  });
});

test('A22 to A24, A32: open content is XML strings and any values, and this is documented', (t) => {
  const { body, schemas, open } = derived(
    t,
    sequence(`${e('m', 't:Mixed')}${e('v', 'xs:anyType')}<xs:any ${many} namespace="##other"/>`),
    '<xs:complexType name="Mixed" mixed="true"/>',
  );
  t.deepEqual(body.properties['@any'], {
    type: 'array',
    items: { type: 'string' },
    description: 'One element as XML.',
  });
  t.is(schemas.Mixed.type, 'string');
  t.deepEqual(body.properties.v, { $ref: '#/components/schemas/AnyValue' });
  t.deepEqual(
    open.map(({ place, rule }) => [place, rule]),
    [
      ['Get.v', 'A23'],
      ['Get.@any', 'A22'],
      ['Mixed', 'A24'],
    ],
  );
});

test('A25: a nillable element may be null, and may keep its attributes', (t) => {
  const { body, schemas } = derived(
    t,
    sequence(e('n', 'xs:int', 'nillable="true"') + e('o', 't:Order', 'nillable="true"')),
    '<xs:complexType name="Order"><xs:attribute name="id" type="xs:int" use="required"/></xs:complexType>',
  );
  t.deepEqual(body.properties.n.type, ['integer', 'null']);
  t.deepEqual(body.properties.o.oneOf, [
    { $ref: '#/components/schemas/Order' },
    { $ref: '#/components/schemas/OrderNil' },
    { type: 'null' },
  ]);
  t.deepEqual(schemas.OrderNil.required, ['@nil', 'id']);
});

for (const [type, schema] of [
  ['xs:long', { type: 'integer', format: 'int64' }],
  ['xs:positiveInteger', { type: 'integer', minimum: 1 }],
  ['xs:dateTime', { type: 'string', format: 'xsd-date-time' }],
  ['xs:gYearMonth', { type: 'string', format: 'xsd-g-year-month' }],
  ['xs:base64Binary', { type: 'string', format: 'byte' }],
  ['xs:NMTOKENS', { type: 'array', items: { type: 'string' }, minItems: 1 }],
  ['xs:QName', { type: 'string' }],
] as const)
  test(`A26: ${type} has the schema of its JSON form`, (t) => {
    t.deepEqual(derived(t, sequence(e('v', type))).body.properties.v, schema);
  });

test('A26: big numbers are strings if the contract says so', (t) => {
  const { body } = derived(t, sequence(e('v', 'xs:decimal')), '', { bigNumbers: 'text' });
  t.deepEqual(body.properties.v, { type: 'string', format: 'decimal' });
});

test('A26: with dates: utc moments are RFC 3339', (t) => {
  const { body } = derived(t, sequence(e('v', 'xs:dateTime')), '', { dates: 'utc' });
  t.deepEqual(body.properties.v, { type: 'string', format: 'date-time' });
});

const restricted = (base: string, facets: string): string =>
  `<xs:simpleType name="R"><xs:restriction base="${base}">${facets}</xs:restriction></xs:simpleType>`;

for (const [title, base, facets, schema] of [
  [
    'values',
    'xs:string',
    '<xs:enumeration value="a"/><xs:enumeration value="b"/>',
    { type: 'string', enum: ['a', 'b'] },
  ],
  [
    'lengths',
    'xs:string',
    '<xs:minLength value="1"/><xs:maxLength value="9"/>',
    { type: 'string', minLength: 1, maxLength: 9 },
  ],
  [
    'a bound that a double holds',
    'xs:decimal',
    '<xs:minInclusive value="-00.10"/>',
    { type: 'number', format: 'decimal', minimum: -0.1 },
  ],
  [
    'a bound that a double does not hold, in words',
    'xs:decimal',
    '<xs:maxInclusive value="99999999999999999.99"/>',
    { type: 'number', format: 'decimal', description: 'At most 99999999999999999.99.' },
  ],
  [
    'a pattern that ECMAScript lacks, in words',
    'xs:string',
    '<xs:pattern value="\\p{IsBasicLatin}*"/>',
    { type: 'string', description: 'Of the XSD pattern \\p{IsBasicLatin}*.' },
  ],
] as const)
  test(`A26: facets become ${title}`, (t) => {
    t.deepEqual(derived(t, sequence(e('v', 't:R')), restricted(base, facets)).schemas.R, schema);
  });

test('A32: a type may contain itself, an anonymous one too', (t) => {
  const { body, schemas } = derived(
    t,
    sequence('<xs:element ref="t:Node" minOccurs="0"/>'),
    `<xs:element name="Node">${sequence('<xs:element ref="t:Node" minOccurs="0"/>')}</xs:element>`,
  );
  t.deepEqual(body.properties.Node, { $ref: '#/components/schemas/Node' });
  t.deepEqual(schemas.Node.properties.Node, { $ref: '#/components/schemas/Node' });
});

test('A32: documentation is kept', (t) => {
  const words = '<xs:annotation><xs:documentation>An order.</xs:documentation></xs:annotation>';
  const { schemas } = derived(
    t,
    sequence(e('o', 't:Order')),
    `<xs:complexType name="Order">${words}<xs:sequence/></xs:complexType>`,
  );
  t.is(schemas.Order.description, 'An order.');
});

test('A32: the derived document reads back unchanged, for any names', (t) => {
  const type = sequence(
    e('no') + e('on', 'xs:string', 'default="2024-01-01"') + e('y', 'xs:string', 'default="1e3"'),
  );
  const { document } = deriveOpenapi(serviceOf(t, getOf(type)));
  const text = writeDerivedOpenapi(document);
  t.deepEqual(parse(text), document);
  t.deepEqual(parse(text, { version: '1.1' }), document);
});

test('A32: messages match the schemas of their document', (t) => {
  const type = sequence(
    e('Pet', 't:Animal', `${many} nillable="true"`) +
      e('n', 'xs:long', 'nillable="true"') +
      e('v', 'xs:anyType', maybe) +
      `<xs:choice ${many}>${e('a')}${e('b', 'xs:date')}</xs:choice>`,
    '<xs:attribute name="id" type="xs:int"/><xs:anyAttribute/>',
  );
  const { messages, wrong } = tryMessages(serviceOf(t, getOf(type, animals)), 200);
  t.deepEqual(wrong, []);
  t.is(messages, 400);
});

test('A32: check reports no difference for an unchanged document, in any order', (t) => {
  const service = serviceOf(t, getOf(sequence(e('Pet', 't:Animal') + e('b')), animals));
  const { document } = deriveOpenapi(service);
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, inner]) => [key, reversed(inner)]),
    );
  };
  t.deepEqual(compareDerived(service, reversed(document), 'derived.openapi.yaml'), []);
});

test('A32: check reports each difference with its pointer and both sides', (t) => {
  const service = serviceOf(t, getOf(sequence(e('Dog', 't:Dog')), animals));
  // biome-ignore lint/suspicious/noExplicitAny: a document is changed at some depth
  const changed = JSON.parse(JSON.stringify(deriveOpenapi(service).document)) as any;
  changed.components.schemas.Dog.properties.Name.type = 'integer';
  changed.paths['/Other'] = {};
  delete changed.info.title;
  t.deepEqual(
    compareDerived(service, changed, 'derived.openapi.yaml').map(({ pointer, message }) => [
      pointer,
      message,
    ]),
    [
      ['/info/title', 'expected "Things", as the WSDL says, got nothing'],
      ['/paths/~1Other', 'expected nothing, as the WSDL says, got {}'],
      ['/components/schemas/Dog/properties/Name/type', 'expected "string", as the WSDL says, got "integer"'],
    ],
  );
  t.is(compareDerived(service, changed, 'x', {}, 2).length, 2);
});

test('A32: the size of a document grows linearly with its WSDL', (t) => {
  const sizes = [200, 400].map((count) => {
    const types = Array.from(
      { length: count },
      (_, index) =>
        `<xs:complexType name="T${index}"><xs:sequence>${e('next', `t:T${(index * 7 + 1) % count}`, maybe)}${e('other', `t:T${(index * 3) % count}`, maybe)}</xs:sequence></xs:complexType>`,
    ).join('');
    return writeDerivedOpenapi(
      deriveOpenapi(serviceOf(t, getOf(sequence(e('first', 't:T0')), types))).document,
    ).length;
  });
  t.true((sizes[1] ?? 0) < 2.2 * (sizes[0] ?? 0), String(sizes));
});

test('A22, A32: open fields are an object of values, each also null or several', (t) => {
  const service = serviceOf(t, getOf(sequence(`<xs:any ${many} processContents="lax"/>`)));
  openFieldsOf(service, ['Get'], (pointer, problem) => t.fail(`${pointer}: ${problem}`));
  const { document, open } = deriveOpenapi(service);
  // biome-ignore lint/suspicious/noExplicitAny: a document is looked into at many depths
  const { schemas } = (document as any).components;
  const one = { anyOf: [{ $ref: '#/components/schemas/AnyValue' }, { type: 'null' }] };
  t.deepEqual(schemas.Get.properties['@any'].additionalProperties, {
    anyOf: [...one.anyOf, { type: 'array', items: one }],
  });
  t.deepEqual(
    open.map(({ place }) => place),
    ['Get.@any'],
  );
});

test('A8, A32: scalars sent in HTTP headers are security schemes, and no longer members', (t) => {
  const service = serviceOf(t, readFileSync('docs/adopt/Orders.wsdl', 'utf8'));
  const ofGetOrder = (moved: readonly MovedHeader[]) => {
    const { document } = deriveOpenapi(service, {}, moved);
    // biome-ignore lint/suspicious/noExplicitAny: a document is looked into at many depths
    const { paths, components } = document as any;
    const { requestBody, security } = paths['/GetOrder'].post;
    const { properties } = requestBody.content['application/json'].schema;
    return { security, components, blocks: properties['@headers'].properties };
  };
  const session = {
    name: 'SessionHeader.session',
    block: 'SessionHeader',
    path: ['session'],
    header: 'Authorization',
    format: 'Bearer {}',
  };
  const branch = {
    ...session,
    name: 'SessionHeader.branch',
    path: ['branch'],
    header: 'X-Branch',
    format: '{}',
  };
  const before = ofGetOrder([]);
  t.is(before.security, undefined);
  t.deepEqual(before.blocks.SessionHeader, { $ref: '#/components/schemas/SessionHeader' });
  const one = ofGetOrder([session]);
  t.deepEqual(Object.keys(one.blocks.SessionHeader.properties), ['branch', '@attributes']);
  t.deepEqual(one.security, [{}, { 'SessionHeader.session': [] }]);
  t.is(one.components.securitySchemes['SessionHeader.session'].scheme, 'bearer');
  const both = ofGetOrder([session, branch]);
  t.deepEqual(Object.keys(both.blocks.SessionHeader.properties), ['@attributes']);
  t.is(both.components.securitySchemes['SessionHeader.branch'].name, 'X-Branch');
  t.is(both.components.schemas.SessionHeader, undefined);
});

const choice = (attributes = ''): string =>
  `<xs:choice ${attributes}>${e('ok', 'xs:string')}${e('err', 'xs:string')}</xs:choice>`;
const words = (text: string): string =>
  `<xs:annotation><xs:documentation>${text}</xs:documentation></xs:annotation>`;

test('A15, A32: the sentence about a choice stays next to the documentation of its element', (t) => {
  const inner = (type: string): string => `<xs:element name="deep">${words('Deep.')}${type}</xs:element>`;
  const { body } = derived(t, words('Outer.') + sequence(choice() + inner(sequence(choice()))));
  const told = 'At most one of: ok; err.';
  // the body is a component, and its documentation is next to the references to it
  t.is(body.description, told);
  t.is(body.properties.deep.description, `Deep.\n${told}`);
  const wrapper = derived(
    t,
    sequence(
      inner(sequence(`<xs:sequence maxOccurs="unbounded">${choice()}${e('c', 'xs:int')}</xs:sequence>`)),
    ),
  );
  t.is(wrapper.body.properties.deep.description, `Deep.\n${told}`);
  const repeated = derived(
    t,
    sequence(`<xs:element name="deep" maxOccurs="3">${words('Deep.')}${sequence(choice())}</xs:element>`),
  );
  t.is(repeated.body.properties.deep.description, 'Deep.');
  t.is(repeated.body.properties.deep.items.description, told);
});

test('A13, A32: arrays have the bounds of their elements', (t) => {
  const { body, schemas } = derived(
    t,
    sequence(
      `<xs:element name="two" type="xs:int" minOccurs="2" maxOccurs="5"/>` +
        `<xs:element name="any" type="xs:int" minOccurs="0" maxOccurs="unbounded"/>` +
        `<xs:element name="some" type="xs:int" maxOccurs="unbounded"/>` +
        `<xs:sequence minOccurs="0"><xs:element name="inner" type="xs:int" maxOccurs="3"/></xs:sequence>` +
        `<xs:choice><xs:element name="left" type="xs:int" minOccurs="2" maxOccurs="4"/>${e('right', 'xs:int')}</xs:choice>` +
        `<xs:element name="nil" type="xs:int" nillable="true" minOccurs="1" maxOccurs="2"/>` +
        e('Ids', 't:Ids', maybe) +
        '<xs:any minOccurs="1" maxOccurs="2" namespace="##other"/>',
    ),
    `<xs:complexType name="Ids"><xs:sequence><xs:element name="string" type="xs:string" minOccurs="1" maxOccurs="9"/></xs:sequence></xs:complexType>`,
  );
  const bounds = (schema: { minItems?: number; maxItems?: number }) => [schema.minItems, schema.maxItems];
  const { properties } = body;
  t.deepEqual(
    ['two', 'any', 'some', 'inner', 'left', 'nil', '@any'].map((name) => bounds(properties[name])),
    [
      [2, 5],
      [undefined, undefined],
      [1, undefined],
      [undefined, 3],
      [undefined, 4],
      [1, 2],
      [1, 2],
    ],
  );
  t.deepEqual(bounds(schemas.Ids), [1, 9]);
});

for (const [what, content, bounds] of [
  ['choice', choice('minOccurs="2" maxOccurs="4"'), [2, 4]],
  [
    'choice of repeats',
    `<xs:choice maxOccurs="4">${e('a', 'xs:int', 'maxOccurs="3"')}${e('b', 'xs:int')}</xs:choice>`,
    [1, 12],
  ],
  [
    'choice of what may be missing',
    `<xs:choice maxOccurs="4">${e('a', 'xs:int', maybe)}${e('b', 'xs:int')}</xs:choice>`,
    [undefined, 4],
  ],
  [
    'choice in a choice',
    `<xs:choice maxOccurs="4">${choice('maxOccurs="2"')}${e('b', 'xs:int')}</xs:choice>`,
    [1, 8],
  ],
  [
    'sequence',
    `<xs:sequence minOccurs="2" maxOccurs="4">${e('a', 'xs:int')}${e('b', 'xs:int', maybe)}</xs:sequence>`,
    [2, 4],
  ],
  [
    'sequence of repeats',
    `<xs:sequence minOccurs="2" maxOccurs="4">${e('a', 'xs:int', 'maxOccurs="2"')}${e('b', 'xs:int', maybe)}</xs:sequence>`,
    [1, 4],
  ],
  [
    'sequence of what may be missing',
    `<xs:sequence minOccurs="2" maxOccurs="4">${e('a', 'xs:int', maybe)}${e('b', 'xs:int', maybe)}</xs:sequence>`,
    [undefined, 4],
  ],
] as const) {
  test(`A16, A32: the repetitions of a ${what} have bounds`, (t) => {
    const { body } = derived(t, sequence(content + e('last', 'xs:int')));
    const { minItems, maxItems } = body.properties['@items'];
    t.deepEqual([minItems, maxItems], [...bounds]);
  });
}

/** Returns the operation `Get` in rpc/encoded style with faults of these parts. */
const withFaults = (parts: Readonly<Record<string, string>>, declarations = ''): string => {
  const names = Object.keys(parts);
  return getOf('<xs:complexType/>', declarations)
    .replace(
      '<w:portType',
      `${names.map((name) => `<w:message name="m${name}"><w:part ${parts[name]}/></w:message>`).join('')}<w:portType`,
    )
    .replace(
      '<w:output message="t:out"/>',
      `<w:output message="t:out"/>${names.map((name) => `<w:fault name="${name}" message="t:m${name}"/>`).join('')}`,
    );
};

test('A29, A32: faults whose parts share a name are named by the wsdl:fault', (t) => {
  const service = serviceOf(
    t,
    withFaults({
      F1: 'name="same" type="xs:int"',
      F2: 'name="same" type="xs:string"',
      F3: 'name="own" type="xs:int"',
    }),
  );
  // biome-ignore lint/suspicious/noExplicitAny: a document is looked into at many depths
  const { paths, components } = JSON.parse(JSON.stringify(deriveOpenapi(service).document)) as any;
  const { mapping } = paths['/Get'].post.responses['4XX'].content['application/json'].schema.discriminator;
  t.deepEqual(Object.keys(mapping), ['F1', 'F2', 'own']);
  const typeNamed = (name: string) =>
    components.schemas[mapping[name].split('/').at(-1)].properties.value.type[0];
  t.deepEqual(['F1', 'F2', 'own'].map(typeNamed), ['integer', 'string', 'integer']);
  const sameOf = (text: string) => `<same xmlns:i="http://www.w3.org/2001/XMLSchema-instance">${text}</same>`;
  const { faults } = compileAdopted(service).operations.get('Get') ?? {};
  t.is(faults?.write('{"@fault":"F2","value":"x"}')?.detail, sameOf('x'));
  t.is(faults?.write('{"@fault":"F1","value":7}')?.detail, sameOf('7'));
  t.is(faults?.write('{"@fault":"same","value":7}')?.detail, sameOf('7'));
});

test('A29, A32: faults with one element are one fault, named by the element', (t) => {
  const service = serviceOf(
    t,
    withFaults(
      { F1: 'name="p" element="t:E"', F2: 'name="p" element="t:E"' },
      '<xs:element name="E" type="xs:int"/>',
    ),
  );
  const text = writeDerivedOpenapi(deriveOpenapi(service).document);
  t.false(text.includes('discriminator'));
  t.true(text.includes('- E\n'));
});
