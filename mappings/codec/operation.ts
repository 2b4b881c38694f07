import { JsonError, JsonReader } from '../json/reader.ts';
import type { Limits } from '../limits.ts';
import { type Contract, namespaces, type Operation } from '../model.ts';
import type { XmlReader } from '../xml/reader.ts';
import { type Codecs, compileCodecs } from './codec.ts';
import { type Edit, MismatchError, type Reading, refuse } from './problem.ts';
import { applyEdits } from './record.ts';
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
   * A success reply's JSON → the reply element. Throws MismatchError, JsonError. Sets `failed` on the reader
   * when the reply says that the call failed (W30); what comes back is then no reply.
   */
  readonly writeReply: (json: JsonReader) => string;
  /** `{"data":{"responseStatus":…}}`'s inner object → the reply element (W26). */
  readonly writeError: (statusJson: string) => string;
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
  const codecs = compileCodecs(contract, limits);
  const operations = new Map<string, CompiledOperation>();
  for (const operation of contract.operations) {
    operations.set(operation.name, compileOperation(contract, operation, codecs, limits));
  }
  return {
    contract,
    limits,
    operations,
    writeError: (status) => {
      const [open, close] = elementTags(contract, 'ErrorResponse');
      return `${open}<Data><ResponseStatus>${writeStatusText(codecs, status, limits)}</ResponseStatus></Data>${close}`;
    },
  };
}

function compileOperation(
  contract: Contract,
  operation: Operation,
  codecs: Codecs,
  limits: Limits,
): CompiledOperation {
  const { upstream, input } = operation;
  const { credentials } = contract;
  const slots = new Map<string, number>();
  if (credentials?.member !== undefined) slots.set(credentials.member, credentialsSlot);
  for (const parameter of upstream.parameters) slots.set(parameter.field, slots.size + 1);
  if (upstream.body.kind === 'field') slots.set(upstream.body.field, slots.size + 1);
  const inputCodec = codecs.inputOf(input, slots);
  const outputCodec = codecs.codecOf(operation.output);
  const fields = new Map(input.fields.map((field) => [field.json, field]));
  const fieldCodecs = new Map(input.fields.map((field) => [field.json, codecs.codecOf(field.type)]));
  const [open, close] = elementTags(contract, `${operation.name}Response`);
  const inBand = contract.settings.soapErrors === 'in-band';
  const dataXml = operation.output.fields.find((field) => field.json === 'data')?.xml ?? 'Data';
  const statusXml = statusElement(operation, contract);
  const request = compileRequest(contract, operation, slots, limits);

  return {
    operation,
    readXml: (xml, reading) => ({ text: inputCodec.read(xml, reading) ?? '{}', reading, closes: undefined }),

    readJson: (text, reading) => {
      const source = isBlank(text) ? '{}' : text;
      const json = new JsonReader(source, limits);
      if (json.peek() !== 123) json.fail('one JSON object');
      inputCodec.pass(json, reading);
      const closes = json.position - 1;
      json.end();
      return { text: source, reading, closes };
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
      for (const field of fields.values()) {
        const given = values.some((value) => value.field === field.json);
        if (field.required && !given && field.json !== credentials?.member) {
          reading.missing.push({
            code: 'NotEmpty',
            field: field.json,
            message: `${field.json} must not be empty`,
          });
        }
      }
      return { text: `{${parts.join(',')}}`, reading, closes: undefined };
    },

    credentialsOf: ({ reading }) =>
      credentials?.member === undefined ? undefined : reading.slots[credentialsSlot],
    request,

    writeReply: (json) => {
      const content = outputCodec.write(json);
      json.end();
      // `{}`, `{"data":null}` and the like are no reply (W30)
      if (
        inBand &&
        !json.failed &&
        (content === null || content === '' || content.startsWith(`<${dataXml} i:nil`))
      ) {
        throw new MismatchError('expected a data object, got none');
      }
      return content === null || content === '' ? `${open}${close}` : open + content + close;
    },

    writeError: (status) => {
      const content = writeStatusText(codecs, status, limits);
      return `${open}<${dataXml}><${statusXml}>${content}</${statusXml}></${dataXml}>${close}`;
    },
  };
}

function statusElement(operation: Operation, contract: Contract): string {
  const data = operation.output.fields.find((field) => field.json === 'data')?.type;
  const status =
    data?.kind === 'record' ? data.fields.find((field) => field.type === contract.responseStatus) : undefined;
  return status?.xml ?? 'ResponseStatus';
}

function writeStatusText(codecs: Codecs, status: string, limits: Limits): string {
  return codecs.status.write(new JsonReader(status, limits)) ?? '';
}

/** Tags of an operation's element; `xmlns:i` is always declared (W19). */
function elementTags(contract: Contract, name: string): readonly [string, string] {
  const types = escapeAttribute(contract.namespaces.types);
  return [`<${name} xmlns="${types}" xmlns:i="${namespaces.xsi}">`, `</${name}>`];
}

function isBlank(text: string): boolean {
  return text.length < 64 && text.trim() === '';
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
    if (input.closes === undefined) {
      if (member === undefined || values === undefined) return input.text;
      const separator = input.text === '{}' ? '' : ',';
      return `${input.text.slice(0, -1)}${separator}${JSON.stringify(member)}:${credentialsText(values.all)}}`;
    }
    const { edits, spans } = input.reading;
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
      if (parameter.in === 'path') fillPath(filled, parameter.name, text, reading);
      else if (text === undefined) continue;
      else if (parameter.in === 'query') {
        filled.query += `${filled.query === '' ? '?' : '&'}${encodeURIComponent(parameter.name)}=${encodeText(text)}`;
      } else if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text))
        headers[parameter.name.toLowerCase()] = text;
      else refuseAt(reading, parameter.field, 'expected printable ASCII for a header, got other characters');
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
function fillPath(filled: { path: string }, name: string, text: string | undefined, reading: Reading): void {
  if (text === undefined || text === '' || text === '.' || text === '..') {
    refuseAt(
      reading,
      name,
      `expected a value for the path, got ${text === undefined || text === '' ? 'none' : 'dots'}`,
    );
    return;
  }
  filled.path = filled.path.replaceAll(`{${name}}`, () => encodeText(text));
}

/** Percent-encoded; half a surrogate pair becomes U+FFFD, as UTF-8 can't hold it. */
function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function refuseAt(reading: Reading, field: string, says: string): void {
  reading.path.push(field);
  refuse(reading, 'InvalidCharacter', says);
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
    const said = Object.keys(known).find((key) => key.toLowerCase() === name.toLowerCase());
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
