import { bufferOf } from '../../mappings/bytes.ts';
import { FilledBody } from '../../mappings/codec/filled-body.ts';
import { isFull, maxReportedProblems, type Reading, startReading } from '../../mappings/codec/problem.ts';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import { compileSteps } from '../../mappings/compile-steps.ts';
import type { CompiledOperation } from '../../mappings/compiled.ts';
import { contractKindOf } from '../../mappings/contract/adopted.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { receiveContract } from '../../mappings/contract/transfer.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import type { MappingText } from '../../mappings/mapping/load.ts';
import type { Mapping } from '../../mappings/mapping/mapping.ts';
import { doAll } from '../../mappings/steps.ts';
import { NoReplyMemory } from '../../mappings/xml/error.ts';
import type { FoundCredentials, HeaderValues, Spelling } from '../call/credentials.ts';
import { CallError } from '../call/error.ts';
import type { RequestHead } from '../call/head.ts';
import { requestOf } from '../call/request.ts';
import { compileShownMessages, type ShownMessages } from '../telemetry/messages.ts';
import { giveBackOwn } from '../upstream/collector.ts';
import { mapFault, mapReply, mapRequest } from '../upstream/mapped-upstream.ts';
import { performTasks } from '../workers/worker-thread.ts';
import { compileReaders, type Readers, readCallBody, readSoapCall } from './read-call.ts';
import {
  type CallErrorFields,
  type FaultFields,
  type MappingMessage,
  type Message,
  memoryIn,
  ownMemory,
  type QueryFindings,
  type ReadCall,
  type RequestFields,
  type Result,
  type SentSharedContract,
  type Task,
} from './read-task.ts';
import { readReplyMessage } from './reply-message.ts';
import { Fault } from './soap/faults.ts';
import { versionNamed } from './soap/versions.ts';

// The worker thread that reads and maps messages.

export type { Task } from './read-task.ts';

/** A contract compiled in the thread. */
interface Reader {
  readonly readers: Readers;
  /** Undefined if messages are not logged. */
  readonly shown: ShownMessages | undefined;
  readonly mapping: Mapping | undefined;
}

async function compileReader(sent: SentSharedContract): Promise<Reader> {
  const { contract, limits, isShown, proofs, mapping } = sent;
  const compiled = doAll(await compileSteps(receiveContract(contract), limits));
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
  if (contract === undefined) throw new Error('a contract that the worker thread did not receive');
  const reader = await compileReader(contract);
  contracts.set(contractId, reader);
  return reader;
}

async function perform(task: Task): Promise<Result> {
  try {
    const reader = await readerOf(task);
    const { message, maxBytes } = task;
    if (message.kind === 'toCalls' || message.kind === 'toReply' || message.kind === 'toFault')
      return map(message, reader);
    if (message.kind !== 'reply') return { kind: 'read', call: readMessage(message, reader) };
    const { compiled } = reader.readers;
    return { kind: 'replied', reply: readReplyMessage(message, compiled, reader.shown, maxBytes) };
  } catch (error) {
    if (error instanceof NoReplyMemory) return { kind: 'no room' };
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
    const { body, split, hasReservedKeys } = message;
    const call = readSoapCall(readers, head, address, bufferOf(body), split, hasReservedKeys);
    const { operation, input, values, header, isMtom } = call;
    const prepared = prepare(reader, head, operation, input, 'xml', values);
    return { ...prepared, version: call.version.name, header, isMtom };
  }
  const operation = readers.compiled.operations.get(message.operation);
  if (operation === undefined) throw new Error('an operation that is unknown in the worker thread');
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
  inHeader: HeaderValues | undefined,
): ReadCall {
  const { reading } = input;
  const given = { body: operation.credentialsOf(input), ...inHeader };
  let values: FoundCredentials | undefined;
  let request: RequestFields | undefined;
  let refusal: CallErrorFields | undefined;
  let json: string | undefined;
  const text = shown?.request(head, operation, input, given);
  try {
    const sent = requestOf(readers, head, operation, input, given, spelling, (checked) => {
      values = checked;
    });
    const { method, path, headers, body } = sent;
    if (body instanceof StreamedFile) throw new TypeError('a streamed file is read only on the event loop');
    const bytes =
      typeof body === 'string' ? Buffer.from(body) : body instanceof FilledBody ? body.toBuffer() : body;
    request = { method, path, headers, body: bytes && ownMemory(bytes) };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    refusal = callErrorFields(error);
    if (contractKindOf(readers.compiled.contract) === 'adopted') json = operation.jsonOf(input);
  }
  return {
    operation: operation.operation.name,
    version: undefined,
    header: undefined,
    isMtom: false,
    form: undefined,
    ignored: reading.ignored.slice(0, 20).map((name) => name.slice(0, 64)), // the log contains at most 20
    illegalReferences: reading.illegalReferences,
    deviations: reading.deviations,
    isReadTwice: reading.isReadTwice,
    isReordered: reading.isReordered,
    given,
    values,
    shown: text,
    request,
    refusal,
    json,
  };
}

function callErrorFields(error: CallError): CallErrorFields {
  const { code, reason, problems, allow, retryAfter, logged, path, lacksCredentials } = error;
  return { code, details: { ...reason, problems, allow, retryAfter, logged, path, lacksCredentials } };
}

function faultFields({ version, code, kind, reason, block, header, lock }: Fault): FaultFields {
  return { version: version.name, code, kind, reason, block, header, lock };
}

/** Releases the memory of a message that was read, unless it was transferred with the result. */
function dropRead({ message }: Task): void {
  if (message.kind === 'reply') giveBackOwn(message.reply.body.buffer);
  else if (message.kind === 'toFault') giveBackOwn(message.answer.body.buffer);
  else if (message.kind === 'toReply') for (const { body } of message.answers) giveBackOwn(body.buffer);
  else if ('body' in message) giveBackOwn(message.body.buffer);
}

performTasks(import.meta.url, perform, memoryIn, dropRead);
