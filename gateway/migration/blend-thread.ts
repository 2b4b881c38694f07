import { bufferOf } from '../../mappings/bytes.ts';
import { type BlendCodec, compileBlendCodecs } from '../../mappings/compare/blend-codecs.ts';
import { type BlendInput, type BlendResult, blendReplies } from '../../mappings/compare/blend-replies.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { receiveContract, type SentContract } from '../../mappings/contract/transfer.ts';
import { ownMemoryOf } from '../protocols/reply-message.ts';
import { performTasks } from '../workers/worker-thread.ts';

// The worker thread that blends large replies (G28).

/** Two replies to blend. */
export interface BlendTask {
  readonly contractId: number;
  /** The contract, if the thread does not have it yet. */
  readonly contract: { readonly contract: SentContract; readonly limits: Limits } | undefined;
  readonly operation: string;
  readonly input: BlendInput;
}

const contracts = new Map<number, ReadonlyMap<string, BlendCodec>>();

function codecsOf({ contractId, contract: sent }: BlendTask): ReadonlyMap<string, BlendCodec> {
  const known = contracts.get(contractId);
  if (known !== undefined) return known;
  if (sent === undefined) throw new Error('a contract that the thread did not receive');
  const codecs = compileBlendCodecs(receiveContract(sent.contract), sent.limits);
  contracts.set(contractId, codecs);
  return codecs;
}

function perform(task: BlendTask): BlendResult {
  const codec = codecsOf(task).get(task.operation);
  if (codec === undefined) throw new Error('an operation that is unknown in the worker thread');
  const { legacy } = task.input;
  return blendReplies(codec, { ...task.input, legacy: { ...legacy, body: bufferOf(legacy.body) } });
}

/** Returns the memory of a result to transfer to another thread. */
function memoryOf(result: BlendResult): ArrayBuffer[] {
  if (result.kind !== 'blended') return [];
  const { xml, attached = [] } = result.reply;
  if (xml === undefined || typeof xml === 'string') return ownMemoryOf(attached);
  return ownMemoryOf([...attached, ...(xml instanceof Uint8Array ? [xml] : xml)]);
}

performTasks(import.meta.url, perform, memoryOf);
