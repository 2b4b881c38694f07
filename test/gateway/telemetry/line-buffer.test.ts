import test from 'ava';
import { LineBuffer } from '../../../gateway/telemetry/line-buffer.ts';

/** A sink that copies the lines at once. */
function kept(): { write(lines: Buffer): void; chunks(): string[] } {
  const given: string[] = [];
  return { write: (lines) => given.push(lines.toString()), chunks: () => given };
}

test('lines are written in order, many at a time, none twice, none lost', (t) => {
  const sink = kept();
  const buffer = new LineBuffer(sink);
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${'é漢😀x'.repeat(index % 40)}\n`);
  for (const line of lines) buffer.write(line);
  buffer.flush();
  t.is(sink.chunks().join(''), lines.join(''));
  t.true(sink.chunks().length < 100);
});

test('a line longer than the buffer is written whole and in order', (t) => {
  const sink = kept();
  const buffer = new LineBuffer(sink);
  const long = `${'漢'.repeat(50_000)}\n`;
  buffer.write('first\n');
  buffer.write(long);
  buffer.write('last\n');
  buffer.flush();
  t.true(sink.chunks().join('') === `first\n${long}last\n`);
});

test('a record becomes a line of JSON without undefined members', (t) => {
  const sink = kept();
  const buffer = new LineBuffer(sink);
  buffer.addJson({ level: 30, caller: undefined, operation: 'Größe"漢' });
  buffer.write('{"level":40}\n');
  buffer.addJson({ ms: 1.005, aborted: true });
  buffer.flush();
  t.deepEqual(sink.chunks(), [
    '{"level":30,"operation":"Größe\\"漢"}\n{"level":40}\n{"ms":1.005,"aborted":true}\n',
  ]);
});

test('with a buffer of one byte, each line is written at once', (t) => {
  const sink = kept();
  const buffer = new LineBuffer(sink, 1);
  buffer.addJson({ level: 30 });
  t.deepEqual(sink.chunks(), ['{"level":30}\n']);
  buffer.write('next\n');
  t.deepEqual(sink.chunks(), ['{"level":30}\n', 'next\n']);
});

test('a line that cannot be written is reported to its writer, and not written again', (t) => {
  const sink = kept();
  let full = true;
  const buffer = new LineBuffer(
    {
      write: (lines) => {
        if (full) throw new Error('full');
        sink.write(lines);
      },
    },
    1,
  );
  t.throws(() => buffer.addJson({ first: 1 }), { message: 'full' });
  full = false;
  buffer.addJson({ next: 2 });
  t.deepEqual(sink.chunks(), ['{"next":2}\n']);
});

test('failed lines may be kept, and are not overwritten', (t) => {
  const keeps: Buffer[] = [];
  const buffer = new LineBuffer(
    {
      write: (lines) => {
        keeps.push(lines);
        throw new Error('full');
      },
    },
    1,
  );
  t.throws(() => buffer.addJson({ first: 1 }), { message: 'full' });
  t.throws(() => buffer.addJson({ next: 2 }), { message: 'full' });
  t.deepEqual(keeps.map(String), ['{"first":1}\n', '{"next":2}\n']);
});

test('the last lines are written soon', async (t) => {
  const line = await new Promise<string>((resolve) => {
    const keep = setInterval(() => {}, 1_000);
    new LineBuffer({
      write: (lines) => {
        clearInterval(keep);
        resolve(lines.toString());
      },
    }).write('alone\n');
  });
  t.is(line, 'alone\n');
});
