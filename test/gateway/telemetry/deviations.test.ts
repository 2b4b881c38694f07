import test from 'ava';
import { LineBuffer } from '../../../gateway/telemetry/line-buffer.ts';
import { compileRequestLine } from '../../../gateway/telemetry/log.ts';
import { writeSnapshot } from '../../../gateway/telemetry/metrics.ts';
import { createMetrics } from '../../../gateway/telemetry/request-metrics.ts';
import { type Noted, startStats } from '../../../gateway/telemetry/request-stats.ts';

const noted: Noted = {
  ignored: [],
  quirks: 0,
  deviations: ['decimalExponent', 'unknownAttribute'],
  dropped: 0,
  missing: 0,
  replaced: 0,
  passed: 0,
};
const gauges = {
  inFlight: 0,
  queued: 0,
  arriving: 0,
  leaving: 0,
  heldBytes: 0,
  shed: 0,
  connections: 0,
  loopDelayMs: 0,
  droppedLines: 0,
  upstreamStates: new Map(),
};

test('the log line of a call lists its tolerated deviations', (t) => {
  const written: string[] = [];
  const line = new LineBuffer({ write: (lines) => written.push(lines.toString()) }, 1);
  compileRequestLine('/v2')({ ...startStats('request-1', 'POST'), operation: 'Add', noted }, line);
  t.deepEqual(JSON.parse(written.join('')).noted.deviations, ['decimalExponent', 'unknownAttribute']);
});

test('tolerated deviations are counted by operation and deviation', (t) => {
  const metrics = createMetrics();
  const count = metrics.counterOf('/v2');
  const record = { ...startStats('request-1', 'POST'), operation: 'Add', noted };
  count(record);
  count({ ...record, noted: { ...noted, deviations: ['decimalExponent'] } });
  count({ ...record, noted: undefined });
  const page = writeSnapshot(metrics.read(gauges));
  t.true(page.includes('{contract="/v2",operation="Add",deviation="decimalExponent"} 2\n'));
  t.true(page.includes('{contract="/v2",operation="Add",deviation="unknownAttribute"} 1\n'));
});
