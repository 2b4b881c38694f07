import { createHash } from 'node:crypto';
import type { Contract } from '../../mappings/contract/model.ts';
import { receiveContract, type SentContract, sendContract } from '../../mappings/contract/transfer.ts';
import { writeMetadataPage } from '../../wsdl/page.ts';
import type { PolicyName } from '../../wsdl/policy.ts';
import { schemaList, writeSchema } from '../../wsdl/schema.ts';
import { sliceOf } from '../../wsdl/slice.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { Lane, NoAnswer, performTasks } from '../workers/lane.ts';

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
  /** Rejects with NoAnswer where it takes too long, or with what the thread threw. */
  readonly write: (order: Order) => Promise<Written | undefined>;
}

/** A document to be written. */
interface Task {
  /** The contract, where the thread doesn't have it yet. */
  readonly contract: SentContract | undefined;
  readonly order: Order;
}

/** The only contract of the thread, among what it knows. */
const contractId = 0;

/** @param withinMs how long one document may take before the thread is ended */
export function createWriterAside(contract: Contract, withinMs: number): WriterAside {
  const lane = new Lane<Task, Written | undefined>({
    module: new URL(import.meta.url),
    title: 'the thread that writes documents',
    mostWaiting: Number.POSITIVE_INFINITY, // who asks has a limit of its own
  });
  return {
    write: (order) =>
      lane.run({
        taskOf: (known) => {
          const isKnown = known.has(contractId);
          known.add(contractId);
          return { contract: isKnown ? undefined : sendContract(contract), order };
        },
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
    if (received === undefined) throw new Error('a document of a contract that the thread was not given');
    return writeDocument(received, order);
  },
  (written) => (written === undefined ? [] : [written.bytes.buffer]),
);
