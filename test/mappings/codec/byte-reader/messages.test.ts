import test from 'ava';
import { soap11, soap12 } from '../../../../gateway/protocols/soap/versions.ts';
import type { CompiledContract } from '../../../../mappings/compile.ts';
import { type Contract, namespaces } from '../../../../mappings/contract/model.ts';
import { buildContract } from '../../../../mappings/loader/build-contract.ts';
import { fc } from '../../../property.ts';
import { createSoapReader } from '../../../read-soap.ts';
import { compile, screening } from '../contracts.ts';
import { assertEqual, type Body } from './equal-readers.ts';
import { readByBytes } from './readings.ts';

/** A reader with a cache must read like one without (decision 9), for all kinds of bodies. */

/** Encodes a document as a caller sends it. */
type Encode = (text: string) => Body;

const utf8: Encode = (text) => ({ bytes: Buffer.from(text), charset: undefined });
const declared = (name: string, text: string): string => `<?xml version="1.0" encoding="${name}"?>${text}`;
const wide = (text: string): Buffer => Buffer.from(text, 'utf16le');
const swapped = (text: string): Buffer => wide(text).swap16();

/** Each charset with each way of declaring it, right and wrong. */
const encodings: Readonly<Record<string, Encode>> = {
  'UTF-8 that nothing names': utf8,
  'UTF-8 by Content-Type': (text) => ({ bytes: Buffer.from(text), charset: 'utf-8' }),
  'UTF-8 by Content-Type in capitals': (text) => ({ bytes: Buffer.from(text), charset: 'UTF-8' }),
  'UTF-8 by declaration': (text) => utf8(declared('utf-8', text)),
  'UTF-8 by both': (text) => ({ bytes: Buffer.from(declared('utf-8', text)), charset: 'utf-8' }),
  'UTF-8 with a mark': (text) => utf8(`\ufeff${text}`),
  'UTF-8 with a mark and a declaration': (text) => utf8(`\ufeff${declared('utf-8', text)}`),
  'UTF-8 declared as UTF-16': (text) => utf8(declared('utf-16', text)),
  'Latin-1 by Content-Type': (text) => ({ bytes: Buffer.from(text, 'latin1'), charset: 'iso-8859-1' }),
  'Latin-1 by declaration': (text) => ({
    bytes: Buffer.from(declared('iso-8859-1', text), 'latin1'),
    charset: undefined,
  }),
  'Latin-1 that nothing names': (text) => ({ bytes: Buffer.from(text, 'latin1'), charset: undefined }),
  'Latin-1 declared as UTF-8': (text) => ({
    bytes: Buffer.from(declared('utf-8', text), 'latin1'),
    charset: undefined,
  }),
  'Latin-1 by Content-Type, declared as UTF-8': (text) => ({
    bytes: Buffer.from(declared('utf-8', text), 'latin1'),
    charset: 'iso-8859-1',
  }),
  'UTF-8 by Content-Type, declared as Latin-1': (text) => ({
    bytes: Buffer.from(declared('iso-8859-1', text)),
    charset: 'utf-8',
  }),
  'UTF-8 read as Latin-1': (text) => ({ bytes: Buffer.from(text), charset: 'iso-8859-1' }),
  'UTF-8 declared as Latin-1': (text) => utf8(declared('iso-8859-1', text)),
  'windows-1252 by Content-Type': (text) => ({ bytes: Buffer.from(text, 'latin1'), charset: 'windows-1252' }),
  'windows-1252 by declaration': (text) => ({
    bytes: Buffer.from(declared('windows-1252', text), 'latin1'),
    charset: undefined,
  }),
  'US-ASCII by Content-Type': (text) => ({ bytes: Buffer.from(text), charset: 'us-ascii' }),
  'UTF-16 with a mark': (text) => ({ bytes: wide(`\ufeff${text}`), charset: undefined }),
  'UTF-16 with a mark, big end first': (text) => ({ bytes: swapped(`\ufeff${text}`), charset: undefined }),
  'UTF-16 by Content-Type': (text) => ({ bytes: wide(text), charset: 'utf-16' }),
  'UTF-16LE by Content-Type': (text) => ({ bytes: wide(text), charset: 'utf-16le' }),
  'UTF-16BE by Content-Type': (text) => ({ bytes: swapped(text), charset: 'utf-16be' }),
  'UTF-16 by declaration': (text) => ({ bytes: wide(declared('utf-16', text)), charset: undefined }),
  'UTF-16 that nothing names': (text) => ({ bytes: wide(text), charset: undefined }),
  'UTF-16 read as UTF-8': (text) => ({ bytes: wide(text), charset: 'utf-8' }),
  'UTF-8 read as UTF-16': (text) => ({ bytes: Buffer.from(text), charset: 'utf-16' }),
  'UTF-32': (text) => ({
    bytes: Buffer.concat(
      [...`\ufeff${text}`].map((character) => Buffer.from([0, 0, 0, character.charCodeAt(0)])),
    ),
    charset: undefined,
  }),
  'a charset of another name': (text) => ({ bytes: Buffer.from(text), charset: 'koi8-r' }),
  'a declaration of another name': (text) => utf8(declared('koi8-r', text)),
  'a declaration without an encoding': (text) => utf8(`<?xml version="1.0"?>${text}`),
  'a declaration with standalone': (text) => utf8(`<?xml version="1.0" standalone="yes"?>\r\n${text}`),
  'a declaration of XML 1.1': (text) => utf8(`<?xml version="1.1"?>${text}`),
};

function envelope(contract: Contract, name: string, content: string, of: string = soap11.namespace): string {
  const { types } = contract.namespaces;
  return `<s:Envelope xmlns:s="${of}" xmlns:i="${namespaces.xsi}"><s:Body><${name} xmlns="${types}">${content}</${name}></s:Body></s:Envelope>`;
}

const updateOf = (user: string, permission = 'a'): string =>
  envelope(
    screening,
    'UpdateSubUser',
    `<Authentication><ApiUserId>${user}</ApiUserId><ApiUserKey>key</ApiUserKey></Authentication><Request><Permissions><string>${permission}</string></Permissions><SubUserName>bob</SubUserName></Request>`,
  );

const words = ['jane', 'Zo\u00eb', '\u0080\u00e9\u00ff', 'S\u00c3\u00a9', '\u00a4'];
const ofAll = (encode: Encode): readonly Body[] => words.map((word) => encode(updateOf(word)));
const compiledScreening = compile(screening);

for (const [title, encode] of Object.entries(encodings)) {
  test(`W9: a body of ${title} is read alike by both readers`, (t) => {
    t.notThrows(() => assertEqual(compiledScreening, ofAll(encode)));
    t.notThrows(() => assertEqual(compiledScreening, [...ofAll(utf8), ...ofAll(encode)]));
  });
}

test('W9: bodies of all charsets, one after the other, are read alike by both readers', (t) => {
  t.notThrows(() => assertEqual(compiledScreening, Object.values(encodings).flatMap(ofAll)));
});

test('W9: a Latin-1 body with the same start as earlier UTF-8 bodies is read as Latin-1', (t) => {
  const read = createSoapReader(compiledScreening);
  read(Buffer.from(updateOf('jane')), undefined, soap11, []);
  // two letters of Latin-1 that are one of UTF-8
  const { operation, input } = read(
    Buffer.from(updateOf('\u00c3\u00a9'), 'latin1'),
    'iso-8859-1',
    soap11,
    [],
  );
  t.is(operation.credentialsOf(input).get('apiUserId'), '\u00c3\u00a9');
});

/** Replacements for a member with a text. */
const nil = (name: string, value = 'true') => `<${name} i:nil="${value}"/>`;
const contents: Readonly<Record<string, (name: string, text: string) => string>> = {
  'its text': (name, text) => `<${name}>${text}</${name}>`,
  nil: (name) => nil(name),
  'nil by a number': (name) => nil(name, '1'),
  'nil with a start and an end tag': (name) => `<${name} i:nil="true"></${name}>`,
  'nil with a text': (name, text) => `<${name} i:nil="true">${text}</${name}>`,
  'not nil': (name, text) => `<${name} i:nil="false">${text}</${name}>`,
  'not nil and empty': (name) => nil(name, '0'),
  'a nil of another word': (name, text) => `<${name} i:nil="yes">${text}</${name}>`,
  'an empty tag': (name) => `<${name}/>`,
  'no text': (name) => `<${name}></${name}>`,
  blanks: (name) => `<${name}> \n\t</${name}>`,
  'a return': (name) => `<${name}>\r</${name}>`,
  'blanks around its text': (name, text) => `<${name}> ${text}\r\n</${name}>`,
  'a comment alone': (name) => `<${name}><!-- --></${name}>`,
  'a comment behind its text': (name, text) => `<${name}>${text}<!-- --></${name}>`,
  'a comment before its text': (name, text) => `<${name}><!-- -->${text}</${name}>`,
  'a CDATA section': (name, text) => `<${name}><![CDATA[${text}]]></${name}>`,
  'an empty CDATA section': (name) => `<${name}><![CDATA[]]></${name}>`,
  'a reference': (name, text) => `<${name}>&#x${text.charCodeAt(0).toString(16)};${text.slice(1)}</${name}>`,
  'a blank as a reference': (name) => `<${name}>&#32;</${name}>`,
  'an entity': (name, text) => `<${name}>${text}&amp;</${name}>`,
  'an element': (name, text) => `<${name}><a>${text}</a></${name}>`,
  'an attribute': (name, text) => `<${name} a="b">${text}</${name}>`,
  'an xsi:type': (name, text) => `<${name} i:type="x:string" xmlns:x="${namespaces.xsd}">${text}</${name}>`,
  'an attribute with >': (name, text) => `<${name} a=">">${text}</${name}>`,
  'another namespace': (name, text) => `<${name} xmlns="urn:x">${text}</${name}>`,
  'a prefix': (name, text) => `<p:${name} xmlns:p="${depot.namespaces.types}">${text}</p:${name}>`,
  nothing: () => '',
  'it twice': (name, text) => `<${name}>${text}</${name}><${name}>${text}</${name}>`,
  'null as a text': (name) => `<${name}>null</${name}>`,
  'quotes as a text': (name) => `<${name}>""</${name}>`,
};

/** Members of every text type: schema and text. */
const kinds = {
  name: [{ type: 'string', minLength: 1 }, 'Jo'],
  any: [{}, '{"a":[1]}'],
  sort: [{ type: ['string', 'null'] }, 'box'],
  note: [{ type: 'string' }, 'fragile'],
  remark: [{ type: ['string', 'null'] }, 'none'],
  anything: [{}, '[true]'],
  fragile: [{ type: 'boolean' }, 'true'],
  int8: [{ type: 'integer', format: 'int8' }, '7'],
  int32: [{ type: ['integer', 'null'], format: 'int32' }, '-12'],
  int64: [{ type: 'integer', format: 'int64' }, '9007199254740993'],
  weight: [{ type: 'number' }, '12.50'],
  double: [{ type: 'number', format: 'double' }, '1e3'],
  sentAt: [{ type: 'string', format: 'date-time' }, '2024-02-29T12:00:00Z'],
  day: [{ type: 'string', format: 'date' }, '2024-02-29'],
  photo: [{ type: 'string', format: 'byte' }, 'AAAA'],
  state: [{ type: 'string', enum: ['sent', 'a "b" <c>', ''] }, 'sent'],
} as const;
/** Required members; a JSON null and an empty text count as absent (W42). */
const required = ['name', 'any', 'sort'] as const;

/** A contract that contains only texts, which the fast path supports. */
const depot: Contract = buildContract({
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
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required,
                  properties: {
                    ...Object.fromEntries(Object.entries(kinds).map(([name, [schema]]) => [name, schema])),
                    marks: { type: 'array', items: { type: ['string', 'null'] } },
                  },
                },
              },
            },
          },
          responses: { 204: { description: 'sent' } },
        },
      },
    },
  },
  overlay: { dialect: 'plain', service: 'Depot' },
}).contract;

const members: readonly (readonly [string, string])[] = Object.entries(kinds).map(([name, [, text]]) => [
  name,
  text,
]);

/** Returns a request with these members instead of its default members of the same name. */
function sendOf(given: ReadonlyMap<string, string>, rest = ''): string {
  const usual = required.map((name) => given.get(name) ?? `<${name}>${kinds[name][1]}</${name}>`);
  const others = [...given].flatMap(([name, element]) =>
    ['id', 'since', ...required].includes(name) ? [] : [element],
  );
  const parameters = `${given.get('id') ?? '<id>a/b</id>'}${given.get('since') ?? ''}`;
  return envelope(depot, 'SendParcel', `${parameters}<Body>${[...usual, ...others].join('')}${rest}</Body>`);
}

const parcelOf = (content: string): string => sendOf(new Map(), content);

for (const setting of [
  {},
  { emptyElements: 'absent' },
  { unknownElements: 'ignore' },
  { illegalCharacterReferences: 'refuse' },
] as const) {
  const compiled = compile(depot, setting);
  test(`W13: a member of any content is read alike by both readers with ${JSON.stringify(setting)}`, (t) => {
    for (const [name, text] of [...members, ['id', 'a'], ['since', '2024-02-29']] as const) {
      const bodies = Object.values(contents).map((content) =>
        utf8(sendOf(new Map([[name, content(name, text)]]))),
      );
      t.notThrows(() => assertEqual(compiled, bodies), name);
    }
  });
}

test('W42: a JSON null as the text of a required member is read alike by both readers', (t) => {
  const bodies = ['[1]', 'null', '""', ' null ', '{}'].map((text) =>
    utf8(sendOf(new Map([['any', `<any>${text}</any>`]]))),
  );
  for (const nulls of ['kept', 'by-kind'] as const)
    t.notThrows(() => assertEqual(compile({ ...depot, nulls }), bodies), nulls);
});

test('W13: items of a list, nil, empty or with texts, are read alike by both readers', (t) => {
  const items = Object.values(contents).map((content) => content('string', 'a'));
  const bodies = items.flatMap((item) => [
    utf8(parcelOf(`<marks>${item}</marks>`)),
    utf8(parcelOf(`<marks><string>a</string>${item}</marks>`)),
  ]);
  t.notThrows(() => assertEqual(compile(depot), bodies));
});

/** Variations around and between the parts of an envelope. */
const envelopes: Readonly<Record<string, (text: string) => string>> = {
  'a comment before': (text) => `<!-- a -->${text}`,
  'a comment between': (text) => text.replace('<s:Body>', '<!-- a --><s:Body>'),
  'a comment inside Body': (text) => text.replace('<s:Body>', '<s:Body><!-- a -->'),
  'blanks between': (text) => text.replaceAll('><', '>\r\n <'),
  'text in Envelope': (text) => text.replace('<s:Body>', 'x<s:Body>'),
  'text in Body': (text) => text.replace('<s:Body>', '<s:Body>x'),
  'a reference in Body': (text) => text.replace('<s:Body>', '<s:Body>&#32;'),
  'an attribute of Body': (text) => text.replace('<s:Body>', '<s:Body id="b">'),
  'an attribute of the wrapper': (text) => text.replace('<SendParcel ', '<SendParcel a="b" '),
  'a nil wrapper': (text) => text.replace('<SendParcel ', '<SendParcel i:nil="true" '),
  'a wrapper of no namespace': (text) => text.replace(/ xmlns="[^"]*"/, ''),
  'a wrapper of another namespace': (text) => text.replace(/ xmlns="[^"]*"/, ' xmlns="urn:x"'),
  'another quote': (text) => text.replaceAll(/="([^"]*)"/g, "='$1'"),
  'an empty Header': (text) => text.replace('<s:Body>', '<s:Header/><s:Body>'),
  'a header block': (text) => text.replace('<s:Body>', '<s:Header><a/></s:Header><s:Body>'),
  'a block to be understood': (text) =>
    text.replace('<s:Body>', '<s:Header><a s:mustUnderstand="1"/></s:Header><s:Body>'),
  'SOAP 1.2': (text) => text.replace(soap11.namespace, soap12.namespace),
  'another version': (text) => text.replace(soap11.namespace, 'urn:x'),
  'an unknown operation': (text) => text.replaceAll('SendParcel', 'LoseParcel'),
  'another operation': (text) => text.replaceAll('SendParcel', 'GetParcel'),
  'a DTD': (text) => `<!DOCTYPE a>${text}`,
  'an instruction': (text) => `<?a?>${text}`,
  'an unbound prefix': (text) => text.replace('xmlns:i', 'xmlns:j'),
  'a prefix bound twice': (text) => text.replace('xmlns:i', 'xmlns:s'),
  'a second payload': (text) => text.replace('</s:Body>', '<a/></s:Body>'),
  'a second Body': (text) => text.replace('</s:Envelope>', '<s:Body/></s:Envelope>'),
  'text behind': (text) => `${text}x`,
  'a comment behind': (text) => `${text}<!-- a -->`,
  'no end': (text) => text.slice(0, -3),
  'half of it': (text) => text.slice(0, text.length / 2),
  'nothing of it': () => '',
};

for (const [title, change] of Object.entries(envelopes)) {
  test(`W41: an envelope with ${title} is read alike by both readers`, (t) => {
    const texts = ['<note>a</note>', `${nil('note')}`, '<note>b</note>'].map(parcelOf);
    const bodies = texts.flatMap((text) => [utf8(text), utf8(change(text)), utf8(text)]);
    t.notThrows(() => assertEqual(compile(depot), bodies));
  });
}

/** Returns each beginning of a message. A whole message follows each, because the byte reader pauses after many failures. */
const cuts = (text: string): readonly Body[] =>
  Array.from(text, (_, length) => [utf8(text.slice(0, length)), utf8(text)]).flat();

test('W41: a message cut off at any character is read alike by both readers', (t) => {
  const nested = updateOf('jane');
  const flat = sendOf(new Map(members.map(([name, text]) => [name, `<${name}>${text}</${name}>`])));
  for (const [contract, text] of [
    [screening, nested],
    [screening, nested.replaceAll('><', '>\r\n <')],
    [screening, nested.replace(soap11.namespace, soap12.namespace)],
    [depot, flat],
  ] as const)
    t.notThrows(() => assertEqual(compile(contract), cuts(text)));
});

test('the byte reader reads the usual messages of these tests', (t) => {
  for (const [contract, text] of [
    [screening, updateOf('jane')],
    [depot, parcelOf('<note>a</note>')],
    [depot, parcelOf('<note></note><remark/>')],
    ...members.map(
      ([name, text]) => [depot, sendOf(new Map([[name, `<${name}>${text}</${name}>`]]))] as const,
    ),
  ] as const) {
    const read = createSoapReader(compile(contract));
    // the usual reader makes a string
    t.true(Buffer.isBuffer(read(Buffer.from(text), undefined, soap11, []).input.text), text);
  }
});

/** Lexical forms of values, for members of all kinds. */
const values: Readonly<Record<string, readonly string[]>> = {
  numbers:
    '0 -0 7 007 +7 -12 127 128 -129 2147483648 9007199254740993 99999999999999999999 1.50 .5 5. 1e3 1E-2 NaN INF 1_0 0x1'.split(
      ' ',
    ),
  words: [
    'true',
    'false',
    '1',
    'TRUE',
    'sent',
    'a "b" &lt;c>',
    'a\tb',
    'caf\u00e9',
    '\u{1f600}',
    'a]]>b',
    'a&b',
    'AAAA',
    'AA==',
    'A A',
  ],
  dates: [
    '2024-02-29',
    '2023-02-29',
    '2024-02-29Z',
    '2024-02-29T12:00:00Z',
    '2024-02-29T12:00:00',
    '2024-02-29T12:00:00.5+01:00',
    '2024-02-29T24:00:00Z',
    '0001-01-01',
  ],
};

/** Returns `1` if the byte reader takes a message and `0` if it leaves it to the usual reader. */
function taken(contract: Contract, text: string): string {
  const { operations } = compiledOnce(contract);
  const [operation] = [...operations.values()].filter(({ root }) => text.includes(`<${root?.local} `));
  if (operation === undefined) throw new Error('expected an operation');
  const payload = text.slice(text.indexOf(`<${operation.root?.local} `), text.indexOf('</s:Body>'));
  const document = Buffer.from(payload.replace(' ', ` xmlns:i="${namespaces.xsi}" `));
  return readByBytes(compiledOnce(contract), operation, document) === undefined ? '0' : '1';
}

const compiledContracts = new Map<Contract, CompiledContract>();

function compiledOnce(contract: Contract): CompiledContract {
  const found = compiledContracts.get(contract) ?? compile(contract);
  compiledContracts.set(contract, found);
  return found;
}

/** For each member, `1` for each message that the byte reader takes: with each of `contents`, and with each of `values`. */
const takenByMember: Readonly<Record<string, string>> = {
  any: '1000000000001000001000000010001 111001111111100110000 11100000000000 00000000',
  anything: '1111000000001000001000000011011 111001111111100110000 11100000000000 00000000',
  day: '1111000000001000001000000011000 000000000000000000000 00000000000000 10000001',
  double: '1111000000001000001000000011000 111111111111111110000 00100000000000 00000000',
  fragile: '1111000000001000001000000011000 100000000000000000000 11100000000000 00000000',
  int32: '1111000000001000001000000011000 111111111000000000000 00100000000000 00000000',
  int64: '1111000000001000001000000011000 111111111110000000000 00100000000000 00000000',
  int8: '1111000000001000001000000011000 111111100000000000000 00100000000000 00000000',
  name: '1000000000111000001110000010011 111111111111111111111 11111111100111 11111111',
  note: '1111000011111000001110000011011 111111111111111111111 11111111100111 11111111',
  photo: '1111000011111000001100000011010 000000000011000000000 10011000000110 00000000',
  remark: '1111000011111000001110000011011 111111111111111111111 11111111100111 11111111',
  sentAt: '1111000000001000001000000011000 000000000000000000000 00000000000000 00011110',
  sort: '1000000011111000001110000010011 111111111111111111111 11111111100111 11111111',
  state: '1111000011111000001110000011011 111111111111111111111 11111111100111 11111111',
  weight: '1111000000001000001000000011000 111111111111111000000 00100000000000 00000000',
};

test('the byte reader takes the same messages as before', (t) => {
  const found = Object.fromEntries(
    members.map(([name, text]) => {
      const forms = Object.values(contents).map((content) => content(name, text));
      const others = Object.values(values).map((list) => list.map((value) => `<${name}>${value}</${name}>`));
      const row = [forms, ...others].map((list) =>
        list.map((element) => taken(depot, sendOf(new Map([[name, element]])))).join(''),
      );
      return [name, row.join(' ')];
    }),
  );
  t.deepEqual(found, takenByMember);
});

test('any member with any content in any charset is read alike by both readers', (t) => {
  const member = fc
    .tuple(
      fc.constantFrom(...members),
      fc.constantFrom(...Object.values(contents)),
      fc.option(fc.string({ unit: 'binary', maxLength: 6 }), { nil: undefined }),
    )
    .map(([[name, usual], content, text]) => [name, content(name, text ?? usual)] as const);
  const body = fc
    .tuple(
      fc.array(member, { maxLength: 4 }),
      fc.constantFrom(...Object.values(encodings)),
      fc.constantFrom(
        (text: string) => text,
        (text: string) => text,
        ...Object.values(envelopes),
      ),
    )
    .map(([parts, encode, change]) => encode(change(sendOf(new Map(parts)))));
  const compiled = compile(depot);
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(body, { minLength: 1, maxLength: 4 }), (bodies) => assertEqual(compiled, bodies)),
      { numRuns: 60 },
    ),
  );
});

test('values that a type doesn’t take are read alike by both readers', (t) => {
  const of = (state: string, days: string, isValidateMe: string): Body =>
    utf8(
      envelope(
        screening,
        'CountIncompleteClients',
        `<DaysIncomplete>${days}</DaysIncomplete><IsValidateMe>${isValidateMe}</IsValidateMe><State>${state}</State>`,
      ),
    );
  const good = [of('PendingCompletion', '1', 'true'), of('PendingVerification', '23', 'false')];
  for (const [state, days, isValidateMe] of [
    ['Verified', '1', 'true'],
    ['pendingCompletion', '1', 'true'],
    [' ', '1', 'true'],
    ['PendingVerification', ' ', 'true'],
    ['PendingVerification', 'x', 'true'],
    ['PendingVerification', '&#xB;1', 'true'],
    ['PendingVerification', '1', 'yes'],
    ['PendingVerification', ' 1 ', ' 0 '],
  ] as const)
    t.notThrows(() => assertEqual(compiledScreening, [...good, of(state, days, isValidateMe)]), state);
});

test('W10: references to forbidden characters are read in strings, and counted', (t) => {
  t.notThrows(() =>
    assertEqual(compiledScreening, [...ofAll(utf8), ...ofAll(utf8), utf8(updateOf('a', 'a&#xB;b&#x0;'))]),
  );
});
