import test from 'ava';
import { MismatchError } from '../../../../mappings/codec/problem.ts';
import type { Contract } from '../../../../mappings/contract/model.ts';
import type { Settings } from '../../../../mappings/contract/overlay-keys.ts';
import { load } from '../../../plain/documents.ts';
import {
  codecsOf,
  compile,
  depot,
  operationOf,
  passOne,
  readJson,
  readOne,
  readXml,
  scalar,
  writeOne,
} from '../contracts.ts';

const codecOf = (kind: 'dateTime' | 'date', settings: Partial<Settings> = {}) =>
  codecsOf(depot, settings).codecOf(scalar(kind));

for (const [kind, json, xml] of [
  ['dateTime', '2024-01-01T10:00:00.000+0000', '2024-01-01T10:00:00.000+00:00'],
  ['dateTime', '2024-01-01 10:00:00', '2024-01-01T10:00:00'],
  ['dateTime', '2024-01-01 10:00:00.123456+00', '2024-01-01T10:00:00.123456+00:00'],
  ['dateTime', '2024-01-01 10:00:00 +0200', '2024-01-01T10:00:00+02:00'],
  ['dateTime', '2024-01-01T10:00:00,25Z', '2024-01-01T10:00:00.25Z'],
  ['date', '2024-01-01+0200', '2024-01-01+02:00'],
  ['date', ' 2024-01-01 ', '2024-01-01'],
] as const)
  test(`W17: the ${kind} "${json}" of a reply is repaired`, (t) => {
    t.is(writeOne(codecOf(kind), JSON.stringify(json)), xml);
    t.regex(passOne(codecOf(kind), JSON.stringify(json)).problem ?? '', /^InvalidType expected xs:/);
  });

for (const [kind, json] of [
  ['dateTime', '2024-02-30T10:00:00'],
  ['dateTime', '2024-02-30 10:00:00+0000'],
  ['dateTime', '01/02/2024'],
  ['dateTime', 'tomorrow'],
  ['dateTime', '2024-01-01T10:00:60Z'],
  ['date', '2024-02-30'],
  ['date', '0000-00-00'],
  ['date', '2024-01-01T10:00:00'],
  ['date', '20240101'],
] as const)
  test(`W17: the ${kind} "${json}" of a reply is refused, or passed with invalidDates: pass`, (t) => {
    const token = JSON.stringify(json);
    const message = `expected xs:${kind}, got an invalid string`;
    t.throws(() => writeOne(codecOf(kind), token), { instanceOf: MismatchError, message });
    t.is(writeOne(codecOf(kind, { invalidDates: 'pass' }), token), json);
  });

test('W17: /Date(ms)/ contracts repair and refuse ISO dates of replies too', (t) => {
  const wcf = codecOf('dateTime', { dates: 'wcf' });
  t.is(writeOne(wcf, '"2024-01-01 10:00:00+0000"'), '2024-01-01T10:00:00+00:00');
  t.throws(() => writeOne(wcf, '"/Date(x)/"'), { instanceOf: MismatchError });
  t.is(writeOne(codecOf('dateTime', { dates: 'wcf', invalidDates: 'pass' }), '"/Date(x)/"'), '/Date(x)/');
});

const berlin = { upstreamTimeZone: 'Europe/Berlin' } as const;
for (const [zone, xml, json] of [
  ['Europe/Berlin', '2024-07-01T10:00:00', '2024-07-01T10:00:00+02:00'],
  ['Europe/Berlin', '2024-01-01T10:00:00.1234567', '2024-01-01T10:00:00.1234567+01:00'],
  ['Europe/Berlin', '2024-07-01T10:00:00Z', '2024-07-01T10:00:00Z'],
  ['Europe/Berlin', '2024-07-01T10:00:00-05:00', '2024-07-01T10:00:00-05:00'],
  ['Europe/Berlin', '2024-06-30T24:00:00', '2024-07-01T00:00:00+02:00'],
  ['Europe/Berlin', '2024-06-30T24:00:00.0-05:00', '2024-07-01T00:00:00.0-05:00'],
  // the clock skips or repeats 02:30: the smaller offset applies (W16)
  ['Europe/Berlin', '2024-03-31T02:30:00', '2024-03-31T02:30:00+01:00'],
  ['Europe/Berlin', '2024-10-27T02:30:00', '2024-10-27T02:30:00+01:00'],
  ['America/St_Johns', '2024-01-01T10:00:00', '2024-01-01T10:00:00-03:30'],
  ['Asia/Kolkata', '2024-01-01T10:00:00', '2024-01-01T10:00:00+05:30'],
  ['UTC', '2024-01-01T10:00:00', '2024-01-01T10:00:00Z'],
  // .NET's minimum and maximum are independent of the zone
  ['Europe/Berlin', '0001-01-01T00:00:00', '0001-01-01T00:00:00Z'],
  ['Europe/Berlin', '9999-12-31T23:59:59.9999999', '9999-12-31T23:59:59.9999999Z'],
  // RFC 3339 cannot express an offset with seconds
  ['Africa/Monrovia', '1960-01-01T00:00:00', '1960-01-01T00:44:30Z'],
] as const)
  test(`W16: in ${zone} the dateTime ${xml} is sent as ${json}`, (t) => {
    const codec = codecOf('dateTime', { upstreamTimeZone: zone });
    t.deepEqual(readOne(codec, ` ${xml} `), { value: `"${json}"` });
    t.deepEqual(passOne(codec, `"${xml}"`), { value: `"${json}"` });
    t.deepEqual(readOne(codecOf('dateTime', { upstreamTimeZone: zone, validate: 'strict' }), xml), {
      value: `"${json}"`,
    });
  });

test('W16: without upstreamTimeZone a dateTime without an offset is unchanged', (t) => {
  const codec = codecOf('dateTime');
  t.deepEqual(readOne(codec, '2024-07-01T10:00:00'), { value: '"2024-07-01T10:00:00"' });
  t.deepEqual(readOne(codec, '2024-06-30T24:00:00'), { value: '"2024-07-01T00:00:00"' });
  t.deepEqual(readOne(codec, '2024-06-30T24:00:00Z'), { value: '"2024-07-01T00:00:00Z"' });
  t.deepEqual(passOne(codec, '"2024-07-01T10:00"'), { value: '"2024-07-01T10:00:00"' });
  t.deepEqual(passOne(codec, '"2024-07-01t10:00:00z"'), { value: '"2024-07-01t10:00:00z"' });
});

test('W16: without upstreamTimeZone validate: strict refuses a dateTime without an offset', (t) => {
  const codec = codecOf('dateTime', { validate: 'strict' });
  const problem =
    'InvalidType expected xs:dateTime with Z or an offset such as +01:00, got "2024-07-01T10:00:00"';
  t.deepEqual(readOne(codec, '2024-07-01T10:00:00'), { problem });
  t.deepEqual(passOne(codec, '"2024-07-01T10:00:00"'), { problem });
  t.deepEqual(readOne(codec, '2024-07-01T10:00:00+02:00'), { value: '"2024-07-01T10:00:00+02:00"' });
});

const date = { type: 'string', format: 'date' };
const moment = { type: 'string', format: 'date-time' };
const number = { type: 'number' };
const body = {
  type: 'object',
  properties: {
    day: date,
    days: { type: 'array', items: date },
    byName: { type: 'object', additionalProperties: date },
    moments: { type: 'array', items: moment },
    price: number,
    prices: { type: 'array', items: number },
    count: { type: 'integer' },
    either: { oneOf: [{ type: 'boolean' }, number] },
  },
};

function contractOf(overlay: object): Contract {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Days', version: '1' },
    paths: {
      '/days/{since}': {
        post: {
          operationId: 'put',
          parameters: [
            { name: 'since', in: 'path', required: true, schema: moment },
            { name: 'on', in: 'query', schema: { type: 'array', items: date } },
          ],
          requestBody: { content: { 'application/json': { schema: body } } },
          responses: { 204: { description: '' } },
        },
      },
    },
  };
  return load(document, undefined, overlay).contract;
}

const since = '<since>2024-07-01T10:00:00</since>';

test('W16: dates of members, lists, maps and parameters lose their zone, which is recorded', (t) => {
  const compiled = compile(contractOf(berlin));
  const { input, problems } = readXml(
    compiled,
    'put',
    `${since}<on><date>2024-07-01Z</date></on><Body><day>2024-07-01+02:00</day><days><date>2024-07-02-05:00</date></days>` +
      '<byName><Entry><Key>a</Key><Value>2024-07-03Z</Value></Entry></byName>' +
      '<moments><dateTime>2024-07-01T10:00:00</dateTime></moments></Body>',
  );
  t.deepEqual(problems, []);
  const call = operationOf(compiled, 'put').request(input, undefined);
  t.is(call?.path, '/days/2024-07-01T10%3A00%3A00%2B02%3A00?on=2024-07-01');
  t.is(
    call?.body,
    '{"day":"2024-07-01","days":["2024-07-02"],"byName":{"a":"2024-07-03"},"moments":["2024-07-01T10:00:00+02:00"]}',
  );
  t.deepEqual([...(input.reading.deviations ?? [])], ['dateZone']);
});

test('W16: a date of a JSON caller loses its zone, which is recorded', (t) => {
  const read = readJson(
    compile(contractOf(berlin)),
    'put',
    '{"since":"2024-07-01T10:00:00","Body":{"day":"2024-07-01+02:00"}}',
  );
  t.deepEqual(read.json, { since: '2024-07-01T10:00:00+02:00', Body: { day: '2024-07-01' } });
  t.deepEqual([...(read.input.reading.deviations ?? [])], ['dateZone']);
});

test('W16: validate: strict accepts a date with a zone too, and drops the zone', (t) => {
  const read = readXml(
    compile(contractOf({ ...berlin, validate: 'strict' })),
    'put',
    `${since}<Body><day>2024-07-01+02:00</day></Body>`,
  );
  t.deepEqual(read.problems, []);
});

test('W15: decimals with exponents are accepted in members, lists and unions, and recorded', (t) => {
  const compiled = compile(contractOf({}));
  for (const [xml, json] of [
    ['<price>1e+06</price>', '{"price":1000000}'],
    ['<prices><decimal>0.1999e2</decimal><decimal>1.0E-5</decimal></prices>', '{"prices":[19.99,0.000010]}'],
    ['<either><Decimal>5e-1</Decimal></either>', '{"either":0.5}'],
  ] as const) {
    const { input, problems } = readXml(compiled, 'put', `${since}<Body>${xml}</Body>`);
    t.deepEqual(problems, []);
    t.is(operationOf(compiled, 'put').request(input, undefined)?.body, json);
    t.deepEqual([...(input.reading.deviations ?? [])], ['decimalExponent'], xml);
  }
  const { input } = readXml(compiled, 'put', `${since}<Body><price>1.50</price></Body>`);
  t.is(input.reading.deviations, undefined);
});

test('W14: refuses an integer with an exponent', (t) => {
  const { problems } = readXml(compile(contractOf({})), 'put', `${since}<Body><count>1e3</count></Body>`);
  t.deepEqual(problems, ['InvalidType Body.count: expected xs:long, got "1e3"']);
});
