import test from 'ava';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';
import {
  type CompiledContract,
  type CompiledOperation,
  compileContract,
} from '../../../../mappings/compile.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import type { Settings } from '../../../../mappings/contract/overlay-keys.ts';
import { buildContract } from '../../../../mappings/loader/build-contract.ts';
import { readContract } from '../../../../mappings/loader/load.ts';
import { mutate } from '../../../fuzz/mutate.ts';
import { Random } from '../../../fuzz/random.ts';
import { fc } from '../../../property.ts';
import { createSoapReader } from '../../../read-soap.ts';
import { definitionsOf, folderOf, get, schemaOf } from '../../loader/wsdl/wsdl-folder.ts';
import { everythingWsdl } from '../adopted/everything.ts';
import { element as e, many, maybe } from '../adopted/messages.ts';
import { picker, randomBody } from '../adopted/random-messages.ts';
import { codecsOf, compile, depot, screening } from '../contracts.ts';
import { tell, valuesOf } from '../values.ts';
import { assertSame, readByBytes } from './readings.ts';

/** Both readers give the same JSON, or the byte reader gives up. */

/** Pieces that mean something in a message. */
const words = [
  ...[
    '<',
    '>',
    '/',
    '="',
    '"',
    "'",
    '&',
    ';',
    ' ',
    '\\',
    '\n',
    '\r\n',
    '\t',
    ']]>',
    '--',
    '\u00e9',
    '\ufffe',
  ],
  ...['&amp;', '&lt;', '&quot;', '&#10;', '&#13;', '&#x22;', '&#xB;', '&#xD83D;&#xDE00;', '&#x1F600;'],
  ...['<![CDATA[', '<!-- c -->', '<?p?>', '<x/>', '<a></a>', ' xmlns="urn:x"', ' xmlns:p="urn:t"', ' a="b"'],
  ...[
    ' i:nil="true"',
    ' i:type="p:Dog"',
    '/>',
    '</',
    'p:',
    '1',
    '-0',
    '00',
    '1.50',
    '.5',
    '1e3',
    'true',
    'null',
  ],
  ...['2024-02-29', '2023-02-29', 'T24:00:00', 'Z', '+14:00', '-05:30', '.123', '9999', 'QUJD', '='],
];

/** Reads a message, and messages that are small changes away from it. Returns how many the byte reader read. */
function readAround(
  compiled: CompiledContract,
  operation: CompiledOperation,
  text: string,
  seed: number,
): number {
  const random = new Random(seed);
  const document = Buffer.from(text);
  let count = assertSame(compiled, operation, document) ? 1 : 0;
  const spellings = [respelled, prefixed, declared, declaredTwice, spread];
  for (const spelled of spellings.map((spell) => spell(text)))
    if (assertSame(compiled, operation, Buffer.from(spelled))) count++;
  for (let time = 0; time < 12; time++)
    if (assertSame(compiled, operation, mutate(document, random, words, document))) count++;
  return count;
}

/** The same message with white space in its tags. */
function respelled(text: string): string {
  return text.replaceAll(/<(\/?[^\s<>/]+)>/g, '<$1\n >').replaceAll('/>', ' />');
}

/** The same message with white space between its tags. */
function spread(text: string): string {
  return text.replaceAll('><', '>\r\n\t <');
}

/** The same message with a declaration of its namespaces at some elements. */
function declared(text: string): string {
  const [declarations = ''] = /(?: xmlns(?::\w+)?="[^"]*")+/.exec(text) ?? [];
  return text.replaceAll(/<(\w+:)?([g-z]\w*)(?=[ />])(?! xmlns)/g, `<$1$2${declarations}`);
}

/** The same message with a prefix of its own for some elements. */
function declaredTwice(text: string): string {
  const [, namespace = ''] = / xmlns(?::e)?="([^"]*)"/.exec(text) ?? [];
  return text.replaceAll(
    /<(?:e:)?([g-zG-Z]\w*)>([^<]*)<\/(?:e:)?[g-zG-Z]\w*>/g,
    (_, name: string, content: string) => `<q:${name} xmlns:q="${namespace}">${content}</q:${name}>`,
  );
}

/** The same message with a prefix on each element. */
function prefixed(text: string): string {
  return text.replaceAll(/<(\/?)([A-Za-z_]\w*)/g, '<$1p:$2').replace(' xmlns="', ' xmlns:p="');
}

const parcel = {
  type: 'object',
  required: ['name', 'any', 'sort', 'size'],
  properties: {
    name: { type: 'string', minLength: 1 },
    any: {},
    sort: { type: ['string', 'null'] },
    size: { type: 'object', required: ['w'], properties: { w: { type: 'integer' }, h: { type: 'number' } } },
    note: { type: ['string', 'null'] },
    fragile: { type: 'boolean' },
    int8: { type: 'integer', format: 'int8' },
    uint64: { type: 'integer', format: 'uint64' },
    int64: { type: ['integer', 'null'], format: 'int64' },
    weight: { type: 'number' },
    float: { type: 'number', format: 'float' },
    sentAt: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    takes: { type: 'string', format: 'duration' },
    photo: { type: 'string', format: 'byte' },
    state: { type: 'string', enum: ['sent', 'a "b" <c>', '', ' ', 'under way'] },
    marks: { type: 'array', items: { type: ['string', 'null'] } },
    grid: { type: 'array', items: { type: 'array', items: { type: 'boolean' } } },
    parts: { type: 'array', items: { $ref: '#/components/schemas/Parcel' } },
    'odd name': { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    ...Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`m${index}`, { type: 'integer' }])),
  },
} as const;

const plain = buildContract({
  openapiName: 'openapi',
  overlayName: 'soap',
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Depot', version: '1' },
    paths: {
      '/parcels/{id}': {
        post: {
          operationId: 'SendParcel',
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'since', in: 'query', schema: { type: 'string', format: 'date' } },
          ],
          requestBody: {
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Parcel' } } },
          },
          responses: { 204: { description: 'sent' } },
        },
      },
    },
    components: { schemas: { Parcel: parcel } },
  },
  overlay: { dialect: 'plain', service: 'Depot' },
}).contract;

const settings: readonly Partial<Settings>[] = [
  {},
  { emptyElements: 'absent', unknownElements: 'ignore' },
  { validate: 'strict', dates: 'wcf', upstreamTimeZone: 'Europe/London' },
];

for (const [title, contract] of Object.entries({ screening, depot, plain })) {
  for (const setting of settings) {
    test(`${title}: both readers read any message alike with ${JSON.stringify(setting)}`, (t) => {
      const compiled = compile(contract, setting);
      const codecs = codecsOf(contract, setting);
      let count = 0;
      for (const operation of compiled.operations.values()) {
        const { input } = operation.operation;
        const codec = codecs.codecOf(input);
        const { types } = contract.namespaces;
        fc.assert(
          fc.property(valuesOf(input, contract, { nulls: true }), fc.integer(), (value, seed) => {
            const { content } = codec.write(tell(value));
            const { name } = operation.operation;
            const text = `<${name} xmlns="${types}" xmlns:i="${namespaces.xsi}"${codec.declarations}>${content}</${name}>`;
            count += readAround(compiled, operation, text, seed);
          }),
          { numRuns: contract === plain ? 1500 : 25 },
        );
      }
      t.true(count > 30, `${count}`);
    });
  }
}

const recordsWsdl = definitionsOf(
  schemaOf(
    `<xs:element name="Get"><xs:complexType><xs:sequence>${e('id', 'xs:long')}${e('order', 't:Order', many)}${e('note', 'xs:string', maybe)}</xs:sequence></xs:complexType></xs:element>` +
      `<xs:complexType name="Order"><xs:sequence>${e('day', 'xs:date')}${e('at', 'xs:dateTime', maybe)}${e('price', 't:Price', maybe)}${e('paid', 'xs:boolean', 'default="true"')}${e('tags', 't:Tags', maybe)}${e('lines', 't:Lines', maybe)}` +
      `<xs:choice minOccurs="0">${e('a')}<xs:sequence>${e('b', 'xs:int')}${e('c', 'xs:boolean', maybe)}</xs:sequence></xs:choice>${e('color', 't:Color', many)}${e('hash', 'xs:hexBinary', maybe)}${e('photo', 'xs:base64Binary', maybe)}${e('url', 'xs:anyURI', maybe)}${e('count', 'xs:positiveInteger', maybe)}</xs:sequence><xs:attribute name="kind" type="xs:string"/></xs:complexType>` +
      `<xs:complexType name="Price"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="currency" type="xs:token"/></xs:extension></xs:simpleContent></xs:complexType>` +
      `<xs:complexType name="Lines"><xs:sequence>${e('line', 't:Line', many)}</xs:sequence></xs:complexType><xs:complexType name="Line"><xs:sequence>${e('article')}${e('quantity', 'xs:int')}${e('lines', 't:Lines', maybe)}</xs:sequence></xs:complexType>` +
      `<xs:simpleType name="Tags"><xs:list itemType="xs:NMTOKEN"/></xs:simpleType><xs:simpleType name="Color"><xs:restriction base="xs:string"><xs:enumeration value="red"/><xs:enumeration value="dark blue"/></xs:restriction></xs:simpleType>`,
  ),
  get,
);

const adoptedSettings: readonly Partial<Settings>[] = [
  {},
  { emptyElements: 'absent', unknownElements: 'ignore', bigNumbers: 'text' },
  { validate: 'strict', dates: 'utc' },
  { upstreamTimeZone: 'Europe/London' },
];

for (const [title, wsdl] of Object.entries({ records: recordsWsdl, everything: everythingWsdl })) {
  for (const setting of adoptedSettings) {
    test(`${title}: both readers read any message alike with ${JSON.stringify(setting)}`, (t) => {
      const { contract } = readContract(folderOf(t, { 'service.wsdl': wsdl }));
      const compiled = compileContract({ ...contract, settings: { ...contract.settings, ...setting } });
      const [operation] = compiled.operations.values();
      const declared = contract.adopted?.service.operations[0];
      if (operation === undefined || declared === undefined) throw new Error('expected an operation');
      let count = 0;
      fc.assert(
        fc.property(fc.integer(), (seed) => {
          const body = randomBody(declared.input.body, picker(seed)) ?? '';
          // one prefix for all, as a message has
          const text = body.replaceAll(' xmlns:e="urn:t"', '').replace(/^<e:Get/, '<e:Get xmlns:e="urn:t"');
          count += readAround(compiled, operation, text, seed);
        }),
        { numRuns: 2500 },
      );
      t.true(wsdl !== recordsWsdl || count > 50, `${count}`);
    });
  }
}

test('a limit is the usual reader’s to report, and counts as it does there', (t) => {
  const text =
    '<Get xmlns="urn:t"><id>1</id><order><day>2024-02-29</day><paid>1</paid></order><note>a&amp;b</note></Get>';
  const { contract } = readContract(folderOf(t, { 'service.wsdl': recordsWsdl }));
  const reads = (limits: object): boolean => {
    const compiled = compileContract(contract, { ...defaultLimits, ...limits });
    const [operation] = compiled.operations.values();
    return operation !== undefined && assertSame(compiled, operation, Buffer.from(text));
  };
  t.true(reads({ xmlElements: 6, xmlDepth: 3, xmlChildren: 3, xmlName: 5, xmlText: 10 }));
  for (const limits of [
    { xmlElements: 5 },
    { xmlDepth: 2 },
    { xmlChildren: 2 },
    { xmlName: 4 },
    { xmlText: 6 },
  ])
    t.false(reads(limits), JSON.stringify(limits));
});

test('JSON that is much longer than its XML makes the reader give up', (t) => {
  const name = 'n'.repeat(30_000);
  const { contract } = buildContract({
    openapiName: 'openapi',
    overlayName: 'soap',
    openapi: {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      paths: {
        '/t': {
          post: {
            operationId: 'Put',
            requestBody: {
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    properties: { list: { type: 'array', items: { type: 'string' } } },
                  },
                },
              },
            },
            responses: { 204: { description: 'done' } },
          },
        },
      },
    },
    overlay: { dialect: 'plain', service: 'T' },
  });
  t.is(name.length, 30_000);
  const compiled = compileContract(contract);
  const [operation] = compiled.operations.values();
  if (operation === undefined) throw new Error('expected an operation');
  for (const count of [10, 60_000, 70_000, 200_000]) {
    const text = `<Put xmlns="${contract.namespaces.types}"><Body><list><string>${'"&#x1F600;\\'.repeat(count / 10)}${'"'.repeat(count)}</string></list></Body></Put>`;
    t.notThrows(() => assertSame(compiled, operation, Buffer.from(text)), `${count}`);
  }
  t.is(readByBytes(compiled, operation, Buffer.from('<Put/>')), undefined);
});

test('an operation whose messages are mostly given up is tried again after a pause', (t) => {
  const compiled = compile(screening);
  const messageOf = (content: string): Buffer =>
    Buffer.from(
      `<s:Envelope xmlns:s="${namespaces.soap11}"><s:Body><GetEulaStatus xmlns="${screening.namespaces.types}">${content}</GetEulaStatus></s:Body></s:Envelope>`,
    );
  const plainMessage = messageOf('<Request/>');
  const other = messageOf('<Request/><!-- c -->');
  const readSoap = createSoapReader(compiled);
  const read = (message: Buffer): boolean => {
    const { text, reading } = readSoap(message, undefined, soap11, []).input;
    t.is(reading.isReadTwice, !Buffer.isBuffer(text));
    return Buffer.isBuffer(text);
  };
  for (let time = 0; time < 31; time++) t.false(read(other));
  t.true(read(plainMessage));
  t.false(read(other));
  t.false(read(other));
  for (let time = 0; time < 512; time++) t.false(read(plainMessage), `${time}`);
  t.true(read(plainMessage));
});

test('W13: an element with xsi:nil and declarations of namespaces are read from bytes to bytes', (t) => {
  const compiled = compile(screening);
  const operation = compiled.operations.get('UpdateSubUser');
  if (operation === undefined) throw new Error('expected an operation');
  const { types, arrays } = screening.namespaces;
  const xsi = `xmlns:i="${namespaces.xsi}"`;
  const messageOf = (user: string, permissions: string): Buffer =>
    Buffer.from(
      `<UpdateSubUser xmlns="${types}"><Authentication ${xsi}><ApiUserId>a</ApiUserId><ApiUserKey>b</ApiUserKey>${user}</Authentication><Request>${permissions}<SubUserName>jane</SubUserName></Request></UpdateSubUser>`,
    );
  for (const user of [
    '',
    '<UserId i:nil="true" />',
    '<UserId i:nil="1"></UserId>',
    '<UserId\ni:nil=" true "> </UserId>',
  ])
    for (const permissions of [
      '<Permissions/>',
      `<Permissions ${xsi} i:nil="true"/>`,
      `<Permissions xmlns:a="${arrays}"><a:string>x</a:string><a:string>y</a:string></Permissions>`,
      `<Permissions><string xmlns="${arrays}">x</string><string xmlns='${arrays}'>y</string></Permissions>`,
      `<Permissions><a:string xmlns:a="${arrays}">x</a:string><b:string xmlns:b="${arrays}">y</b:string></Permissions>`,
    ])
      t.true(assertSame(compiled, operation, messageOf(user, permissions)), user + permissions);
  for (const user of [
    '<UserId i:nil="false">x</UserId>',
    '<UserId i:nil="true">x</UserId>',
    '<UserId i:nil="true"><!-- --></UserId>',
    '<UserId j:nil="true"/>',
    '<UserId nil="true"/>',
    '<UserId i:type="x">x</UserId>',
    '<UserId xmlns="urn:x">x</UserId>',
    '<UserId xmlns:a="urn:x" xmlns:a="urn:x">x</UserId>',
    '<UserId xmlns:a="">x</UserId>',
    '<UserId i:nil="true" i:nil="true"/>',
  ])
    t.false(assertSame(compiled, operation, messageOf(user, '')), user);
});

test('tags of many spellings are read, and the oldest are dropped', (t) => {
  const compiled = compile(screening);
  const operation = compiled.operations.get('GetEulaStatus');
  if (operation === undefined) throw new Error('expected an operation');
  const { types } = screening.namespaces;
  for (let round = 0; round < 6_000; round++) {
    const text = `<p${round}:GetEulaStatus xmlns:p${round}="${types}"><p${round}:Authentication><p${round}:ApiUserId>a</p${round}:ApiUserId><p${round}:ApiUserKey>b</p${round}:ApiUserKey></p${round}:Authentication></p${round}:GetEulaStatus>`;
    if (!assertSame(compiled, operation, Buffer.from(text))) return t.fail(text);
  }
  t.pass();
});

test('a message with more new start tags than are learned is given up', (t) => {
  const compiled = compile(screening);
  const operation = compiled.operations.get('UpdateSubUser');
  if (operation === undefined) throw new Error('expected an operation');
  const { types } = screening.namespaces;
  const messageOf = (count: number): Buffer => {
    const items = Array.from({ length: count }, (_, index) => `<string xmlns:p${index}="urn:x">a</string>`);
    return Buffer.from(
      `<UpdateSubUser xmlns="${types}"><Request><Permissions>${items.join('')}</Permissions><SubUserName>j</SubUserName></Request></UpdateSubUser>`,
    );
  };
  // besides items: Request, Permissions and SubUserName
  t.true(assertSame(compiled, operation, messageOf(253)));
  t.false(assertSame(compile(screening), operation, messageOf(253 + 257)));
});
