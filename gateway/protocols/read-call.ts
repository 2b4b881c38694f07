import { Attachments } from '../../mappings/codec/attachments.ts';
import { endOfStartTag, readHead } from '../../mappings/codec/byte-reader/head.ts';
import { tryBytes } from '../../mappings/codec/byte-reader/message.ts';
import { maxReportedProblems, type Reading, startReading } from '../../mappings/codec/problem.ts';
import { escapeAttribute, namespaceText } from '../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import { verifiedCredentialsOf } from '../../mappings/contract/credentials.ts';
import { quoteElement, quoteValue } from '../../mappings/contract/reason.ts';
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
import { decodeXml, hasPlainCharacters, utf8Start } from '../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../mappings/xml/error.ts';
import { XmlReader, type XmlTolerance } from '../../mappings/xml/reader.ts';
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

/** The compiled readers for requests of one contract. */
export interface Readers {
  readonly compiled: CompiledContract;
  readonly openSoap: OpenSoap;
  /** Undefined for a contract without credentials. */
  readonly readCredentials: ReadCredentials | undefined;
  /** Maximum number of steps that the rules may take for one request. Beyond it, TooManySteps is thrown. */
  readonly mostSteps: number;
}

/** Compiles the readers of a contract. */
export function compileReaders(
  compiled: CompiledContract,
  mostSteps: number,
  proofs?: CallerProofs,
): Readers {
  const { credentials, wsse } = compiled.contract;
  return {
    compiled,
    openSoap: createSoapReader(compiled, mostSteps),
    readCredentials: compileCredentials(
      credentials,
      compiled.limits,
      { ...proofs, signed: verifiedCredentialsOf(wsse) },
      wsse?.password,
    ),
    mostSteps,
  };
}

/** Returns the contract without its keys for decryption, for readers that show messages of anybody (X24). */
export function withoutKeys(compiled: CompiledContract): CompiledContract {
  const { contract } = compiled;
  const { wsse } = contract;
  if (wsse?.decrypt === undefined) return compiled;
  return {
    ...compiled,
    contract: { ...contract, wsse: { ...wsse, decrypt: { ...wsse.decrypt, keys: [] } } },
  };
}

/** Reads a body as a SOAP request. Throws CallError for replies in plain text (W44), otherwise Fault. */
export function readSoapCall(
  readers: Readers,
  head: RequestHead,
  address: SoapAddress,
  body: Buffer,
  split: SplitMessage | undefined = splitSoap(readers, head, address.version, body),
  hasReservedKeys = false,
): SoapCall {
  return openSoap(readers, head, address, body, split, hasReservedKeys).readPayload();
}

/**
 * Reads a SOAP request up to its payload. Throws CallError for replies in plain text (W44), otherwise Fault.
 *
 * @param split positions of the parts of a multipart message; undefined for any other message
 * @param hasReservedKeys true if encrypted keys may be used (X24)
 */
export function openSoap(
  readers: Readers,
  head: RequestHead,
  address: SoapAddress,
  body: Buffer,
  split: SplitMessage | undefined,
  hasReservedKeys = false,
): Envelope {
  try {
    return readers.openSoap({ ...messageOf(head, body, split), hasReservedKeys }, address);
  } catch (error) {
    throw unreadable(error, address.version);
  }
}

/** Returns the document of a request with its MIME parts. */
export function messageOf(head: RequestHead, body: Buffer, split: SplitMessage | undefined): SoapMessage {
  const { charset, action } = head.contentType;
  if (split === undefined)
    return { document: body, charset, actions: actionsOf(head, [action]), attachments: undefined };
  const { form, root, parts, ...rest } = takeParts(body, split);
  const actions = actionsOf(head, rest.actions);
  return { document: root, charset: rest.charset, actions, attachments: new Attachments(form, parts) };
}

/**
 * Converts the error of unreadable MIME parts to a Fault, and of an unsupported charset to a CallError. Returns other
 * errors unchanged.
 */
export function unreadable(error: unknown, version: SoapVersion): unknown {
  return unsupported(undecodable(error, version));
}

/**
 * Finds the parts of a `multipart/related` message (W59); undefined for any other message. Throws CallError for an
 * invalid Content-Type, Fault for an invalid body.
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

/**
 * Converts the error of a body that does not match its multipart Content-Type to a Fault, as for a wrong charset (W27).
 */
function undecodable(error: unknown, version: SoapVersion): unknown {
  if (!(error instanceof RelatedError)) return error;
  return new Fault(version, 'sender', error.reason, { kind: 'MalformedRequest', cause: error });
}

/** Returns the parameters of a `multipart/related` Content-Type; undefined for any other message. Throws CallError. */
export function relatedTypeOf({ related }: RequestHead): RelatedType | undefined {
  if (!(related instanceof RelatedTypeError)) return related;
  throw new CallError('UnsupportedMediaType', { ...related.reason, cause: related });
}

/** Rejects unsupported media types of SOAP messages (W57) before the body is read. Throws CallError. */
export function refuseUnreadable(head: RequestHead): void {
  const { type } = head.contentType;
  if (relatedTypeOf(head) !== undefined) return;
  if (type === 'application/dime' || type.startsWith('multipart/')) {
    throw new CallError('UnsupportedMediaType', {
      expected: 'a SOAP envelope, or multipart/related with one (MTOM, SwA)',
      got: quoteValue(type.slice(0, 64)),
    });
  }
}

/** Returns the actions that the HTTP message names (W4). */
export function actionsOf(
  { soapAction }: RequestHead,
  parameters: readonly (string | undefined)[],
): string[] {
  const actions: string[] = [];
  if (soapAction !== undefined) actions.push(soapAction);
  for (const parameter of parameters) if (parameter !== undefined) actions.push(parameter);
  return actions;
}

/** Rejects multipart bodies outside the SOAP endpoints (W39). Throws CallError. */
export function refuseMultipart(type: string): void {
  if (type.startsWith('multipart/')) {
    throw new CallError('UnsupportedMediaType', {
      detail: 'only SOAP endpoints read multipart messages (MTOM, SwA)',
    });
  }
}

function unsupported(error: unknown): unknown {
  if (!(error instanceof UnsupportedCharset)) return error;
  return new CallError('UnsupportedMediaType', { ...error.reason, cause: error });
}

/** Formats of a body that is not SOAP. */
export type BodyForm = 'json' | 'xml';

/**
 * Returns the body format of a REST route from the media type (W39); undefined without a Content-Type: the first
 * character decides. Throws CallError UnsupportedMediaType.
 */
export function bodyForm(head: RequestHead): BodyForm | undefined {
  const { type } = head.contentType;
  if (type === '') return undefined;
  if (type === 'application/json' || type === 'text/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml')) return 'xml';
  throw new CallError('UnsupportedMediaType', {
    expected: 'a body of JSON or XML by its Content-Type',
    got: 'another media type',
  });
}

/** The inputs of a call outside the SOAP endpoints, and the format of its body. */
export interface BodyCall {
  readonly input: Input;
  readonly form: BodyForm;
}

/**
 * Reads the inputs of an operation from a body in the given format. Without one, the first character decides. Throws
 * CallError MalformedRequest, UnsupportedMediaType.
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
  // an empty body counts as the empty root element (W36)
  if (firstVisible(bytes) === undefined)
    return operation.readXml(root === undefined ? undefined : emptyRoot(root, compiled), reading);
  const acceptsIllegalReferences = contract.settings.illegalCharacterReferences === 'accept';
  const plain = readPlainBody(compiled, bytes, charset, operation, reading, { acceptsIllegalReferences });
  if (plain !== undefined) return plain;
  try {
    const text = decodeXml(bytes, charset);
    const xml = new XmlReader(text, limits, { acceptsIllegalReferences });
    xml.readRoot();
    if (!isRoot(xml, root)) {
      const isNamesake = xml.local === root?.local;
      const got = quoteElement(xml.local, isNamesake ? ` of ${namespaceText(xml.namespace)}` : '');
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

/** Reads a body from bytes to bytes; undefined, with the reading as it was, for one that the usual reader must read. */
function readPlainBody(
  { limits }: CompiledContract,
  bytes: Buffer,
  charset: string | undefined,
  { root, readBytes }: CompiledOperation,
  reading: Reading,
  tolerance: XmlTolerance,
): Input | undefined {
  if (readBytes === undefined || !hasPlainCharacters(bytes)) return undefined;
  const start = utf8Start(bytes, charset);
  if (start === undefined) return undefined;
  let isOurs = false;
  const head = readHead(bytes, start, endOfStartTag(bytes, start), limits, tolerance, (xml) => {
    xml.readRoot();
    isOurs = isRoot(xml, root);
  });
  if (head === undefined || !isOurs) return undefined;
  const input = tryBytes(readBytes, bytes, head, reading);
  reading.isReadTwice = input === undefined;
  return input;
}

/** Returns true at the start tag of an operation's element, which may be without a namespace (W36). */
function isRoot({ local, namespace }: XmlReader, root: QName | undefined): boolean {
  return local === root?.local && (namespace === root.namespace || namespace === '');
}

/** At the start tag of an empty element. */
function emptyRoot({ local, namespace }: QName, { limits }: CompiledContract): XmlReader {
  const text = namespace === '' ? `<${local}/>` : `<${local} xmlns="${escapeAttribute(namespace)}"/>`;
  const xml = new XmlReader(text, limits, { acceptsIllegalReferences: false });
  xml.readRoot();
  return xml;
}
