import { isUtf8 } from 'node:buffer';
import type { Attachments } from '../../../mappings/codec/attachments.ts';
import { encodedReason } from '../../../mappings/codec/element.ts';
import { type Beginning, Beginnings, FastPath } from '../../../mappings/codec/fast-path/fast-path.ts';
import {
  type Deviation,
  type Reading,
  recordDeviation,
  startReading,
} from '../../../mappings/codec/problem.ts';
import { namespaceText } from '../../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation, Frame } from '../../../mappings/compile.ts';
import { hasRpc } from '../../../mappings/contract/adopted.ts';
import type { Field } from '../../../mappings/contract/model.ts';
import type { Input } from '../../../mappings/http-mapping/call.ts';
import { decodeXml } from '../../../mappings/xml/decode.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { type ContentReader, type XmlQuirks, XmlReader } from '../../../mappings/xml/reader.ts';
import type { HeaderCredentials } from '../../call/credentials.ts';
import { compileDispatch, type Dispatch } from './dispatch.ts';
import { Fault, refuse } from './faults.ts';
import { readDeclared } from './headers/declared.ts';
import type { HeaderFindings } from './headers/header-block.ts';
import { compileReadHeader, type ReadHeader } from './headers/headers.ts';
import { headerOfReply, type ReplyHeader } from './headers/reply-header.ts';
import { missingTimestamp } from './headers/security.ts';
import { envelopeFrame, type SoapVersion, soap11, soap12 } from './versions.ts';

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
 * Reads SOAP requests of a contract; `charset` is the Content-Type's, `actions` are the hints at an action in the HTTP
 * message (W4). Throws Fault; UnsupportedCharset.
 *
 * @param endpoint the path below the base path, where ports of an adopted service have one (A5); undefined: any operation
 *   of the contract answers
 * @param attachments the other parts of a multipart message (W57)
 */
export type ReadSoap = (
  document: Buffer,
  charset: string | undefined,
  pathVersion: SoapVersion,
  actions: readonly string[],
  endpoint?: string,
  attachments?: Attachments,
) => SoapCall;

/** What the text up to the payload's start tag says. */
interface Opening {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  /** Whether Body has nothing in it (A7). */
  readonly isEmpty: boolean;
  /** The tolerated deviation of the body's element; undefined for none. */
  readonly deviation: Deviation | undefined;
}

/** A request's document, and what else its HTTP message says of it. */
interface SoapRequest {
  readonly document: Buffer;
  readonly charset: string | undefined;
  readonly actions: readonly string[];
  readonly face: Face;
  readonly attachments: Attachments | undefined;
}

/** The operations that answer at a path, and what is known of requests to them that were met before. */
interface Face {
  readonly dispatch: Dispatch;
  readonly fastPath: FastPath<Opening>;
}

/** What is known of a request while it is read, for the fault of whatever comes next. */
interface Findings extends HeaderFindings {
  version: SoapVersion;
  headerBlocks: number;
  /** Where its start tag ends, in characters; 0: there is no Header. */
  headerStart: number;
  headerEndTag: string;
}

/** A beginning up to the start tag of Header. */
interface KnownHeader {
  readonly version: SoapVersion;
  /** As the end tag is written where nothing special is done. */
  readonly endTag: Buffer;
}

/** Of so many requests with header blocks that are read whole, one is looked at without them. */
const learnedOneIn = 4;

/**
 * A reader of SOAP requests: envelope, headers, and the payload by its operation's codec. Problems of members are in
 * the input's reading; everything before them throws Fault, in the version of the envelope once it is known
 * and else of the path (W3). The first stage that fails speaks, whatever comes later in the text (W43). One function, as its
 * parts share what they know of requests that were met before.
 *
 * @param mostSteps as `startReading` has it: one that takes more throws TooManySteps
 */
export function createSoapReader(
  compiled: CompiledContract,
  mostSteps: number = Number.POSITIVE_INFINITY,
): ReadSoap {
  const { limits, contract } = compiled;
  const quirks: XmlQuirks = {
    illegalReferences: contract.settings.illegalCharacterReferences === 'accept',
    emptyPrefixes: hasRpc(contract),
  };
  /** A document is read anew by the same rules, too. */
  const readerOf = (text: string): XmlReader => new XmlReader(text, limits, quirks);
  const readHeader = compileReadHeader(compiled);
  const faces = new Map(
    [...compileDispatch(compiled)].map(([endpoint, dispatch]) => {
      const face: Face = { dispatch, fastPath: new FastPath<Opening>(limits, quirks) };
      return [endpoint, face];
    }),
  );
  const faceOf = (endpoint: string | undefined): Face => {
    const face = faces.get(endpoint);
    if (face === undefined) throw new RangeError(`no endpoint of the contract: ${endpoint}`);
    return face;
  };
  const refusesUnknown = contract.settings.unknownElements === 'refuse';
  const holding = holdingOperations(compiled);
  /** Whether an envelope without a header is a good one. */
  const isHeaderOptional = contract.wsse?.timestamp !== 'required';

  /** Up to the payload's start tag; an envelope without header blocks is remembered up to there. */
  const open = (xml: XmlReader, request: SoapRequest, findings: Findings): Opening => {
    const { document, charset, face } = request;
    const { dispatch, fastPath } = face;
    const known = fastPath.opening;
    if (known !== undefined) {
      fastPath.resume(xml);
      findings.version = known.version;
      dispatch.checkActions(known.operation, findings.actions, known.version);
      return known;
    }
    const opening = openEnvelope(xml, readHeader, dispatch, findings);
    const missing = missingTimestamp(contract, findings);
    if (missing !== undefined) findings.fault ??= new Fault(findings.version, 'InvalidSecurity', missing);
    if (findings.headerBlocks === 0 && isLearned(opening, dispatch) && isHeaderOptional)
      fastPath.learnOpening(document, charset, xml.position, opening, {
        input: opening.operation.operation.input,
        writeCredentials: opening.operation.writeCredentials,
      });
    return opening;
  };

  const headers = new Beginnings<KnownHeader>(limits, quirks);
  let behindHeaders = 0;

  return (document, charset, pathVersion, actions, endpoint, attachments) => {
    const request: SoapRequest = { document, charset, actions, face: faceOf(endpoint), attachments };
    return readKnown(request) ?? tryBehindHeader(request) ?? readWhole(request, pathVersion);
  };

  /** What isn't well-formed, or not to all readers of a form, is for the whole to be read to say. */
  function tryBehindHeader(request: SoapRequest): SoapCall | undefined {
    try {
      return readBehindHeader(request);
    } catch (error) {
      if (!(error instanceof XmlError)) throw error;
      request.face.fastPath.read(request.document, request.charset); // what is known of the whole document again
      return undefined;
    }
  }

  /** A request without header blocks whose markup was met before; undefined for any other. */
  function readKnown(request: SoapRequest): SoapCall | undefined {
    const { document, charset, actions, face, attachments } = request;
    const { fastPath, dispatch } = face;
    const input = fastPath.read(document, charset);
    const { opening } = fastPath;
    if (input === undefined || opening === undefined) return undefined;
    const { version, operation } = opening;
    dispatch.checkActions(operation, actions, version);
    attachments?.noteUnused(input.reading, refusesUnknown);
    const isMtom = attachments?.form === 'mtom';
    return { version, operation, input, header: undefined, credentials: undefined, isMtom };
  }

  /**
   * A request whose markup without its header blocks was met before, with what they say; undefined for any other, and for
   * one with anything wrong in its header.
   */
  function readBehindHeader(request: SoapRequest): SoapCall | undefined {
    const { document, charset, actions, face, attachments } = request;
    if (attachments !== undefined) return undefined;
    const { fastPath, dispatch } = face;
    const known = headers.find(document, charset);
    if (known === undefined) return undefined;
    const findings = startFindings(known.meaning.version, actions);
    const form = known.readKnown(document);
    if (form !== undefined && !readBlocks(form, findings)) return undefined;
    const end = form === undefined ? headerEnd(document, known) : known.length + form.position;
    if (end === undefined) return undefined;
    const input = fastPath.readWithout(document, charset, known, end - known.meaning.endTag.length);
    const { opening } = fastPath;
    if (input !== undefined && opening !== undefined) {
      const { version, operation } = opening;
      if (form !== undefined || readNewBlocks(document.subarray(0, end), known, findings)) {
        dispatch.checkActions(operation, findings.actions, version);
        const credentials = credentialsOf(findings);
        return { version, operation, input, header: findings.reply, credentials, isMtom: false };
      }
    }
    fastPath.read(document, charset); // what is known of the whole document again
    return undefined;
  }

  /** Reads a Header from behind its start tag. Gives whether nothing is wrong with it, nor left for later. */
  function readBlocks(xml: ContentReader, findings: Findings): boolean {
    try {
      readHeader(xml, findings.version, findings);
    } catch (error) {
      if (error instanceof XmlError || error instanceof Fault) return false;
      throw error;
    }
    return findings.fault === undefined && findings.declared.length === 0;
  }

  /** The same for one whose form isn't known yet, and which has to end with these bytes. */
  function readNewBlocks(bytes: Buffer, known: Beginning<KnownHeader>, findings: Findings): boolean {
    if (!isUtf8(bytes)) return false;
    const text = bytes.toString();
    const xml = known.read(text);
    if (!readBlocks(xml, findings) || xml.position !== text.length) return false;
    known.learn(text);
    return true;
  }

  /** Takes note of the Header's beginning, then of what the request is without its blocks. */
  function learnBehindHeader(request: SoapRequest, findings: Findings): void {
    const { document, charset, face } = request;
    const { version, headerStart, headerEndTag, actions } = findings;
    const known = headers.find(document, charset);
    if (known === undefined) {
      headers.learn(document, charset, headerStart, { version, endTag: Buffer.from(headerEndTag) });
      return;
    }
    if (++behindHeaders % learnedOneIn !== 0) return;
    const end = headerEnd(document, known);
    if (end === undefined) return;
    if (!readNewBlocks(document.subarray(0, end), known, startFindings(version, actions))) return;
    const rest = withoutBlocks(document, known, end);
    face.fastPath.read(rest, charset);
    readWhole({ ...request, document: rest, actions }, version);
  }

  function readWhole(request: SoapRequest, version: SoapVersion): SoapCall {
    const { document, charset, actions, attachments } = request;
    const findings = startFindings(version, actions);
    try {
      const text = decodeXml(document, charset);
      const xml = readerOf(text);
      try {
        const { version: soapVersion, operation, isEmpty, deviation } = open(xml, request, findings);
        const reading = startReading(limits.errors, mostSteps);
        reading.attachments = attachments;
        if (deviation !== undefined) recordDeviation(reading, deviation);
        if (holding.has(operation)) attachments?.hold();
        const { declared } = findings;
        const blocks =
          declared.length === 0
            ? noBlocks
            : readDeclared(readerOf(text), operation, findings, reading, soapVersion);
        const input = operation.readXml(isEmpty ? undefined : xml, reading);
        if (!isEmpty && !operation.spansBody) closeBody(xml, soapVersion);
        closeEnvelope(xml, soapVersion);
        if (findings.fault !== undefined) throw findings.fault;
        if (blocks.length > 0)
          input.text = operation.header?.join(input.text.toString(), blocks, reading) ?? input.text;
        if (attachments !== undefined)
          finishAttachments(attachments, () => readerOf(text), findings, reading, refusesUnknown);
        else if (isFaultless(reading)) {
          request.face.fastPath.learnShape(text, operation.readXml);
          if (findings.headerBlocks > 0 && declared.length === 0 && isHeaderOptional)
            learnBehindHeader(request, findings);
        }
        const { reply } = findings;
        const credentials = credentialsOf(findings);
        return {
          version: soapVersion,
          operation,
          input,
          header: reply,
          credentials,
          isMtom: attachments?.form === 'mtom',
        };
      } catch (error) {
        // A document that isn't well-formed is told so before anything else is (W43).
        if (error instanceof Fault && error !== findings.fault) xml.drain();
        throw error;
      }
    } catch (error) {
      const { version: soapVersion, reply } = findings;
      if (error instanceof XmlError)
        throw new Fault(soapVersion, 'sender', error.message, {
          kind: 'MalformedRequest',
          cause: error,
          header: reply,
        });
      if (error instanceof Fault) error.header ??= reply;
      throw error;
    }
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

function startFindings(version: SoapVersion, actions: readonly string[]): Findings {
  return {
    version,
    actions: [...actions],
    declared: [],
    headerBlocks: 0,
    headerStart: 0,
    headerEndTag: '',
    credentials: undefined,
    token: undefined,
    isSecurityUnread: false,
    reply: undefined,
    fault: undefined,
  };
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

function envelopeVersion(xml: XmlReader, pathVersion: SoapVersion): SoapVersion {
  if (xml.local !== 'Envelope') {
    refuse(pathVersion, `expected a SOAP Envelope, got <${xml.local.slice(0, 64)}>`);
  }
  if (xml.namespace === soap11.namespace) return soap11;
  if (xml.namespace === soap12.namespace) return soap12;
  throw new Fault(
    pathVersion,
    'VersionMismatch',
    `expected an Envelope of SOAP 1.1 (${soap11.namespace}) or SOAP 1.2 (${soap12.namespace}), got one in ${namespaceText(xml.namespace)}`,
  );
}

/** At most one Header, then a Body, blanks between (W41), up to the start tag of what is in Body. */
function openEnvelope(
  xml: XmlReader,
  readHeader: ReadHeader,
  { find, deviationOf }: Dispatch,
  findings: Findings,
): Opening {
  xml.readRoot();
  const soapVersion = envelopeVersion(xml, findings.version);
  findings.version = soapVersion;
  if (soapVersion === soap12) {
    for (let index = 0; index < xml.attributeCount; index++) {
      if (xml.attributeNamespace(index) === '')
        refuse(soapVersion, 'expected no attribute without namespace on Envelope (SOAP 1.2)');
    }
  }
  for (let seenHeader = false; ; seenHeader = true) {
    if (!xml.nextChild()) {
      refuseStray(xml, soapVersion);
      refuse(soapVersion, 'expected a Body in Envelope, got none');
    }
    const ours = xml.namespace === soapVersion.namespace;
    if (ours && xml.local === 'Body') break;
    if (!ours || xml.local !== 'Header' || seenHeader) {
      const expected = seenHeader ? 'Body' : 'Header or Body';
      refuse(
        soapVersion,
        `expected ${expected} of the Envelope's namespace, got <${xml.local.slice(0, 64)}>`,
      );
    }
    findings.headerStart = xml.position;
    findings.headerEndTag = `</${xml.prefix === '' ? '' : `${xml.prefix}:`}Header>`;
    findings.headerBlocks = readHeader(xml, soapVersion, findings);
  }
  const isEmpty = !xml.nextChild();
  if (isEmpty && xml.stray) refuse(soapVersion, 'expected one element in Body, got text');
  const element = isEmpty ? undefined : xml;
  const operation = find(element, findings.actions, soapVersion);
  return { version: soapVersion, operation, isEmpty, deviation: deviationOf(operation, element) };
}

const noBlocks: readonly string[] = [];

/** From the payload's end tag to that of Body: nothing more is in it (W41). */
function closeBody(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.nextChild()) {
    const encoded = encodedReason(xml);
    if (encoded !== undefined) refuse(soapVersion, encoded);
    refuse(soapVersion, `expected one element in Body, got <${xml.local.slice(0, 64)}> after it`);
  }
  if (xml.stray) refuse(soapVersion, 'expected one element in Body, got text beside it');
}

/** From Body's end tag to the end of the document: nothing after it (W41). */
function closeEnvelope(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.nextChild()) {
    refuse(soapVersion, `expected nothing after Body, got <${xml.local.slice(0, 64)}>`);
  }
  refuseStray(xml, soapVersion);
  xml.finish();
}

function refuseStray(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.stray) refuse(soapVersion, 'expected only blanks between the parts of Envelope, got text');
}

/** The envelope of an operation's reply or in-band error, with what its Header answers of the request's (W28). */
export function replyFrame(
  version: SoapVersion,
  action: string | undefined,
  header: ReplyHeader | undefined,
): Frame {
  if (header === undefined || action === undefined) return version.frame;
  const text = headerOfReply(header, action);
  return text === '' ? version.frame : envelopeFrame(version.namespace, text);
}

/** The same of a reply that may be a message of MTOM, whose values of so many bytes are parts (W65). */
export function mtomFrame(frame: Frame, attachFrom: number): Frame {
  return { ...frame, attachFrom };
}
