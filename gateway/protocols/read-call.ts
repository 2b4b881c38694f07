import { type Reading, startReading } from '../../mappings/codec/problem.ts';
import { escapeAttribute } from '../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import type { QName } from '../../mappings/contract/schema-components.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import { type ContentType, parseContentType } from '../../mappings/http-mapping/content-type.ts';
import { JsonError } from '../../mappings/json/grammar.ts';
import { decodeXml } from '../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../mappings/xml/error.ts';
import { XmlReader } from '../../mappings/xml/reader.ts';
import { compileCredentials, type MessageHead, type ReadCredentials } from '../call/credentials.ts';
import { CallError } from '../call/error.ts';
import { createSoapReader, type ReadSoap, type SoapCall } from './soap/envelope.ts';
import type { SoapAddress } from './soap/versions.ts';

/** What requests of one contract are read by, put together at start. */
export interface Readers {
  readonly compiled: CompiledContract;
  readonly readSoap: ReadSoap;
  /** Undefined for a contract without credentials. */
  readonly readCredentials: ReadCredentials | undefined;
  /** As many steps as rules may take in one request; one that takes more throws TooManySteps. */
  readonly mostSteps: number;
}

/** The readers of a contract. */
export function compileReaders(compiled: CompiledContract, mostSteps: number): Readers {
  return {
    compiled,
    readSoap: createSoapReader(compiled, mostSteps),
    readCredentials: compileCredentials(compiled.contract.credentials, compiled.limits),
    mostSteps,
  };
}

/** Reads the body as a SOAP request. Throws CallError (plain refusals, W44) or Fault. */
export function readSoapCall(
  { readSoap }: Readers,
  head: MessageHead,
  { version, endpoint }: SoapAddress,
  body: Buffer,
): SoapCall {
  const content = contentTypeOf(head);
  try {
    return readSoap(body, content.charset, version, actionsOf(head, content.action), endpoint);
  } catch (error) {
    throw unsupported(error);
  }
}

/** Where an action may be hinted at in the HTTP message (W4); quotes and blanks around are not part of it. */
function actionsOf({ headers }: MessageHead, parameter: string | undefined): string[] {
  const actions: string[] = [];
  const header = headers.soapaction;
  if (typeof header === 'string') actions.push(unquote(header.trim()));
  if (parameter !== undefined) actions.push(parameter);
  return actions;
}

function unquote(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

/** A message's Content-Type, taken apart. */
export function contentTypeOf({ headers }: MessageHead): ContentType {
  return parseContentType(headers['content-type'] ?? '');
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

/** What a body outside SOAP is written in. */
export type BodyForm = 'json' | 'xml';

/** A REST route's body form by its media type (W39); undefined: its first character says. */
export function bodyForm(head: MessageHead): BodyForm | undefined {
  const { type } = contentTypeOf(head);
  if (type === '') return undefined;
  if (type === 'application/json' || type === 'text/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml')) return 'xml';
  throw new CallError('UnsupportedMediaType', {
    message: 'expected a body of JSON or XML by its Content-Type, got another type',
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
  head: MessageHead,
  operation: CompiledOperation,
  bytes: Buffer,
  stated: BodyForm | undefined,
): BodyCall {
  const content = contentTypeOf(head);
  const form = stated ?? (firstVisible(bytes) === 60 ? 'xml' : 'json');
  const reading = startReading(readers.compiled.limits.errors, readers.mostSteps);
  if (form === 'json') return { input: readJsonBody(bytes, content.charset, operation, reading), form };
  return { input: readXmlBody(readers, bytes, content.charset, operation, reading), form };
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
      const got = `<${xml.local.slice(0, 64)}>${xml.local === root?.local ? ' of another namespace' : ''}`;
      xml.drain();
      const expected =
        root === undefined ? 'no body' : `<${root.local}> of namespace "${root.namespace}" as the root`;
      throw new CallError('MalformedRequest', { message: `expected ${expected}, got ${got}` });
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

/** At the start tag of an empty element. */
function emptyRoot({ local, namespace }: QName, { limits }: CompiledContract): XmlReader {
  const text = namespace === '' ? `<${local}/>` : `<${local} xmlns="${escapeAttribute(namespace)}"/>`;
  const xml = new XmlReader(text, limits, { illegalReferences: false });
  xml.readRoot();
  return xml;
}
