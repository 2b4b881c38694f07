import { deepStrictEqual } from 'node:assert';
import test from 'ava';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';
import type { CompiledContract } from '../../../../mappings/compile.ts';
import { type Contract, namespaces } from '../../../../mappings/contract/model.ts';
import { buildContract } from '../../../../mappings/loader/build-contract.ts';
import { codecsOf, compile, depot, screening, withoutByteReader } from '../../../mappings/codec/contracts.ts';
import { parseElement, respell } from '../../../mappings/codec/elements.ts';
import { picker, tell, valuesOf } from '../../../mappings/codec/values.ts';
import { fc } from '../../../property.ts';
import { createSoapReader } from '../../../read-soap.ts';
import { counting, outcomeOf, plainInput } from './soap-outcome.ts';

/** The usual reader alone. */
const usual = (compiled: CompiledContract) => createSoapReader(withoutByteReader(compiled));

function envelope({ namespaces: { types } }: Contract, name: string, content: string): string {
  return `<s:Envelope xmlns:s="${soap11.namespace}" xmlns:i="${namespaces.xsi}"><s:Body><${name} xmlns="${types}">${content}</${name}></s:Body></s:Envelope>`;
}

const updateOf = (user: string, key: string, names: readonly string[], rest = ''): string =>
  envelope(
    screening,
    'UpdateSubUser',
    `<Authentication><ApiUserId>${user}</ApiUserId><ApiUserKey>${key}</ApiUserKey></Authentication>\n <Request><Permissions>${names
      .map((name) => `<string>${name}</string>`)
      .join('')}</Permissions><SubUserName>${user}</SubUserName>${rest}</Request>`,
  );

test('the byte reader reads a plain request, whatever its texts', (t) => {
  const counted = counting(compile(screening), 'UpdateSubUser');
  const read = createSoapReader(counted.compiled);
  read(Buffer.from(updateOf('jane', 'key', ['a', 'b'])), undefined, soap11, []);
  const before = counted.asked;
  const other = updateOf('Zo\u00eb &amp; S\u00f6hne', 'k&#13;"\\', ['\u6f22\ud83d\ude00', '&lt;c&gt;\r\n']);
  const { input } = read(Buffer.from(other), undefined, soap11, []);
  t.is(counted.asked, before);
  t.deepEqual(plainInput(input), usual(compile(screening))(Buffer.from(other), undefined, soap11, []).input);
});

test('a request that the byte reader read goes upstream, and into a log, as any other', (t) => {
  const compiled = compile(screening);
  const read = createSoapReader(compiled);
  const credentialsAlone = envelope(
    screening,
    'GetEulaStatus',
    '<Authentication><ApiUserId>jane</ApiUserId><ApiUserKey>key</ApiUserKey></Authentication>',
  );
  const callOf = (readSoap: typeof read, text: string) => {
    const { operation, input } = readSoap(Buffer.from(text), undefined, soap11, []);
    const all = operation.credentialsOf(input);
    const request = operation.request(input, { all, fromHeaders: new Set() });
    return { all, ...request, body: request?.body?.toString(), told: operation.jsonOf(input) };
  };
  for (const text of [
    updateOf('Zo\u00eb &amp; S\u00f6hne', '\u6f22"\\', ['\ud83d\ude00']),
    credentialsAlone,
  ]) {
    const call = callOf(read, text);
    t.deepEqual(call, callOf(usual(compiled), text));
    JSON.parse(call.body ?? '');
  }
});

/** An operation with a member of any JSON, and one with a map. */
const notes: Contract = buildContract({
  openapiName: 'openapi',
  overlayName: 'soap',
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Notes', version: '1' },
    paths: Object.fromEntries(
      Object.entries({ Any: {}, Map: { type: 'object', additionalProperties: { type: 'string' } } }).map(
        ([name, schema]) => [
          `/${name}`,
          {
            post: {
              operationId: name,
              requestBody: { content: { 'application/json': { schema: { properties: { value: schema } } } } },
              responses: { 204: { description: 'done' } },
            },
          },
        ],
      ),
    ),
  },
  overlay: { dialect: 'plain', service: 'Notes' },
}).contract;

const lookedAt = {
  Any: '<value><string xmlns="http://www.w3.org/2005/xpath-functions">a</string></value>',
  Map: '<value><Entry><Key>a</Key><Value>b</Value></Entry></value>',
} as const;

for (const [name, member] of Object.entries(lookedAt)) {
  test(`a request with ${name === 'Any' ? 'JSON as a tree' : 'a map'} is read by the usual reader each time`, (t) => {
    const counted = counting(compile(notes, { json: 'tree' }), name);
    const read = createSoapReader(counted.compiled);
    const text = envelope(notes, name, `<Body>${member}</Body>`);
    for (let times = 0; times < 3; times++) {
      t.deepEqual(read(Buffer.from(text), undefined, soap11, []).input.reading.problems, []);
      t.true(counted.asked > times);
    }
  });
}

const oddTexts = {
  'an empty text': updateOf('jane', '', ['a', 'b']),
  blanks: updateOf('jane', ' ', ['a', 'b']),
  'an empty name that must not be': updateOf('', 'key', ['a', 'b']),
  'a comment in a text': updateOf('ja<!-- -->ne', 'key', ['a', 'b']),
  'a text and a CDATA section': updateOf('ja<![CDATA[ne]]>', 'key', ['a', 'b']),
  'a CDATA section': updateOf('<![CDATA[jane]]>', 'key', ['a', 'b']),
  'an item more': updateOf('jane', 'key', ['a', 'b', 'c']),
  'an item less': updateOf('jane', 'key', ['a']),
  'an unknown member at the end': updateOf('jane', 'key', ['a', 'b'], '<Other/>'),
  'a nil': updateOf('jane', 'key', ['a', 'b']).replace(
    '<ApiUserKey>key</ApiUserKey>',
    '<ApiUserKey i:nil="true"/>',
  ),
  'another end tag': updateOf('jane', 'key', ['a', 'b']).replace('</Request>', '</request>'),
  'text behind the document': `${updateOf('jane', 'key', ['a', 'b'])}x`,
  'a comment behind the document': `${updateOf('jane', 'key', ['a', 'b'])}<!-- x -->`,
  'no end': updateOf('jane', 'key', ['a', 'b']).slice(0, -1),
  'a text without an end': updateOf('jane', 'key', ['a', 'b']).replace(/<\/SubUserName>.*/, ''),
  'a reference to a control': updateOf('jane', 'k&#1;', ['a', 'b']),
  'half a pair as a reference': updateOf('jane', 'k&#xD83D;', ['a', 'b']),
  'a pair as two references': updateOf('jane', 'k&#xD83D;&#xDE00;', ['a', 'b']),
  'an unknown entity': updateOf('jane', 'k&nbsp;', ['a', 'b']),
  'the end of a CDATA section': updateOf('jane', 'k]]>', ['a', 'b']),
  'every entity, a quote and a backslash': updateOf('jane', '&lt;&gt;&amp;&quot;&apos;"\\', ['a', 'b']),
  'U+FFFE': updateOf('jane', 'k\ufffe', ['a', 'b']),
  'U+FFFF': updateOf('jane', 'k\uffff', ['a', 'b']),
  'characters near U+FFFE': updateOf('jane', '\ufffd\uffe5\uff05', ['a', 'b']),
  'a control': updateOf('jane', 'k\u0001', ['a', 'b']),
  'what placeholders are made of': updateOf('jane', 'k', ['&#1;0&#2;', 'b']),
  'a text longer than the limit': updateOf('jane', 'key', ['a'.repeat(65), 'b']),
  'a text as long as the limit': updateOf('jane', 'key', ['a'.repeat(64), 'b']),
} as const;

const withKeyOf = (length: number, key: string): string => {
  const empty = updateOf('jane', '', ['a', 'b']);
  return updateOf('jane', key.repeat(length).slice(0, length - Buffer.byteLength(empty)), ['a', 'b']);
};

for (const [what, key] of Object.entries({ letters: 'k', quotes: '"', tabs: '\t' })) {
  for (const length of [8_192, 43_000, 200_000]) {
    test(`a request of ${length} bytes, most of them ${what}, is read alike by both readers`, (t) => {
      const compiled = compile(screening);
      const read = createSoapReader(compiled);
      read(Buffer.from(updateOf('jane', 'key', ['a', 'b'])), undefined, soap11, []);
      const text = withKeyOf(length, key);
      t.is(Buffer.byteLength(text), length);
      t.deepEqual(outcomeOf(read, text), outcomeOf(usual(compiled), text));
    });
  }
}

test('a request of many short texts is read alike by both readers', (t) => {
  const compiled = compile(screening);
  const read = createSoapReader(compiled);
  const textOf = (name: string): string => updateOf('jane', 'key', Array<string>(400).fill(name));
  read(Buffer.from(textOf('a')), undefined, soap11, []);
  t.deepEqual(outcomeOf(read, textOf('"')), outcomeOf(usual(compiled), textOf('"')));
});

for (const [what, text] of Object.entries(oddTexts)) {
  test(`W43: ${what} is read alike by both readers`, (t) => {
    const compiled = compile(screening, {}, { xmlText: 64 });
    const read = createSoapReader(compiled);
    for (const names of [['a', 'b'], [], ['c']]) {
      read(Buffer.from(updateOf('jane', 'key', names)), undefined, soap11, []);
    }
    for (let times = 0; times < 3; times++) {
      t.deepEqual(outcomeOf(read, text), outcomeOf(usual(compiled), text));
    }
    const other = updateOf('bob', 'other', ['d', 'e']);
    t.deepEqual(outcomeOf(read, other), outcomeOf(usual(compiled), other));
  });
}

test('W9: bytes that are not UTF-8 are refused behind a beginning met before', (t) => {
  const read = createSoapReader(compile(screening));
  const text = updateOf('jane', 'key', ['a', 'b']);
  read(Buffer.from(text), undefined, soap11, []);
  const torn = Buffer.from(text.replace('key', 'k\u00e9y'), 'latin1');
  t.throws(() => read(torn, undefined, soap11, []), { message: /expected utf-8/ });
});

test('W4: an action of another operation is a spoof behind a beginning met before', (t) => {
  const read = createSoapReader(compile(screening));
  const text = updateOf('jane', 'key', ['a']);
  read(Buffer.from(text), undefined, soap11, ['UpdateSubUser']);
  t.throws(() => read(Buffer.from(text), undefined, soap11, ['GetSearch']), {
    message: /expected the action of UpdateSubUser/,
  });
});

test('requests of many forms are read alike by both readers', (t) => {
  const compiled = compile(screening);
  const read = createSoapReader(compiled);
  for (let round = 0; round < 100; round++) {
    const names = Array.from({ length: (round * 7) % 90 }, (_, index) => `name ${index}`);
    const text = updateOf('jane', 'key', names);
    t.deepEqual(outcomeOf(read, text), outcomeOf(usual(compiled), text));
  }
});

/** Texts that are inserted into a document, or replace some of its characters. */
const splinters = [
  '',
  'x',
  ' ',
  '<',
  '>',
  '/',
  '&',
  '"',
  '&lt;',
  '<a/>',
  '<!-- -->',
  '<![CDATA[1]]>',
  '1',
  'null',
  '\u0001',
  '\u00e9',
  '&#xe9;',
  '&quot;',
  '&apos;',
  '\\',
  '\t',
  ']]>',
  '\ufffe',
  '\uff05',
];

for (const [title, contract] of Object.entries({ screening, depot })) {
  test(`${title}: requests of any operation are read alike by both readers`, (t) => {
    const codecs = codecsOf(contract);
    for (const setting of [
      {},
      { json: 'tree' },
      { unknownElements: 'ignore', emptyElements: 'absent' },
    ] as const) {
      const compiled = compile(contract, setting);
      for (const { name, input } of contract.operations) {
        const codec = codecs.codecOf(input);
        const read = createSoapReader(compiled);
        const documents = fc.tuple(
          valuesOf(input, contract, { nulls: true }),
          fc.integer(),
          fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...splinters)), { maxLength: 6 }),
        );
        const property = fc.property(documents, ([value, seed, cuts]) => {
          const content = codec.write(tell(value)).content ?? '';
          const told = envelope(contract, name, content);
          const spelled = envelope(
            contract,
            name,
            respell(
              parseElement(
                `<e xmlns="${contract.namespaces.types}" xmlns:i="${namespaces.xsi}">${content}</e>`,
              ),
              input,
              picker(seed),
            ),
          );
          const texts = [told, told, spelled];
          for (const [at, length, splinter] of cuts) {
            const from = at % told.length;
            texts.push(told.slice(0, from) + splinter + told.slice(from + length), told);
            texts.push(told.replaceAll(/>[^<]+</g, `>${splinter}<`));
          }
          for (let times = 0; times < 3; times++) {
            for (const text of texts)
              deepStrictEqual(outcomeOf(read, text), outcomeOf(usual(compiled), text));
          }
        });
        t.notThrows(() => fc.assert(property, { numRuns: 12 }), name);
      }
    }
  });
}

test('W11, W15: a request with a deviation is recorded each time', (t) => {
  const read = createSoapReader(compile(depot));
  const deviationsOf = (content: string): readonly string[] => {
    const text = envelope(depot, 'SendParcel', `<Body>${content}</Body>`);
    return [...(read(Buffer.from(text), undefined, soap11, []).input.reading.deviations ?? [])];
  };
  for (let times = 0; times < 3; times++) {
    t.deepEqual(deviationsOf('<name>a</name><weight>1.5</weight><day>2024-07-01</day>'), []);
    t.deepEqual(deviationsOf('<name x="">a</name>'), ['unknownAttribute']);
  }
  t.deepEqual(deviationsOf('<name>a</name><weight>1.5e3</weight><day>2024-07-01</day>'), ['decimalExponent']);
  t.deepEqual(deviationsOf('<name>a</name><weight>2.5</weight><day>2024-07-01Z</day>'), ['dateZone']);
});
