import { screeningContract } from '../../mappings/loader/load.ts';
import { readRecordings, recordedStacks, writeRecordings } from '../recordings/recordings.ts';
import { sendRaw } from '../send-raw.ts';
import { type Check, nameOf } from './checks.ts';
import { serveContract } from './gateway.ts';
import type { StackRun } from './interop.ts';
import { startUpstream } from './upstream.ts';

/** Situations that change a request's form. The others are the same calls with other values. */
const recorded = [
  'call',
  'emoji',
  'null-empty',
  'null-sent',
  'absent-sent',
  'empty-array',
  'date-no-zone',
  'date-zone',
];

/** Replaces a stack's recordings that have the checks and versions of a run, and keeps its other recordings. */
export async function writeRequests({ stack, requests }: StackRun): Promise<void> {
  const known = recordedStacks.includes(stack.name) ? readRecordings(stack.name) : [];
  const recordings = new Map(known.map((recording) => [recording.name, recording]));
  const upstream = await startUpstream();
  const gateway = await serveContract(screeningContract, upstream.url);
  for (const [version, sent] of requests) {
    for (const bytes of sent.filter((request) => request.toString('latin1', 0, 5) === 'POST ')) {
      const before = upstream.calls.length;
      await sendRaw(gateway.url, bytes);
      const check: Check | undefined = upstream.calls[before];
      const body = upstream.bodies[before];
      if (check === undefined || body === undefined || !recorded.includes(check.situation)) continue;
      const name = `${nameOf(check)}-${version}`;
      const reply = version === '1.1' ? 'soap11' : 'soap12';
      recordings.set(name, { name, expected: { reply, operation: check.operation, body }, bytes });
    }
  }
  await gateway.stop();
  upstream.close();
  writeRecordings(stack.name, [...recordings.values()]);
}
