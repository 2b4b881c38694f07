import { openapiByteReaders } from './codec/byte-reader/openapi.ts';
import {
  compileReplyWriters,
  compileRequestReaders,
  type ReplyWriters,
  type RequestReaders,
} from './codec/codecs.ts';
import { createScratch, opens, type Scratch } from './codec/element.ts';
import { compileMismatches, mismatchError } from './codec/mismatches.ts';
import {
  credentialsSlot,
  MismatchError,
  miss,
  type Reading,
  recordDeviation,
  refuse,
} from './codec/problem.ts';
import { compileScalars } from './codec/scalars/table.ts';
import { escapeAttribute } from './codec/scalars/text.ts';
import { isNil } from './codec/schema-instance.ts';
import type { CompiledContract, CompiledOperation, Frame } from './compiled.ts';
import type { Limits } from './contract/limits.ts';
import { type Contract, errorMembers, type Field, namespaces, type Operation } from './contract/model.ts';
import type { Settings } from './contract/overlay-keys.ts';
import { compileAnswer, compileSuccess } from './http-mapping/answer.ts';
import { compileCall } from './http-mapping/call.ts';
import type { HeaderScalars } from './http-mapping/header.ts';
import { JsonReader } from './json/reader.ts';
import { doAll, type Steps } from './steps.ts';
import { type Piece, piece } from './xml/output.ts';
import type { XmlReader } from './xml/reader.ts';

/** Compiles the codecs of an OpenAPI contract, one operation per step, because a contract may have thousands. */
export function* compileOpenapiInSteps(contract: Contract, limits: Limits): Steps<CompiledContract> {
  const scalars = compileScalars({ settings: contract.settings, limits });
  const readers = compileRequestReaders(contract, scalars, limits);
  const writers = compileReplyWriters(contract, scalars, limits);
  const scratch = createScratch(limits);
  const byteReaderOf = openapiByteReaders(contract, scalars, readers, limits);
  const compile = (operation: Operation): CompiledOperation =>
    compileOperation(contract, operation, readers, byteReaderOf, writers, scalars, scratch, limits);
  return {
    contract,
    limits,
    withLimits: (others) => doAll(compileOpenapiInSteps(contract, others)),
    operations: yield* compileEach(contract.operations, compile),
    writeError: compileWriteError(contract, writers),
  };
}

/** Returns the writer of an error before its operation is known. */
export function compileWriteError(contract: Contract, writers: ReplyWriters): CompiledContract['writeError'] {
  return (status) => {
    const [open, close] = elementTags(contract, 'ErrorResponse');
    return `${open}<Data><ResponseStatus>${writers.writeStatus(status)}</ResponseStatus></Data>${close}`;
  };
}

function* compileEach(
  operations: readonly Operation[],
  compile: (operation: Operation) => CompiledOperation,
): Steps<CompiledContract['operations']> {
  const compiled = new Map<string, CompiledOperation>();
  for (const operation of operations) {
    compiled.set(operation.name, compile(operation));
    yield;
  }
  return compiled;
}

/** Compiles the codecs of an operation. `slots` has the index of each input that is sent outside of the JSON body. */
function compileOperation(
  contract: Contract,
  operation: Operation,
  readers: RequestReaders,
  byteReaderOf: ReturnType<typeof openapiByteReaders>,
  writers: ReplyWriters,
  scalars: HeaderScalars,
  scratch: Scratch,
  limits: Limits,
): CompiledOperation {
  const { upstream, input } = operation;
  const { credentials } = contract;
  const slots = slotsOf(contract, operation);
  const inputReader = readers.inputOf(input, slots);
  const [open, close] = elementTags(contract, `${operation.name}Response`);
  const dataXml = operation.output.fields.find((field) => field.json === errorMembers.data)?.xml ?? 'Data';
  const statusXml = statusElement(operation, contract);
  const credentialsType = input.fields.find(({ json }) => json === credentials?.member)?.type;
  const credentialNames =
    credentialsType?.kind === 'record' ? credentialsType.fields.map(({ json }) => json) : [];
  const { reply } = upstream;
  const replyMember =
    reply.kind === 'object' ? undefined : operation.output.fields.find(({ json }) => json === reply.name);
  const { settings } = contract;
  const refusesAttributes = settings.validate === 'strict' && settings.unknownElements === 'refuse';
  return {
    operation,
    root: { namespace: contract.namespaces.types, local: operation.name },
    isOneWay: false,
    replyAction: `${operation.name}Response`,
    spansBody: false,
    holdsParts: settings.validate !== 'strict' && holdsParts(operation),
    header: undefined,
    readXml: compileReadXml(operation, contract, refusesAttributes, inputReader),
    readBytes: byteReaderOf(operation, slots, refusesAttributes),
    readJson: compileReadJson(inputReader, limits),
    readParameters: compileReadParameters(contract, operation, readers, slots),
    credentialsOf: compileCredentialsOf(credentialNames, limits),
    jsonOf: compileJsonOf(slots),
    request: compileCall(contract, operation, slots, limits),
    succeeds: compileSuccess(operation),
    readAnswer: compileAnswer(operation, scalars, limits),
    requestType: operation.input,
    replyType: replyMember?.type ?? operation.output,
    writeReply: compileReply(operation, replyMember, writers, scratch, limits, settings, open, close),
    writeError: (status) => {
      const content = writers.writeStatus(status);
      return `${open}<${dataXml}><${statusXml}>${content}</${statusXml}></${dataXml}>${close}`;
    },
    writeFault: undefined,
  };
}

/** Returns true if the upstream body is one input or all inputs, and no other input can contain base64. */
function holdsParts({ input, upstream: { body, parameters }, stream }: Operation): boolean {
  if (stream) return true;
  const isWhole = body.kind === 'members' || body.kind === 'json' || body.kind === 'binary';
  return isWhole && parameters.every(({ field }) => isPlain(input.fields.find(({ json }) => json === field)));
}

/** Returns true if a field cannot contain base64. */
function isPlain(field: Field | undefined): boolean {
  const type = field?.type;
  return type?.kind === 'enum' || (type?.kind === 'scalar' && type.scalar !== 'base64Binary');
}

function slotsOf({ credentials }: Contract, { upstream }: Operation): ReadonlyMap<string, number> {
  const slots = new Map<string, number>();
  if (credentials?.member !== undefined) slots.set(credentials.member, credentialsSlot);
  for (const parameter of upstream.parameters) slots.set(parameter.field, slots.size + 1);
  if ('field' in upstream.body) slots.set(upstream.body.field, slots.size + 1);
  return slots;
}

type InputReader = ReturnType<RequestReaders['inputOf']>;

function compileReadXml(
  { input }: Operation,
  { credentials }: Contract,
  refusesAttributes: boolean,
  inputReader: InputReader,
): CompiledOperation['readXml'] {
  const isWithoutInputs =
    input.additional === undefined && input.fields.every(({ json }) => json === credentials?.member);
  const opensInput = (xml: XmlReader, reading: Reading): boolean => {
    if (!isWithoutInputs || xml.attributeCount === 0 || !isNil(xml)) return opens(xml, reading);
    recordDeviation(reading, 'nilOperation'); // node-soap sends it for null
    return true;
  };
  const readXml: CompiledOperation['readXml'] = (xml, reading) => {
    if (xml === undefined) throw new RangeError('expected the request’s element, got an empty body');
    reading.refusesAttributes = refusesAttributes;
    const text = opensInput(xml, reading) ? inputReader.read(xml, reading) : undefined;
    reading.illegalReferences = xml.joinedSurrogates + xml.illegalReferences;
    return { text: text ?? '{}', reading, closes: undefined };
  };
  return readXml;
}

function compileReadJson(inputReader: InputReader, limits: Limits): CompiledOperation['readJson'] {
  const readJson: CompiledOperation['readJson'] = (text, reading) => {
    const json = new JsonReader(text, limits);
    const first = json.peek();
    if (json.position === text.length) {
      inputReader.pass(new JsonReader('{}', limits), reading); // records missing required members
      return { text: '{}', reading, closes: undefined };
    }
    if (first !== 123) json.fail('one JSON object');
    inputReader.pass(json, reading);
    const closes = json.position - 1;
    json.end();
    return { text, reading, closes };
  };
  return readJson;
}

function compileReadParameters(
  { settings, credentials }: Contract,
  { input }: Operation,
  readers: RequestReaders,
  slots: ReadonlyMap<string, number>,
): CompiledOperation['readParameters'] {
  const fieldReaders = new Map(
    input.fields.map((field) => [field.json, readers.readerOf(field.type, field.rules)]),
  );
  const distinguishesAbsent = settings.soapErrors === 'fault';
  const readParameters: CompiledOperation['readParameters'] = (values, reading) => {
    const parts: string[] = [];
    for (const { field, shownName, text } of values) {
      reading.path.push(shownName);
      const value =
        text === undefined
          ? refuse(reading, 'InvalidCharacter', {
              expected: 'text in UTF-8 by its escapes',
              got: 'other escapes',
            })
          : fieldReaders.get(field)?.fromText?.(text, reading);
      reading.path.pop();
      const slot = slots.get(field);
      if (value === undefined) continue;
      if (slot === undefined) parts.push(`${JSON.stringify(field)}:${value}`);
      else reading.slots[slot] = value;
    }
    for (const field of input.fields) {
      if (!field.required || field.json === credentials?.member) continue;
      const given = values.find((value) => value.field === field.json);
      if (given === undefined || (field.notEmpty && given.text === ''))
        miss(reading, [given?.shownName ?? field.json], distinguishesAbsent && given === undefined);
    }
    return { text: `{${parts.join(',')}}`, reading, closes: undefined };
  };
  return readParameters;
}

function compileCredentialsOf(
  credentialNames: readonly string[],
  limits: Limits,
): CompiledOperation['credentialsOf'] {
  return ({ reading }) => {
    const texts = new Map<string, string>();
    const { credentials: tokens } = reading;
    if (tokens === undefined) return texts;
    for (let index = 0; index < credentialNames.length; index++) {
      const token = tokens[index];
      if (token?.startsWith('"')) texts.set(credentialNames[index] as string, textOf(token, limits));
    }
    return texts;
  };
}

function compileJsonOf(slots: ReadonlyMap<string, number>): CompiledOperation['jsonOf'] {
  return ({ text: written, reading, closes }) => {
    const text = written.toString();
    if (closes !== undefined) return text;
    const separate = [...slots].flatMap(([field, slot]) => {
      const json = reading.slots[slot];
      return json === undefined ? [] : [`${JSON.stringify(field)}:${json}`];
    });
    return `{${[...separate, text.slice(1, -1)].filter((part) => part !== '').join(',')}}`;
  };
}

/** Returns the text of a JSON string that was checked before. */
function textOf(token: string, limits: Limits): string {
  return token.includes('\\') ? new JsonReader(token, limits).string() : token.slice(1, -1);
}

/** @param member the only member of the output, if a reply is its value */
function compileReply(
  operation: Operation,
  member: Field | undefined,
  writers: ReplyWriters,
  { tape, output }: Scratch,
  limits: Limits,
  { soapErrors, replies }: Settings,
  open: string,
  close: string,
): CompiledOperation['writeReply'] {
  const { reply } = operation.upstream;
  const bodies = new Set(reply.kind === 'record' ? reply.bodies.map((body) => body.member) : []);
  const writer =
    member === undefined ? writers.outputOf(operation.output) : writers.elementOf(member, bodies);
  const tagsIn = compileTags(open, close);
  const inBand = soapErrors === 'in-band';
  const describeMismatches = compileMismatches(member?.type ?? operation.output, member?.json, limits);
  const dataSlot = 1 + operation.output.fields.findIndex(({ json }) => json === errorMembers.data);
  return (body, frame, runs, maxBytes) => {
    try {
      tape.start(body, limits, runs);
      if (frame?.attachFrom !== undefined) tape.attachFrom = frame.attachFrom;
      writer.scan(tape);
      tape.end();
      // `{}` and `{"data":null}` are not a reply (W30)
      if (inBand && !tape.failed && !tape.holdsRecord(dataSlot))
        throw new MismatchError({ detail: 'data: expected an object, got none' });
      const { failed, dropped, passed, missing } = tape;
      const [mismatch] = tape.mismatches;
      if (replies === 'strict' && mismatch !== undefined && !failed)
        throw mismatchError(mismatch, body, member?.json, limits);
      const mismatches =
        mismatch === undefined || failed ? undefined : describeMismatches(tape.mismatches, missing, body);
      if (failed || frame === undefined)
        return { failed, dropped, replaced: 0, passed, mismatches, xml: undefined };
      output.start((body.length - (runs?.total ?? 0)) * 2 + 1024, maxBytes);
      const { before, after } = tagsIn(frame);
      output.tags(before);
      writer.write(tape, 0, output);
      output.tags(after);
      const attached = output.attached.length > 0 ? output.attached : undefined;
      return {
        failed,
        dropped,
        replaced: tape.replaced,
        passed,
        inexact: tape.inexact === 0 ? undefined : tape.inexact,
        mismatches,
        xml: output.takeBinary(),
        attached,
      };
    } finally {
      tape.release();
      output.release();
    }
  };
}

/** The texts before and after a reply's content. */
interface Tags {
  readonly before: Piece | string;
  readonly after: Piece | string;
}

/**
 * Returns the tags of an element within a frame. They become pieces when the same frame is used twice in a row, because
 * most frames never change.
 */
function compileTags(open: string, close: string): (frame: Frame) => Tags {
  let last: Frame | undefined;
  let usual: Tags | undefined;
  return (frame) => {
    if (frame === last && usual !== undefined) return usual;
    const before = frame.before + open;
    const after = close + frame.after;
    usual = frame === last ? { before: piece(before), after: piece(after) } : undefined;
    last = frame;
    return usual ?? { before, after };
  };
}

function statusElement(operation: Operation, contract: Contract): string {
  const data = operation.output.fields.find((field) => field.json === errorMembers.data)?.type;
  const status =
    data?.kind === 'record' ? data.fields.find((field) => field.type === contract.responseStatus) : undefined;
  return status?.xml ?? 'ResponseStatus';
}

/** Returns the tags of an operation's element. `xmlns:i` is always declared (W19). */
function elementTags(contract: Contract, name: string): readonly [string, string] {
  const types = escapeAttribute(contract.namespaces.types);
  return [`<${name} xmlns="${types}" xmlns:i="${namespaces.xsi}">`, `</${name}>`];
}
