import test from 'ava';
import { Base64Spans } from '../../../mappings/json/base64-spans.ts';
import { fc } from '../../property.ts';

const long = 'A'.repeat(64 * 1024);

function runsOf(pieces: readonly string[]): Base64Spans {
  const runs = new Base64Spans();
  for (const piece of pieces) runs.add(Buffer.from(piece));
  return runs;
}

test('a run of 64 KiB of letters is known at each of its offsets up to its end', (t) => {
  const runs = runsOf([`{"a":"${long}"}`]);
  t.is(runs.total, long.length);
  t.is(runs.endFrom(6), 6 + long.length);
  t.is(runs.endFrom(1_000), 6 + long.length);
  for (const offset of [0, 5, 6 + long.length, 7 + long.length]) t.is(runs.endFrom(offset), offset);
});

test('a run that is one byte short is not known', (t) => {
  t.is(runsOf([`"${long.slice(1)}"`]).total, 0);
});

test('a short run after a long one, or between two, is not known', (t) => {
  const runs = runsOf([`${long}"short"${long}"`, `short"${long.slice(1)}"`]);
  t.is(runs.total, 2 * long.length);
  t.is(runs.endFrom(long.length + 2), long.length + 2);
  t.is(runs.endFrom(long.length + 7), 2 * long.length + 7);
});

test('an unfinished run is not known', (t) => {
  t.is(runsOf([`"${long}`]).total, 0);
  t.is(runsOf([`"${long}`, '"']).total, long.length);
});

test('padding and every other byte that is no letter ends a run', (t) => {
  for (const end of ['=', '"', '\\', '-', '_', ' ', '\u00e9'])
    t.is(runsOf([`${long}${end}`]).endFrom(0), long.length);
});

test('every byte that is no letter ends a run, at any memory position', (t) => {
  const bytes = Buffer.alloc(2 * long.length, 'a');
  for (let code = 0; code < 256; code++) {
    if (/[A-Za-z0-9+/]/.test(String.fromCharCode(code))) continue;
    for (let from = 0; from < 4; from++) {
      for (let end = long.length + 8; end < long.length + 16; end++) {
        bytes[end] = code;
        const runs = new Base64Spans();
        runs.add(bytes.subarray(from));
        if (runs.endFrom(0) !== end - from) t.fail(`byte ${code} at ${end} from ${from}: ${runs.endFrom(0)}`);
        bytes[end] = 0x61;
      }
    }
  }
  t.pass();
});

test('a letter next to another byte, in either order, ends a run', (t) => {
  for (let code = 0; code < 256; code++) {
    if (/[A-Za-z0-9+/]/.test(String.fromCharCode(code))) continue;
    for (const pair of [
      [0x61, code],
      [code, 0x61],
    ]) {
      const runs = new Base64Spans();
      runs.add(Buffer.from(long));
      runs.add(Buffer.from([...Buffer.alloc(32, 'a'), ...pair, ...pair, ...pair, ...pair]));
      const end = long.length + 32 + pair.indexOf(code);
      if (runs.endFrom(0) !== end) t.fail(`byte ${code}: expected ${end}, got ${runs.endFrom(0)}`);
    }
  }
  t.pass();
});

test('the same runs are found for any split of a body', (t) => {
  const parts = fc.array(fc.constantFrom(long, `${long}Zz09+/`, '"', '==","b":"', 'short', '{}'), {
    maxLength: 6,
  });
  t.notThrows(() =>
    fc.assert(
      fc.property(parts, fc.array(fc.nat(200_000), { maxLength: 6 }), (texts, cuts) => {
        const body = `${texts.join('')}"`;
        const places = [0, ...cuts.map((cut) => cut % body.length).toSorted((a, b) => a - b), body.length];
        const pieces = places.slice(1).map((end, index) => body.slice(places[index], end));
        const runs = runsOf(pieces);
        for (let offset = 0; offset < body.length; offset += 4_099) {
          let end = offset;
          while (/[A-Za-z0-9+/]/.test(body[end] ?? '')) end++;
          let start = offset;
          while (start > 0 && /[A-Za-z0-9+/]/.test(body[start - 1] ?? '')) start--;
          const expected = end - start >= long.length && end > offset ? end : offset;
          if (runs.endFrom(offset) !== expected) throw new Error(`${offset}: expected ${expected}`);
        }
      }),
      { numRuns: 15 },
    ),
  );
});

test('gaps are exactly the bytes outside spans', (t) => {
  const runs = runsOf([`{"a":"${long}","b":"${long}`, 'B"}']);
  const end = 6 + long.length;
  const second = end + 7;
  t.deepEqual(runs.gaps(second + long.length + 3), [
    [0, 6],
    [end, second],
    [second + long.length + 1, second + long.length + 3],
  ]);
  t.deepEqual(runsOf(['{}']).gaps(2), [[0, 2]]);
});
