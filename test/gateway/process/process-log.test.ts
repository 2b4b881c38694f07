import test from 'ava';
import { pino } from 'pino';
import { createProcessLog, type LogLevel, logLevels } from '../../../gateway/process/process-log.ts';
import { LineBuffer } from '../../../gateway/telemetry/line-buffer.ts';

/** Returns the output of a log without times. */
function linesOf(level: LogLevel, write: (log: ReturnType<typeof createProcessLog>) => void): string {
  let written = '';
  const sink = { write: (bytes: Buffer) => (written += bytes.toString('utf8')) };
  write(createProcessLog(level, new LineBuffer(sink, 1)));
  return written.replaceAll(/"time":\d+/g, '"time":0');
}

for (const level of logLevels) {
  test(`the log at level ${level} has the lines that pino writes`, (t) => {
    let expected = '';
    const reference = pino(
      { level, base: null },
      { write: (line) => (expected += line.replace(/"time":\d+/, '"time":0')) },
    );
    for (const name of ['info', 'warn', 'error', 'fatal'] as const) {
      reference[name]({ count: 1, no: undefined, text: 'é "quoted"\n' }, 'message');
      reference[name]({}, 'message only');
    }
    const lines = linesOf(level, (log) => {
      for (const name of ['info', 'warn', 'error', 'fatal'] as const) {
        log[name]({ count: 1, no: undefined, text: 'é "quoted"\n' }, 'message');
        log[name]({}, 'message only');
      }
      t.is(log.lowest, reference.levelVal);
    });
    t.is(lines, expected);
  });
}

test('a log message has its time in milliseconds since 1970', (t) => {
  let written = '';
  const sink = { write: (bytes: Buffer) => (written += bytes.toString('utf8')) };
  const before = Date.now();
  createProcessLog('info', new LineBuffer(sink, 1)).info({}, 'now');
  const { time }: { time: number } = JSON.parse(written);
  t.true(time >= before && time <= Date.now());
});
