import test from 'ava';
import { problemText, startReading, TooManySteps } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { compiledGet, element, get, readMessage, sequence, writeMessage } from './messages.ts';

interface Case {
  readonly title: string;
  readonly base: string;
  readonly facets: string;
  readonly good: readonly string[];
  readonly bad: readonly (readonly [text: string, why: string])[];
}

const cases: readonly Case[] = [
  {
    title: 'lengths of texts count characters',
    base: 'xs:string',
    facets: '<xs:minLength value="1"/><xs:maxLength value="3"/>',
    good: ['a', 'abc', '😀😀😀'],
    bad: [['abcd', 'expected 1 to 3 characters, got 4']],
  },
  {
    title: 'a fixed length of octets, in hexadecimal digits',
    base: 'xs:hexBinary',
    facets: '<xs:length value="2"/>',
    good: ['abcd'],
    bad: [['ab', 'expected 2 to 2 octets, got 1']],
  },
  {
    title: 'a length of octets, in base64',
    base: 'xs:base64Binary',
    facets: '<xs:maxLength value="2"/>',
    good: ['QUI=', 'QQ=='],
    bad: [['QUJD', 'expected 0 to 2 octets, got 3']],
  },
  {
    title: 'a fixed length of octets, in base64',
    base: 'xs:base64Binary',
    facets: '<xs:length value="1"/>',
    good: ['QQ=='],
    bad: [
      ['QUI=', 'expected 1 to 1 octets, got 2'],
      ['QUJD', 'expected 1 to 1 octets, got 3'],
    ],
  },
  {
    title: 'a least length of octets, in base64',
    base: 'xs:base64Binary',
    facets: '<xs:minLength value="2"/>',
    good: ['QUI=', 'QUJD', 'QUJDRA=='],
    bad: [['QQ==', 'expected at least 2 octets, got 1']],
  },
  {
    title: 'a least length of texts',
    base: 'xs:string',
    facets: '<xs:minLength value="2"/>',
    good: ['ab', 'abc'],
    bad: [['a', 'expected at least 2 characters, got 1']],
  },
  {
    title: 'nothing where no facet says more',
    base: 'xs:hexBinary',
    facets: '',
    good: ['', 'ab'],
    bad: [],
  },
  {
    title: 'a bound of doubles',
    base: 'xs:double',
    facets: '<xs:maxInclusive value="5"/>',
    good: ['5', '-1e9'],
    bad: [['5.1', 'expected at most 5, got 5.1']],
  },
  {
    title: 'a bound of floats, which they have to exceed',
    base: 'xs:float',
    facets: '<xs:minExclusive value="5"/>',
    good: ['5.1', '6'],
    bad: [['5', 'expected more than 5, got 5']],
  },
  {
    title: 'a bound of bytes',
    base: 'xs:byte',
    facets: '<xs:minInclusive value="-5"/>',
    good: ['-5', '127'],
    bad: [['-6', 'expected at least -5, got -6']],
  },
  {
    title: 'digits in all, zeros at either end aside',
    base: 'xs:decimal',
    facets: '<xs:totalDigits value="2"/>',
    good: ['0.12', '-0.12', '1.200', '012.00', '12', '00'],
    bad: [
      ['1.23', 'expected at most 2 digits, got more'],
      ['120', 'expected at most 2 digits, got more'],
    ],
  },
  {
    title: 'digits after the point, zeros at the end aside',
    base: 'xs:decimal',
    facets: '<xs:fractionDigits value="1"/>',
    good: ['0.100', '12345', '1.0'],
    bad: [['1.01', 'expected at most 1 digits after the point, got more']],
  },
  {
    title: 'no bounds of dates',
    base: 'xs:gYear',
    facets: '<xs:minInclusive value="2000"/>',
    good: ['1999', '2000'],
    bad: [],
  },
  {
    title: 'no patterns of numbers',
    base: 'xs:int',
    facets: '<xs:pattern value="[0-9]{2}"/>',
    good: ['5', '12'],
    bad: [],
  },
  {
    title: 'no patterns of octets, nor digits of texts',
    base: 'xs:hexBinary',
    facets: '<xs:pattern value="[0-9]+"/><xs:totalDigits value="1"/>',
    good: ['abcd'],
    bad: [],
  },
  {
    title: 'no patterns of unions',
    base: 't:Union',
    facets: '<xs:pattern value="[0-9]+"/>',
    good: ['a'],
    bad: [],
  },
  {
    title: 'no pattern without words in linear time, but the others',
    base: 'xs:string',
    facets: '<xs:maxLength value="3"/><xs:pattern value="[a-z-[aeiou]]"/>',
    good: ['A', 'aei'],
    bad: [['abcd', 'expected at most 3 characters, got 4']],
  },
  {
    title: 'bounds of numbers, exactly',
    base: 'xs:decimal',
    facets: '<xs:minInclusive value="0.1"/><xs:maxExclusive value="+9007199254740993"/>',
    good: ['0.10', '9007199254740992.999'],
    bad: [
      ['0.09', 'expected at least 0.1, got 0.09'],
      ['9007199254740993', 'expected less than 9007199254740993, got 9007199254740993'],
    ],
  },
  {
    title: 'digits of numbers',
    base: 'xs:decimal',
    facets: '<xs:totalDigits value="4"/><xs:fractionDigits value="2"/>',
    good: ['12.34', '0012.30', '-1234'],
    bad: [
      ['1.234', 'expected at most 2 digits after the point, got more'],
      ['123.45', 'expected at most 4 digits, got more'],
    ],
  },
  {
    title: 'patterns, from the first character to the last, those of one step as alternatives',
    base: 'xs:string',
    facets: '<xs:pattern value="\\i\\c*"/><xs:pattern value="[0-9]{2}"/>',
    good: ['a-1', '12'],
    bad: [['1a', 'expected text that matches']],
  },
];

for (const { title, base, facets, good, bad } of cases) {
  test(`A26: validate: strict checks requests for ${title}, the default does not`, (t) => {
    const declarations = `<xs:simpleType name="Union"><xs:union memberTypes="xs:int xs:string"/></xs:simpleType><xs:simpleType name="T"><xs:restriction base="${base}">${facets}</xs:restriction></xs:simpleType>`;
    const type = sequence(element('v', 't:T'), '<xs:attribute name="a" type="t:T"/>');
    const strict = compiledGet(t, type, declarations, { validate: 'strict' }).request;
    const lax = compiledGet(t, type, declarations).request;
    for (const text of good) {
      const message = get(`<t:v>${text}</t:v>`, ` a="${text}"`);
      t.deepEqual(readMessage(strict, message).problems, [], text);
    }
    for (const [text, why] of bad) {
      for (const [message, field] of [
        [get(`<t:v>${text}</t:v>`), 'v'],
        [get(`<t:v>${good[0]}</t:v>`, ` a="${text}"`), 'a'],
      ] as const) {
        const [problem] = readMessage(strict, message).problems;
        t.is(problem?.path, field, text);
        t.is(problem?.code, why.includes('matches') ? 'InvalidType' : 'OutOfRange', text);
        t.true(problem && problemText(problem).includes(why), problem && problemText(problem));
        t.deepEqual(readMessage(lax, message).problems, []);
      }
    }
  });
}

test('A26: a list’s length counts items, and each is checked against its type', (t) => {
  const declarations =
    '<xs:simpleType name="Item"><xs:restriction base="xs:int"><xs:maxInclusive value="5"/></xs:restriction></xs:simpleType>' +
    '<xs:simpleType name="Items"><xs:list itemType="t:Item"/></xs:simpleType>' +
    '<xs:simpleType name="Few"><xs:restriction base="t:Items"><xs:maxLength value="2"/></xs:restriction></xs:simpleType>';
  const { request } = compiledGet(t, sequence(element('v', 't:Few')), declarations, { validate: 'strict' });
  const said = (text: string): readonly string[] =>
    readMessage(request, get(`<t:v>${text}</t:v>`)).problems.map(problemText);
  t.deepEqual(said('1 2'), []);
  t.deepEqual(said('1 2 3'), ['v: expected at most 2 items, got 3']);
  t.deepEqual(said('1 6'), ['v: expected at most 5, got 6']);
  const plain = compiledGet(
    t,
    sequence(element('v', 't:Few')),
    '<xs:simpleType name="Items"><xs:list itemType="xs:int"/></xs:simpleType><xs:simpleType name="Few"><xs:restriction base="t:Items"><xs:length value="2"/><xs:pattern value="1 2"/></xs:restriction></xs:simpleType>',
    { validate: 'strict' },
  ).request;
  t.deepEqual(readMessage(plain, get('<t:v>2 1</t:v>')).problems, []);
  t.is(readMessage(plain, get('<t:v>1</t:v>')).problems.length, 1);
});

test('A26: each item of a list counts, so many of them are checked in a worker thread', (t) => {
  for (const item of [
    '<xs:restriction base="xs:int"><xs:maxInclusive value="5"/></xs:restriction>',
    '<xs:restriction base="xs:decimal"><xs:totalDigits value="5"/></xs:restriction>',
    '<xs:restriction base="xs:hexBinary"><xs:length value="1"/></xs:restriction>',
  ]) {
    const { request } = compiledGet(
      t,
      sequence(element('v', 't:Items')),
      `<xs:simpleType name="Item">${item}</xs:simpleType><xs:simpleType name="Items"><xs:list itemType="t:Item"/></xs:simpleType>`,
      { validate: 'strict' },
    );
    const read = (count: number) => {
      const xml = new XmlReader(get(`<t:v>${'11 '.repeat(count)}</t:v>`), defaultLimits);
      xml.readRoot();
      return request.read(xml, startReading(20, 64_000));
    };
    t.notThrows(() => read(400));
    t.throws(() => read(1_001), { instanceOf: TooManySteps });
  }
});

test('A26: with bigNumbers: text bounds and digits of numbers are checked too', (t) => {
  for (const [base, facets, good, bad, why] of [
    ['xs:decimal', '<xs:maxInclusive value="5"/>', '5.00', '5.01', 'expected at most 5, got 5.01'],
    ['xs:long', '<xs:minExclusive value="-5"/>', '-4', '-5', 'expected more than -5, got -5'],
    ['xs:integer', '<xs:totalDigits value="2"/>', '-12', '123', 'expected at most 2 digits, got more'],
  ] as const) {
    const { request } = compiledGet(
      t,
      sequence(element('v', 't:T')),
      `<xs:simpleType name="T"><xs:restriction base="${base}">${facets}</xs:restriction></xs:simpleType>`,
      { validate: 'strict', bigNumbers: 'text' },
    );
    const said = (text: string): readonly string[] =>
      readMessage(request, get(`<t:v>${text}</t:v>`)).problems.map(problemText);
    t.deepEqual(said(good), []);
    t.deepEqual(said(bad), [`v: ${why}`]);
  }
});

test('A26: the steps of patterns per request are limited', (t) => {
  const declarations =
    '<xs:simpleType name="T"><xs:restriction base="xs:string"><xs:pattern value="(a|b)*"/></xs:restriction></xs:simpleType>';
  const limits = { ...defaultLimits, patternSteps: 1_000 };
  const { request } = compiledGet(
    t,
    sequence(element('v', 't:T')),
    declarations,
    { validate: 'strict' },
    limits,
  );
  const [problem] = readMessage(request, get(`<t:v>${'ab'.repeat(1_000)}</t:v>`)).problems;
  t.is(problem?.expected, 'less text to match with patterns in one request');
});

const moments: readonly (readonly [xml: string, json: string])[] = [
  ['2006-07-02T03:04:05', '2006-07-02T01:04:05Z'],
  ['2006-01-02T03:04:05.1234567', '2006-01-02T02:04:05.1234567Z'],
  ['2006-07-02T03:04:05Z', '2006-07-02T03:04:05+00:00'],
  ['2006-07-02T03:04:05+09:30', '2006-07-02T03:04:05+09:30'],
  ['0001-01-01T00:00:00', '0001-01-01T00:00:00Z'],
  ['12006-07-02T03:04:05', '12006-07-02T03:04:05'],
];

for (const [xml, json] of moments) {
  test(`A26: with dates: utc ${xml} is ${json}, and converts back to the same`, (t) => {
    const settings = { dates: 'utc', upstreamTimeZone: 'Europe/Berlin' } as const;
    const { request, reply } = compiledGet(t, sequence(element('v', 'xs:dateTime')), '', settings);
    t.is(readMessage(request, get(`<t:v>${xml}</t:v>`)).json, `{"v":"${json}"}`);
    t.true(reply && writeMessage(reply, `{"v":"${json}"}`).includes(`>${xml}<`));
  });
}

test('A26: with dates: utc a date and a time are unchanged', (t) => {
  const settings = { dates: 'utc', upstreamTimeZone: 'Europe/Berlin' } as const;
  const type = sequence(element('d', 'xs:date') + element('c', 'xs:time'));
  const { request } = compiledGet(t, type, '', settings);
  const { json } = readMessage(request, get('<t:d>2006-07-02</t:d><t:c>03:04:05</t:c>'));
  t.is(json, '{"d":"2006-07-02","c":"03:04:05"}');
});
