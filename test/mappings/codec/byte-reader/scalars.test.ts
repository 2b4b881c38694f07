import test from 'ava';
import {
  endOfBase64,
  endOfDate,
  endOfDateTime,
  endOfDecimal,
  endOfInteger,
} from '../../../../mappings/codec/byte-reader/scalars.ts';

// The byte reader takes a value only in the form that JSON or the contract keeps. It leaves other forms to the usual
// reader, so a wrong decision here would change a value.

type End = (bytes: Buffer, start: number) => number;

/** Returns true if the grammar accepts a text up to the next tag, and nothing else of it. */
function accepts(end: End, text: string): boolean {
  const bytes = Buffer.from(`<a>${text}</a>`);
  const at = end(bytes, 3);
  if (at !== -1 && at !== 3 + Buffer.byteLength(text))
    throw new Error(`${text}: expected its end, got ${at}`);
  return at !== -1;
}

const cases: Readonly<Record<string, readonly [end: End, taken: string, left: string]>> = {
  'an integer of 3 digits': [
    (bytes, start) => endOfInteger(bytes, start, 3, true),
    '0 7 10 99 128 999 -1 -10 -999',
    '00 07 007 010 1000 -0 -01 -1000 +7 1.0 1e3 0x1 - --1 1- 7a :',
  ],
  'an unsigned integer': [
    (bytes, start) => endOfInteger(bytes, start, 3, false),
    '0 5 255',
    '-1 -0 00 01 2555 -',
  ],
  'a decimal of 8 bytes': [
    (bytes, start) => endOfDecimal(bytes, start, 8),
    '0 7 10 0.5 -0 -0.5 10.25 123456.7 12345678 -1.50',
    '00 01 00.5 -01 1. .5 - +1 1e3 123456789 1234567.8 1..2 1.2.3 -.5 0x1',
  ],
  'a date': [
    endOfDate,
    '2024-02-29 2023-02-28 0001-01-01 9999-12-31 2024-01-31 2024-04-30 2000-02-29 1999-10-09',
    '2023-02-29 1900-02-29 2024-02-30 2024-13-01 2024-00-01 2024-01-00 2024-01-32 2024-04-31 0000-01-01 2024-1-01 2024-01-1 2024/01/01 2024-01/01 2024-01-01Z 2024-01-011 20240101 2a24-01-01 2024-0a-01 2024-01-0a -2024-01-01',
  ],
  'a dateTime with an offset': [
    (bytes, start) => endOfDateTime(bytes, start, false),
    '2024-02-29T12:00:00Z 2024-02-29T00:00:00Z 2024-02-29T23:59:59Z 2024-02-29T12:00:00.5Z 2024-02-29T12:00:00.123456789012Z 2024-02-29T12:00:00+01:00 2024-02-29T12:00:00-13:59 2024-02-29T12:00:00.5+00:00',
    '2024-02-29T12:00:00 2024-02-29T24:00:00Z 2024-02-29T12:60:00Z 2024-02-29T12:00:60Z 2023-02-29T12:00:00Z 2024-02-29T12:00:00.Z 2024-02-29T12:00:00.1234567890123Z 2024-02-29T12:00:00+14:00 2024-02-29T12:00:00+01:60 2024-02-29T12:00:00+0100 2024-02-29T12:00:00+1:00 2024-02-29t12:00:00Z 2024-02-29T12:00Z 2024-02-29T12-00:00Z 2024-02-29T12:00-00Z 2024-02-29T12:00:00z 2024-02-29T12:00:00ZZ 2024-02-29T12:00:00+01:000 2024-02-29',
  ],
  'a dateTime that needs no offset': [
    (bytes, start) => endOfDateTime(bytes, start, true),
    '2024-02-29T12:00:00 2024-02-29T12:00:00.5 2024-02-29T12:00:00Z',
    '2024-02-29T12:00:0 2024-02-29T12:00:00. 2024-02-29T12:00:00X',
  ],
  base64: [
    endOfBase64,
    'AAAA AQ== AAE= AAAAAQ== QUJD ++// zzzz',
    'A AA AAA AAAAA AR== AAB= AA= A=== ==== AAAA= AA==AAAA A-AA AA_A AAAA==== AAA==',
  ],
};

for (const [what, [end, taken, left]] of Object.entries(cases)) {
  test(`the grammar of ${what} accepts exactly its forms`, (t) => {
    t.deepEqual(
      taken.split(' ').filter((text) => !accepts(end, text)),
      [],
    );
    t.deepEqual(
      left.split(' ').filter((text) => accepts(end, text)),
      [],
    );
  });
}

test('a value without a tag after it is never accepted', (t) => {
  for (const [end, taken] of Object.values(cases))
    for (const text of taken.split(' ')) {
      t.is(end(Buffer.from(text), 0), -1, text);
      t.is(end(Buffer.from(`${text} <`), 0), -1, text);
    }
});
