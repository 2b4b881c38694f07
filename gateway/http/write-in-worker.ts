import { createHash } from 'node:crypto';
import type { Contract } from '../../mappings/contract/model.ts';
import { receiveContract, type SentContract, sendContract } from '../../mappings/contract/transfer.ts';
import { writeMetadataPage } from '../../wsdl/page.ts';
import type { PolicyName } from '../../wsdl/policy.ts';
import { schemaList, writeSchema } from '../../wsdl/schema.ts';
import { sliceOf } from '../../wsdl/slice.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { isFirstSent, NoAnswer, performTasks, WorkerThread } from '../workers/worker-thread.ts';

/** A request for a document. */
export interface Order {
  readonly kind: 'wsdl' | 'xsd' | 'page';
  /** The number of the schema, if `kind` is `xsd`. */
  readonly schema: number;
  /** Names of the included operations, in the contract's order; undefined for all. */
  readonly operations: readonly string[] | undefined;
  /** The policy that the bindings of a WSDL require; undefined for none. */
  readonly policy: PolicyName | undefined;
  /** The public URL of the contract without a slash at the end. */
  readonly address: string;
  /** True if the bindings of a WSDL declare MTOM (W68). */
  readonly mtom?: true;
  /** The only SOAP version that a WSDL describes; undefined for both. */
  readonly soap?: '1.1' | '1.2';
}

/** A generated document with its entity tag. */
export interface Written {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** See `etagOf`. */
  readonly etag: string;
}

/** Generates a document. Returns undefined if the contract does not have the schema. */
export function writeDocument(whole: Contract, order: Order): Written | undefined {
  const text = textOf(whole, order);
  if (text === undefined) return undefined;
  const bytes = new TextEncoder().encode(text);
  return { bytes, etag: etagOf(bytes) };
}

/** Returns the entity tag of a document, with its quotes (RFC 9110 §8.8.3). */
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

/** Generates documents of a contract in a worker thread. */
export interface WorkerWriter {
  /** Rejects with NoAnswer after a timeout, or with the error of the worker thread. */
  readonly write: (order: Order) => Promise<Written | undefined>;
}

/** A task of the worker thread. */
interface Task {
  /** The contract, if the thread does not have it yet. */
  readonly contract: SentContract | undefined;
  readonly order: Order;
}

/** Id of the contract. The thread has only one. */
const contractId = 0;

/** @param withinMs maximum time in ms for one document, after which the thread is terminated */
export function createWorkerWriter(contract: Contract, withinMs: number): WorkerWriter {
  const thread = new WorkerThread<Task, Written | undefined>({
    module: new URL(import.meta.url),
    title: 'the thread for documents',
    mostWaiting: Number.POSITIVE_INFINITY, // `ContractDocuments` limits the number of waiting callers
  });
  return {
    write: (order) =>
      thread.run({
        taskOf: (known) => ({
          contract: isFirstSent(known, contractId) ? sendContract(contract) : undefined,
          order,
        }),
        bytes: 0,
        memory: [],
        withinMs,
        refuse: () => new NoAnswer(`expected a document within ${withinMs} ms, got none`),
      }),
  };
}

let received: Contract | undefined;

performTasks<Task, Written | undefined>(
  import.meta.url,
  ({ contract, order }) => {
    if (contract !== undefined) received = receiveContract(contract);
    if (received === undefined) throw new Error('a document of a contract that the thread did not receive');
    return writeDocument(received, order);
  },
  (written) => (written === undefined ? [] : [written.bytes.buffer]),
);
