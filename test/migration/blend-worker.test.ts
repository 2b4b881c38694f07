import { EventEmitter } from 'node:events';
import test from 'ava';
import { CallError } from '../../gateway/call/error.ts';
import type { RequestContext } from '../../gateway/http/request-context.ts';
import { BlendWorker, maxWaitingBlends } from '../../gateway/migration/blend-worker.ts';
import { compileBlendCodecs } from '../../mappings/compare/blend-codecs.ts';
import { compileContract } from '../../mappings/compile.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { contractFolder } from './scenario.ts';

const { contract } = readContract(contractFolder('contracts/agency'));
const compiled = compileContract(contract, { ...defaultLimits, replyAsideBytes: 1 });
const codec = compileBlendCodecs(contract, compiled.limits).get('GetSubmissionList');

const rule = {
  list: ['SubmissionInfo'],
  readAt: 'SubmissionInfo',
  choices: [],
  takesNull: false,
  key: undefined,
  prefer: 'legacy',
  order: undefined,
  timeZone: undefined,
  counts: [],
} as const;

function contextOf(response: EventEmitter, untilMs = 60_000): RequestContext {
  const admission = { shed: () => new CallError('Overloaded') };
  const deadline = performance.now() + untilMs;
  return { response, deadline, options: { service: { compiled, admission } } } as unknown as RequestContext;
}

const input = {
  rule,
  emptyFaults: new Set<string>(),
  legacy: { status: 500, contentType: 'text/xml', body: Buffer.from('<html/>') },
  fresh: { kind: 'failed' },
  frame: { before: '', after: '' },
} as const;

test('G28: 64 blends wait for the thread, and one more is refused', async (t) => {
  const worker = new BlendWorker((error) => t.fail(String(error)));
  t.teardown(() => worker.close());
  if (codec === undefined) throw new Error('expected a codec');
  const blend = () => worker.blend(contextOf(new EventEmitter()), 'GetSubmissionList', codec, input);
  // one runs
  const accepted = Array.from({ length: maxWaitingBlends + 1 }, blend);
  await t.throwsAsync(blend(), { instanceOf: CallError, message: /waiting/ });
  for (const { kind } of await Promise.all(accepted)) t.is(kind, 'legacyFailed');
});

test('G22: a blend ends when the caller disconnects', async (t) => {
  const worker = new BlendWorker((error) => t.fail(String(error)));
  t.teardown(() => worker.close());
  if (codec === undefined) throw new Error('expected a codec');
  const response = new EventEmitter();
  const blending = worker.blend(contextOf(response), 'GetSubmissionList', codec, input);
  response.emit('close');
  await t.throwsAsync(blending, { message: 'the caller disconnected' });
});

test('G31: after the deadline, a failed side is still told from the other one', async (t) => {
  const worker = new BlendWorker((error) => t.fail(String(error)));
  t.teardown(() => worker.close());
  if (codec === undefined) throw new Error('expected a codec');
  const late = contextOf(new EventEmitter(), -1);
  const { kind } = await worker.blend(late, 'GetSubmissionList', codec, input);
  t.is(kind, 'legacyFailed');
});
