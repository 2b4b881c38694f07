import { bufferOf } from '../../mappings/bytes.ts';
import { FilledBody } from '../../mappings/codec/filled-body.ts';
import {
  type Deviation,
  isFull,
  maxReportedProblems,
  type Reading,
  startReading,
} from '../../mappings/codec/problem.ts';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import { type CompiledOperation, compileContract, type RouteValue } from '../../mappings/compile.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { receiveContract, type SentContract } from '../../mappings/contract/transfer.ts';
import type { Input, UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import type { SplitMessage } from '../../mappings/http-mapping/related.ts';
import type { MappedAnswer } from '../../mappings/mapping/compiled-entry.ts';
import type { MappingText } from '../../mappings/mapping/load.ts';
import type { Mapping } from '../../mappings/mapping/mapping.ts';
import type { MappedRequest } from '../../mappings/mapping/run-entry.ts';
import { NoRoom } from '../../mappings/xml/error.ts';
import type { ReadReply } from '../call/call.ts';
import type {
  CallerProofs,
  FoundCredentials,
  HeaderCredentials,
  MessageCredentials,
  Spelling,
} from '../call/credentials.ts';
import { CallError, type CallErrorDetails, type ErrorCode } from '../call/error.ts';
import type { RequestHead } from '../call/head.ts';
import { refuseProblems, requestOf } from '../call/request.ts';
import { compileShownMessages, type ShownMessages } from '../telemetry/messages.ts';
import { giveBackOwn } from '../upstream/collector.ts';
import { mapFault, mapReply, mapRequest } from '../upstream/mapped-upstream.ts';
import { performTasks } from '../workers/lane.ts';
import { type BodyForm, compileReaders, type Readers, readCallBody, readSoapCall } from './read-call.ts';
import { memoryOf, type ReplyMessage, readReplyMessage } from './reply-message.ts';
import { Fault } from './soap/faults.ts';
import type { ReplyHeader } from './soap/headers/reply-header.ts';
import { type SoapVersion, versionNamed } from './soap/versions.ts';

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
  readonly room: number;
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
  readonly quirks: number;
  readonly deviations: ReadonlySet<Deviation> | undefined;
  readonly isReadTwice: boolean;
  readonly given: MessageCredentials;
  /** Credentials of the call after their check; undefined if it failed. */
  readonly values: FoundCredentials | undefined;
  /** Text of the request for the message log. */
  readonly shown: string | undefined;
  /** Undefined for a rejected call. */
  readonly request: RequestFields | undefined;
  readonly refusal: CallErrorFields | undefined;
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
export interface FaultFields extends Pick<Fault, 'code' | 'kind' | 'reason' | 'block' | 'header'> {
  readonly version: SoapVersion['name'];
}

/** URL of this module, which the thread runs. */
export const readThread = new URL(import.meta.url);

/** Returns bytes with memory that can be transferred. Copies them if the buffer shares its memory. */
export function ownMemory(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isAll = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isAll ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

// --- in the thread -----------------------------------------------------------------------------------

/** A contract compiled in the thread. */
interface Reader {
  readonly readers: Readers;
  /** Undefined if messages are not logged. */
  readonly shown: ShownMessages | undefined;
  readonly mapping: Mapping | undefined;
}

async function compileReader(sent: SentSharedContract): Promise<Reader> {
  const { contract, limits, isShown, proofs, mapping } = sent;
  const compiled = compileContract(receiveContract(contract), limits);
  return {
    readers: compileReaders(compiled, Number.POSITIVE_INFINITY, proofs),
    shown: isShown ? compileShownMessages(compiled) : undefined,
    mapping: mapping === undefined ? undefined : await compileMapping(mapping, limits),
  };
}

/** Imports the mapping code only if needed, because most contracts have no mapping. */
async function compileMapping(text: MappingText, limits: Limits): Promise<Mapping> {
  const { compileLoaded } = await import('../../mappings/mapping/load.ts');
  return compileLoaded(text, limits);
}

const contracts = new Map<number, Reader>();

async function readerOf({ contractId, contract }: Task): Promise<Reader> {
  const known = contracts.get(contractId);
  if (known !== undefined) return known;
  if (contract === undefined) throw new Error('a contract that the reading thread did not receive');
  const reader = await compileReader(contract);
  contracts.set(contractId, reader);
  return reader;
}

async function perform(task: Task): Promise<Result> {
  try {
    const reader = await readerOf(task);
    const { message, room } = task;
    if (message.kind === 'toCalls' || message.kind === 'toReply' || message.kind === 'toFault')
      return map(message, reader);
    if (message.kind !== 'reply') return { kind: 'read', call: readMessage(message, reader) };
    const { compiled } = reader.readers;
    return { kind: 'replied', reply: readReplyMessage(message, compiled, reader.shown, room) };
  } catch (error) {
    if (error instanceof NoRoom) return { kind: 'no room' };
    if (error instanceof Fault) return { kind: 'fault', fault: faultFields(error) };
    if (error instanceof CallError) return { kind: 'refused', refusal: callErrorFields(error) };
    return { kind: 'failed', error };
  }
}

function map(message: MappingMessage, { mapping }: Reader): Result {
  if (mapping === undefined) throw new Error('a message for a contract without a mapping');
  const { operation } = message;
  if (message.kind === 'toCalls')
    return { kind: 'calls', request: mapRequest(mapping, operation, message.json) };
  if (message.kind === 'toFault')
    return { kind: 'fault of an answer', json: mapFault(mapping, operation, message.entry, message.answer) };
  return { kind: 'mapped', json: mapReply(mapping, operation, message.entry, message.answers) };
}

function readMessage(message: Message, reader: Reader): ReadCall {
  const { readers } = reader;
  const { head } = message;
  const { limits } = readers.compiled;
  if (message.kind === 'soap') {
    const address = { version: versionNamed(message.version), endpoint: message.endpoint };
    const call = readSoapCall(readers, head, address, bufferOf(message.body), message.split);
    const { operation, input, credentials, header, isMtom } = call;
    const prepared = prepare(reader, head, operation, input, 'xml', credentials);
    return { ...prepared, version: call.version.name, header, isMtom };
  }
  const operation = readers.compiled.operations.get(message.operation);
  if (operation === undefined) throw new Error('an operation that is unknown in the reading thread');
  if (message.kind === 'parameters') {
    const reading = startReading(limits.errors ?? maxReportedProblems);
    addFindings(reading, message.query);
    const input = operation.readParameters(message.values, reading);
    return prepare(reader, head, operation, input, 'json', undefined);
  }
  const { input, form } = readCallBody(readers, head, operation, bufferOf(message.body), message.form);
  addFindings(input.reading, message.query);
  return { ...prepare(reader, head, operation, input, form, undefined), form };
}

/** Adds the errors of the query to the reading. */
function addFindings(reading: Reading, { problems, ignored }: QueryFindings): void {
  reading.ignored.push(...ignored);
  for (const problem of problems) if (!isFull(reading)) reading.problems.push(problem);
}

/** Does the same steps as `runCall` before it calls the upstream. */
function prepare(
  { readers, shown }: Reader,
  head: RequestHead,
  operation: CompiledOperation,
  input: Input,
  spelling: Spelling,
  inHeader: HeaderCredentials | undefined,
): ReadCall {
  const { reading } = input;
  const given = { body: operation.credentialsOf(input), ...inHeader };
  let values: FoundCredentials | undefined;
  let request: RequestFields | undefined;
  let refusal: CallErrorFields | undefined;
  const text = shown?.request(head, operation, input, given);
  try {
    refuseProblems(reading);
    values = readers.readCredentials?.(given, head, spelling);
    const { method, path, headers, body } = requestOf(readers.compiled, operation, input, values);
    if (body instanceof StreamedFile) throw new TypeError('a streamed file is read only on the event loop');
    const bytes =
      typeof body === 'string' ? Buffer.from(body) : body instanceof FilledBody ? body.toBuffer() : body;
    request = { method, path, headers, body: bytes && ownMemory(bytes) };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    refusal = callErrorFields(error);
  }
  return {
    operation: operation.operation.name,
    version: undefined,
    header: undefined,
    isMtom: false,
    form: undefined,
    ignored: reading.ignored.slice(0, 20).map((name) => name.slice(0, 64)), // the log contains at most 20
    quirks: reading.quirks,
    deviations: reading.deviations,
    isReadTwice: reading.isReadTwice,
    given,
    values,
    shown: text,
    request,
    refusal,
  };
}

function callErrorFields(error: CallError): CallErrorFields {
  const { code, reason, problems, allow, retryAfter, logged, path, isUnasked } = error;
  return { code, details: { ...reason, problems, allow, retryAfter, logged, path, isUnasked } };
}

function faultFields({ version, code, kind, reason, block, header }: Fault): FaultFields {
  return { version: version.name, code, kind, reason, block, header };
}

/** Releases the memory of a result that is not needed any more. */
export function dropResult(result: Result): void {
  for (const memory of memoryIn(result)) giveBackOwn(memory);
}

/** Returns the memory that is transferred with a result. */
function memoryIn(result: Result): ArrayBuffer[] {
  if (result.kind === 'replied') return memoryOf(result.reply);
  const body = result.kind === 'read' ? result.call.request?.body : undefined;
  return body === undefined ? [] : [body.buffer];
}

/** Releases the memory of a message that was read, unless it was transferred with the result. */
function dropRead({ message }: Task): void {
  if (message.kind === 'reply') giveBackOwn(message.reply.body.buffer);
  else if (message.kind === 'toFault') giveBackOwn(message.answer.body.buffer);
  else if (message.kind === 'toReply') for (const { body } of message.answers) giveBackOwn(body.buffer);
  else if ('body' in message) giveBackOwn(message.body.buffer);
}

performTasks(import.meta.url, perform, memoryIn, dropRead);
