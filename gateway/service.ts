import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CredentialValues, Input, UpstreamRequest } from '../mappings/codec/call.ts';
import type { CompiledContract, CompiledOperation, Frame } from '../mappings/codec/operation.ts';
import { type Reading, startReading } from '../mappings/codec/problem.ts';
import { JsonError } from '../mappings/json/reader.ts';
import { decodeXml } from '../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../mappings/xml/error.ts';
import { XmlReader } from '../mappings/xml/reader.ts';
import type { Admission } from './admission.ts';
import type { Audit, WriteOutcome } from './audit.ts';
import { type Arrival, admitBody } from './body.ts';
import { hideGiven, hideSecrets, type ReadCredentials, type Spelling } from './credentials.ts';
import type { Standing } from './crowd.ts';
import { CallError, type Failure, failureOf } from './error.ts';
import { type Outcome, readReply } from './exchange.ts';
import type { MessageLog } from './messages.ts';
import { parseContentType } from './negotiate.ts';
import type { ReadSoap, SoapCall, SoapVersion } from './soap.ts';
import type { Upstream, UpstreamReply, Waiting } from './upstream.ts';

/** What every call of one contract needs, put together at start. */
export interface Service {
  readonly compiled: CompiledContract;
  readonly readSoap: ReadSoap;
  /** Undefined for a contract without credentials. */
  readonly readCredentials: ReadCredentials | undefined;
  readonly upstream: Upstream;
  readonly admission: Admission;
  /** Largest request body, in bytes. */
  readonly bodyLimit: number;
  /** Told of every write; undefined where nobody listens. */
  readonly audit: Audit | undefined;
  /** Told of messages; undefined where nobody listens. */
  readonly messages: MessageLog | undefined;
  /** A pseudonym for the value by which callers are told apart; undefined where nobody listens. */
  readonly pseudonymOf: ((values: CredentialValues) => string | undefined) | undefined;
  /** Told of an error that is ours, once. */
  readonly onError: (error: unknown, requestId: string) => void;
}

/** One HTTP exchange as the calls below see it. */
export interface Exchange extends Waiting, Arrival, Standing {
  readonly requestId: string;
  readonly response: ServerResponse;
  /** Filled in on the way, for the log. */
  operation: string | undefined;
  /** A pseudonym of who calls. */
  caller: string | undefined;
  /** The errorCode or the fault's code that the caller is told. */
  error: string | undefined;
  fault: string | undefined;
  bytesIn: number;
  noted: Noted | undefined;
  written: WriteOutcome | undefined;
  /** Headers of the upstream's answer that the reply has too. */
  passed: Readonly<Record<string, string>> | undefined;
}

/** What a call was let through with, counted; of what a caller sent, names alone (W10, W12, W20, W21). */
export interface Noted {
  /** Names of members left out of the request. */
  readonly ignored: readonly string[];
  /** Character references that XML forbids. */
  readonly quirks: number;
  /** Members left out of the reply. */
  readonly dropped: number;
  /** Characters of the reply that became U+FFFD. */
  readonly replaced: number;
  /** Values of the reply that aren't of their type: of an enum, or dates. */
  readonly passed: number;
}

const nothingNoted = { dropped: 0, replaced: 0, passed: 0 } as const;

function noted({ ignored, quirks }: Reading, outcome: Outcome): Noted | undefined {
  const { dropped, replaced, passed } = outcome.kind === 'reply' ? outcome : nothingNoted;
  if (ignored.length === 0 && quirks + dropped + replaced + passed === 0) return undefined;
  const names = ignored.slice(0, 20).map((name) => name.slice(0, 64));
  return { ignored: names, quirks, dropped, replaced, passed };
}

/**
 * Gives a call with a body its place: at once, or a promise of one. Throws CallError for what speaks against reading the
 * body.
 */
export function admitCall(service: Service, exchange: Exchange): Promise<void> | undefined {
  refuseMultipart(contentTypeOf(exchange.request).type);
  return admitBody(exchange, service);
}

/** Reads the body as a SOAP request. Throws CallError (plain refusals, W44) or Fault. */
export function readSoapCall(
  service: Service,
  exchange: Exchange,
  version: SoapVersion,
  body: Buffer,
): SoapCall {
  const content = contentTypeOf(exchange.request);
  try {
    const actions = actionsOf(exchange.request, content.action);
    const call = service.readSoap(body, content.charset, version, actions);
    exchange.operation = call.operation.operation.name;
    return call;
  } catch (error) {
    throw unsupported(error);
  }
}

/** Where an action may be hinted at in the HTTP message (W4); quotes and blanks around are not part of it. */
function actionsOf(request: IncomingMessage, parameter: string | undefined): string[] {
  const actions: string[] = [];
  const header = request.headers.soapaction;
  if (typeof header === 'string') actions.push(unquote(header.trim()));
  if (parameter !== undefined) actions.push(parameter);
  return actions;
}

function unquote(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

const noContent = parseContentType('');

/** Callers send the same few headers over and over. */
const contentTypes = new Map<string, ReturnType<typeof parseContentType>>();

function contentTypeOf(request: IncomingMessage): ReturnType<typeof parseContentType> {
  const header = request.headers['content-type'];
  if (header === undefined) return noContent;
  const known = contentTypes.get(header);
  if (known !== undefined) return known;
  const parsed = parseContentType(header);
  if (contentTypes.size < 256 && header.length < 128) contentTypes.set(header, parsed);
  return parsed;
}

/** Refuses a media type that is looked at before the body (W39): MTOM isn’t offered. Throws CallError. */
export function refuseMultipart(type: string): void {
  if (type.startsWith('multipart/')) {
    throw new CallError('UnsupportedMediaType', {
      message: 'multipart messages (MTOM, SwA) are not read here',
    });
  }
}

function unsupported(error: unknown): unknown {
  if (!(error instanceof UnsupportedCharset)) return error;
  return new CallError('UnsupportedMediaType', { message: error.message, cause: error });
}

/** A REST route's body form by its media type (W39); undefined: its first character says. */
export function bodyForm(request: IncomingMessage): 'json' | 'xml' | undefined {
  const { type } = contentTypeOf(request);
  if (type === '') return undefined;
  if (type === 'application/json' || type === 'text/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml')) return 'xml';
  throw new CallError('UnsupportedMediaType', {
    message: 'expected a body of JSON or XML by its Content-Type, got another type',
  });
}

/** Inputs of an operation from a body in a given form, or in the form that its first character shows. */
export function readCallBody(
  service: Service,
  { request }: Exchange,
  operation: CompiledOperation,
  bytes: Buffer,
  stated: 'json' | 'xml' | undefined,
): { readonly input: Input; readonly form: 'json' | 'xml' } {
  const content = contentTypeOf(request);
  const form = stated ?? (firstVisible(bytes) === 60 ? 'xml' : 'json');
  const reading = startReading(service.compiled.limits.errors);
  if (form === 'json') return { input: readJsonBody(bytes, content.charset, operation, reading), form };
  return { input: readXmlBody(service, bytes, content.charset, operation, reading), form };
}

function firstVisible(bytes: Buffer): number | undefined {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== 32 && byte !== 9 && byte !== 10 && byte !== 13) return byte;
  }
  return undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function readJsonBody(
  bytes: Buffer,
  charset: string | undefined,
  operation: CompiledOperation,
  reading: Reading,
): Input {
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new CallError('UnsupportedMediaType', { message: 'expected JSON in UTF-8, got another charset' });
  }
  let text: string;
  try {
    text = utf8.decode(bytes); // drops a BOM
  } catch (error) {
    throw new CallError('MalformedRequest', {
      message: 'expected JSON in UTF-8, got other bytes',
      cause: error,
    });
  }
  try {
    return operation.readJson(text, reading);
  } catch (error) {
    if (error instanceof JsonError)
      throw new CallError('MalformedRequest', { message: error.message, cause: error });
    throw error;
  }
}

function readXmlBody(
  service: Service,
  bytes: Buffer,
  charset: string | undefined,
  operation: CompiledOperation,
  reading: Reading,
): Input {
  const { contract, limits } = service.compiled;
  const { name } = operation.operation;
  // An empty body is the empty element (W36).
  if (firstVisible(bytes) === undefined) {
    return operation.readXml(rootOf(`<${name}/>`, service), reading);
  }
  try {
    const text = decodeXml(bytes, charset);
    const xml = new XmlReader(text, limits, {
      illegalReferences: contract.settings.illegalCharacterReferences === 'accept',
    });
    xml.readRoot();
    if (xml.local !== name || (xml.namespace !== contract.namespaces.types && xml.namespace !== '')) {
      const got = `<${xml.local.slice(0, 64)}>${xml.local === name ? ' of another namespace' : ''}`;
      xml.drain();
      throw new CallError('MalformedRequest', {
        message: `expected <${name}> of namespace "${contract.namespaces.types}" as the root, got ${got}`,
      });
    }
    const input = operation.readXml(xml, reading);
    xml.finish();
    return input;
  } catch (error) {
    if (error instanceof XmlError)
      throw new CallError('MalformedRequest', { message: error.message, cause: error });
    throw unsupported(error);
  }
}

function rootOf(text: string, service: Service): XmlReader {
  const xml = new XmlReader(text, service.compiled.limits, { illegalReferences: false });
  xml.readRoot();
  return xml;
}

/**
 * From inputs to outcome: members, credentials, required members, upstream, reply (W43). Never throws: whatever
 * fails is the outcome's failure.
 *
 * @param frame what the reply goes out in; undefined for a caller of JSON
 * @param header the credentials in a SOAP header, where the body has no place for them
 */
export async function runCall(
  service: Service,
  exchange: Exchange,
  operation: CompiledOperation,
  input: Input,
  spelling: Spelling,
  frame: Frame | undefined,
  header?: ReadonlyMap<string, string>,
): Promise<Outcome> {
  const { compiled, messages } = service;
  const { credentials, settings } = compiled.contract;
  const { reading } = input;
  const given = header ?? operation.credentialsOf(input);
  let values: CredentialValues | undefined;
  const hide = (text: string): string => {
    const hideKnown =
      values === undefined
        ? hideGiven(credentials, given, exchange.request, hideSecrets)
        : hideSecrets(credentials, values);
    return hideKnown(text);
  };
  try {
    messages?.request(exchange, operation, input, given);
    if (reading.problems.length > 0) throw new CallError('ValidationError', { problems: reading.problems });
    values = service.readCredentials?.(given, exchange.request, spelling);
    if (values !== undefined) exchange.caller = service.pseudonymOf?.(values);
    const request = requestOf(service, operation, input, values);
    if (exchange.response.destroyed) throw new CallError('CallerGone');
    const audit = request.operation.readOnly ? undefined : service.audit;
    audit?.sending(exchange);
    let reply: UpstreamReply;
    try {
      reply = await service.upstream.call(request, exchange);
    } catch (error) {
      audit?.settled(exchange, isUnsent(error) ? 'unsent' : 'unknown');
      throw error;
    }
    audit?.settled(exchange, 'answered');
    exchange.passed = passedOn(reply.headers, settings.replyHeaders);
    const outcome = readReply(reply, compiled, operation, hide, frame);
    if (outcome.kind === 'reply') messages?.reply(exchange, operation, outcome.json, values);
    exchange.noted = noted(reading, outcome);
    if (outcome.kind === 'failure') exchange.error = outcome.failure.errorCode;
    return outcome;
  } catch (error) {
    return { kind: 'failure', failure: tellFailure(service, exchange, error, hide) };
  }
}

/** The call upstream of inputs that are right and whole. Throws CallError for others. */
function requestOf(
  service: Service,
  operation: CompiledOperation,
  input: Input,
  values: CredentialValues | undefined,
): UpstreamRequest {
  const { reading } = input;
  const missing = withoutCredentials(reading, service);
  if (missing.length > 0) throw new CallError('ValidationError', { problems: missing });
  const request = operation.request(input, values);
  if (request === undefined) throw new CallError('ValidationError', { problems: reading.problems });
  return request;
}

/** The headers of an answer that go on to the caller, none but those that the contract names. */
function passedOn(headers: UpstreamReply['headers'], names: readonly string[]): Exchange['passed'] {
  if (names.length === 0) return undefined;
  const passed: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) passed[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return passed;
}

/** Whether nothing reached the upstream. */
function isUnsent(error: unknown): boolean {
  return error instanceof CallError && error.code === 'UpstreamUnavailable';
}

/** The credentials' own requirements are W24's, not the record's. */
function withoutCredentials(reading: Reading, service: Service): Reading['missing'] {
  const member = service.compiled.contract.credentials?.member;
  if (member === undefined || reading.missing.length === 0) return reading.missing;
  const prefix = `${member.toLowerCase()}.`;
  return reading.missing.filter(({ field }) => !`${field.toLowerCase()}.`.startsWith(prefix));
}

/** Any error as what the caller is told; one that is ours is logged once and told as InternalError. */
export function tellFailure(
  service: Service,
  exchange: Exchange,
  error: unknown,
  hide: (text: string) => string = (text) => text,
): Failure {
  exchange.error = error instanceof CallError ? error.code : 'InternalError';
  if (error instanceof CallError) return failureOf(error, exchange.requestId, hide);
  service.onError(error, exchange.requestId);
  return failureOf(new CallError('InternalError', { cause: error }), exchange.requestId, hide);
}
