import { bufferOf } from '../../mappings/bytes.ts';
import { type Comparer, compileComparison } from '../../mappings/compare/compare.ts';
import type { ReplyBytes } from '../../mappings/compare/comparison.ts';
import { type CompareDuplicates, compileDuplicates } from '../../mappings/compare/items.ts';
import { compileRules } from '../../mappings/compare/rules.ts';
import type { CompiledContract } from '../../mappings/compile.ts';
import { compileSteps } from '../../mappings/compile-steps.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { receiveContract } from '../../mappings/contract/transfer.ts';
import { doAll } from '../../mappings/steps.ts';
import { giveBackOwn } from '../upstream/collector.ts';
import { performTasks } from '../workers/worker-thread.ts';
import type { CompareResult, CompareTask, ReceivedReply, RepliesTask, ThreadResult } from './compare-task.ts';
import { NewReplyWriter } from './new-reply.ts';
import type { RecordTask } from './recording/record-task.ts';
import type { ExchangeRedactor } from './recording/redact-task.ts';
import type { ComparedContract } from './task-head.ts';
import { unpack } from './unpack.ts';

// The worker thread that compares replies (G33).

/** A contract compiled in the thread. */
interface Compared {
  readonly compiled: CompiledContract;
  readonly comparer: Comparer;
  readonly compareDuplicates: CompareDuplicates;
  readonly writer: NewReplyWriter;
  /** Undefined until the first recording. */
  redactor: ExchangeRedactor | undefined;
}

const contracts = new Map<number, Compared>();

async function comparedOf({ contractId, contract: sent }: CompareTask): Promise<Compared> {
  const known = contracts.get(contractId);
  if (known !== undefined) return known;
  if (sent === undefined) throw new Error('a contract that the comparison thread did not receive');
  const compared = await compile(sent);
  contracts.set(contractId, compared);
  return compared;
}

async function compile({ contract: sent, limits, stated }: ComparedContract): Promise<Compared> {
  const compiled = doAll(await compileSteps(receiveContract(sent), limits));
  const { contract } = compiled;
  const { rules = [], strict = false } = stated.compare ?? {};
  // the rules were checked at start, so nothing is reported
  const settings = { rules: compileRules(rules, '', { contract }, () => {}), strict };
  const comparer = compileComparison(contract, settings, limits);
  const writer = new NewReplyWriter(compiled, stated.replies ?? {});
  return {
    compiled,
    comparer,
    compareDuplicates: compileDuplicates(contract, settings, limits),
    writer,
    redactor: undefined,
  };
}

async function perform(task: CompareTask): Promise<ThreadResult> {
  const compared = await comparedOf(task);
  if ('redaction' in task) return redact(compared, task);
  if (!('duplicates' in task)) return compareReplies(compared, task);
  return compared.compareDuplicates(task.operation, task.list, task.duplicates, Date.now());
}

async function redact(compared: Compared, task: RecordTask): Promise<ThreadResult> {
  if (compared.redactor === undefined) {
    const { ExchangeRedactor } = await import('./recording/redact-task.ts');
    compared.redactor = new ExchangeRedactor(compared.compiled);
  }
  return compared.redactor.redact(task);
}

async function compareReplies(
  { compiled, comparer, writer }: Compared,
  { operation, writtenAs, legacy, other }: RepliesTask,
): Promise<CompareResult> {
  const first = await unpacked(legacy, compiled.limits);
  if (first === 'size') return 'size';
  if (writtenAs === undefined) {
    const second = await unpacked(other, compiled.limits);
    return second === 'size' ? 'size' : comparer.compare(operation, first, second);
  }
  const { status, contentType, body } = other;
  const headers = contentType === undefined ? {} : { 'content-type': contentType };
  const reply = { status, headers, body: bufferOf(body), retryAfter: undefined };
  return comparer.compare(operation, first, writer.write(reply, operation, writtenAs));
}

/**
 * Returns a reply without its content coding, or `size` for one above `compareBytes`. A reply that does not match its
 * Content-Encoding stays as it is, and the comparison finds it unreadable.
 */
async function unpacked({ coding, ...reply }: ReceivedReply, limits: Limits): Promise<ReplyBytes | 'size'> {
  const body = await unpack(reply.body, coding, limits.compareBytes, limits);
  return body === 'size' ? body : { ...reply, body: body === 'unreadable' ? reply.body : body };
}

function dropTask(task: CompareTask): void {
  if ('duplicates' in task || 'redaction' in task) return;
  giveBackOwn(task.legacy.body.buffer);
  giveBackOwn(task.other.body.buffer);
}

performTasks(import.meta.url, perform, () => [], dropTask);
