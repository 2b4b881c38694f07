import test from 'ava';
import { MismatchError } from '../../../../mappings/codec/problem.ts';
import { buildContract } from '../../../../mappings/loader/build-contract.ts';
import {
  codecsOf,
  compile,
  depot,
  passOne,
  readOne,
  readXml,
  scalar,
  screening,
  writeOne,
} from '../contracts.ts';

const duration = codecsOf(depot).codecOf(scalar('duration'));
const passing = codecsOf(depot, { invalidDates: 'pass' }).codecOf(scalar('duration'));

const durations = ['P1D', 'PT0.5S', 'P1Y2M3DT4H5M6.70S', '-P1M', 'P0Y', `P${'9'.repeat(500)}D`];
const others = [
  '',
  'P',
  'PT',
  '-P',
  'P1S',
  'P1DT',
  'P1D2W',
  '1D',
  '01:30:00',
  'PT1.S',
  'p1d',
  '+P1D',
  '--P1D',
];

for (const text of durations) {
  test(`xs:duration ${text.slice(0, 40)} is the same in XML and in JSON`, (t) => {
    t.deepEqual(readOne(duration, ` ${text}\n`), { value: `"${text}"` });
    t.deepEqual(passOne(duration, `"${text}"`), { value: `"${text}"` });
    t.is(writeOne(duration, `"${text}"`), text);
  });
}

for (const text of others.filter((other) => other !== '')) {
  test(`the invalid duration "${text}" is refused, or passed in replies with invalidDates: pass`, (t) => {
    const problem = `InvalidType expected xs:duration, got "${text}"`;
    t.deepEqual(readOne(duration, text), { problem });
    t.deepEqual(passOne(duration, `"${text}"`), { problem });
    const message = 'expected xs:duration, got an invalid string';
    t.throws(() => writeOne(duration, `"${text}"`), { instanceOf: MismatchError, message });
    t.is(writeOne(passing, `"${text}"`), text);
  });
}

test('W17: a comma and blanks around a duration are repaired in replies, not in requests', (t) => {
  t.is(writeOne(duration, '" PT1,5S "'), 'PT1.5S');
  t.deepEqual(passOne(duration, '"PT1,5S"'), { problem: 'InvalidType expected xs:duration, got "PT1,5S"' });
  t.deepEqual(readOne(duration, 'PT1,5S'), { problem: 'InvalidType expected xs:duration, got "PT1,5S"' });
});

test('weeks are ISO 8601 but not XSD: allowed in JSON, and days in XML', (t) => {
  t.deepEqual(passOne(duration, '"P2W"'), { value: '"P2W"' });
  t.is(writeOne(duration, '"P2W"'), 'P14D');
  t.is(writeOne(duration, '"-P1W"'), '-P7D');
  t.is(writeOne(duration, `"P${'9'.repeat(400)}W"`), `P6${'9'.repeat(399)}3D`);
  t.is(writeOne(passing, `"P${'9'.repeat(401)}W"`), `P${'9'.repeat(401)}W`);
  t.deepEqual(readOne(duration, 'P2W'), { problem: 'InvalidType expected xs:duration, got "P2W"' });
});

test('an empty duration is null in replies, and refused in requests', (t) => {
  t.is(writeOne(duration, '""'), null);
  t.regex(readOne(duration, '').problem ?? '', /^NotEmpty expected xs:duration, got an empty element/);
});

test('escapes in JSON are decoded before the check', (t) => {
  t.is(writeOne(duration, '"\\u0050T1H"'), 'PT1H');
  t.is(writeOne(passing, '"<\\u00bd>"'), '&lt;½&gt;');
});

test('durations are ISO 8601 in every dialect', (t) => {
  t.is(writeOne(codecsOf(screening).codecOf(scalar('duration')), '"PT1H"'), 'PT1H');
});

/** A contract with an operation whose body contains a duration. */
const contractOf = (overlay: object) =>
  buildContract({
    openapiName: 'openapi',
    overlayName: 'soap',
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Timer', version: '1' },
      paths: {
        '/timer': {
          post: {
            operationId: 'SetTimer',
            requestBody: {
              content: {
                'application/json': {
                  schema: { type: 'object', properties: { span: { type: 'string', format: 'duration' } } },
                },
              },
            },
            responses: { 204: { description: 'set' } },
          },
        },
      },
    },
    overlay: { dialect: 'plain', service: 'Timer', ...overlay },
  }).contract;

const problemsOf = (overlay: object, text: string) =>
  readXml(compile(contractOf(overlay)), 'SetTimer', `<Body><span>${text}</span></Body>`).problems;

test('validate: strict checks the format: no sign', (t) => {
  t.deepEqual(problemsOf({}, '-P1D'), []);
  t.deepEqual(problemsOf({ validate: 'strict' }, 'P1D'), []);
  t.deepEqual(problemsOf({ validate: 'strict' }, '-P1D'), [
    'InvalidType Body.span: expected a duration, got "-P1D"',
  ]);
});

test('dates: text makes strings of durations too', (t) => {
  t.deepEqual(problemsOf({ dates: 'text' }, '01:30:00'), []);
});
