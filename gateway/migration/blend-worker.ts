import { extname } from 'node:path';
import { bufferOf } from '../../mappings/bytes.ts';
import type { BlendCodec } from '../../mappings/compare/blend-codecs.ts';
import { type BlendInput, type BlendResult, blendReplies } from '../../mappings/compare/blend-replies.ts';
import type { CompiledContract, WrittenReply } from '../../mappings/compile.ts';
import { sendContract } from '../../mappings/contract/transfer.ts';
import { CallError } from '../call/error.ts';
import type { RequestContext } from '../http/request-context.ts';
import { ownMemory } from '../protocols/read-task.ts';
import { maxLoopReplyBytes } from '../upstream/upstream.ts';
import { failOnClose, isFirstSent, WorkerThread } from '../workers/worker-thread.ts';
import type { BlendTask } from './blend-thread.ts';

/** Maximum number of blends that wait for the thread. */
export const maxWaitingBlends = 64;

/** Maximum time for one blend in the thread, in ms. */
const withinMs = 20_000;

/** Maximum size of the thread's old generation, in bytes. V8's default for the young generation is 96 MiB. */
const heapBytes = 256 * 1024 * 1024;

/** The module that the thread runs. It is not imported here, because most processes never start the thread. */
const module = new URL(`./blend-thread${extname(import.meta.url)}`, import.meta.url);

/** Blends replies: small ones at once, large ones in a worker thread of the process. */
export class BlendWorker {
  readonly #worker: WorkerThread<BlendTask, BlendResult>;
  readonly #ids = new WeakMap<CompiledContract, number>();
  #contracts = 0;

  /** @param onLost called with the reason when the thread has ended unexpectedly */
  constructor(onLost: (error: unknown) => void) {
    this.#worker = new WorkerThread({
      module,
      title: 'the blend thread',
      mostWaiting: maxWaitingBlends,
      heapBytes,
      onLost,
    });
  }

  /** Blends two replies. Throws CallError Overloaded, CallerGone; JsonError. */
  async blend(
    context: RequestContext,
    operation: string,
    codec: BlendCodec,
    input: BlendInput,
  ): Promise<BlendResult> {
    const { compiled } = context.options.service;
    const { replyAsideBytes = maxLoopReplyBytes } = compiled.limits;
    const bytes = input.legacy.body.length + (input.fresh.kind === 'list' ? input.fresh.json.length : 0);
    if (bytes <= replyAsideBytes) return blendReplies(codec, input);
    const result = await this.#run(context, operation, compiled, input, bytes);
    return result.kind === 'blended' ? { ...result, reply: restored(result.reply) } : result;
  }

  async #run(
    { response, deadline, options }: RequestContext,
    operation: string,
    compiled: CompiledContract,
    input: BlendInput,
    bytes: number,
  ): Promise<BlendResult> {
    const id = this.#ids.get(compiled) ?? this.#contracts++;
    this.#ids.set(compiled, id);
    // copies: the caller gets the reply of one service if the blend fails
    const legacyBody = ownMemory(Buffer.from(input.legacy.body));
    const fresh =
      input.fresh.kind === 'list'
        ? ({ ...input.fresh, json: ownMemory(Buffer.from(input.fresh.json)) } as const)
        : input.fresh;
    const sent: BlendInput = { ...input, legacy: { ...input.legacy, body: legacyBody }, fresh };
    const result = await this.#worker.run({
      taskOf: (known) => {
        const { contract, limits } = compiled;
        const first = isFirstSent(known, id) ? { contract: sendContract(contract), limits } : undefined;
        return { contractId: id, contract: first, operation, input: sent };
      },
      bytes,
      memory: fresh.kind === 'list' ? [legacyBody.buffer, fresh.json.buffer] : [legacyBody.buffer],
      withinMs,
      // the new service has failed, often at the deadline: the caller gets the reply of legacy or this failure
      deadline: fresh.kind === 'failed' ? performance.now() + withinMs : deadline,
      refuse: () => options.service.admission.shed(),
      watch: failOnClose(response, () => new CallError('CallerGone')),
    });
    if (result === undefined) throw new TypeError('the blend thread skipped a task');
    return result;
  }

  close(): Promise<void> {
    return this.#worker.close();
  }
}

/** Restores the Buffers of a reply from another thread. */
function restored({ xml, attached, ...reply }: WrittenReply): WrittenReply {
  const written = xml === undefined || typeof xml === 'string' ? xml : restoredXml(xml);
  return { ...reply, xml: written, attached: attached?.map(bufferOf) };
}

function restoredXml(xml: Buffer | readonly Buffer[]): Buffer | readonly Buffer[] {
  return xml instanceof Uint8Array ? bufferOf(xml) : xml.map(bufferOf);
}
