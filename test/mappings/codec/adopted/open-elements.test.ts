import test from 'ava';
import { problemText, startReading, TooManySteps } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import {
  compiledGet,
  element as e,
  get,
  many,
  maybe,
  readMessage,
  sequence,
  writeMessage,
} from './messages.ts';

/** Elements and content sent as XML text (A22, A24). */

const mixed =
  '<xs:complexType name="M" mixed="true"/><xs:complexType name="N" mixed="true"><xs:attribute name="a" type="xs:string"/></xs:complexType>';

for (const [namespace, takes] of [
  ['##any', ['', 'urn:t', 'urn:a', 'urn:b']],
  ['##other', ['urn:a', 'urn:b']],
  ['##targetNamespace', ['urn:t']],
  ['##local', ['']],
  ['urn:a ##local', ['', 'urn:a']],
] as const)
  test(`A22: a wildcard of ${namespace} accepts elements of ${takes.join(', ') || 'no namespace'}`, (t) => {
    const { request } = compiledGet(t, sequence(`<xs:any namespace="${namespace}" ${many}/>`));
    for (const its of ['', 'urn:t', 'urn:a', 'urn:b']) {
      const { problems } = readMessage(request, get(`<x xmlns="${its}"/>`));
      t.is(problems.length, takes.some((taken) => taken === its) ? 0 : 1, its);
    }
  });

const type = sequence(
  [e('m', 't:M', maybe), e('n', 't:N', maybe), `<xs:any namespace="##other" ${maybe}/>`].join(''),
);
const element = 'expected one well-formed XML element';

for (const [json, xml] of [
  ['{"@any":"<a>&lt;</a>"}', '<a>&lt;</a>'],
  ['{"@any":"<!-- x --><a/> "}', '<!-- x --><a/> '],
  ['{"@any":null}', ''],
  ['{"m":"a <b>c</b>"}', '<n0:m>a <b>c</b></n0:m>'],
  ['{"m":"a \\u00e9\\t\\ud83d\\ude00"}', '<n0:m>a é\t😀</n0:m>'],
  ['{"m":""}', '<n0:m/>'],
  ['{"m":null}', ''],
  ['{"n":{"a":"1","value":"x<b/>"}}', '<n0:n a="1">x<b/></n0:n>'],
  ['{"n":{"a":"1","value":""}}', '<n0:n a="1"/>'],
  ['{"n":{"value":""}}', '<n0:n/>'],
  ['{"n":{"a":"1","value":null}}', '<n0:n a="1"/>'],
] as const)
  test(`A22, A24: a reply that is ${json} is written`, (t) => {
    const { request } = compiledGet(t, type, mixed);
    const { xml: written, replaced } = request.write(Buffer.from(json));
    t.is(
      String(written).replace(/^<n0:Get [^>]*?(\/?)>/, (_, end) => (end === '' ? '' : '</n0:Get>')),
      `${xml}</n0:Get>`,
    );
    t.is(replaced, 0);
  });

for (const [json, problem] of [
  ['{"@any":7}', `@any: ${element} as a string, got a number`],
  ['{"@any":{}}', `@any: ${element} as a string, got an object`],
  ['{"@any":""}', `@any: ${element}, got other text (line 1, column 1)`],
  ['{"@any":"a"}', `@any: ${element}, got other text (line 1, column 1)`],
  ['{"@any":"<a/>b"}', `@any: ${element}, got other text (line 1, column 5)`],
  ['{"@any":"<a>\\n\\u0001</a>"}', `@any: ${element}, got other text (line 2, column 1)`],
  ['{"@any":"<?xml version=\\"1.0\\"?><a/>"}', `@any: ${element}, got other text (a declaration)`],
  ['{"m":7}', 'm: expected well-formed XML as a string, got a number'],
  ['{"m":"a>]]>"}', 'm: expected well-formed XML, got other text (line 1, column 6)'],
  ['{"m":"&a;"}', 'm: expected well-formed XML, got other text (line 1, column 4)'],
  ['{"m":"<a/>\\u0001"}', 'm: expected well-formed XML, got other text (line 1, column 8)'],
] as const)
  test(`A22, A24: a reply that is ${json} is a mismatch`, (t) => {
    t.throws(() => writeMessage(compiledGet(t, type, mixed).request, json), { message: problem });
  });

test('W21: a character of mixed content that XML cannot represent is replaced and counted', (t) => {
  const { request } = compiledGet(t, type, mixed);
  const { xml, replaced } = request.write(Buffer.from('{"m":"a\\u0001b\\ud800\\uffff😀\\r"}'));
  t.regex(String(xml), /<n0:m>a\ufffdb\ufffd\ufffd😀\r<\/n0:m>/);
  t.is(replaced, 3);
});

test('A24: mixed content is read up to the limit of text, and no further', (t) => {
  const limits = { ...defaultLimits, rereadText: 12 };
  const { request } = compiledGet(t, sequence(e('m', 't:M', many)), mixed, {}, limits);
  const read = (xml: string) => {
    const { json, problems } = readMessage(request, get(xml));
    return [json, ...problems.map((problem) => `${problem.code} ${problemText(problem)}`)];
  };
  t.deepEqual(read('<t:m>1234</t:m><t:m><b>1</b></t:m><t:m></t:m><t:m/>'), [
    '{"m":["1234","<b>1</b>","",""]}',
  ]);
  t.deepEqual(read('<t:m>1234</t:m><t:m><b>12</b></t:m><t:m/>'), [
    '{"m":["1234",""]}',
    'OutOfRange m[1]: expected at most 12 characters of XML as text in all, got more',
  ]);
});

test('A22: one namespace on many elements counts towards the limit of text, in a worker thread', (t) => {
  const limits = { ...defaultLimits, rereadText: 10_000 };
  const { request } = compiledGet(t, sequence(`<xs:any ${many} processContents="skip"/>`), '', {}, limits);
  const spread = (count: number): string =>
    get(`<z xmlns="" xmlns:p="${'u'.repeat(1000)}">${'<p:a/>'.repeat(count)}</z>`);
  t.deepEqual(readMessage(request, spread(9)).problems, []);
  t.deepEqual(readMessage(request, spread(50_000)).problems.map(problemText), [
    'z[0]: expected at most 10000 characters of XML as text in all, got more',
  ]);
  const xml = new XmlReader(spread(9), limits);
  xml.readRoot();
  t.throws(() => request.read(xml, startReading(20, 5_000)), { instanceOf: TooManySteps });
});

const namespace = 'u'.repeat(1000);

for (const [title, type, declarations, message, wrong] of [
  [
    'names of elements',
    e('q', 'xs:QName', many),
    '',
    (count: number) => '<t:q>p:a</t:q>'.repeat(count),
    'q[9]',
  ],
  [
    'names of a list',
    e('q', 't:Names'),
    '<xs:simpleType name="Names"><xs:list itemType="xs:QName"/></xs:simpleType>',
    (count: number) => `<t:q>${'p:a '.repeat(count)}</t:q>`,
    'q',
  ],
  [
    'names of attributes',
    e('q', 't:Any', many),
    '<xs:complexType name="Any"><xs:anyAttribute/></xs:complexType>',
    (count: number) => '<t:q p:a=""/>'.repeat(count),
    'q[9]',
  ],
  [
    'names in attributes',
    e('q', 't:Named', many),
    '<xs:complexType name="Named"><xs:attribute name="n" type="xs:QName"/></xs:complexType>',
    (count: number) => '<t:q n="p:a"/>'.repeat(count),
    'q[9].n',
  ],
] as const)
  test(`A12, A26: one namespace of many ${title} counts towards the limit of text, in a thread`, (t) => {
    const limits = { ...defaultLimits, rereadText: 9_500 };
    const { request } = compiledGet(t, sequence(type), declarations, {}, limits);
    const spread = (count: number): string => get(message(count), ` xmlns:p="${namespace}"`);
    t.deepEqual(readMessage(request, spread(9)).problems, []);
    t.is(
      readMessage(request, spread(5_000)).problems.map(problemText)[0],
      `${wrong}: expected at most 9500 characters of XML as text and of namespaces in all, got more characters`,
    );
    const xml = new XmlReader(spread(9), limits);
    xml.readRoot();
    t.throws(() => request.read(xml, startReading(20, 5_000)), { instanceOf: TooManySteps });
  });
