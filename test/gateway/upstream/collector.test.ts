import { randomBytes } from 'node:crypto';
import test from 'ava';
import { Collector } from '../../../gateway/upstream/collector.ts';
import { padding } from '../../../mappings/bytes.ts';

const piece = (bytes: number, letter: string): Buffer => Buffer.from(new ArrayBuffer(bytes)).fill(letter);

test('the memory of unshared chunks is freed while they are collected', (t) => {
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

test('a chunk still in use when it was added is freed by the next one', (t) => {
  const collector = new Collector(true);
  const pieces = Array.from({ length: 20 }, (_, index) => piece(64 * 1024, String.fromCharCode(97 + index)));
  const text = pieces.map(String).join('');
  for (const [index, each] of pieces.entries()) {
    collector.addRead(each);
    t.is(each.buffer.byteLength, 64 * 1024);
    // a first piece of up to 1 MiB is kept without a copy
    if (index > 1) t.is(pieces[index - 1]?.buffer.byteLength, 0);
  }
  t.is(collector.take().body.toString(), text);
});

test('shared chunks are unchanged', (t) => {
  const collector = new Collector(false);
  const pieces = Array.from({ length: 20 }, () => piece(64 * 1024, 'a'));
  for (const each of pieces) collector.add(each);
  t.true(pieces.every(({ buffer }) => buffer.byteLength === 64 * 1024));
  t.is(collector.take().body.toString(), 'a'.repeat(20 * 64 * 1024));
});

test('a body of one chunk is that chunk', (t) => {
  const collector = new Collector(false);
  const only = piece(64 * 1024, 'a');
  collector.addOwn(only);
  t.is(collector.take().body, only);
  t.is(only.toString(), 'a'.repeat(64 * 1024));
});

const mebibyte = 1024 * 1024;
const sizes = [2, 4096, 65_537, mebibyte - 1, mebibyte, mebibyte + 1, 3 * mebibyte, 5_300_001];

for (const isTrusted of [true, false])
  for (const isAnnounced of [true, false])
    test(`bytes keep their order: ${isTrusted ? 'of an upstream' : 'of a caller'}, its length ${isAnnounced ? 'known' : 'unknown'}`, async (t) => {
      for (const size of sizes)
        for (const most of [64 * 1024, 50_001, 3_000_000]) {
          const whole = randomBytes(size);
          const gathered = (): Collector => {
            const collector = new Collector(isTrusted);
            if (isAnnounced) collector.announced = size;
            for (let at = 0; at < size; at += most) {
              const to = Math.min(size, at + most, at === 0 ? size - 1 : size);
              collector.add(whole.subarray(at, to));
              if (to < at + most && to < size) collector.add(whole.subarray(to, Math.min(size, at + most)));
            }
            return collector;
          };
          for (const { body } of [gathered().take(), await gathered().takeInSteps()]) {
            t.true(body.equals(whole), `${size} in pieces of ${most}`);
            const behind = Buffer.from(body.buffer, body.byteOffset + size, isTrusted ? padding : 0);
            t.true(behind.equals(Buffer.alloc(behind.length)), `what is behind ${size} in pieces of ${most}`);
          }
        }
    });

test('a caller’s body allocates at most its received size and 1 MiB, whatever it announced', (t) => {
  const collector = new Collector(false);
  collector.announced = 50_000_000;
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 1; count <= 160; count++) {
    collector.addOwn(piece(64 * 1024, 'a'));
    const room = process.memoryUsage().arrayBuffers - before;
    t.true(room <= Math.max(2 * collector.size, collector.size + mebibyte) + 64 * 1024, `${room}`);
  }
  collector.drop();
  t.true(process.memoryUsage().arrayBuffers - before < mebibyte);
});
