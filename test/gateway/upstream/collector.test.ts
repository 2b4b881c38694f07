import test from 'ava';
import { Collector } from '../../../gateway/upstream/collector.ts';

const piece = (bytes: number, letter: string): Buffer => Buffer.from(new ArrayBuffer(bytes)).fill(letter);

test('the memory of pieces that nobody else reads is given back as they are gathered, where nothing else is in it', (t) => {
  const collector = new Collector(false);
  const own = [piece(16 * 1024, 'a'), piece(64 * 1024, 'b'), piece(16 * 1024, 'c')];
  const shared = piece(64 * 1024, 'd');
  const small = piece(16 * 1024 - 1, 'e');
  for (const each of [...own, shared.subarray(0, 32 * 1024), small]) collector.addOwn(each);
  for (let count = 0; count < 20; count++) collector.addOwn(piece(64 * 1024, 'f'));
  t.deepEqual(
    [...own, shared, small].map(({ buffer }) => buffer.byteLength),
    [0, 0, 0, 64 * 1024, 16 * 1024 - 1],
  );
  t.is(
    collector.take().body.toString(),
    'a'.repeat(16 * 1024) +
      'b'.repeat(64 * 1024) +
      'c'.repeat(16 * 1024) +
      'd'.repeat(32 * 1024) +
      'e'.repeat(16 * 1024 - 1) +
      'f'.repeat(20 * 64 * 1024),
  );
});

test('a piece that is still looked at when it was added is given back by the next one', (t) => {
  const collector = new Collector(true);
  const pieces = Array.from({ length: 20 }, (_, index) => piece(64 * 1024, String.fromCharCode(97 + index)));
  const text = pieces.map(String).join('');
  for (const [index, each] of pieces.entries()) {
    collector.addRead(each);
    t.is(each.buffer.byteLength, 64 * 1024);
    // up to 1 MiB the first piece may be all there is
    if (index > 1) t.is(pieces[index - 1]?.buffer.byteLength, 0);
  }
  t.is(collector.take().body.toString(), text);
});

test('pieces that others read too stay as they are', (t) => {
  const collector = new Collector(false);
  const pieces = Array.from({ length: 20 }, () => piece(64 * 1024, 'a'));
  for (const each of pieces) collector.add(each);
  t.true(pieces.every(({ buffer }) => buffer.byteLength === 64 * 1024));
  t.is(collector.take().body.toString(), 'a'.repeat(20 * 64 * 1024));
});

test('a body that came in one piece is that piece', (t) => {
  const collector = new Collector(false);
  const only = piece(64 * 1024, 'a');
  collector.addOwn(only);
  t.is(collector.take().body, only);
  t.is(only.toString(), 'a'.repeat(64 * 1024));
});
