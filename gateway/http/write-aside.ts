import { createHash } from 'node:crypto';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Contract } from '../../mappings/contract/model.ts';
import { receiveContract, type SentContract, sendContract } from '../../mappings/contract/transfer.ts';
import { writeMetadataPage } from '../../wsdl/page.ts';
import type { PolicyName } from '../../wsdl/policy.ts';
import { schemaList, writeSchema } from '../../wsdl/schema.ts';
import { sliceOf } from '../../wsdl/slice.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { NoAnswer, yieldToOthers } from './thread.ts';
import { growYoungGeneration } from './young-generation.ts';

/** A document that is asked for. */
export interface Order {
  readonly kind: 'wsdl' | 'xsd' | 'page';
  /** The number of the schema, where that is what is asked for. */
  readonly schema: number;
  /** Names of the operations it is of, in the contract's order; undefined for all. */
  readonly operations: readonly string[] | undefined;
  /** What a WSDL's bindings ask for; undefined: nothing. */
  readonly policy: PolicyName | undefined;
  /** The contract's public base without a slash at the end. */
  readonly address: string;
  /** Whether the bindings of a WSDL ask for MTOM (W68). */
  readonly mtom?: true;
  /** The only SOAP version that a WSDL describes; undefined: both. */
  readonly soap?: '1.1' | '1.2';
}

/** A document as it is sent, and what tells it from others. */
export interface Written {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As `etagOf` has it. */
  readonly etag: string;
}

/** Writes what is ordered; undefined where the contract has no such schema. */
export function writeDocument(whole: Contract, order: Order): Written | undefined {
  const text = textOf(whole, order);
  if (text === undefined) return undefined;
  const bytes = new TextEncoder().encode(text);
  return { bytes, etag: etagOf(bytes) };
}

/** The entity tag of some bytes, with its quotes (RFC 9110, 8.8.3). */
export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

function textOf(
  whole: Contract,
  { kind, schema, operations, policy, address, mtom, soap }: Order,
): string | undefined {
  let contract = whole;
  if (operations !== undefined) {
    const named = new Set(operations);
    contract = sliceOf(
      whole,
      whole.operations.filter(({ name }) => named.has(name)),
    );
  }
  if (kind === 'page') return writeMetadataPage(contract, { address });
  if (kind === 'wsdl') return writeWsdl(contract, { address, policy, mtom: mtom === true, soap });
  const number = schemaList.find((known) => known === schema);
  return number === undefined ? undefined : writeSchema(contract, number, { address });
}

// --- in a thread -----------------------------------------------------------------------------------

/** Writes documents of a contract in a thread of its own. */
export interface WriterAside {
  /** Rejects with NoAnswer, or with what the thread threw. */
  readonly write: (order: Order) => Promise<Written | undefined>;
}

/** What the thread is given; other threads that load this module have nothing to do with it. */
interface Task {
  readonly writeAside: SentContract;
}

interface Waiting {
  readonly resolve: (written: Written | undefined) => void;
  readonly reject: (error: unknown) => void;
  readonly order: Order;
}

/** In ms: a thread that had nothing to do for so long is ended. */
const idleMs = 30_000;

/**
 * The thread is started when there is something to write, and writes one document after the other.
 * @param withinMs how long one document may take before the thread is ended
 */
export function createWriterAside(contract: Contract, withinMs: number): WriterAside {
  const waiting: Waiting[] = [];
  let thread: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;

  function start(): Worker {
    const workerData: Task = { writeAside: sendContract(contract) };
    const started = new Worker(new URL(import.meta.url), { workerData });
    started.on('message', (written: Written | undefined) => {
      waiting.shift()?.resolve(written);
      next();
    });
    started.on('error', (error) => end(started, error));
    started.on('exit', () => end(started, new NoAnswer('expected a document of its thread, got none')));
    started.unref();
    return started;
  }

  /** What waited when a thread ended fails with it. */
  function end(ended: Worker, error: unknown): void {
    if (ended !== thread) return;
    thread = undefined;
    clearTimeout(timer);
    for (const { reject } of waiting.splice(0)) reject(error);
    void ended.terminate();
  }

  function next(): void {
    clearTimeout(timer);
    const [first] = waiting;
    const current = thread;
    if (current === undefined) return;
    const over = first === undefined ? idleMs : withinMs;
    timer = setTimeout(() => {
      end(current, new NoAnswer(`expected a document within ${over} ms, got none`));
    }, over).unref();
    if (first !== undefined) current.postMessage(first.order);
  }

  return {
    write: (order) =>
      new Promise((resolve, reject) => {
        thread ??= start();
        waiting.push({ resolve, reject, order });
        if (waiting.length === 1) next();
      }),
  };
}

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'writeAside' in data;
}

if (!isMainThread && isTask(workerData)) {
  yieldToOthers();
  growYoungGeneration();
  const contract = receiveContract(workerData.writeAside);
  parentPort?.on('message', (order: Order) => {
    const written = writeDocument(contract, order);
    parentPort?.postMessage(written, written === undefined ? [] : [written.bytes.buffer]);
  });
}
