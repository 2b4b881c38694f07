import test from 'ava';
import { startReading } from '../../../mappings/codec/problem.ts';
import { textEncoder } from '../../../mappings/http-mapping/body.ts';

for (const [charset, text, bytes] of [
  ['utf-8', 'é😀', 'c3a9f09f9880'],
  ['iso-8859-1', '\u0000aé\u0080ÿ', '0061e980ff'],
  ['us-ascii', '\u0000a~\u007f', '00617e7f'],
] as const) {
  test(`text is sent in the bytes of ${charset}`, (t) => {
    const reading = startReading(20);
    t.is(textEncoder(charset)(text, reading).toString('hex'), bytes);
    t.deepEqual(reading.problems, []);
  });
}

for (const [charset, text] of [
  ['utf-8', 'a\ud800'],
  ['iso-8859-1', 'aĀ'],
  ['iso-8859-1', '😀'],
  ['us-ascii', 'a\u0080'],
  ['us-ascii', '€'],
] as const) {
  test(`a character that ${charset} lacks is reported: ${text}`, (t) => {
    const reading = startReading(20);
    textEncoder(charset)(text, reading);
    t.like(reading.problems, [{ code: 'InvalidCharacter' }]);
  });
}
