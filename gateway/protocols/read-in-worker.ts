import { extname } from 'node:path';
import { bufferOf } from '../../mappings/bytes.ts';
import type { CompiledContract, CompiledOperation, RouteValue } from '../../mappings/compile.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Reason } from '../../mappings/contract/reason.ts';
import { sendContract } from '../../mappings/contract/transfer.ts';
import type { SplitMessage } from '../../mappings/http-mapping/related.ts';
import type { MappingText } from '../../mappings/mapping/load.ts';
import { overloaded } from '../admission/admission.ts';
import type { Exchange, Prepared, ReplyReader } from '../call/call-service.ts';
import type { CallerProofs } from '../call/credentials.ts';
import { CallError } from '../call/error.ts';
import type { RequestHead } from '../call/head.ts';
import type { RequestStats } from '../telemetry/request-stats.ts';
import { giveBackOwn } from '../upstream/collector.ts';
import type { AnswerBytes, MapInWorker } from '../upstream/mapped-upstream.ts';
import { failOnClose, isFirstSent, type Refusal, WorkerThread } from '../workers/worker-thread.ts';
import type { BodyForm } from './read-call.ts';
import {
  dropResult,
  type MappingMessage,
  type Message,
  ownMemory,
  type QueryFindings,
  type ReadCall,
  type Result,
  type SentAnswer,
  type SharedContract,
  type Task,
} from './read-task.ts';
import { outcomeOf, ownMemoryOf } from './reply-message.ts';
import { Fault } from './soap/faults.ts';
import type { SoapCall } from './soap/soap-reader.ts';
import { type SoapAddress, versionNamed } from './soap/versions.ts';

/** The parts of a request that reading in the worker thread needs. */
export interface WorkerExchange extends WaitingClient {
  readonly head: RequestHead;
  readonly stats: Pick<RequestStats, 'operation'>;
}

/** The client that waits for a result of the thread, and its deadline. */
type WaitingClient = Pick<Exchange, 'response' | 'deadline'>;

/**
 * Reads requests and large replies of one contract in a worker thread, one at a time, and maps messages there. Throws
 * the errors of the reader; CallError CallerGone if the client disconnects; CallError Overloaded after a timeout.
 */
export interface ReadInWorker extends ReplyReader {
  /**
   * Reads a SOAP request. The memory of the body is transferred to the thread, unless it may be read again (X24).
   * `onStart` is called before the thread gets the request.
   */
  readonly soap: (
    exchange: WorkerExchange,
    address: SoapAddress,
    body: Buffer,
    split: SplitMessage | undefined,
    hasReservedKeys?: boolean,
    onStart?: () => void,
  ) => Promise<PreparedSoapCall>;
  /** Reads a body that is not SOAP. Its memory is transferred too. */
  readonly body: (
    exchange: WorkerExchange,
    operation: CompiledOperation,
    body: Buffer,
    form: BodyForm | undefined,
    query: QueryFindings,
  ) => Promise<{ readonly input: Prepared; readonly form: BodyForm }>;
  readonly parameters: (
    exchange: WorkerExchange,
    operation: CompiledOperation,
    values: readonly RouteValue[],
    query: QueryFindings,
  ) => Promise<Prepared>;
  readonly map: MapInWorker;
}

/** A SOAP request that was read in the worker thread. `given` of its input includes the credentials of its header. */
export interface PreparedSoapCall extends Omit<SoapCall, 'input'> {
  readonly input: Prepared;
  readonly values: undefined;
}

/** A task for the worker thread. */
interface Order {
  readonly contract: SharedContract;
  readonly exchange: WaitingClient;
  readonly message: Task['message'];
  readonly bytes: number;
  /** Memory that is transferred to the thread. */
  readonly memory: ArrayBuffer[];
  /** True if the task may wait even if the queue is full. */
  readonly isBound: boolean;
  /** Called before the thread gets the task. */
  readonly onStart?: (() => void) | undefined;
  /** Returns how many more bytes the result may use; undefined if there is no memory to begin. */
  readonly freeBytes: () => number | undefined;
  /** Returns the error if the task waits or runs too long. */
  readonly refuse: (reason?: Reason) => CallError;
  /** Returns the error if the heap of the thread is full; undefined for the error of the thread. */
  readonly exhaust?: ((reason: Reason) => CallError) | undefined;
}

const unlimited = (): number => Number.POSITIVE_INFINITY;

/** Maximum number of requests, and of replies to reads, that wait for the worker thread. */
export const maxWaiting = 64;

/** Maximum time for reading one request or reply in the worker thread, in ms. */
export const maxReadMs = 20_000;

/**
 * Maximum heap size of the worker thread in bytes, without the bodies. The thread for functions of mappings has the
 * same limit. V8 rounds it up to MiB.
 */
export const maxHeapBytes = 256 * 1024 * 1024;

/** The module that the thread runs. It is not imported here, because most processes never start the thread. */
const threadModule = new URL(`./read-thread${extname(import.meta.url)}`, import.meta.url);

/** The worker thread that reads and maps large messages of all contracts. */
export class WorkerReader {
  readonly #limits: Limits;
  readonly #worker: WorkerThread<Task, Result>;
  #contracts = 0;

  /**
   * @param onLost called with the reason when a thread has ended unexpectedly
   * @param isUrgent true if small messages need the thread: it has the priority of the event loop and is kept while
   * idle
   */
  constructor(limits: Limits, onLost: (error: unknown) => void, isUrgent = false) {
    this.#limits = limits;
    this.#worker = new WorkerThread({
      module: threadModule,
      title: 'the worker thread',
      mostWaiting: limits.readAsideQueue ?? maxWaiting,
      heapBytes: limits.readAsideHeapBytes ?? maxHeapBytes,
      isUrgent,
      onLost,
      drop: dropResult,
    });
  }

  /** @param isShown true if messages are logged */
  readerOf(
    compiled: CompiledContract,
    isShown: boolean,
    proofs: CallerProofs,
    mapping?: MappingText,
  ): ReadInWorker {
    const { contract, limits } = compiled;
    const shared: SharedContract = { id: this.#contracts++, contract, limits, isShown, proofs, mapping };
    return createReadInWorker(compiled, shared, (order) => this.#read(order));
  }

  /** Uses a new thread for the next request, because the contracts were reloaded. */
  renew(): void {
    this.#worker.renew();
  }

  close(): Promise<void> {
    return this.#worker.close();
  }

  #read(order: Order): Promise<Result | undefined> {
    const { bytes, memory, isBound, contract, message } = order;
    const { response, deadline } = order.exchange;
    if (response.destroyed) return Promise.reject(new CallError('CallerGone'));
    return this.#worker.run({
      taskOf: (known) => {
        const maxBytes = order.freeBytes();
        if (maxBytes === undefined) return undefined;
        order.onStart?.();
        const sent = isFirstSent(known, contract.id)
          ? { ...contract, contract: sendContract(contract.contract) }
          : undefined;
        return { contractId: contract.id, contract: sent, message, maxBytes };
      },
      bytes,
      memory,
      isBound,
      deadline,
      withinMs: this.#limits.readAsideMs ?? maxReadMs,
      refuse: (why) => this.#refusalOf(order, why),
      watch: failOnClose(response, () => new CallError('CallerGone')),
    });
  }

  #refusalOf({ message: { kind }, refuse, exhaust }: Order, why: Refusal): CallError | undefined {
    const { readAsideMs = maxReadMs, readAsideHeapBytes = maxHeapBytes } = this.#limits;
    switch (why) {
      case 'full':
        return overloaded();
      case 'late':
        return refuse();
      case 'slow': {
        const what = kind === 'reply' || kind === 'toReply' || kind === 'toFault' ? 'reply' : 'request';
        return refuse({
          expected: `a ${what} that is read within ${readAsideMs} ms`,
          got: 'a longer time',
        });
      }
      case 'memory': {
        const most = `${readAsideHeapBytes} bytes of memory`;
        return exhaust?.({ expected: `a mapping that needs at most ${most}`, got: 'more memory' });
      }
    }
  }
}

/** Converts a result to the error that it describes. */
function errorOf(result: Result): Error {
  switch (result.kind) {
    case 'refused':
      return new CallError(result.refusal.code, result.refusal.details);
    case 'fault': {
      const { version, code, kind, reason, block, header, lock } = result.fault;
      return new Fault(versionNamed(version), code, reason, { kind, block, header, lock });
    }
    case 'failed':
      return result.error instanceof Error ? result.error : new Error('the worker thread failed');
    default:
      return new Error('the worker thread returned another result');
  }
}

function createReadInWorker(
  { operations }: CompiledContract,
  contract: SharedContract,
  run: RunOrder,
): ReadInWorker {
  const resultOf = createResultOf(contract, run);
  const read = async (
    exchange: WorkerExchange,
    message: Message,
    onStart?: () => void,
  ): Promise<ReadCall> => {
    const body = 'body' in message ? message.body : undefined;
    const memory = body === undefined ? [] : [body.buffer];
    const found = await resultOf(exchange, message, body?.length ?? 0, memory, { onStart });
    if (found.kind !== 'read') throw errorOf(found);
    return found.call;
  };
  const operationOf = ({ operation: name }: ReadCall): CompiledOperation => {
    const operation = operations.get(name);
    if (operation === undefined) throw new Error('an unknown operation was read');
    return operation;
  };
  return {
    soap: async (exchange, { version, endpoint }, body, split, hasReservedKeys = false, onStart) => {
      const isKept = !hasReservedKeys && contract.contract.wsse?.decrypt?.cbc === true;
      const message = {
        kind: 'soap',
        head: exchange.head,
        version: version.name,
        endpoint,
        body: isKept ? new Uint8Array(body) : ownMemory(body),
        split,
        hasReservedKeys,
      } as const;
      const call = await read(exchange, message, onStart);
      const operation = operationOf(call);
      exchange.stats.operation = call.operation;
      return {
        version: versionNamed(call.version ?? version.name),
        operation,
        input: preparedOf(call, operation),
        header: call.header,
        isMtom: call.isMtom,
        values: undefined,
      };
    },
    body: async (exchange, operation, body, form, query) => {
      const { name } = operation.operation;
      const { head } = exchange;
      const message = { kind: 'body', head, operation: name, body: ownMemory(body), form, query } as const;
      const call = await read(exchange, message);
      return { input: preparedOf(call, operation), form: call.form ?? 'json' };
    },
    parameters: async (exchange, operation, values, query) => {
      const { name } = operation.operation;
      const call = await read(exchange, {
        kind: 'parameters',
        head: exchange.head,
        operation: name,
        values,
        query,
      });
      return preparedOf(call, operation);
    },
    reply: replyReader(contract, run),
    map: createMapInWorker(resultOf),
  };
}

type RunOrder = (order: Order) => Promise<Result | undefined>;

/** Returns the result of a message, and releases the memory that was sent with it. Throws CallError Overloaded. */
type ResultOf = (
  exchange: WaitingClient,
  message: Message | MappingMessage,
  bytes: number,
  memory: ArrayBuffer[],
  options?: Partial<Pick<Order, 'isBound' | 'refuse' | 'exhaust' | 'onStart'>>,
) => Promise<Result>;

function createResultOf(contract: SharedContract, run: RunOrder): ResultOf {
  return async (
    exchange,
    message,
    bytes,
    memory,
    { isBound = false, refuse = (reason?: Reason) => refusal('Overloaded', reason), ...options } = {},
  ) => {
    const order = {
      contract,
      exchange,
      message,
      bytes,
      memory,
      isBound,
      freeBytes: unlimited,
      refuse,
      ...options,
    };
    // has no effect on memory that was transferred to the thread
    const found = await run(order).finally(() => memory.forEach(giveBackOwn));
    if (found === undefined) throw overloaded();
    return found;
  };
}

function replyReader(contract: SharedContract, run: RunOrder): ReadInWorker['reply'] {
  return async (exchange, { operation }, { body, status, headers, retryAfter }, terms) => {
    const { frame, values, ownSecrets, freeBytes } = terms;
    const result = await run({
      contract,
      exchange,
      message: {
        kind: 'reply',
        operation: operation.name,
        reply: { status, headers, retryAfter, body },
        frame,
        values,
        ownSecrets,
      },
      bytes: body.length,
      memory: ownMemoryOf([body]),
      isBound: !operation.readOnly,
      freeBytes,
      refuse: (reason) => refusal(operation.readOnly ? 'Overloaded' : 'UpstreamTimeout', reason),
    });
    if (result === undefined || result.kind === 'no room') return undefined;
    if (result.kind !== 'replied') throw errorOf(result);
    return { outcome: outcomeOf(result.reply), shown: result.reply.shown };
  };
}

function createMapInWorker(resultOf: ResultOf): ReadInWorker['map'] {
  return {
    toCalls: async (exchange, { name }, json, isBound) => {
      const message = { kind: 'toCalls', operation: name, json } as const;
      const exhaust = (reason: Reason): CallError => {
        const problem = { code: 'InvalidType', path: '', ...reason } as const;
        return new CallError('ValidationError', { problems: [problem] });
      };
      const found = await resultOf(exchange, message, json.length, [], { isBound, exhaust });
      if (found.kind !== 'calls') throw errorOf(found);
      return found.request;
    },
    toReply: async (exchange, { name, readOnly }, entry, answers, isBound) => {
      const bytes = answers.reduce((sum, { body }) => sum + body.length, 0);
      const sent = answers.map(sentAnswer);
      const message = { kind: 'toReply', operation: name, entry, answers: sent } as const;
      const memory = sent.map(({ body }) => body.buffer);
      const refuse = refuseReply(readOnly);
      const options = { isBound: isBound || !readOnly, refuse, exhaust: exhaustReply };
      const found = await resultOf(exchange, message, bytes, memory, options);
      if (found.kind !== 'mapped') throw errorOf(found);
      return found.json;
    },
    toFault: async (exchange, { name, readOnly }, entry, { status, headers, body }) => {
      // a copy, because an answer that is not a declared fault is read again
      const answer = { status, headers, body: new Uint8Array(body) };
      const message = { kind: 'toFault', operation: name, entry, answer } as const;
      const memory = [answer.body.buffer];
      const refuse = refuseReply(readOnly);
      const options = { isBound: true, refuse, exhaust: exhaustReply };
      const found = await resultOf(exchange, message, body.length, memory, options);
      if (found.kind !== 'fault of an answer') throw errorOf(found);
      return found.json;
    },
  };
}

/** Gives each body its own memory, because empty bodies may share theirs. */
function sentAnswer({ status, headers, body }: AnswerBytes): SentAnswer {
  return { status, headers, body: body.length === 0 ? new Uint8Array(0) : ownMemory(body) };
}

function refuseReply(readOnly: boolean): Order['refuse'] {
  return (reason) => refusal(readOnly ? 'Overloaded' : 'UpstreamTimeout', reason);
}

function exhaustReply(reason: Reason): CallError {
  return new CallError('UpstreamInvalidResponse', reason);
}

/** Only Overloaded suggests a retry, because the operation was not performed. */
function refusal(code: 'Overloaded' | 'UpstreamTimeout', reason: Reason | undefined): CallError {
  if (code === 'Overloaded' && reason === undefined) return overloaded();
  return new CallError(code, { ...reason, retryAfter: code === 'Overloaded' ? '1' : undefined });
}

function preparedOf(call: ReadCall, { operation }: CompiledOperation): Prepared {
  const {
    ignored,
    illegalReferences,
    deviations,
    isReadTwice,
    isReordered,
    given,
    values,
    shown,
    request,
    refusal,
    json,
  } = call;
  return {
    reading: { ignored, illegalReferences, deviations, isReadTwice, isReordered },
    given,
    values,
    shown,
    json,
    request:
      request === undefined
        ? new CallError(refusal?.code ?? 'InternalError', refusal?.details)
        : { ...request, body: request.body && bufferOf(request.body), ownsBody: true, operation },
  };
}
