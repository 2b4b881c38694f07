import { isUtf8 } from 'node:buffer';
import type { Attachments } from '../../../mappings/codec/attachments.ts';
import {
  type Beginning,
  Beginnings,
  FastPath,
  type Match,
} from '../../../mappings/codec/fast-path/fast-path.ts';
import {
  maxReportedProblems,
  type Reading,
  recordDeviation,
  startReading,
} from '../../../mappings/codec/problem.ts';
import type { CompiledContract, CompiledOperation } from '../../../mappings/compile.ts';
import { hasRpc } from '../../../mappings/contract/adopted.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import type { Contract, Field } from '../../../mappings/contract/model.ts';
import type { Input } from '../../../mappings/http-mapping/call.ts';
import { decodeXml } from '../../../mappings/xml/decode.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { type ContentReader, type XmlQuirks, XmlReader } from '../../../mappings/xml/reader.ts';
import type { HeaderCredentials } from '../../call/credentials.ts';
import { compileDispatch, type Dispatch } from './dispatch.ts';
import {
  closeBody,
  closeEnvelope,
  type Findings,
  type Opening,
  openEnvelope,
  startFindings,
} from './envelope.ts';
import { Fault } from './faults.ts';
import { readDeclared } from './headers/declared.ts';
import { compileReadHeader, type ReadHeader } from './headers/headers.ts';
import type { ReplyHeader } from './headers/reply-header.ts';
import { missingTimestamp } from './headers/security.ts';
import type { SoapAddress, SoapVersion } from './versions.ts';

/** A received SOAP message: the document of its envelope, and data of its HTTP message. */
export interface SoapMessage {
  readonly document: Buffer;
  /** The charset of the Content-Type; undefined means that the XML declaration applies. */
  readonly charset: string | undefined;
  /** Actions that the HTTP message names (W4). */
  readonly actions: readonly string[];
  /** The other parts of a multipart message (W57); undefined for any other message. */
  readonly attachments: Attachments | undefined;
}

/** An envelope that was read up to its payload. */
export interface Envelope {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  /** Reads the payload and the rest of the document. Throws Fault, TooManySteps. */
  readonly readPayload: () => SoapCall;
}

/** A SOAP request that was read completely. */
export interface SoapCall {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  readonly input: Input;
  /** Request headers that the Header of the reply answers; undefined for none. */
  readonly header: ReplyHeader | undefined;
  /** Credentials in header blocks; undefined for none. */
  readonly credentials: HeaderCredentials | undefined;
  /** True if the request was an MTOM message (W65). */
  readonly isMtom: boolean;
}

/**
 * Opens SOAP messages of a contract. Throws Fault in the version of the envelope, or of the address while the envelope
 * is unread (W3). Throws UnsupportedCharset.
 */
export type OpenSoap = (message: SoapMessage, address: SoapAddress) => Envelope;

/** The operations at a path, and the cache of known requests to them. */
interface Face {
  readonly dispatch: Dispatch;
  readonly fastPath: FastPath<Opening>;
}

/** A message and the operations to choose from. */
interface SoapRequest extends SoapMessage {
  readonly face: Face;
  /** The version of the path. */
  readonly claimed: SoapVersion;
}

/** The known start of a document, up to the start tag of Header. */
interface KnownHeader {
  readonly version: SoapVersion;
  /** The end tag of Header in its usual spelling. */
  readonly endTag: Buffer;
}

/** Every n-th request with header blocks that misses the cache is learned without its blocks. */
const learnedOneIn = 4;

const noBlocks: readonly string[] = [];

/**
 * Returns a reader of SOAP requests. It reads the envelope and headers, then the payload with the codec of its
 * operation. Errors of members are collected in `reading`; all earlier errors throw Fault. Only errors of the first
 * failing stage are reported, even if later text has others (W43).
 *
 * @param mostSteps maximum number of steps (see `startReading`), beyond which TooManySteps is thrown
 */
export function createSoapReader(
  compiled: CompiledContract,
  mostSteps: number = Number.POSITIVE_INFINITY,
): OpenSoap {
  const reader = new SoapReader(compiled, mostSteps);
  return (message, address) => reader.open(message, address);
}

class SoapReader {
  readonly #contract: Contract;
  readonly #limits: Limits;
  readonly #mostSteps: number;
  readonly #quirks: XmlQuirks;
  readonly #readHeader: ReadHeader;
  readonly #faces: ReadonlyMap<string | undefined, Face>;
  readonly #refusesUnknown: boolean;
  readonly #holding: ReadonlySet<CompiledOperation>;
  /** True if an envelope without Header is valid. */
  readonly #isHeaderOptional: boolean;
  readonly #headers: Beginnings<KnownHeader>;
  #behindHeaders = 0;

  constructor(compiled: CompiledContract, mostSteps: number) {
    const { limits, contract } = compiled;
    const quirks: XmlQuirks = {
      illegalReferences: contract.settings.illegalCharacterReferences === 'accept',
      emptyPrefixes: hasRpc(contract),
    };
    this.#contract = contract;
    this.#limits = limits;
    this.#mostSteps = mostSteps;
    this.#quirks = quirks;
    this.#readHeader = compileReadHeader(compiled);
    this.#faces = new Map(
      [...compileDispatch(compiled)].map(([endpoint, dispatch]) => {
        const face: Face = { dispatch, fastPath: new FastPath<Opening>(limits, quirks) };
        return [endpoint, face];
      }),
    );
    this.#refusesUnknown = contract.settings.unknownElements === 'refuse';
    this.#holding = holdingOperations(compiled);
    this.#isHeaderOptional = contract.wsse?.timestamp !== 'required';
    this.#headers = new Beginnings<KnownHeader>(limits, quirks);
  }

  open(
    { document, charset, actions, attachments }: SoapMessage,
    { version: claimed, endpoint }: SoapAddress,
  ): Envelope {
    const face = this.#faceOf(endpoint);
    const request: SoapRequest = { document, charset, actions, attachments, face, claimed };
    const match = face.fastPath.match(document, charset);
    return (
      (match === undefined ? undefined : this.#openKnown(request, match)) ??
      this.#openBehindHeader(request, match) ??
      this.#openWhole(request, match)
    );
  }

  /** Creates a reader of a text. All readers of a document use the same rules. */
  #readerOf(text: string): XmlReader {
    return new XmlReader(text, this.#limits, this.#quirks);
  }

  #faceOf(endpoint: string | undefined): Face {
    const face = this.#faces.get(endpoint);
    if (face === undefined) throw new RangeError(`no endpoint of the contract: ${endpoint}`);
    return face;
  }

  /**
   * Opens a request without header blocks that has a known start; undefined if its action belongs to another operation.
   */
  #openKnown(request: SoapRequest, match: Match<Opening>): Envelope | undefined {
    const { actions, face, attachments } = request;
    const { version, operation } = match.meaning;
    if (!isOfActions(face.dispatch, operation, actions, version)) return undefined;
    const readPayload = (): SoapCall => {
      const input = match.readInput();
      if (input === undefined) return this.#openWhole(request, match).readPayload();
      attachments?.noteUnused(input.reading, this.#refusesUnknown);
      const isMtom = attachments?.form === 'mtom';
      return { version, operation, input, header: undefined, credentials: undefined, isMtom };
    };
    return { version, operation, readPayload };
  }

  /**
   * Opens a request that has a known start apart from its header blocks; undefined for any other request, and for one
   * with an error in its header.
   *
   * @param match match of the complete document
   */
  #openBehindHeader(request: SoapRequest, match: Match<Opening> | undefined): Envelope | undefined {
    const { document, charset, actions, face, attachments } = request;
    if (attachments !== undefined) return undefined;
    const known = this.#headers.find(document, charset);
    if (known === undefined) return undefined;
    const findings = startFindings(known.meaning.version, actions);
    const behind = this.#matchBehindHeader(request, known, findings);
    if (behind === undefined) return undefined;
    const { version, operation } = behind.meaning;
    if (!isOfActions(face.dispatch, operation, findings.actions, version)) return undefined;
    const readPayload = (): SoapCall => {
      const input = behind.readInput();
      if (input === undefined) return this.#openWhole(request, match).readPayload();
      const credentials = credentialsOf(findings);
      return { version, operation, input, header: findings.reply, credentials, isMtom: false };
    };
    return { version, operation, readPayload };
  }

  /**
   * Reads the header blocks, and looks up the document without them. Returns undefined on any error. `#openWhole` then
   * reports it.
   */
  #matchBehindHeader(
    { document, charset, face }: SoapRequest,
    known: Beginning<KnownHeader>,
    findings: Findings,
  ): Match<Opening> | undefined {
    try {
      const form = known.readKnown(document);
      if (form !== undefined && !this.#readBlocks(form, findings)) return undefined;
      const end = form === undefined ? headerEnd(document, known) : known.length + form.position;
      if (end === undefined) return undefined;
      const match = face.fastPath.matchWithout(document, charset, known, end - known.meaning.endTag.length);
      if (match === undefined || form !== undefined) return match;
      return this.#readNewBlocks(document.subarray(0, end), known, findings) ? match : undefined;
    } catch (error) {
      if (error instanceof XmlError) return undefined;
      throw error;
    }
  }

  /** Reads a Header after its start tag. Returns true if it has no error and no block to read later. */
  #readBlocks(xml: ContentReader, findings: Findings): boolean {
    try {
      this.#readHeader(xml, findings.version, findings);
    } catch (error) {
      if (error instanceof XmlError || error instanceof Fault) return false;
      throw error;
    }
    return findings.fault === undefined && findings.declared.length === 0;
  }

  /** Reads a Header in an unknown form that must end with these bytes. */
  #readNewBlocks(bytes: Buffer, known: Beginning<KnownHeader>, findings: Findings): boolean {
    if (!isUtf8(bytes)) return false;
    const text = bytes.toString();
    const xml = known.read(text);
    if (!this.#readBlocks(xml, findings) || xml.position !== text.length) return false;
    known.learn(text);
    return true;
  }

  /** Learns the start of a document with a Header, then the document without its header blocks. */
  #learnBehindHeader(request: SoapRequest, findings: Findings): void {
    const { document, charset, face, actions } = request;
    const { version, headerStart, headerEndTag } = findings;
    const known = this.#headers.find(document, charset);
    if (known === undefined) {
      this.#headers.learn(document, charset, headerStart, { version, endTag: Buffer.from(headerEndTag) });
      return;
    }
    if (++this.#behindHeaders % learnedOneIn !== 0) return;
    const end = headerEnd(document, known);
    if (end === undefined) return;
    if (!this.#readNewBlocks(document.subarray(0, end), known, startFindings(version, actions))) return;
    const rest = withoutBlocks(document, known, end);
    this.#openWhole(
      { ...request, document: rest, claimed: version },
      face.fastPath.match(rest, charset),
    ).readPayload();
  }

  /** Opens any request. Learns the start of a request without header blocks. */
  #openWhole(request: SoapRequest, match: Match<Opening> | undefined): Envelope {
    const { document, charset, actions, face, claimed } = request;
    const findings = startFindings(claimed, actions);
    const text = inStage(findings, undefined, () => decodeXml(document, charset));
    const xml = this.#readerOf(text);
    const opening = inStage(findings, xml, () => {
      if (match !== undefined) {
        match.resume(xml);
        const { version, operation } = match.meaning;
        findings.version = version;
        face.dispatch.checkActions(operation, findings.actions, version);
        return match.meaning;
      }
      const opened = openEnvelope(xml, this.#readHeader, face.dispatch, findings);
      const missing = missingTimestamp(this.#contract, findings);
      if (missing !== undefined) findings.fault ??= new Fault(findings.version, 'InvalidSecurity', missing);
      if (findings.headerBlocks === 0 && isLearned(opened, face.dispatch) && this.#isHeaderOptional)
        face.fastPath.learnOpening(document, charset, xml.position, opened, {
          input: opened.operation.operation.input,
          writeCredentials: opened.operation.writeCredentials,
        });
      return opened;
    });
    const { version, operation } = opening;
    const readPayload = (): SoapCall =>
      inStage(findings, xml, () => this.#readOpened(request, match, opening, findings, text, xml));
    return { version, operation, readPayload };
  }

  /**
   * Reads the rest of a document after the start tag of the payload. Learns the form of the payload if there are no
   * errors.
   */
  #readOpened(
    request: SoapRequest,
    match: Match<Opening> | undefined,
    { version, operation, isEmpty, deviation }: Opening,
    findings: Findings,
    text: string,
    xml: XmlReader,
  ): SoapCall {
    const { attachments } = request;
    const reading = startReading(this.#limits.errors ?? maxReportedProblems, this.#mostSteps);
    reading.attachments = attachments;
    if (deviation !== undefined) recordDeviation(reading, deviation);
    if (this.#holding.has(operation)) attachments?.hold();
    const { declared, headerBlocks } = findings;
    const blocks =
      declared.length === 0
        ? noBlocks
        : readDeclared(this.#readerOf(text), operation, findings, reading, version);
    const input = operation.readXml(isEmpty ? undefined : xml, reading);
    if (!isEmpty && !operation.spansBody) closeBody(xml, version);
    closeEnvelope(xml, version);
    if (findings.fault !== undefined) throw findings.fault;
    if (blocks.length > 0)
      input.text = operation.header?.join(input.text.toString(), blocks, reading) ?? input.text;
    if (attachments !== undefined)
      finishAttachments(attachments, () => this.#readerOf(text), findings, reading, this.#refusesUnknown);
    else if (isFaultless(reading)) {
      match?.learnShape(text, (snapshot, again) => {
        const anew = this.#readerOf(text);
        anew.resume(snapshot);
        return operation.readXml(anew, again);
      });
      if (headerBlocks > 0 && declared.length === 0 && this.#isHeaderOptional)
        this.#learnBehindHeader(request, findings);
    }
    return {
      version,
      operation,
      input,
      header: findings.reply,
      credentials: credentialsOf(findings),
      isMtom: attachments?.form === 'mtom',
    };
  }
}

/**
 * Runs a stage of reading. If it throws a Fault, the rest of the document is read first, because a document that is not
 * well-formed is reported before other errors (W43). Adds to a Fault the request headers that its Header answers.
 *
 * @param xml reader of the document; undefined before there is one
 */
function inStage<T>(findings: Findings, xml: XmlReader | undefined, read: () => T): T {
  try {
    try {
      return read();
    } catch (error) {
      if (error instanceof Fault && error !== findings.fault) xml?.drain();
      throw error;
    }
  } catch (error) {
    const { version, reply } = findings;
    if (error instanceof XmlError)
      throw new Fault(version, 'sender', error.reason, {
        kind: 'MalformedRequest',
        cause: error,
        header: reply,
      });
    if (error instanceof Fault) error.header ??= reply;
    throw error;
  }
}

/** Returns true if no action names another operation. Otherwise `#openWhole` reports the Fault. */
function isOfActions(
  dispatch: Dispatch,
  operation: CompiledOperation,
  actions: readonly string[],
  version: SoapVersion,
): boolean {
  try {
    dispatch.checkActions(operation, actions, version);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/**
 * Returns true if the start of a document always means the same operation: the action was not needed, and the payload
 * is one element.
 */
function isLearned({ operation, isEmpty, deviation }: Opening, { isByElement }: Dispatch): boolean {
  return !isEmpty && deviation === undefined && !operation.spansBody && isByElement(operation);
}

/**
 * Returns the operations with binary parts that stay bytes until the upstream body is written (W64). Other operations
 * convert them to base64 at once, because they check the values or write them in another form.
 */
function holdingOperations({ contract, operations }: CompiledContract): ReadonlySet<CompiledOperation> {
  if (contract.settings.validate === 'strict' || contract.adopted !== undefined) return new Set();
  return new Set(
    [...operations.values()].filter(({ operation: { input, upstream, stream } }) => {
      if (stream) return true;
      const { body, parameters } = upstream;
      const isWhole = body.kind === 'members' || body.kind === 'json' || body.kind === 'binary';
      return (
        isWhole && parameters.every(({ field }) => isPlain(input.fields.find(({ json }) => json === field)))
      );
    }),
  );
}

/** Returns true if a field cannot contain base64. */
function isPlain(field: Field | undefined): boolean {
  const type = field?.type;
  return type?.kind === 'enum' || (type?.kind === 'scalar' && type.scalar !== 'base64Binary');
}

/** Reports parts without a reference from Body or Header (W60, W61), if the request has no other errors. */
function finishAttachments(
  attachments: Attachments,
  readAgain: () => XmlReader,
  { headerBlocks }: Findings,
  reading: Reading,
  refusesUnknown: boolean,
): void {
  if (reading.problems.length > 0 || !attachments.hasUnused) return;
  if (headerBlocks > 0) mentionInHeader(attachments, readAgain());
  attachments.noteUnused(reading, refusesUnknown);
}

/** Marks parts that an Include or `href` in the header refers to as used, without resolving them (W60). */
function mentionInHeader(attachments: Attachments, xml: XmlReader): void {
  xml.readRoot();
  while (xml.nextChild() && xml.local !== 'Header') xml.skip();
  for (const depth = xml.depth; xml.depth >= depth; ) {
    if (!xml.passToChild()) continue;
    const href = xml.attribute('', 'href');
    if (href !== undefined) attachments.mention(href);
  }
}

/** Returns the offset of the end of a Header, in bytes; undefined if its end tag has an unusual spelling. */
function headerEnd(
  document: Buffer,
  { length, meaning: { endTag } }: Beginning<KnownHeader>,
): number | undefined {
  const at = document.indexOf(endTag, length);
  return at < 0 ? undefined : at + endTag.length;
}

/** Returns a document with an empty Header in place of its own. `end` is the offset of the end of the Header. */
function withoutBlocks(document: Buffer, { length, meaning }: Beginning<KnownHeader>, end: number): Buffer {
  return Buffer.concat([document.subarray(0, length), document.subarray(end - meaning.endTag.length)]);
}

function credentialsOf({ credentials, token, isSecurityUnread }: Findings): HeaderCredentials | undefined {
  if (credentials === undefined && token === undefined && !isSecurityUnread) return undefined;
  return { block: credentials, token: token?.values, digest: token?.digest, isSecurityUnread };
}

/**
 * Returns true if there are no errors except missing members. Missing members may be credentials, which a header may
 * contain instead.
 */
function isFaultless({ problems, ignored }: Reading): boolean {
  return problems.length + ignored.length === 0;
}
