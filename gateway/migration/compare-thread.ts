import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
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
  const { compiled } = compared;
  const { limits } = compiled;
  const unpack = (body: Uint8Array<ArrayBuffer>, coding: string | undefined) => {
    const { recordBytes: compareBytes } = limits;
    const found = unpacked({ status: 0, contentType: undefined, coding, body }, { ...limits, compareBytes });
    return found === 'size' ? found : found.body;
  };
  if (compared.redactor === undefined) {
    const { ExchangeRedactor } = await import('./recording/redact-task.ts');
    compared.redactor = new ExchangeRedactor(compiled, unpack);
  }
  return compared.redactor.redact(task);
}

function compareReplies({ compiled, comparer, writer }: Compared, task: RepliesTask): CompareResult {
  const { operation, writtenAs } = task;
  const legacy = unpacked(task.legacy, compiled.limits);
  if (legacy === 'size') return 'size';
  if (writtenAs === undefined) {
    const second = unpacked(task.other, compiled.limits);
    return second === 'size' ? 'size' : comparer.compare(operation, legacy, second);
  }
  const { status, contentType, body } = task.other;
  const headers = contentType === undefined ? {} : { 'content-type': contentType };
  const reply = { status, headers, body: bufferOf(body), retryAfter: undefined };
  return comparer.compare(operation, legacy, writer.write(reply, operation, writtenAs));
}

const mebibyte = 1024 * 1024;

/**
 * Decompresses a reply to at most `compareBytes`, and `compressionRatio` above 1 MiB. Returns `size` for a larger one. A
 * reply that does not match its Content-Encoding stays as it is, and the comparison finds it unreadable.
 */
function unpacked({ coding, ...reply }: ReceivedReply, limits: Limits): ReplyBytes | 'size' {
  const unpack = codings.get(coding?.trim().toLowerCase() ?? '');
  if (unpack === undefined) return reply;
  const { compareBytes, compressionRatio } = limits;
  const maxOutputLength = Math.min(compareBytes, Math.max(mebibyte, reply.body.length * compressionRatio));
  try {
    return { ...reply, body: unpack(reply.body, { maxOutputLength }) };
  } catch (error) {
    return error instanceof RangeError ? 'size' : reply;
  }
}

const codings = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

function dropTask(task: CompareTask): void {
  if ('duplicates' in task || 'redaction' in task) return;
  giveBackOwn(task.legacy.body.buffer);
  giveBackOwn(task.other.body.buffer);
}

performTasks(import.meta.url, perform, () => [], dropTask);
