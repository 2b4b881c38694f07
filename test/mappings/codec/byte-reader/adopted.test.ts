import test from 'ava';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../../../mappings/compile.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { readContract } from '../../../../mappings/loader/load.ts';
import { fc } from '../../../property.ts';
import { createSoapReader } from '../../../read-soap.ts';
import { definitionsOf, folderOf, get, schemaOf } from '../../loader/wsdl/wsdl-folder.ts';
import { everythingWsdl } from '../adopted/everything.ts';
import { element } from '../adopted/messages.ts';
import { picker, randomBody } from '../adopted/random-messages.ts';
import { assertEqual, type Body } from './equal-readers.ts';

/** Requests of adopted services whose markup is cached must be read like the first time. */

const soap = (body: string): Body => ({
  bytes: Buffer.from(
    `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`,
  ),
  charset: undefined,
});

/** Replacement texts for the same markup. */
const texts = [
  '1',
  '-7',
  'true',
  'red',
  '2020-02-29',
  'a&amp;b',
  ' x ',
  '',
  '\u00e9\u6f22',
  '{urn:t}n',
  'AB12',
];

function withTexts(document: string, pick: (bound: number) => number): string {
  return document.replace(/>([^<>]+)</g, (kept, text: string) => {
    const other = texts[pick(texts.length * 2)];
    return other === undefined ? kept : `>${text.trim() === '' ? text : other}<`;
  });
}

test('A10 to A28: any message, with other texts in the same markup too, is read alike by both readers', (t) => {
  const folder = folderOf(t, { 'service.wsdl': everythingWsdl });
  const { contract } = readContract(folder);
  const compiled = compileContract(contract);
  const [operation] = contract.adopted?.service.operations ?? [];
  if (operation === undefined) throw new Error('no operation');
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const pick = picker(seed);
        const text = randomBody(operation.input.body, pick) ?? '';
        assertEqual(compiled, [soap(text), soap(withTexts(text, pick)), soap(withTexts(text, pick))]);
      }),
      { numRuns: 60 },
    ),
  );
});

const typed = (type: string, more = ''): string =>
  definitionsOf(
    schemaOf(
      `<xs:element name="Get"><xs:complexType><xs:sequence>${element('v', type, more)}</xs:sequence></xs:complexType></xs:element><xs:simpleType name="List"><xs:list itemType="xs:int"/></xs:simpleType><xs:simpleType name="Words"><xs:list itemType="xs:NMTOKEN"/></xs:simpleType><xs:simpleType name="Union"><xs:union memberTypes="xs:int xs:boolean"/></xs:simpleType><xs:simpleType name="Code"><xs:restriction base="xs:string"><xs:maxLength value="2"/></xs:restriction></xs:simpleType>`,
    ),
    get,
  );

const values: Readonly<Record<string, readonly string[]>> = {
  'xs:string': ['a', '', ' ', 'b c'],
  'xs:token': [' a  b ', '', 'c'],
  'xs:int': ['1', ' 2 ', '', 'x', '99999999999'],
  'xs:decimal': ['1.50', '.5', '1e3'],
  'xs:boolean': ['1', 'true', 'x'],
  'xs:dateTime': ['2020-02-29T00:00:00', '2021-02-29T00:00:00', ''],
  'xs:base64Binary': ['QUJD', 'QU JD', 'x', ''],
  'xs:hexBinary': ['ab', 'abc', ''],
  'xs:QName': ['t:a', 'u:a', ''],
  't:List': ['1 2', '', 'x'],
  't:Union': ['1', 'true', 'x', ''],
};

for (const [type, [first = '', ...others]] of Object.entries(values)) {
  for (const more of ['', 'default="1"', 'nillable="true"']) {
    test(`A26: a ${type} ${more} of any text is read alike by both readers`, (t) => {
      const folder = folderOf(t, { 'service.wsdl': typed(type, more) });
      const compiled = compileContract(readContract(folder).contract);
      const body = (text: string): Body => soap(`<t:Get xmlns:t="urn:t"><t:v>${text}</t:v></t:Get>`);
      const bodies = [first, ...others].flatMap((text) => [body(first), body(text)]);
      t.notThrows(() => assertEqual(compiled, bodies));
    });
  }
}

test('A26: a message cut off at any character is read alike by both readers', (t) => {
  for (const [type, [text = '']] of Object.entries(values)) {
    const folder = folderOf(t, { 'service.wsdl': typed(type) });
    const compiled = compileContract(readContract(folder).contract);
    const whole = soap(`<t:Get xmlns:t="urn:t"><t:v>${text}</t:v></t:Get>`);
    // a whole message follows each part, because the byte reader pauses after many failures
    const bodies = Array.from(whole.bytes, (_, length) => [
      { bytes: whole.bytes.subarray(0, length), charset: undefined },
      whole,
    ]);
    t.notThrows(() => assertEqual(compiled, bodies.flat()), type);
  }
});

for (const [type, known, text] of [
  ['xs:string', 'a', 'abcdefgh'],
  ['xs:string', 'a', ' '],
  ['xs:int', '1', '12345678'],
  ['xs:base64Binary', 'QUJD', 'QUJDQUJDQUJD'],
  ['t:List', '1', '1 2 3'],
  ['t:List', '1', ' '],
  ['xs:duration', 'P1D', 'P123456D'],
] as const)
  test(`A26: the byte reader reads a ${type} of the text "${text}", up to as many characters as text may have`, (t) => {
    const limits = { ...defaultLimits, xmlText: 8 };
    const folder = folderOf(t, { 'service.wsdl': typed(type) });
    const compiled = compileContract(readContract(folder).contract, limits);
    const body = (content: string): Body => soap(`<t:Get xmlns:t="urn:t"><t:v>${content}</t:v></t:Get>`);
    const read = createSoapReader(compiled);
    const { bytes } = body(text);
    t.true(Buffer.isBuffer(read(bytes, undefined, soap11, ['urn:t/Get']).input.text));
    t.notThrows(() => assertEqual(compiled, [known, text, `${text}${text}`].map(body)));
  });

for (const text of [
  'a>b',
  ']>',
  '&#xff;',
  '&#xFF;',
  '&#x1F600;',
  '&#65;',
  '&amp;&lt;&gt;&quot;&apos;',
  'a\r\nb',
  '\t',
])
  test(`A26: the byte reader reads the string ${JSON.stringify(text)}`, (t) => {
    const compiled = compileContract(
      readContract(folderOf(t, { 'service.wsdl': typed('xs:string') })).contract,
    );
    const body = soap(`<t:Get xmlns:t="urn:t"><t:v>${text}</t:v></t:Get>`);
    const { input } = createSoapReader(compiled)(body.bytes, undefined, soap11, ['urn:t/Get']);
    t.true(Buffer.isBuffer(input.text));
    t.notThrows(() => assertEqual(compiled, [body]));
  });

test('A26: surrogates written as two references are joined in strings alone', (t) => {
  const folder = folderOf(t, { 'service.wsdl': typed('t:Words') });
  const compiled = compileContract(readContract(folder).contract);
  const bodies = ['a b', '&#xD83D;&#xDE00;', 'c'].map((text) =>
    soap(`<t:Get xmlns:t="urn:t"><t:v>${text}</t:v></t:Get>`),
  );
  t.notThrows(() => assertEqual(compiled, bodies));
});

test('A26: with validate: strict, both readers check the facets of a text', (t) => {
  const folder = folderOf(t, { 'service.wsdl': typed('t:Code'), 'soap.yaml': 'validate: strict\n' });
  const compiled = compileContract(readContract(folder).contract);
  const body = (text: string): Body => soap(`<t:Get xmlns:t="urn:t"><t:v>${text}</t:v></t:Get>`);
  const read = (text: string) =>
    createSoapReader(compiled)(body(text).bytes, undefined, soap11, ['urn:t/Get']).input.reading.problems;
  t.deepEqual(read('ab'), []);
  t.is(read('abc').length, 1);
});

test('A6: the byte reader reads requests of operations that share an element', (t) => {
  const call = soap('<t:Get xmlns:t="urn:t"><t:v>a</t:v></t:Get>');
  const isRead = (wsdl: string): boolean => {
    const read = createSoapReader(
      compileContract(readContract(folderOf(t, { 'service.wsdl': wsdl })).contract),
    );
    return Buffer.isBuffer(read(call.bytes, undefined, soap11, ['urn:t/Get']).input.text);
  };
  const wsdl = typed('xs:string');
  t.true(isRead(wsdl));
  const twice = wsdl
    .replace(
      /(<w:operation name="Get"><w:input.*?<\/w:operation>)/,
      (one) => one + one.replace('"Get"', '"Other"'),
    )
    .replace(
      /(<w:operation name="Get"><soap:operation.*?<\/w:operation>)/,
      (one) => one + one.replace('"Get"', '"Other"').replace('urn:t/Get', 'urn:t/Other'),
    );
  t.true(isRead(twice));
});
