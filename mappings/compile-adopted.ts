import { bufferOf } from './bytes.ts';
import {
  type CompiledAdoptedOperation,
  compileAdoptedInSteps,
  elementOf,
  isEmptyBody,
  type MessageCodec,
  withHeaders,
} from './codec/adopted/compile.ts';
import { shownTypeOf } from './codec/adopted/shown-type.ts';
import type { WrittenMessage } from './codec/adopted/write-element.ts';
import { adoptedByteReaders } from './codec/byte-reader/adopted.ts';
import { compileReplyWriters } from './codec/codecs.ts';
import { countSteps, MismatchError, type Reading, refuse } from './codec/problem.ts';
import { compileScalars } from './codec/scalars/table.ts';
import { quoteJson } from './codec/scalars/text.ts';
import { compileWriteError } from './compile-openapi.ts';
import type { CompiledContract, CompiledOperation, Frame, WrittenReply } from './compiled.ts';
import { serviceOf } from './contract/adopted.ts';
import { type MovedHeader, movedHeadersOf } from './contract/credentials.ts';
import type { Limits } from './contract/limits.ts';
import type { Contract, Operation, Type } from './contract/model.ts';
import type { Settings } from './contract/overlay-keys.ts';
import type { QName } from './contract/type-graph.ts';
import { requireBody } from './http-mapping/answer.ts';
import { compileCall } from './http-mapping/call.ts';
import { checkJson, membersOf } from './json/parts.ts';
import { JsonReader } from './json/reader.ts';
import { type JsonRequestReading, withoutIgnored } from './json/tape.ts';
import { doAll, type Steps } from './steps.ts';
import { maxAttributes } from './xml/attributes.ts';
import { XmlError } from './xml/error.ts';
import { XmlReader } from './xml/reader.ts';

/** Compiles an adopted contract in steps, with the codecs of its own schema (A7 to A30). */
export function* compileAdoptedContractInSteps(contract: Contract, limits: Limits): Steps<CompiledContract> {
  const { settings } = contract;
  const writers = compileReplyWriters(contract, compileScalars({ settings, limits }), limits);
  return {
    contract,
    limits,
    withLimits: (others) => doAll(compileAdoptedContractInSteps(contract, others)),
    operations: yield* compileOperations(contract, limits),
    writeError: compileWriteError(contract, writers),
  };
}

function* compileOperations(contract: Contract, limits: Limits): Steps<CompiledContract['operations']> {
  const service = serviceOf(contract);
  const { operations, simpleOf } = yield* compileAdoptedInSteps(service, contract.settings, limits);
  const byteReaderOf = adoptedByteReaders(simpleOf, contract.settings, limits, elementOf);
  // for a log of messages alone, so it is made once one is shown
  let shown: Type | undefined;
  const shownType = (): Type => {
    shown ??= shownTypeOf(service);
    return shown;
  };
  return new Map(
    contract.operations.map((operation) => {
      const compiled = operations.get(operation.name);
      if (compiled === undefined) throw new RangeError(`no such operation of the WSDL: ${operation.name}`);
      const readBytes = byteReaderOf(operation.name, compiled.operation.input);
      return [operation.name, compileOperation(contract, operation, compiled, readBytes, shownType, limits)];
    }),
  );
}

const nothing = { failed: false, dropped: 0, replaced: 0, passed: 0 };
const emptyObject: Uint8Array = Buffer.from('{}');

function compileOperation(
  contract: Contract,
  operation: Operation,
  { operation: declared, request, reply, faults }: CompiledAdoptedOperation,
  readBytes: CompiledOperation['readBytes'],
  shownType: () => Type,
  limits: Limits,
): CompiledOperation {
  const { settings } = contract;
  const movedHeaders = movedHeadersOf(contract.credentials);
  const call = compileCall(contract, operation, new Map(), limits);
  const written = writtenLimits(limits);
  const isEmptyReply = declared.output !== undefined && isObject(declared.output.body);
  const isBodyRequired = declared.output !== undefined && !isEmptyBody(declared.output.body);
  return {
    operation,
    root: rootOf(declared.input.body),
    isOneWay: reply === undefined,
    replyAction: declared.replyAction ?? '',
    header: compileHeader(request, movedHeaders, limits),
    spansBody: declared.input.use === 'encoded',
    holdsParts: false,
    readXml: (xml, reading) => {
      const text = xml === undefined ? '{}' : request.read(xml, reading);
      if (xml !== undefined) reading.illegalReferences = xml.joinedSurrogates + xml.illegalReferences;
      return { text, reading, closes: undefined };
    },
    readBytes,
    readJson: (text, reading) => {
      const known = knownOf(text, request, settings, reading, limits, written);
      const isMoved = movedHeaders.length > 0 && /@headers|\\u/.test(known);
      const left = isMoved ? withoutMovedIn(known, movedHeaders, reading, limits) : known;
      return { text: left, reading, closes: undefined };
    },
    readParameters: () => {
      throw new RangeError('an adopted contract has no routes');
    },
    credentialsOf: ({ reading }) => movedValues(movedHeaders, reading),
    jsonOf: ({ text }) => text.toString(),
    request: call,
    succeeds: (status) => status >= 200 && status < 300,
    readAnswer: isBodyRequired ? readRequiredBody : ({ body }) => body,
    get requestType() {
      return shownType();
    },
    get replyType() {
      return shownType();
    },
    writeReply: (body, frame) => {
      if (reply === undefined) return { ...nothing, xml: frame === undefined ? undefined : '' };
      const given = isEmptyReply && isNothing(body) ? emptyObject : body;
      return writtenReply(reply.write(given, undefined, frame), frame);
    },
    writeError: () => '',
    writeFault: faults.write,
  };
}

/** Returns a reply that was written, in its frame. */
export function writtenReply(
  { xml, headers, missing, ...counts }: WrittenMessage,
  frame: Frame | undefined,
): WrittenReply {
  const framed = frame === undefined ? undefined : inFrame(frame, headers, xml);
  const mismatches = missing === 0 ? undefined : { missing, described: [] };
  // attachments may be ranges of the JSON, whose memory is released after one buffer was written
  const isInPieces = counts.attached !== undefined && framed !== undefined;
  return { failed: false, ...counts, mismatches, xml: isInPieces ? [framed] : framed };
}

/** Returns the values of headers that the request has in SOAP headers, by name. */
function movedValues(
  movedHeaders: readonly MovedHeader[],
  { credentials }: Reading,
): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const [index, { name }] of movedHeaders.entries()) {
    const value = credentials?.[index];
    if (value !== undefined) given.set(name, value);
  }
  return given;
}

/** Returns the body of a response. Throws MismatchError for a success without one (W22). */
const readRequiredBody: CompiledOperation['readAnswer'] = (answer) => {
  requireBody(answer);
  return answer.body;
};

/** Returns true if a body's JSON is an object, so that no body means an empty one. */
function isObject(body: NonNullable<CompiledAdoptedOperation['operation']['output']>['body']): boolean {
  return body.kind !== 'element' || body.element.type.kind === 'complex';
}

/** Returns true if a response has no value: an empty body or `null`. */
function isNothing(body: Uint8Array): boolean {
  return body.length === 0 || (body.length === 4 && body[0] === 110);
}

/** Writes a message and its header blocks into an envelope. */
function inFrame({ before, after, headed }: Frame, headers: string, xml: Buffer): Buffer {
  const start = headers === '' || headed === undefined ? before : headed.before + headers + headed.between;
  const all = Buffer.allocUnsafe(Buffer.byteLength(start) + xml.length + after.length);
  const from = all.write(start);
  xml.copy(all, from);
  all.write(after, from + xml.length);
  return all;
}

function rootOf(body: CompiledAdoptedOperation['operation']['input']['body']): QName | undefined {
  if (body.kind === 'empty') return undefined;
  return body.kind === 'rpc' ? body.wrapper : body.element.name;
}

/**
 * Checks a JSON caller's body by writing it as XML, which is discarded. If a member is missing, or `validate: strict`
 * has more checks, that XML is read as an XML request. If unknown members are ignored (W12), they are removed from the
 * text, which is otherwise unchanged.
 */
function knownOf(
  text: string,
  request: MessageCodec,
  { unknownElements, validate }: Settings,
  reading: Reading,
  limits: Limits,
  written: Limits,
): string {
  checkJson(text, limits);
  const bytes = Buffer.from(text);
  const jsonRequest: JsonRequestReading = { ignores: unknownElements === 'ignore', ignored: [] };
  try {
    const { xml, headers, missing, left } = request.write(bytes, jsonRequest);
    if (missing > 0 || validate !== 'types') readBack(xml, headers, request, reading, written);
    for (const name of left?.names ?? []) reading.ignored.push(name);
    for (const { name } of jsonRequest.ignored) reading.ignored.push(name);
    const known = jsonRequest.ignored.length === 0 ? text : withoutIgnored(bytes, jsonRequest.ignored);
    return left === undefined ? known : withHeaders(withoutHeaders(known, limits), left.blocks);
  } catch (error) {
    if (error instanceof XmlError) return refuse(reading, 'OutOfRange', error.reason) ?? text;
    if (!(error instanceof MismatchError)) throw error;
    reading.path.push(...error.path);
    refuse(reading, error.code, error.reason);
    reading.path.length -= error.path.length;
    return text;
  }
}

/**
 * Number of steps per byte of that XML, so that the event loop reads no more of it than of XML requests
 * (`readAsideBytes`).
 */
const stepsPerByte = 8;

/** Reads a JSON request that was written as XML, and records its problems. Throws TooManySteps. */
function readBack(
  xml: Uint8Array,
  headers: string,
  request: MessageCodec,
  reading: Reading,
  limits: Limits,
): void {
  countSteps(reading, (xml.length + headers.length) * stepsPerByte);
  const readerOf = (text: string): XmlReader => {
    const reader = new XmlReader(text, limits);
    reader.readRoot();
    return reader;
  };
  if (headers !== '') {
    const header = readerOf(`<h>${headers}</h>`);
    while (header.nextChild()) request.readHeader(header, reading);
  }
  if (xml.length > 0) request.read(readerOf(bufferOf(xml).toString()), reading);
}

/**
 * Returns the limits for XML that was written from JSON. Only the limit of a text remains, because the limits of JSON
 * were checked and the caller knows no others.
 */
function writtenLimits(limits: Limits): Limits {
  const none = Number.POSITIVE_INFINITY;
  return {
    ...limits,
    xmlDepth: none,
    xmlElements: none,
    xmlChildren: none,
    // limited, because each declaration is compared with all previous ones
    xmlAttributes: Math.max(limits.xmlAttributes ?? maxAttributes, 1_000),
    xmlAllAttributes: none,
    xmlName: none,
    xmlNamespace: none,
    xmlAttributeValue: none,
  };
}

/** Compiles the handling of a request's header blocks (A8). */
function compileHeader(
  { declares, readHeader }: MessageCodec,
  movedHeaders: readonly MovedHeader[],
  limits: Limits,
): CompiledOperation['header'] {
  return {
    declares,
    read: readHeader,
    join: (body, blocks, reading) => {
      const kept = blocks.flatMap((block) => withoutMoved(block, movedHeaders, reading, limits) ?? []);
      return withHeaders(body, kept);
    },
  };
}

/** Returns a body's JSON without its header blocks. */
function withoutHeaders(text: string, limits: Limits): string {
  const rest: string[] = [];
  for (const [name, token] of membersOf(text, limits) ?? [])
    if (name !== '@headers') rest.push(`${quoteJson(name)}:${token}`);
  return `{${rest.join(',')}}`;
}

/** Removes the moved scalars from a JSON caller's body. The text is unchanged if there are none. */
function withoutMovedIn(
  text: string,
  movedHeaders: readonly MovedHeader[],
  reading: Reading,
  limits: Limits,
): string {
  const blocks: string[] = [];
  for (const [name, token] of membersOf(text, limits) ?? [])
    if (name === '@headers')
      for (const [block, its] of membersOf(token, limits) ?? []) blocks.push(`${quoteJson(block)}:${its}`);
  const kept = blocks.flatMap((block) => withoutMoved(block, movedHeaders, reading, limits) ?? []);
  if (kept.length === blocks.length && kept.every((block, index) => block === blocks[index])) return text;
  return withHeaders(withoutHeaders(text, limits), kept);
}

/** Moves scalars from a block `"Name":…` to the reading. Returns the rest of the block; undefined if it is empty. */
function withoutMoved(
  block: string,
  movedHeaders: readonly MovedHeader[],
  reading: Reading,
  limits: Limits,
): string | undefined {
  let left: string | undefined = block;
  for (const [index, { block: name, path, header, format }] of movedHeaders.entries()) {
    const opens = `${quoteJson(name)}:`;
    if (left === undefined || !left.startsWith(opens)) continue;
    const taken = take(left.slice(opens.length), path, limits);
    if (taken.isOther) {
      reading.path.push('@headers', name, ...path);
      refuse(reading, 'InvalidType', {
        expected: `one value, which goes upstream in ${header}`,
        got: 'another value',
      });
      reading.path.length -= 2 + path.length;
      left = taken.rest === undefined ? undefined : opens + taken.rest;
    }
    if (taken.value === undefined) continue;
    const values: (string | undefined)[] = [...(reading.credentials ?? [])];
    values.length = Math.max(values.length, index + 1);
    values[index] = format.replace('{}', () => taken.value ?? '');
    reading.credentials = values;
    left = taken.rest === undefined || taken.rest === '{}' ? undefined : opens + taken.rest;
  }
  return left;
}

/** The result of removing a scalar from JSON. */
interface Taken {
  /** The scalar as text; undefined if it is absent. */
  readonly value: string | undefined;
  /** The remaining JSON; undefined if nothing remains. */
  readonly rest: string | undefined;
  /** True if there is another value than one scalar, at its position or on the path to it. Nothing remains then. */
  readonly isOther: boolean;
}

const other: Taken = { value: undefined, rest: undefined, isOther: true };

/** Removes a scalar from JSON by its path. */
function take(json: string, [name, ...path]: readonly string[], limits: Limits): Taken {
  const untaken = { value: undefined, rest: json };
  if (json === 'null') return { ...untaken, isOther: false };
  if (name === undefined) {
    if (/^[[{]/.test(json)) return other;
    const value = json.startsWith('"') ? new JsonReader(json, limits).string() : json;
    return { value, rest: undefined, isOther: false };
  }
  const members = membersOf(json, limits);
  if (members === undefined) return other;
  const rest: string[] = [];
  let found: Taken = { ...untaken, isOther: false };
  for (const [key, token] of members) {
    if (key === name) found = take(token, path, limits);
    const kept = key === name ? found.rest : token;
    if (kept !== undefined) rest.push(`${quoteJson(key)}:${kept}`);
  }
  return { ...found, rest: `{${rest.join(',')}}` };
}
