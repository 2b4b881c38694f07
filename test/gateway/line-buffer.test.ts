import test from 'ava';
import { LineBuffer } from '../../gateway/line-buffer.ts';

/** A sink that keeps what it was given. */
function kept(): { readonly chunks: string[]; write(lines: string): void } {
  const chunks: string[] = [];
  return { chunks, write: (lines) => chunks.push(lines) };
}

test('lines are handed on in order, many at a time, none twice, none lost', (t) => {
  const sink = kept();
  const buffer = new LineBuffer(sink);
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${'é漢😀x'.repeat(index % 40)}\n`);
  for (const line of lines) buffer.write(line);
  buffer.flush();
  t.is(sink.chunks.join(''), lines.join(''));
  t.true(sink.chunks.length < 200);
});

test('a line longer than the buffer goes out whole, after those before it', (t) => {
  const sink = kept();
  const buffer = new LineBuffer(sink);
  const long = `${'漢'.repeat(50_000)}\n`;
  buffer.write('first\n');
  buffer.write(long);
  buffer.write('last\n');
  buffer.flush();
  t.deepEqual(sink.chunks, ['first\n', long, 'last\n']);
});

test('lines that nothing follows are handed on soon', async (t) => {
  const line = await new Promise<string>((resolve) => {
    const keep = setInterval(() => {}, 1_000);
    new LineBuffer({
      write: (lines) => {
        clearInterval(keep);
        resolve(lines);
      },
    }).write('alone\n');
  });
  t.is(line, 'alone\n');
});
