import test from 'ava';
import { MismatchError } from '../../../mappings/codec/problem.ts';
import { NoReplyMemory } from '../../../mappings/xml/error.ts';
import { longRange, Output, piece } from '../../../mappings/xml/output.ts';

/** Returns the written text. */
function written(write: (output: Output) => void, expected = 0): string {
  const output = new Output();
  output.start(expected);
  output.reserve(1024);
  write(output);
  return output.take().toString();
}

test('integers are written as JavaScript writes them', (t) => {
  for (const value of [0, 1, 9, 10, 99, 100, 999_999_999, 1e9, 1e9 + 1, 1_234_567_890_123, 5e14, 2 ** 53 - 1])
    t.is(
      written((output) => output.integer(value)),
      `${value}`,
    );
  for (let value = 1; value < 2 ** 52; value = value * 3 + 1)
    t.is(
      written((output) => output.integer(value)),
      `${value}`,
    );
});

test('thousandths are written as decimals without trailing zeros', (t) => {
  const rows = [
    [0, '0'],
    [1, '0.001'],
    [10, '0.01'],
    [100, '0.1'],
    [1_000, '1'],
    [59_999, '59.999'],
    [12_340, '12.34'],
    [12_300, '12.3'],
    [12_030, '12.03'],
    [12_003, '12.003'],
    [86_399_999, '86399.999'],
  ] as const;
  for (const [value, text] of rows)
    t.is(
      written((output) => output.thousandths(value)),
      text,
    );
});

test('W21: 32 digits get the dashes of a GUID', (t) => {
  const bytes = Buffer.from('x6f9619ff8b86d011b42d00cf4fc964ffx');
  t.is(
    written((output) => output.guid(bytes, 1)),
    '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
  );
});

test('a short text is appended', (t) => {
  t.is(
    written((output) => {
      output.ascii('ab');
      output.ascii('');
      output.ascii('cde');
      output.text('f');
    }),
    'abcdef',
  );
});

test('parts of any length are appended in order', (t) => {
  for (let length = 0; length < 40; length++) {
    const text = `${'abcdefgh'.repeat(5).slice(0, length)}\u00e9`;
    const tags = piece(text);
    t.is(tags.length, Buffer.byteLength(text));
    t.is(
      written((output) => {
        output.tags(tags);
        output.tags('-');
        output.tags(tags);
      }),
      `${text}-${text}`,
    );
  }
});

test('ranges of any length are copied', (t) => {
  const source = Buffer.from(new ArrayBuffer(512));
  for (let index = 0; index < source.length; index++) source[index] = 97 + (index % 26);
  const view = new DataView(source.buffer);
  for (const length of [0, 1, 7, 8, 9, 127, 128, 129, 300]) {
    for (const start of [0, 1, 5]) {
      const text = written((output) => {
        output.copy(source, view, start, start + length);
        output.ascii('.');
      });
      t.is(text, `${source.toString('latin1', start, start + length)}.`);
    }
  }
});

test('W21: the content of a JSON string becomes XML text, with escapes and markup handled', (t) => {
  const count = { replaced: 0 };
  const bytes = Buffer.from('a<b>&"\'\\"\\\\\\/\\b\\f\\n\\r\\t\u00e9');
  t.is(
    written((output) => t.true(output.content(bytes, 0, bytes.length, count))),
    'a&lt;b&gt;&amp;"\'"\\/\ufffd\ufffd\n&#13;\t\u00e9',
  );
  t.is(count.replaced, 2);
  for (const other of ['a\\u0041', '\ufffe', '\uff05']) {
    const looked = Buffer.from(other);
    t.is(
      written((output) => t.false(output.content(looked, 0, looked.length, count))),
      '',
    );
  }
  t.is(count.replaced, 2);
});

test('output grows beyond the expected size, and earlier output is unchanged', (t) => {
  const part = 'x'.repeat(40_000);
  t.is(
    written((output) => {
      for (let time = 0; time < 10; time++) output.text(`${part}${time}`);
    }),
    Array.from({ length: 10 }, (_, time) => `${part}${time}`).join(''),
  );
  t.is(
    written((output) => output.text(part.repeat(4)), 200_000),
    part.repeat(4),
  );
});

test('an output is reused, also for a small message after a large one', (t) => {
  const output = new Output();
  for (const size of [10, 200_000, 10, 70_000, 64 * 1024, 64 * 1024 + 1, 5]) {
    output.start(size);
    output.text('y'.repeat(size));
    t.is(output.take().toString(), 'y'.repeat(size));
    output.start(size);
    output.text('z'.repeat(size));
    const taken = output.takeBinary();
    t.is(typeof taken === 'string' ? taken : Buffer.concat([taken as Buffer]).toString(), 'z'.repeat(size));
  }
});

test('earlier output is unchanged when the next is written', (t) => {
  const output = new Output();
  output.start(0);
  output.text('first');
  const first = output.take();
  output.start(0);
  output.text('other');
  t.is(first.toString(), 'first');
});

test('long ranges are sent from their own memory, between written bytes', (t) => {
  const range = Buffer.alloc(longRange, 'r');
  const fill = (output: Output): void => {
    output.start(0);
    output.text('<a>');
    output.insert(range, 0, range.length);
    output.text('</a><b>');
    output.insert(range, 1, 3);
    output.text('</b>');
  };
  const output = new Output();
  fill(output);
  const text = `<a>${range}</a><b>rr</b>`;
  t.is(output.take().toString(), text);
  fill(output);
  const pieces = output.takeBinary();
  t.true(Array.isArray(pieces));
  t.is(Buffer.concat(pieces as readonly Buffer[]).toString(), text);
  output.start(0);
  output.text('c');
  t.is(output.take().toString(), 'c');
});

test('more bytes than are allowed are a mismatch', (t) => {
  const output = new Output(100_000, (expected) => new MismatchError({ expected }));
  output.start(0);
  t.notThrows(() => output.reserve(90_000));
  t.throws(() => output.reserve(200_000), {
    instanceOf: MismatchError,
    message: 'expected at most 100000 bytes of XML',
  });
});

test('output is written up to its capacity, and no further', (t) => {
  const output = new Output();
  const range = Buffer.alloc(300_000, 'r');
  const write = (room: number) => {
    output.start(200_000, room);
    for (let count = 0; count < 100; count++) output.text('a'.repeat(10_000));
    output.insert(range, 0, range.length);
    return output.takeBinary();
  };
  t.is(Buffer.concat(write(1_300_000) as readonly Buffer[]).length, 1_300_000);
  t.throws(() => write(1_299_999), { instanceOf: NoReplyMemory });
  // fails long before everything is written
  t.throws(() => write(100_000), { instanceOf: NoReplyMemory });
  t.true(output.length <= 300_000, `${output.length}`);
});

test('the memory of unfinished output is freed', (t) => {
  const output = new Output();
  output.start(200_000);
  const begun = output.bytes;
  output.text('a');
  output.release();
  t.is(begun.buffer.byteLength, 0);
  output.start(0);
  output.text('b');
  output.release();
  t.is(output.take().toString(), 'b');
});

/** Size of the reused buffer in bytes. */
const kept = 64 * 1024;
/** Free bytes that must remain after the written text. */
const most = 48;

/** Texts to write. Each write reserves its own space. */
const writes: readonly (readonly [text: string, write: (output: Output) => void])[] = [
  ['<a xmlns="urn:a">', (output) => output.tags(piece('<a xmlns="urn:a">'))],
  ['12345678', (output) => output.tags(piece('12345678'))],
  ['long '.repeat(200), (output) => output.tags(piece('long '.repeat(200)))],
  ['漢字', (output) => output.text('漢字')],
  [
    '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
    (output) => output.guid(Buffer.from('6f9619ff8b86d011b42d00cf4fc964ff'), 0),
  ],
  ['&amp;&lt;x', (output) => output.content(Buffer.from('&<x'), 0, 3, { replaced: 0 })],
];

test('output is complete at every end of the reserved memory', (t) => {
  for (const [text, write] of writes)
    for (let place = 0; place <= 2 * most; place++) {
      const left = place <= most ? place : place - most + Buffer.byteLength(text);
      const before = 'b'.repeat(kept - left);
      const output = new Output();
      output.start(0);
      output.text('b'.repeat(20_000));
      // fills up to this position without growing, since one character each is reserved
      for (let at = 20_000; at < before.length; at++) output.bytes[at] = 98;
      output.length = before.length;
      write(output);
      write(output);
      t.is(output.take().toString(), `${before}${text}${text}`, `${text} ${left}`);
    }
});

test('output larger than its number of characters is complete too', (t) => {
  for (const size of [13_000, 13_107, 13_200, 30_000]) {
    const ampersands = Buffer.alloc(size, '&');
    t.is(
      written((output) => output.content(ampersands, 0, size, { replaced: 0 })),
      '&amp;'.repeat(size),
    );
    t.is(
      written((output) => output.text('漢'.repeat(size))),
      '漢'.repeat(size),
    );
    const source = Buffer.from(new ArrayBuffer(size + 8)).fill('x', 0, size);
    t.is(
      written((output) => {
        output.reserve(size);
        output.copy(source, new DataView(source.buffer), 0, size);
      }),
      'x'.repeat(size),
    );
  }
});

test('memory grows to the requested size, and the outgrown part is freed', (t) => {
  const output = new Output();
  output.start(0);
  output.text('a');
  const first = output.bytes;
  output.reserve(200_000);
  t.true(output.bytes.length >= 200_001);
  const second = output.bytes;
  output.length = 200_000;
  output.reserve(500_000);
  t.true(output.bytes.length >= 700_000);
  t.is(first.buffer.byteLength, kept);
  t.is(second.buffer.byteLength, 0);
});

test('a small output is returned as text, a large one as bytes owned by the caller', (t) => {
  const output = new Output();
  for (const [expected, isText] of [
    [0, true],
    [kept, true],
    [kept + 1, false],
    [1, true],
  ] as const) {
    output.start(expected);
    const { buffer } = output.bytes;
    t.is(buffer.byteLength, Math.max(expected, kept));
    output.text('é');
    const taken = output.takeBinary();
    t.is(typeof taken, isText ? 'string' : 'object');
    t.is(output.bytes.buffer === buffer, isText);
    t.is(isText ? taken : Buffer.concat([taken as Buffer]).toString('latin1'), 'Ã©');
  }
  output.start(kept + 1);
  output.text('x');
  const large = output.take();
  t.not(output.bytes.buffer, large.buffer);
});

test('a range is long from 64 KiB on', (t) => {
  t.is(longRange, 64 * 1024);
});

test('W66: base64 sent apart from the output is numbered, and a reference replaces each', (t) => {
  const output = new Output();
  output.start(0);
  t.deepEqual(output.attached, []);
  const parts = ['AAAA', 'BBBB'].map((letters) => Buffer.from(letters));
  for (const part of parts) output.attach(part);
  const references = [1, 2].map(
    (number) =>
      `<xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="cid:${number}@soapbridge"/>`,
  );
  const { attached } = output;
  t.deepEqual(attached, parts);
  t.deepEqual(`${Buffer.concat(output.takeBinary() as readonly Buffer[])}`, references.join(''));
  output.start(0);
  t.deepEqual(output.attached, []);
  t.is(attached.length, 2);
  t.is(output.takeBinary(), '');

  output.start(0);
  output.attach(parts[0] as Buffer);
  output.start(0);
  t.deepEqual(output.attached, []);
  // attached parts and inserted ranges are separate pieces too
  output.attach(parts[0] as Buffer);
  output.insert(Buffer.from('range'), 0, 5);
  output.text('.');
  const pieces = output.takeBinary();
  t.true(Array.isArray(pieces));
  t.is(`${Buffer.concat(pieces as readonly Buffer[])}`, `${references[0]}range.`);
});

test('one range is its own part', (t) => {
  const output = new Output();
  output.start(0);
  output.text('a');
  const range = Buffer.from('xyz');
  output.insert(range, 1, 2);
  const pieces = output.takeBinary() as readonly Buffer[];
  t.deepEqual(pieces.map(String), ['a', 'y', '']);
  t.is((pieces[1] as Buffer).buffer, range.buffer);
  output.start(0);
  output.insert(range, 0, 1);
  output.text('b');
  t.is(`${output.take()}`, 'xb');
});

test('the allowed number of bytes is written, one more is refused', (t) => {
  const output = new Output(100_000);
  output.start(0);
  output.text('a'.repeat(10_000));
  t.notThrows(() => output.reserve(90_000));
  const other = new Output(100_000);
  other.start(0);
  other.text('a'.repeat(10_000));
  t.throws(() => other.reserve(90_001), {
    instanceOf: RangeError,
    message: 'expected at most 100000 bytes of XML',
  });
  t.notThrows(() => {
    const unlimited = new Output();
    unlimited.start(0);
    unlimited.reserve(10_000_000);
  });
});

test('W21: a character and an escape of XML text are converted each on its own', (t) => {
  for (let code = 32; code < 128; code++) {
    const plain = String.fromCharCode(code);
    if (plain === '"' || plain === '\\') continue;
    const expected = ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' } as Record<string, string>)[plain] ?? plain;
    const bytes = Buffer.from(`x${plain}y`);
    t.is(
      written((output) => output.content(bytes, 1, 2, { replaced: 0 })),
      expected,
    );
  }
  for (const [text, expected, replaced] of [
    ['\\"', '"', 0],
    ['\\\\', '\\', 0],
    ['\\/', '/', 0],
    ['\\b', '\ufffd', 1],
    ['\\f', '\ufffd', 1],
    ['\\n', '\n', 0],
    ['\\r', '&#13;', 0],
    ['\\t', '\t', 0],
  ] as const) {
    const count = { replaced: 0 };
    const bytes = Buffer.from(text);
    t.is(
      written((output) => output.content(bytes, 0, bytes.length, count)),
      expected,
    );
    t.is(count.replaced, replaced);
  }
});

test('unfinished output leaves nothing for the next one', (t) => {
  const output = new Output();
  output.start(0);
  output.text('a'.repeat(kept));
  output.insert(Buffer.from('range'), 0, 5);
  output.attach(Buffer.from('AAAA'));
  output.start(0);
  output.text('b');
  t.is(output.takeBinary(), 'b');
});
