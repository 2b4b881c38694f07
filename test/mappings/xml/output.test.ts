import test from 'ava';
import { MismatchError } from '../../../mappings/codec/problem.ts';
import { longRange, Output, piece } from '../../../mappings/xml/output.ts';

/** What is written, as text. */
function written(write: (output: Output) => void, expected = 0): string {
  const output = new Output();
  output.start(expected);
  output.reserve(1024);
  write(output);
  return output.take().toString();
}

test('whole numbers are written as JavaScript writes them', (t) => {
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

test('thousandths are written as decimals without zeros at their end', (t) => {
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

test('pieces of any length are written one behind the other', (t) => {
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

test('W21: content of a JSON string becomes content of XML, escapes and markup as they must be', (t) => {
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

test('what is written grows past what was expected, and what was written stays', (t) => {
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

test('an output is used again, small ones after large ones too', (t) => {
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

test('what was taken stays as it is when the next is written', (t) => {
  const output = new Output();
  output.start(0);
  output.text('first');
  const first = output.take();
  output.start(0);
  output.text('other');
  t.is(first.toString(), 'first');
});

test('long ranges go out from where they are, between what was written', (t) => {
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
  const output = new Output(100_000, (message) => new MismatchError(message));
  output.start(0);
  t.notThrows(() => output.reserve(90_000));
  t.throws(() => output.reserve(200_000), {
    instanceOf: MismatchError,
    message: 'expected at most 100000 bytes of XML',
  });
});
