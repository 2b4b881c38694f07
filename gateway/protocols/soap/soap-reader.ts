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

/** A SOAP message as it was received: the document of its envelope, and what else its HTTP message says. */
export interface SoapMessage {
  readonly document: Buffer;
  /** The charset of the Content-Type; undefined: the document says. */
  readonly charset: string | undefined;
  /** Hints at the action in the HTTP message (W4). */
  readonly actions: readonly string[];
  /** The other parts of a multipart message (W57); undefined for any other message. */
  readonly attachments: Attachments | undefined;
}

/** An envelope that was read up to its payload: what is known before it is decided what happens to the request. */
export interface Envelope {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  /** Reads the payload, and the document to its end. Throws Fault, TooManySteps. */
  readonly readPayload: () => SoapCall;
}

/** One SOAP request, read whole. */
export interface SoapCall {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  readonly input: Input;
  /** What the reply's Header answers; undefined for nothing. */
  readonly header: ReplyHeader | undefined;
  /** What header blocks hold of credentials; undefined for nothing. */
  readonly credentials: HeaderCredentials | undefined;
  /** Whether the request came as a message of MTOM (W65). */
  readonly isMtom: boolean;
}

/**
 * Opens SOAP messages of a contract. Throws Fault, in the version of the envelope once it is known and else of the address (W3);
 * UnsupportedCharset.
 */
export type OpenSoap = (message: SoapMessage, address: SoapAddress) => Envelope;

/** The operations that answer at a path, and what is known of requests to them that were met before. */
interface Face {
  readonly dispatch: Dispatch;
  readonly fastPath: FastPath<Opening>;
}

/** A message and the operations that may be meant. */
interface SoapRequest extends SoapMessage {
  readonly face: Face;
  /** Of the path. */
  readonly claimed: SoapVersion;
}

/** A beginning up to the start tag of Header. */
interface KnownHeader {
  readonly version: SoapVersion;
  /** As the end tag is written where nothing special is done. */
  readonly endTag: Buffer;
}

/** Of so many requests with header blocks that are read whole, one is looked at without them. */
const learnedOneIn = 4;

const noBlocks: readonly string[] = [];

/**
 * A reader of SOAP requests: envelope and headers first, then the payload by its operation's codec. Problems of members are
 * in the input's reading; everything before them throws Fault. The first stage that fails speaks, whatever comes later in
 * the text (W43).
 *
 * @param mostSteps as `startReading` has it: one that takes more throws TooManySteps
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
  /** Whether an envelope without a header is a good one. */
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

  /** A document is read anew by the same rules, too. */
  #readerOf(text: string): XmlReader {
    return new XmlReader(text, this.#limits, this.#quirks);
  }

  #faceOf(endpoint: string | undefined): Face {
    const face = this.#faces.get(endpoint);
    if (face === undefined) throw new RangeError(`no endpoint of the contract: ${endpoint}`);
    return face;
  }

  /** A request without header blocks whose beginning was met before; undefined where its action is of another operation. */
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
   * A request whose beginning without its header blocks was met before, with what they say; undefined for any other, and for
   * one with anything wrong in its header.
   *
   * @param match that of the whole document
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

  /** Reads the header blocks, and finds what is known of the document without them. What is wrong is for the whole to be read to say. */
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

  /** Reads a Header from behind its start tag. Gives whether nothing is wrong with it, nor left for later. */
  #readBlocks(xml: ContentReader, findings: Findings): boolean {
    try {
      this.#readHeader(xml, findings.version, findings);
    } catch (error) {
      if (error instanceof XmlError || error instanceof Fault) return false;
      throw error;
    }
    return findings.fault === undefined && findings.declared.length === 0;
  }

  /** The same for one whose form isn't known yet, and which has to end with these bytes. */
  #readNewBlocks(bytes: Buffer, known: Beginning<KnownHeader>, findings: Findings): boolean {
    if (!isUtf8(bytes)) return false;
    const text = bytes.toString();
    const xml = known.read(text);
    if (!this.#readBlocks(xml, findings) || xml.position !== text.length) return false;
    known.learn(text);
    return true;
  }

  /** Takes note of the Header's beginning, then of what the request is without its blocks. */
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

  /** Any request. One without header blocks is remembered up to its payload. */
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

  /** Reads what is behind the start tag of the payload, and takes note of its shape where nothing is wrong with it. */
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
 * Runs a stage of reading. A document that isn't well-formed is told so before anything else is (W43); a Fault gets the
 * header that its reply answers.
 *
 * @param xml the document's reader, which is read to the end; undefined while there is none
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

/** Whether no hint is at another operation; one that is has its Fault from whoever reads the whole document. */
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

/** Whether a beginning means the same wherever it comes: the action had no part in it, and nothing goes beyond its element. */
function isLearned({ operation, isEmpty, deviation }: Opening, { isByElement }: Dispatch): boolean {
  return !isEmpty && deviation === undefined && !operation.spansBody && isByElement(operation);
}

/**
 * Operations whose parts stay bytes until the upstream's body is written (W64): those of others are base64 at once, for
 * what looks at values, or writes them in another form.
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

/** Whether a field can't hold base64. */
function isPlain(field: Field | undefined): boolean {
  const type = field?.type;
  return type?.kind === 'enum' || (type?.kind === 'scalar' && type.scalar !== 'base64Binary');
}

/** Notes the parts that neither Body nor Header refers to (W60, W61), once the rest is known to be right. */
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

/** An Include or `href` in the header refers to a part, though nothing is followed there (W60). */
function mentionInHeader(attachments: Attachments, xml: XmlReader): void {
  xml.readRoot();
  while (xml.nextChild() && xml.local !== 'Header') xml.skip();
  for (const depth = xml.depth; xml.depth >= depth; ) {
    if (!xml.passToChild()) continue;
    const href = xml.attribute('', 'href');
    if (href !== undefined) attachments.mention(href);
  }
}

/** Where a Header ends, in bytes; undefined where it doesn't end as it does mostly. */
function headerEnd(
  document: Buffer,
  { length, meaning: { endTag } }: Beginning<KnownHeader>,
): number | undefined {
  const at = document.indexOf(endTag, length);
  return at < 0 ? undefined : at + endTag.length;
}

/** A document with an empty Header in the place of its own, which ends at an offset. */
function withoutBlocks(document: Buffer, { length, meaning }: Beginning<KnownHeader>, end: number): Buffer {
  return Buffer.concat([document.subarray(0, length), document.subarray(end - meaning.endTag.length)]);
}

function credentialsOf({ credentials, token, isSecurityUnread }: Findings): HeaderCredentials | undefined {
  if (credentials === undefined && token === undefined && !isSecurityUnread) return undefined;
  return { block: credentials, token: token?.values, digest: token?.digest, isSecurityUnread };
}

/** Whether nothing is wrong but for what isn't there: credentials come in a header, too, and each request without them lacks the same. */
function isFaultless({ problems, ignored }: Reading): boolean {
  return problems.length + ignored.length === 0;
}
