import test from 'ava';
import fc from 'fast-check';
import { announcedBytes } from '../../../gateway/upstream/content-length.ts';

test('a Content-Length is its number, whatever its number of digits', (t) => {
  t.is(announcedBytes(undefined), 0);
  for (const [text, bytes] of [
    ['0', 0],
    ['1027', 1_027],
    ['999999999999999', 999_999_999_999_999],
    ['9999999999999999', 1e16],
  ] as const)
    t.is(announcedBytes(text), bytes);
  fc.assert(fc.property(fc.maxSafeNat(), (bytes) => announcedBytes(String(bytes)) === bytes));
});

test('an invalid Content-Length is converted as Number does', (t) => {
  for (const text of ['', '12a', '-1', '1e3', ' 7', '5, 5', '0x10', '٣'])
    t.is(announcedBytes(text), Number(text), text);
});
