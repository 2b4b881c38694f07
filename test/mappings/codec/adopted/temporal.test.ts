import test from 'ava';
import { temporal, zonedDateTime } from '../../../../mappings/codec/adopted/temporal.ts';
import { quoteText } from '../../../../mappings/codec/scalars/text.ts';
import { createZone } from '../../../../mappings/codec/scalars/zone.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { JsonReader } from '../../../../mappings/json/reader.ts';
import { compiledGet, element as e, get, many, readMessage, sequence } from './messages.ts';

/** Valid and invalid texts of the date and time types (XSD Part 2, 3.2.7 to 3.2.14). */
const rows = [
  [
    'dateTime',
    '2024-02-29T24:00:00 2024-02-29T24:00:00.00Z 2000-02-29T23:59:59.999+14:00 -0004-02-29T00:00:00-13:59 12024-01-01T00:00:00',
    '2023-02-29T00:00:00 1900-02-29T00:00:00 12023-02-29T00:00:00 11900-02-29T00:00:00 0000-01-01T00:00:00 -0000-01-01T00:00:00 2024-01-01T24:00:01 2024-01-01T00:60:00 2024-01-01T00:00:00+14:01 02024-01-01T00:00:00 2024-13-01T00:00:00 2024-01-32T00:00:00',
  ],
  ['date', '-0044-03-15 2024-04-30Z 10000-01-31', '2024-04-31 2024-00-01 0000-01-01 2024-1-1'],
  ['time', '00:00:00 24:00:00.0 23:59:59.5Z', '24:00:00.5 24:01:00 0:00 00:00:60'],
  ['gYearMonth', '2024-02 -0001-12+01:00', '2024-13 2024 0000-01'],
  ['gYear', '2024 12024 -0001Z 10000 20000 100000000', '0000 -0000 024 02024'],
  ['gMonthDay', '--02-29 --12-31Z', '--02-30 --04-31 --13-01 -02-29'],
  ['gDay', '---31 ---01Z', '---32 ---00 --31'],
  ['gMonth', '--12 --01-05:00', '--13 --00 -12'],
] as const;

for (const [kind, good, bad] of rows)
  test(`A26: xs:${kind} accepts its texts in both directions and refuses others in requests`, (t) => {
    const { fromXml, toXml, checkJson, expected } = temporal(kind, 'pass');
    const reader = (text: string): JsonReader => new JsonReader(JSON.stringify(text), defaultLimits);
    t.is(expected, `xs:${kind}`);
    for (const text of good.split(' ')) {
      t.is(fromXml(` ${text}\n`), `"${text}"`, text);
      t.is(toXml(reader(text)), text);
      t.is(checkJson(reader(text)), undefined, text);
    }
    for (const text of bad.split(' ')) {
      const refusal = {
        code: 'InvalidType',
        reason: { expected: `xs:${kind}`, got: quoteText(text.slice(0, 32)) },
      };
      t.deepEqual(fromXml(text), refusal);
      t.deepEqual(checkJson(reader(text)), refusal);
      const reply = reader(text);
      t.is(toXml(reply), text);
      t.is(reply.passed, 1, text);
    }
  });

test('A26: reads xs:gMonth in the form of the first edition of XSD 1.0', (t) => {
  const { fromXml, toXml, checkJson } = temporal('gMonth', 'refuse');
  for (const [old, current] of [
    ['--01--', '--01'],
    ['--12--Z', '--12Z'],
    ['--05--+02:00', '--05+02:00'],
    ['--05---05:00', '--05-05:00'],
  ] as const) {
    t.is(fromXml(` ${old} `), `"${current}"`);
    t.is(checkJson(new JsonReader(`"${old}"`, defaultLimits)), `"${current}"`);
    const reply = new JsonReader(`"${old}"`, defaultLimits);
    t.is(toXml(reply), old);
    t.is(reply.passed, 0);
  }
  for (const text of ['--13--', '--01-', '--01---', '--1--', '-01--']) t.is(typeof fromXml(text), 'object');
});

test('A26: reads both forms of xs:gMonth in lists, attributes, enumerations and any type', (t) => {
  const declarations =
    '<xs:simpleType name="Months"><xs:list itemType="xs:gMonth"/></xs:simpleType>' +
    '<xs:simpleType name="Quarter"><xs:restriction base="xs:gMonth"><xs:enumeration value="--01--"/><xs:enumeration value="--04"/></xs:restriction></xs:simpleType>';
  const type = sequence(
    e('list', 't:Months') + e('quarter', 't:Quarter', many) + e('any', 'xs:anyType'),
    '<xs:attribute name="at" type="xs:gMonth"/>',
  );
  const { request } = compiledGet(t, type, declarations);
  const content =
    '<t:list>--01-- --02</t:list><t:quarter>--01</t:quarter><t:quarter>--01--</t:quarter><t:quarter>--04--</t:quarter><t:any xsi:type="xs:gMonth">--03--Z</t:any>';
  const { json, problems } = readMessage(request, get(content, ' at="--06--"'));
  t.deepEqual(problems, []);
  t.deepEqual(JSON.parse(json), {
    at: '--06',
    list: ['--01', '--02'],
    quarter: ['--01', '--01', '--04'],
    any: { '@type': 'xs:gMonth', value: '--03Z' },
  });
});

test('W22, A26: ISO 8601 dates and moments in a reply are written in XSD form', (t) => {
  for (const [kind, json, xml, passed] of [
    ['dateTime', '2024-02-29', '2024-02-29T00:00:00', 0],
    ['dateTime', '2024-02-29T03:04', '2024-02-29T03:04:00', 0],
    ['dateTime', '2024-02-29T03:04:05z', '2024-02-29T03:04:05Z', 0],
    ['date', '2024-02-29z', '2024-02-29Z', 0],
    ['date', '2024-02-29T03:04:05', '2024-02-29T03:04:05', 1],
    ['dateTime', '2023-02-29', '2023-02-29', 1],
    ['time', '2024-02-29', '2024-02-29', 1],
    ['gYear', '2024-02-29T03:04', '2024-02-29T03:04', 1],
  ] as const) {
    const reader = new JsonReader(JSON.stringify(json), defaultLimits);
    t.is(temporal(kind, 'pass').toXml(reader), xml, json);
    t.is(reader.passed, passed, json);
  }
});

test('A26: with dates: utc a moment is RFC 3339 in JSON, or unchanged if that has no form for it', (t) => {
  const { expected, fromXml, toXml, checkJson } = zonedDateTime(createZone('Europe/Berlin'), 'pass');
  const reader = (json: string): JsonReader => new JsonReader(JSON.stringify(json), defaultLimits);
  t.is(expected, 'xs:dateTime');
  for (const [xml, json] of [
    ['2006-07-02T03:04:05', '2006-07-02T01:04:05Z'],
    ['2006-01-02T03:04:05.5', '2006-01-02T02:04:05.5Z'],
    ['2006-07-02T03:04:05Z', '2006-07-02T03:04:05+00:00'],
    ['2006-07-02T03:04:05-09:30', '2006-07-02T03:04:05-09:30'],
    ['12006-07-02T03:04:05', '12006-07-02T03:04:05'],
    ['-0044-03-15T00:00:00', '-0044-03-15T00:00:00'],
  ] as const) {
    t.is(fromXml(` ${xml}\n`), `"${json}"`);
    const reply = reader(json);
    t.is(toXml(reply), xml);
    t.is(reply.passed, 0);
    t.is(checkJson(reader(json)), undefined);
  }
  for (const text of ['2006-02-29T00:00:00', '2006-07-02', 'now']) {
    const refusal = { code: 'InvalidType', reason: { expected: 'xs:dateTime', got: quoteText(text) } };
    t.deepEqual(fromXml(text), refusal);
    t.deepEqual(checkJson(reader(text)), refusal);
    const reply = reader(text);
    t.is(toXml(reply), text === '2006-07-02' ? '2006-07-02T00:00:00' : text);
    t.is(reply.passed, text === '2006-07-02' ? 0 : 1);
  }
});

const readerOf = (text: string): JsonReader => new JsonReader(JSON.stringify(text), defaultLimits);

/** Texts of replies by type: repaired texts with their form in XML, and texts that cannot be repaired. */
const repairs = [
  [
    'dateTime',
    {
      '2024-01-01T10:00:00.000+0000': '2024-01-01T10:00:00.000+00:00',
      '2024-01-01T10:00:00.250-0530': '2024-01-01T10:00:00.250-05:30',
      '2024-01-01 10:00:00': '2024-01-01T10:00:00',
      '2024-01-01 10:00:00+00': '2024-01-01T10:00:00+00:00',
      '2024-01-01 10:00:00 +0200': '2024-01-01T10:00:00+02:00',
      '2024-01-01T10:00:00,5Z': '2024-01-01T10:00:00.5Z',
      ' 2024-01-01T10:00:00Z ': '2024-01-01T10:00:00Z',
      '2024-01-01 10:00z': '2024-01-01T10:00:00Z',
    },
    [
      '2024-02-30T10:00:00',
      '2024-02-30 10:00:00+0000',
      '2024-01-01T25:00:00',
      '01/02/2024',
      '1704103200',
      '2024-01-01T10:00:00+1500',
      '2024-01-01  10:00:00',
      '2024-01-01T10:00:00Z[UTC]',
    ],
  ],
  [
    'date',
    { '2024-01-01+0200': '2024-01-01+02:00', '2024-01-01 Z': '2024-01-01Z', ' 2024-01-01': '2024-01-01' },
    ['2024-02-30', '2024-01-01T10:00:00', '20240101', '2024-1-1', '2024-02-30+0200'],
  ],
  [
    'time',
    {
      '10:00': '10:00:00',
      '10:00:00.5+0000': '10:00:00.5+00:00',
      '10:00:00 +02': '10:00:00+02:00',
      '10:00:00z': '10:00:00Z',
    },
    ['10h', '25:00:00', '10', '10:00:60', '1:00'],
  ],
  ['gYear', { '2024+0000': '2024+00:00', ' 2024 ': '2024' }, ['24', '2024-01', '0000', '2024+9900']],
  ['gYearMonth', { '2024-02-0500': '2024-02-05:00' }, ['2024-13', '2024']],
  ['gMonthDay', { '--02-29+0100': '--02-29+01:00' }, ['02-29', '--02-30']],
  ['gDay', { '---31+0000': '---31+00:00' }, ['31', '---32']],
  ['gMonth', { '--12+0000': '--12+00:00' }, ['12', '--13']],
] as const;

for (const [kind, fixed, broken] of repairs)
  test(`W17: an xs:${kind} of a reply is repaired, or refused unless invalidDates allows it`, (t) => {
    const strict = temporal(kind, 'refuse');
    for (const [json, xml] of Object.entries(fixed)) {
      t.is(strict.toXml(readerOf(json)), xml, json);
      t.is(temporal(kind, 'pass').toXml(readerOf(json)), xml, json);
      t.like(strict.checkJson(readerOf(json)), { code: 'InvalidType' }, json);
    }
    for (const json of broken) {
      const message = `expected xs:${kind}, got an invalid string`;
      t.throws(() => strict.toXml(readerOf(json)), { message }, json);
      const reader = readerOf(json);
      t.is(temporal(kind, 'pass').toXml(reader), json);
      t.is(reader.passed, 1, json);
    }
  });

for (const [kind, json, xml] of [
  ['date', '2024-01-01z', '2024-01-01Z'],
  ['dateTime', '2024-01-01t10:00z', '2024-01-01T10:00:00Z'],
] as const)
  test(`W17: the xs:${kind} ${json} of a reply needs no repair`, (t) => {
    const reader = readerOf(json);
    t.is(temporal(kind, 'refuse').toXml(reader), xml);
    t.is(reader.repaired, 0);
  });

test('W17: a moment of dates: utc is repaired too', (t) => {
  const { toXml } = zonedDateTime(createZone('Europe/Berlin'), 'refuse');
  t.is(toXml(readerOf('2006-07-02 01:04:05Z')), '2006-07-02T03:04:05');
  t.is(toXml(readerOf('2006-07-02T03:04:05+0000')), '2006-07-02T03:04:05Z');
  t.throws(() => toXml(readerOf('2006-02-30T03:04:05Z')), { message: /expected xs:dateTime/ });
});

test('A26: upstreamTimeZone gives a moment without an offset the offset of the zone', (t) => {
  const { fromXml, checkJson } = temporal('dateTime', 'refuse', createZone('Europe/Berlin'));
  for (const [xml, json] of [
    ['2024-07-01T10:00:00', '2024-07-01T10:00:00+02:00'],
    ['2024-12-31T24:00:00', '2025-01-01T00:00:00+01:00'],
    ['2024-07-01T10:00:00Z', '2024-07-01T10:00:00Z'],
    ['12024-07-01T10:00:00', '12024-07-01T10:00:00'],
  ] as const) {
    t.is(fromXml(xml), `"${json}"`);
    t.is(checkJson(readerOf(xml)), xml === json ? undefined : `"${json}"`);
  }
  for (const kind of ['date', 'time'] as const) {
    const text = kind === 'date' ? '2024-07-01' : '10:00:00';
    t.is(temporal(kind, 'refuse', createZone('Europe/Berlin')).fromXml(text), `"${text}"`);
  }
});

test('A26: with dates: utc the hour 24 is midnight of the next day', (t) => {
  const { fromXml } = zonedDateTime(createZone('Europe/Berlin'), 'refuse');
  t.is(fromXml('2024-06-30T24:00:00Z'), '"2024-07-01T00:00:00+00:00"');
  t.is(fromXml('2024-06-30T24:00:00-02:00'), '"2024-07-01T00:00:00-02:00"');
  t.is(fromXml('2024-06-30T24:00:00'), '"2024-06-30T22:00:00Z"');
});
