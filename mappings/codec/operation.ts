import { JsonError, JsonReader } from '../json/reader.ts';
import type { Limits } from '../limits.ts';
import { type Contract, namespaces, type Operation, type Parameter } from '../model.ts';
import { XmlOutput } from '../reply/output.ts';
import { Tape } from '../reply/tape.ts';
import { compileReplyWriters, type ReplyWriters } from '../reply/writer.ts';
import type { XmlReader } from '../xml/reader.ts';
import { type Codecs, compileCodecs, scalarsOf } from './codec.ts';
import { opens } from './element.ts';
import { type Edit, MismatchError, miss, type ProblemCode, type Reading, refuse } from './problem.ts';
import { applyEdits, foldAscii } from './record.ts';
import { escapeAttribute } from './text.ts';

/** The inputs of one call, read from whatever form the caller used. */
export interface Input {
  /** The body object's JSON without the slotted inputs; of a JSON request the caller's own text. */
  readonly text: string;
  readonly reading: Reading;
  /** Where the body object closes in a JSON request's text; undefined for a text made here. */
  readonly closes: number | undefined;
}

/** Credentials to send upstream: all of them, and those that the body doesn't hold (W24, W25). */
export interface CredentialValues {
  readonly all: ReadonlyMap<string, string>;
  readonly fromHeaders: ReadonlySet<string>;
}

/** One call as it goes upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** Path and query below the upstream's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly operation: Operation;
}

/** An operation with its codecs, ready for requests. */
export interface CompiledOperation {
  readonly operation: Operation;
  /** XML → inputs: from the request wrapper's start tag past its end tag. */
  readonly readXml: (xml: XmlReader, reading: Reading) => Input;
  /** JSON → inputs. Throws JsonError for text that isn't one JSON object. */
  readonly readJson: (text: string, reading: Reading) => Input;
  /** A route's parameters → inputs (W38); fields by JSON name, text decoded. */
  readonly readParameters: (values: readonly RouteValue[], reading: Reading) => Input;
  /** The JSON of the credentials member, when the request's body had one. */
  readonly credentialsOf: (input: Input) => string | undefined;
  /** The call upstream; a value that its place can't hold is noted in the reading, and the call is undefined. */
  readonly request: (input: Input, credentials: CredentialValues | undefined) => UpstreamRequest | undefined;
  /**
   * A success reply's JSON → the framed reply element, from bytes to bytes; only checked without a frame. Throws
   * MismatchError, JsonError. `failed` when the reply says that the call failed (W30): nothing was written then.
   */
  readonly writeReply: (body: Uint8Array, frame: Frame | undefined) => WrittenReply;
  /** `{"data":{"responseStatus":…}}`'s inner object → the reply element (W26). */
  readonly writeError: (statusJson: string) => string;
}

/** What a reply element goes out in: an envelope, say. */
export interface Frame {
  readonly before: string;
  readonly after: string;
}

/** A success reply, checked against its type and written. */
export interface WrittenReply {
  /** True when the reply says that the call failed (W30); nothing was written then. */
  readonly failed: boolean;
  readonly dropped: number;
  readonly replaced: number;
  /** The framed reply element in UTF-8, a small one as text of one character per byte; undefined without a frame. */
  readonly xml: Buffer | string | undefined;
}

export interface RouteValue {
  readonly field: string;
  /** What an error calls it: the input's JSON name for a path parameter, as sent for a query parameter (W29). */
  readonly said: string;
  readonly text: string;
}

/** A contract with its codecs. */
export interface CompiledContract {
  readonly contract: Contract;
  readonly limits: Limits;
  readonly operations: ReadonlyMap<string, CompiledOperation>;
  /** An error without an operation, in XML (W36). */
  readonly writeError: (statusJson: string) => string;
}

const credentialsSlot = 0;

/** Compiles a contract's codecs; all the work on schemas that a request would otherwise do. */
export function compileContract(contract: Contract, limits: Limits): CompiledContract {
  const scalars = scalarsOf(contract, limits);
  const codecs = compileCodecs(contract, scalars, limits);
  const writers = compileReplyWriters(contract, scalars, limits);
  const pen: Pen = { tape: new Tape(), output: new XmlOutput() };
  const operations = new Map<string, CompiledOperation>();
  for (const operation of contract.operations) {
    operations.set(operation.name, compileOperation(contract, operation, codecs, writers, pen, limits));
  }
  return {
    contract,
    limits,
    operations,
    writeError: (status) => {
      const [open, close] = elementTags(contract, 'ErrorResponse');
      return `${open}<Data><ResponseStatus>${writers.writeStatus(status)}</ResponseStatus></Data>${close}`;
    },
  };
}

function compileOperation(
  contract: Contract,
  operation: Operation,
  codecs: Codecs,
  writers: ReplyWriters,
  pen: Pen,
  limits: Limits,
): CompiledOperation {
  const { upstream, input } = operation;
  const { credentials } = contract;
  const slots = new Map<string, number>();
  if (credentials?.member !== undefined) slots.set(credentials.member, credentialsSlot);
  for (const parameter of upstream.parameters) slots.set(parameter.field, slots.size + 1);
  if (upstream.body.kind === 'field') slots.set(upstream.body.field, slots.size + 1);
  const inputCodec = codecs.inputOf(input, slots);
  const fieldCodecs = new Map(input.fields.map((field) => [field.json, codecs.codecOf(field.type)]));
  const [open, close] = elementTags(contract, `${operation.name}Response`);
  const inBand = contract.settings.soapErrors === 'in-band';
  const dataXml = operation.output.fields.find((field) => field.json === 'data')?.xml ?? 'Data';
  const statusXml = statusElement(operation, contract);
  const request = compileRequest(contract, operation, slots, limits);

  return {
    operation,
    readXml: (xml, reading) => {
      const text = opens(xml, reading) ? inputCodec.read(xml, reading) : undefined;
      reading.quirks = xml.joinedSurrogates + xml.illegalReferences;
      return { text: text ?? '{}', reading, closes: undefined };
    },

    readJson: (text, reading) => {
      const json = new JsonReader(text, limits);
      const first = json.peek();
      if (json.position === text.length) {
        inputCodec.pass(new JsonReader('{}', limits), reading); // what is required is missed
        return { text: '{}', reading, closes: undefined };
      }
      if (first !== 123) json.fail('one JSON object');
      inputCodec.pass(json, reading);
      const closes = json.position - 1;
      json.end();
      return { text, reading, closes };
    },

    readParameters: (values, reading) => {
      const parts: string[] = [];
      for (const { field, said, text } of values) {
        reading.path.push(said);
        const value = fieldCodecs.get(field)?.fromText?.(text, reading);
        reading.path.pop();
        const slot = slots.get(field);
        if (value === undefined) continue;
        if (slot === undefined) parts.push(`${JSON.stringify(field)}:${value}`);
        else reading.slots[slot] = value;
      }
      for (const field of operation.input.fields) {
        if (!field.required || field.json === credentials?.member) continue;
        const given = values.find((value) => value.field === field.json);
        if (given === undefined || (field.notEmpty && given.text === ''))
          miss(reading, [given?.said ?? field.json]);
      }
      return { text: `{${parts.join(',')}}`, reading, closes: undefined };
    },

    credentialsOf: ({ reading }) =>
      credentials?.member === undefined ? undefined : reading.slots[credentialsSlot],
    request,

    writeReply: compileReply(operation, writers, pen, limits, inBand, open, close),

    writeError: (status) => {
      const content = writers.writeStatus(status);
      return `${open}<${dataXml}><${statusXml}>${content}</${statusXml}></${dataXml}>${close}`;
    },
  };
}

/** What replies are written with, one at a time. */
interface Pen {
  readonly tape: Tape;
  readonly output: XmlOutput;
}

function compileReply(
  operation: Operation,
  writers: ReplyWriters,
  { tape, output }: Pen,
  limits: Limits,
  inBand: boolean,
  open: string,
  close: string,
): CompiledOperation['writeReply'] {
  const { reply } = operation.upstream;
  const field =
    reply.kind === 'member' ? operation.output.fields.find(({ json }) => json === reply.name) : undefined;
  const writer = field === undefined ? writers.outputOf(operation.output) : writers.elementOf(field);
  const dataSlot = 1 + operation.output.fields.findIndex(({ json }) => json === 'data');
  return (body, frame) => {
    try {
      tape.start(body, limits);
      writer.scan(tape);
      tape.end();
      // `{}`, `{"data":null}` and the like are no reply (W30)
      if (inBand && !tape.failed && !tape.holdsRecord(dataSlot))
        throw new MismatchError('expected a data object, got none');
      const { failed, dropped } = tape;
      if (failed || frame === undefined) return { failed, dropped, replaced: 0, xml: undefined };
      output.start(body.length * 2 + 1024);
      output.text(frame.before + open);
      writer.write(tape, 0, output);
      output.text(close + frame.after);
      return { failed, dropped, replaced: tape.replaced, xml: output.takeBinary() };
    } finally {
      tape.release();
    }
  };
}

function statusElement(operation: Operation, contract: Contract): string {
  const data = operation.output.fields.find((field) => field.json === 'data')?.type;
  const status =
    data?.kind === 'record' ? data.fields.find((field) => field.type === contract.responseStatus) : undefined;
  return status?.xml ?? 'ResponseStatus';
}

/** Tags of an operation's element; `xmlns:i` is always declared (W19). */
function elementTags(contract: Contract, name: string): readonly [string, string] {
  const types = escapeAttribute(contract.namespaces.types);
  return [`<${name} xmlns="${types}" xmlns:i="${namespaces.xsi}">`, `</${name}>`];
}

// --- the call upstream ---------------------------------------------------------------------------

const jsonHeaders = { 'content-type': 'application/json', accept: 'application/json' } as const;
const noBodyHeaders = { accept: 'application/json' } as const;

/** One function that turns an operation's inputs into its upstream call (W35). */
function compileRequest(
  contract: Contract,
  operation: Operation,
  slots: ReadonlyMap<string, number>,
  limits: Limits,
): CompiledOperation['request'] {
  const { upstream } = operation;
  const { credentials } = contract;
  const member = credentials?.send === 'body' ? credentials.member : undefined;

  const body = (input: Input, values: CredentialValues | undefined): string | undefined => {
    if (upstream.body.kind === 'none') return undefined;
    if (upstream.body.kind === 'field') return input.reading.slots[slots.get(upstream.body.field) ?? -1];
    const { edits, spans } = input.reading;
    const elsewhere = spans.some((span, slot) => span !== undefined && (slot !== credentialsSlot || !member));
    if (input.closes === undefined || elsewhere) {
      const text = input.closes === undefined ? input.text : withoutSlots(input, limits);
      if (member === undefined || values === undefined) return text;
      const separator = text === '{}' ? '' : ',';
      return `${text.slice(0, -1)}${separator}${JSON.stringify(member)}:${credentialsText(values.all)}}`;
    }
    if (member === undefined || values === undefined || values.fromHeaders.size === 0) {
      return applyEdits(input.text, edits);
    }
    const span = spans[credentialsSlot];
    const added =
      span === undefined
        ? [appendMember(input.text, input.closes, member, values)]
        : spliceCredentials(input.text, span, values, limits);
    return applyEdits(
      input.text,
      [...edits, ...added].toSorted((a, b) => a.start - b.start),
    );
  };

  if (upstream.parameters.length === 0 && credentials?.send !== 'headers') {
    const headers = upstream.body.kind === 'none' ? noBodyHeaders : jsonHeaders;
    const { method, path } = upstream;
    return (input, values) => ({ method, path, headers, body: body(input, values), operation });
  }

  return (input, values) => {
    const { reading } = input;
    const before = reading.problems.length;
    const filled = { path: upstream.path, query: '' };
    const headers: Record<string, string> = {};
    for (const parameter of upstream.parameters) {
      const token = reading.slots[slots.get(parameter.field) ?? -1];
      const text = token === undefined || token === 'null' ? undefined : textOfToken(token);
      if (parameter.in === 'path') fillPath(filled, parameter, text, reading);
      else if (text === undefined) continue;
      else if (parameter.in === 'query') {
        filled.query += `${filled.query === '' ? '?' : '&'}${encodeURIComponent(parameter.name)}=${encodeText(text)}`;
      } else if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text))
        headers[parameter.name.toLowerCase()] = text;
      else
        refuseAt(
          reading,
          'InvalidCharacter',
          parameter.field,
          'expected printable ASCII for a header, got other characters',
        );
    }
    const text = body(input, values);
    Object.assign(headers, text === undefined ? noBodyHeaders : jsonHeaders);
    if (credentials?.send === 'headers') {
      for (const part of credentials.parts) {
        const value = values?.all.get(part.name);
        if (value !== undefined) headers[part.header.toLowerCase()] = value;
      }
    }
    if (reading.problems.length > before) return undefined;
    return { method: upstream.method, path: filled.path + filled.query, headers, body: text, operation };
  };
}

/** Puts a value into the path; what would change which resource it names is refused. */
function fillPath(
  filled: { path: string },
  { field, name }: Parameter,
  text: string | undefined,
  reading: Reading,
): void {
  if (text === undefined || text === '') {
    refuseAt(reading, 'NotEmpty', field, 'expected a value for the path, got none');
  } else if (text === '.' || text === '..') {
    refuseAt(reading, 'InvalidCharacter', field, 'expected a value for the path, got dots');
  } else {
    filled.path = filled.path.replaceAll(`{${name}}`, () => encodeText(text));
  }
}

/** Percent-encoded; half a surrogate pair becomes U+FFFD, as UTF-8 can't hold it. */
function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function refuseAt(reading: Reading, code: ProblemCode, field: string, says: string): void {
  reading.path.push(field);
  refuse(reading, code, says);
  reading.path.pop();
}

/** A JSON token as the text of a parameter. */
function textOfToken(token: string): string {
  const value: unknown = token.startsWith('"') ? JSON.parse(token) : token;
  return String(value);
}

function credentialsText(all: ReadonlyMap<string, string>): string {
  let text = '';
  for (const [name, value] of all)
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return `{${text}}`;
}

/** A JSON request's members, edits put in, without those that travel elsewhere. */
function withoutSlots({ text, reading }: Input, limits: Limits): string {
  const members: string[] = [];
  const json = new JsonReader(text, limits);
  json.peek();
  json.enter();
  for (let first = true; json.next(first, 125); first = false) {
    const start = json.position;
    json.name();
    const value = json.position;
    json.skip();
    const end = json.position;
    if (reading.spans.some((span) => span?.start === value)) continue;
    const edits = reading.edits.filter((edit) => edit.start >= start && edit.end <= end);
    members.push(applyEdits(text.slice(start, end), edits, start));
  }
  return `{${members.join(',')}}`;
}

/** The whole credentials member, as the body's last. */
function appendMember(text: string, closes: number, member: string, values: CredentialValues): Edit {
  const empty = /^\s*\{\s*$/.test(text.slice(0, closes));
  return {
    start: closes,
    end: closes,
    text: `${empty ? '' : ','}${JSON.stringify(member)}:${credentialsText(values.all)}`,
  };
}

/** What came from headers, put into the body's credentials object, or in its place where it is null (W37). */
function spliceCredentials(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  values: CredentialValues,
  limits: Limits,
): Edit[] {
  if (text.startsWith('null', start)) return [{ start, end, text: credentialsText(values.all) }];
  const added = new Map<string, string>();
  for (const name of values.fromHeaders) added.set(name, values.all.get(name) ?? '');
  const edits: Edit[] = [];
  const object = text.slice(start, end);
  const known: Record<string, unknown> = JSON.parse(object);
  let rest = '';
  for (const [name, value] of added) {
    const said = Object.keys(known).find((key) => foldAscii(key) === foldAscii(name));
    if (said === undefined) rest += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
    else edits.push(replaceMember(object, start, said, value, limits));
  }
  if (rest !== '') {
    const closes = end - 1;
    edits.push({ start: closes, end: closes, text: Object.keys(known).length === 0 ? rest.slice(1) : rest });
  }
  return edits;
}

/** The empty or null value of `name` in an object's text, replaced. */
function replaceMember(object: string, offset: number, name: string, value: string, limits: Limits): Edit {
  const json = new JsonReader(object, limits);
  json.enter();
  for (let first = true; json.next(first, 125); first = false) {
    const found = json.name() === name;
    const start = json.position;
    json.skip();
    if (found) return { start: offset + start, end: offset + json.position, text: JSON.stringify(value) };
  }
  throw new JsonError(offset, `expected the member ${name}`);
}
