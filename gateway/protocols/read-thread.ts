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
import type { MappingText } from '../../mappings/mapping/load.ts';
import type { MappedAnswer, MappedRequest, Mapping } from '../../mappings/mapping/mapping.ts';
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

/** What the reading thread and the thread of the event loop send each other; all of it plain data. */

/** A contract as the thread gets it, once. */
export interface SharedContract {
  readonly id: number;
  readonly contract: Contract;
  readonly limits: Limits;
  /** Whether messages are logged. */
  readonly isShown: boolean;
  readonly proofs: CallerProofs;
  /** What stands between the contract and the service behind; undefined for one that speaks its JSON. */
  readonly mapping: MappingText | undefined;
}

/** A contract on its way to the thread. */
export type SentSharedContract = Omit<SharedContract, 'contract'> & { readonly contract: SentContract };

/** A request or a reply to be read, or to be mapped. */
export interface Task {
  readonly contractId: number;
  /** The contract, where the thread doesn't have it yet. */
  readonly contract: SentSharedContract | undefined;
  readonly message: Message | ReplyMessage | MappingMessage;
  /** In bytes: so much more may be made of an answer. */
  readonly room: number;
}

/** A message in JSON that a mapping makes another of (M1). */
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

/** An answer whose body's memory goes over with it. */
export interface SentAnswer extends MappedAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What is to be read of a request: a body by its endpoint, or a route's parameters. */
export type Message = { readonly head: RequestHead } & (
  | {
      readonly kind: 'soap';
      readonly version: SoapVersion['name'];
      readonly endpoint: string | undefined;
      readonly body: Uint8Array<ArrayBuffer>;
      /** Where the parts of a multipart message are. */
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

/** What was found in a request's query, which is no part of its inputs. */
export type QueryFindings = Pick<Reading, 'problems' | 'ignored'>;

/** What came of a task. */
export type Result =
  | { readonly kind: 'read'; readonly call: ReadCall }
  | { readonly kind: 'replied'; readonly reply: ReadReply }
  | { readonly kind: 'calls'; readonly request: MappedRequest }
  | { readonly kind: 'mapped'; readonly json: string }
  /** Undefined for an error answer that is no declared fault. */
  | { readonly kind: 'fault of an answer'; readonly json: string | undefined }
  /** A reply that takes more memory than there was when it was begun. */
  | { readonly kind: 'no room' }
  | { readonly kind: 'fault'; readonly fault: FaultFields }
  | { readonly kind: 'refused'; readonly refusal: CallErrorFields }
  /** An error of ours. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** A request that was read, its inputs checked and its call upstream made. */
export interface ReadCall {
  readonly operation: string;
  /** Undefined outside SOAP. */
  readonly version: SoapVersion['name'] | undefined;
  readonly header: ReplyHeader | undefined;
  /** Whether the request came as a message of MTOM. */
  readonly isMtom: boolean;
  /** Of a body outside SOAP. */
  readonly form: BodyForm | undefined;
  readonly ignored: readonly string[];
  readonly quirks: number;
  readonly deviations: ReadonlySet<Deviation> | undefined;
  readonly given: MessageCredentials;
  /** Those of the call, once they are known to be good. */
  readonly values: FoundCredentials | undefined;
  /** What the log of messages shows of it. */
  readonly shown: string | undefined;
  /** Undefined for a call that is refused. */
  readonly request: RequestFields | undefined;
  readonly refusal: CallErrorFields | undefined;
}

/** A call upstream, its body in bytes. */
export interface RequestFields extends Pick<UpstreamRequest, 'method' | 'path' | 'headers'> {
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** The data of a CallError. */
export interface CallErrorFields {
  readonly code: ErrorCode;
  readonly details: CallErrorDetails;
}

/** The data of a Fault. */
export interface FaultFields extends Pick<Fault, 'code' | 'kind' | 'reason' | 'block' | 'header'> {
  readonly version: SoapVersion['name'];
}

/** This module, which the thread runs. */
export const readThread = new URL(import.meta.url);

/** Memory that a message takes along; that of a buffer which shares its own with others is copied. */
export function ownMemory(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isAll = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isAll ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

// --- in the thread -----------------------------------------------------------------------------------

/** A contract that the thread reads requests of. */
interface Reader {
  readonly readers: Readers;
  /** Undefined where messages aren't logged. */
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

/** Loaded here: most contracts have no mapping. */
async function compileMapping(text: MappingText, limits: Limits): Promise<Mapping> {
  const { compileLoaded } = await import('../../mappings/mapping/load.ts');
  return compileLoaded(text, limits);
}

const contracts = new Map<number, Reader>();

async function readerOf({ contractId, contract }: Task): Promise<Reader> {
  const known = contracts.get(contractId);
  if (known !== undefined) return known;
  if (contract === undefined) throw new Error('a contract that the reading thread was not given');
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
  if (mapping === undefined) throw new Error('a message to be mapped, of a contract without a mapping');
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
  if (operation === undefined) throw new Error('an operation that the contract of the reading thread lacks');
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

/** Notes what was found in the query after what is noted already. */
function addFindings(reading: Reading, { problems, ignored }: QueryFindings): void {
  reading.ignored.push(...ignored);
  for (const problem of problems) if (!isFull(reading)) reading.problems.push(problem);
}

/** Goes on as far as `runCall` would before it calls the upstream. */
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
    if (body instanceof StreamedFile)
      throw new TypeError('a file that flows is read on the event loop alone');
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
    ignored: reading.ignored.slice(0, 20).map((name) => name.slice(0, 64)), // as many as are logged
    quirks: reading.quirks,
    deviations: reading.deviations,
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

/** Gives back the memory of a result that nobody waits for any more. */
export function dropResult(result: Result): void {
  for (const memory of memoryIn(result)) giveBackOwn(memory);
}

/** The memory that goes over with a result. */
function memoryIn(result: Result): ArrayBuffer[] {
  if (result.kind === 'replied') return memoryOf(result.reply);
  const body = result.kind === 'read' ? result.call.request?.body : undefined;
  return body === undefined ? [] : [body.buffer];
}

/** Gives back the memory of what was read, unless it went over with the result. */
function dropRead({ message }: Task): void {
  if (message.kind === 'reply') giveBackOwn(message.reply.body.buffer);
  else if (message.kind === 'toFault') giveBackOwn(message.answer.body.buffer);
  else if (message.kind === 'toReply') for (const { body } of message.answers) giveBackOwn(body.buffer);
  else if ('body' in message) giveBackOwn(message.body.buffer);
}

performTasks(import.meta.url, perform, memoryIn, dropRead);
