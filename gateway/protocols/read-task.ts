import type { Deviation, Reading } from '../../mappings/codec/problem.ts';
import type { RouteValue } from '../../mappings/compiled.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import type { SentContract } from '../../mappings/contract/transfer.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import type { SplitMessage } from '../../mappings/http-mapping/related.ts';
import type { MappedAnswer } from '../../mappings/mapping/compiled-entry.ts';
import type { MappingText } from '../../mappings/mapping/load.ts';
import type { MappedRequest } from '../../mappings/mapping/run-entry.ts';
import type { ReadReply } from '../call/call-service.ts';
import type { CallerProofs, FoundCredentials, MessageCredentials } from '../call/credentials.ts';
import type { CallErrorDetails, ErrorCode } from '../call/error.ts';
import type { RequestHead } from '../call/head.ts';
import { giveBackOwn } from '../upstream/collector.ts';
import type { BodyForm } from './read-call.ts';
import { memoryOf, type ReplyMessage } from './reply-message.ts';
import type { Fault } from './soap/faults.ts';
import type { ReplyHeader } from './soap/headers/reply-header.ts';
import type { SoapVersion } from './soap/versions.ts';

/** Messages between the worker thread and the main thread. They contain only plain data. */

/** A contract as it is sent to the thread, once. */
export interface SharedContract {
  readonly id: number;
  readonly contract: Contract;
  readonly limits: Limits;
  /** True if messages are logged. */
  readonly isShown: boolean;
  readonly proofs: CallerProofs;
  /** Text of the mapping between the contract's and the upstream's JSON; undefined if they are the same. */
  readonly mapping: MappingText | undefined;
}

/** A contract in the form that can be sent to the thread. */
export type SentSharedContract = Omit<SharedContract, 'contract'> & { readonly contract: SentContract };

/** A message to read or to map. */
export interface Task {
  readonly contractId: number;
  /** The contract, if the thread does not have it yet. */
  readonly contract: SentSharedContract | undefined;
  readonly message: Message | ReplyMessage | MappingMessage;
  /** Maximum number of additional bytes that reading a reply may use. */
  readonly maxBytes: number;
}

/** A JSON message to map (M1). */
export type MappingMessage =
  | { readonly kind: 'toCalls'; readonly operation: string; readonly json: string }
  | {
      readonly kind: 'toReply';
      readonly operation: string;
      readonly entry: number;
      readonly answers: readonly SentAnswer[];
    }
  | {
      readonly kind: 'toFault';
      readonly operation: string;
      readonly entry: number;
      readonly answer: SentAnswer;
    };

/** An answer of the upstream. The memory of its body is transferred. */
export interface SentAnswer extends MappedAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A request to read: a body for an endpoint, or the parameters of a route. */
export type Message = { readonly head: RequestHead } & (
  | {
      readonly kind: 'soap';
      readonly version: SoapVersion['name'];
      readonly endpoint: string | undefined;
      readonly body: Uint8Array<ArrayBuffer>;
      /** Positions of the parts of a multipart message. */
      readonly split: SplitMessage | undefined;
      /** True if encrypted keys may be used (X24). */
      readonly hasReservedKeys: boolean;
    }
  | {
      readonly kind: 'body';
      readonly operation: string;
      readonly form: BodyForm | undefined;
      readonly body: Uint8Array<ArrayBuffer>;
      readonly query: QueryFindings;
    }
  | {
      readonly kind: 'parameters';
      readonly operation: string;
      readonly values: readonly RouteValue[];
      readonly query: QueryFindings;
    }
);

/** Errors and ignored members of a request's query, which is not part of its inputs. */
export type QueryFindings = Pick<Reading, 'problems' | 'ignored'>;

/** Result of a task. */
export type Result =
  | { readonly kind: 'read'; readonly call: ReadCall }
  | { readonly kind: 'replied'; readonly reply: ReadReply }
  | { readonly kind: 'calls'; readonly request: MappedRequest }
  | { readonly kind: 'mapped'; readonly json: string }
  /** The mapped fault; undefined if the error answer is not a declared fault. */
  | { readonly kind: 'fault of an answer'; readonly json: string | undefined }
  /** The reply needs more memory than was available when it was started. */
  | { readonly kind: 'no room' }
  | { readonly kind: 'fault'; readonly fault: FaultFields }
  | { readonly kind: 'refused'; readonly refusal: CallErrorFields }
  /** An internal error. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** A request that was read, with checked inputs and the finished upstream request. */
export interface ReadCall {
  readonly operation: string;
  /** Undefined outside the SOAP endpoints. */
  readonly version: SoapVersion['name'] | undefined;
  readonly header: ReplyHeader | undefined;
  /** True if the request was an MTOM message. */
  readonly isMtom: boolean;
  /** The format of a body that is not SOAP. */
  readonly form: BodyForm | undefined;
  readonly ignored: readonly string[];
  readonly illegalReferences: number;
  readonly deviations: ReadonlySet<Deviation> | undefined;
  readonly isReadTwice: boolean;
  readonly isReordered: boolean;
  readonly given: MessageCredentials;
  /** Credentials of the call after their check; undefined if it failed. */
  readonly values: FoundCredentials | undefined;
  /** Text of the request for the message log. */
  readonly shown: string | undefined;
  /** Undefined for a rejected call. */
  readonly request: RequestFields | undefined;
  readonly refusal: CallErrorFields | undefined;
  /** JSON of a rejected call of a legacy WSDL, because a route may depend on its values (G8); otherwise undefined. */
  readonly json: string | undefined;
}

/** An upstream request with its body in bytes. */
export interface RequestFields extends Pick<UpstreamRequest, 'method' | 'path' | 'headers'> {
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** Fields of a CallError. */
export interface CallErrorFields {
  readonly code: ErrorCode;
  readonly details: CallErrorDetails;
}

/** Fields of a Fault. */
export interface FaultFields extends Pick<Fault, 'code' | 'kind' | 'reason' | 'block' | 'header' | 'lock'> {
  readonly version: SoapVersion['name'];
}

/** Returns bytes with memory that can be transferred. Copies them if the buffer shares its memory. */
export function ownMemory(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isAll = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isAll ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

/** Releases the memory of a result that is not needed any more. */
export function dropResult(result: Result): void {
  for (const memory of memoryIn(result)) giveBackOwn(memory);
}

/** Returns the memory that is transferred with a result. */
export function memoryIn(result: Result): ArrayBuffer[] {
  if (result.kind === 'replied') return memoryOf(result.reply);
  const body = result.kind === 'read' ? result.call.request?.body : undefined;
  return body === undefined ? [] : [body.buffer];
}
