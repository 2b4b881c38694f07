import { Attachments } from '../../mappings/codec/attachments.ts';
import { maxReportedProblems, type Reading, startReading } from '../../mappings/codec/problem.ts';
import { escapeAttribute, namespaceText } from '../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import type { QName } from '../../mappings/contract/type-graph.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import {
  RelatedError,
  type RelatedType,
  RelatedTypeError,
  type SplitMessage,
  splitRelated,
  takeParts,
} from '../../mappings/http-mapping/related.ts';
import { JsonError } from '../../mappings/json/grammar.ts';
import { decodeXml } from '../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../mappings/xml/error.ts';
import { XmlReader } from '../../mappings/xml/reader.ts';
import { type CallerProofs, compileCredentials, type ReadCredentials } from '../call/credentials.ts';
import { CallError } from '../call/error.ts';
import type { RequestHead } from '../call/head.ts';
import { Fault } from './soap/faults.ts';
import {
  createSoapReader,
  type Envelope,
  type OpenSoap,
  type SoapCall,
  type SoapMessage,
} from './soap/soap-reader.ts';
import type { SoapAddress, SoapVersion } from './soap/versions.ts';

/** What requests of one contract are read by, put together at start. */
export interface Readers {
  readonly compiled: CompiledContract;
  readonly openSoap: OpenSoap;
  /** Undefined for a contract without credentials. */
  readonly readCredentials: ReadCredentials | undefined;
  /** As many steps as rules may take in one request; one that takes more throws TooManySteps. */
  readonly mostSteps: number;
}

/** The readers of a contract. */
export function compileReaders(
  compiled: CompiledContract,
  mostSteps: number,
  proofs?: CallerProofs,
): Readers {
  const { credentials, wsse } = compiled.contract;
  return {
    compiled,
    openSoap: createSoapReader(compiled, mostSteps),
    readCredentials: compileCredentials(credentials, compiled.limits, proofs, wsse?.password),
    mostSteps,
  };
}

/** Reads the body as a SOAP request. Throws CallError (plain refusals, W44) or Fault. */
export function readSoapCall(
  readers: Readers,
  head: RequestHead,
  address: SoapAddress,
  body: Buffer,
  split: SplitMessage | undefined = splitSoap(readers, head, address.version, body),
): SoapCall {
  return openSoap(readers, head, address, body, split).readPayload();
}

/**
 * Reads a SOAP request up to its payload. Throws CallError (plain refusals, W44) or Fault.
 *
 * @param split where the parts of a multipart message are; undefined for any other message
 */
export function openSoap(
  readers: Readers,
  head: RequestHead,
  address: SoapAddress,
  body: Buffer,
  split: SplitMessage | undefined,
): Envelope {
  try {
    return readers.openSoap(messageOf(head, body, split), address);
  } catch (error) {
    throw unreadable(error, address.version);
  }
}

function messageOf(head: RequestHead, body: Buffer, split: SplitMessage | undefined): SoapMessage {
  const { charset, action } = head.contentType;
  if (split === undefined)
    return { document: body, charset, actions: actionsOf(head, [action]), attachments: undefined };
  const { form, root, parts, ...said } = takeParts(body, split);
  const actions = actionsOf(head, said.actions);
  return { document: root, charset: said.charset, actions, attachments: new Attachments(form, parts) };
}

/** What a SOAP request that can't be read is refused with: its parts, its charset; any other error as it is. */
export function unreadable(error: unknown, version: SoapVersion): unknown {
  return unsupported(undecodable(error, version));
}

/**
 * Finds the parts of a message of `multipart/related` (W59); undefined for any other message. Throws CallError for its
 * Content-Type, Fault.
 */
export function splitSoap(
  { compiled }: Readers,
  head: RequestHead,
  version: SoapVersion,
  body: Buffer,
): SplitMessage | undefined {
  const type = relatedTypeOf(head);
  if (type === undefined) return undefined;
  try {
    return splitRelated(body, type, compiled.limits);
  } catch (error) {
    throw undecodable(error, version);
  }
}

/** A message that isn't of its Content-Type is as undecodable as one that isn't of its charset (W27). */
function undecodable(error: unknown, version: SoapVersion): unknown {
  if (!(error instanceof RelatedError)) return error;
  return new Fault(version, 'sender', error.reason, { kind: 'MalformedRequest', cause: error });
}

/** What the Content-Type of a multipart message says; undefined for any other message. Throws CallError. */
function relatedTypeOf({ related }: RequestHead): RelatedType | undefined {
  if (!(related instanceof RelatedTypeError)) return related;
  throw new CallError('UnsupportedMediaType', { ...related.reason, cause: related });
}

/** Refuses a media type that SOAP messages don't come in (W57), before the body is read. Throws CallError. */
export function refuseUnreadable(head: RequestHead): void {
  const { type } = head.contentType;
  if (relatedTypeOf(head) !== undefined) return;
  if (type === 'application/dime' || type.startsWith('multipart/')) {
    throw new CallError('UnsupportedMediaType', {
      expected: 'a SOAP envelope, or multipart/related with one (MTOM, SwA)',
      got: type.slice(0, 64),
    });
  }
}

/** The hints at an action in the HTTP message (W4). */
export function actionsOf(
  { soapAction }: RequestHead,
  parameters: readonly (string | undefined)[],
): string[] {
  const actions: string[] = [];
  if (soapAction !== undefined) actions.push(soapAction);
  for (const parameter of parameters) if (parameter !== undefined) actions.push(parameter);
  return actions;
}

/** Refuses a media type that is looked at before the body, outside SOAP (W39). Throws CallError. */
export function refuseMultipart(type: string): void {
  if (type.startsWith('multipart/')) {
    throw new CallError('UnsupportedMediaType', {
      detail: 'multipart messages (MTOM, SwA) are read at SOAP endpoints alone',
    });
  }
}

function unsupported(error: unknown): unknown {
  if (!(error instanceof UnsupportedCharset)) return error;
  return new CallError('UnsupportedMediaType', { ...error.reason, cause: error });
}

/** What a body outside SOAP is written in. */
export type BodyForm = 'json' | 'xml';

/** A REST route's body form by its media type (W39); undefined: its first character says. */
export function bodyForm(head: RequestHead): BodyForm | undefined {
  const { type } = head.contentType;
  if (type === '') return undefined;
  if (type === 'application/json' || type === 'text/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml')) return 'xml';
  throw new CallError('UnsupportedMediaType', {
    expected: 'a body of JSON or XML by its Content-Type',
    got: 'another type',
  });
}

/** The inputs of a call outside SOAP, and what they were written in. */
export interface BodyCall {
  readonly input: Input;
  readonly form: BodyForm;
}

/**
 * Inputs of an operation from a body in a given form, or in the form that its first character shows. Throws CallError
 * MalformedRequest, UnsupportedMediaType.
 */
export function readCallBody(
  readers: Readers,
  head: RequestHead,
  operation: CompiledOperation,
  bytes: Buffer,
  stated: BodyForm | undefined,
): BodyCall {
  const { charset } = head.contentType;
  const form = stated ?? (firstVisible(bytes) === 60 ? 'xml' : 'json');
  const reading = startReading(readers.compiled.limits.errors ?? maxReportedProblems, readers.mostSteps);
  if (form === 'json') return { input: readJsonBody(bytes, charset, operation, reading), form };
  return { input: readXmlBody(readers, bytes, charset, operation, reading), form };
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
    const got = charset === '' ? 'an empty charset' : 'another charset';
    throw new CallError('UnsupportedMediaType', { expected: 'JSON in UTF-8', got });
  }
  let text: string;
  try {
    text = utf8.decode(bytes); // drops a BOM
  } catch (error) {
    throw new CallError('MalformedRequest', {
      expected: 'JSON in UTF-8',
      got: 'other bytes',
      cause: error,
    });
  }
  try {
    return operation.readJson(text, reading);
  } catch (error) {
    if (error instanceof JsonError)
      throw new CallError('MalformedRequest', { ...error.reason, cause: error });
    throw error;
  }
}

function readXmlBody(
  { compiled }: Readers,
  bytes: Buffer,
  charset: string | undefined,
  operation: CompiledOperation,
  reading: Reading,
): Input {
  const { contract, limits } = compiled;
  const { root } = operation;
  // An empty body is the empty element (W36).
  if (firstVisible(bytes) === undefined)
    return operation.readXml(root === undefined ? undefined : emptyRoot(root, compiled), reading);
  try {
    const text = decodeXml(bytes, charset);
    const xml = new XmlReader(text, limits, {
      illegalReferences: contract.settings.illegalCharacterReferences === 'accept',
    });
    xml.readRoot();
    if (xml.local !== root?.local || (xml.namespace !== root.namespace && xml.namespace !== '')) {
      const got = `<${xml.local.slice(0, 64)}>${xml.local === root?.local ? ` of ${namespaceText(xml.namespace)}` : ''}`;
      xml.drain();
      const expected =
        root === undefined ? 'no body' : `<${root.local}> of ${namespaceText(root.namespace)} as the root`;
      throw new CallError('MalformedRequest', { expected, got });
    }
    const input = operation.readXml(xml, reading);
    xml.finish();
    return input;
  } catch (error) {
    if (error instanceof XmlError) throw new CallError('MalformedRequest', { ...error.reason, cause: error });
    throw unsupported(error);
  }
}

/** At the start tag of an empty element. */
function emptyRoot({ local, namespace }: QName, { limits }: CompiledContract): XmlReader {
  const text = namespace === '' ? `<${local}/>` : `<${local} xmlns="${escapeAttribute(namespace)}"/>`;
  const xml = new XmlReader(text, limits, { illegalReferences: false });
  xml.readRoot();
  return xml;
}
