import { isAscii } from 'node:buffer';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { Attachments } from '../../../mappings/codec/attachments.ts';
import { endOfPayloadTag, readHead } from '../../../mappings/codec/byte-reader/head.ts';
import {
  type KnownHeader,
  KnownHeaders,
  KnownHeads,
} from '../../../mappings/codec/byte-reader/known-heads.ts';
import { type Head, tryBytes } from '../../../mappings/codec/byte-reader/message.ts';
import {
  maxReportedProblems,
  type Reading,
  recordDeviation,
  startReading,
} from '../../../mappings/codec/problem.ts';
import type { CompiledContract, CompiledOperation } from '../../../mappings/compile.ts';
import type { Signing, Wsse } from '../../../mappings/contract/credentials.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import type { Contract } from '../../../mappings/contract/model.ts';
import { decodeXml, hasPlainCharacters, utf8Start } from '../../../mappings/xml/decode.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { XmlReader, type XmlTolerance } from '../../../mappings/xml/reader.ts';
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
import { missingTimestamp } from './headers/security.ts';
import type { Envelope, OpenSoap, SoapCall, SoapMessage } from './soap-call.ts';
import type { SoapAddress, SoapVersion } from './versions.ts';

export type { Envelope, OpenSoap, SoapCall, SoapMessage } from './soap-call.ts';

/** The operations at a path, and the cache of known requests to them. */
interface Binding {
  readonly dispatch: Dispatch;
  readonly heads: KnownHeads<Opening>;
  readonly headers: KnownHeaders<Opening>;
}

/** A message and the operations to choose from. */
interface SoapRequest extends SoapMessage {
  readonly binding: Binding;
  /** The version of the path. */
  readonly claimed: SoapVersion;
}

/** The beginning of a request that the byte reader reads on from. */
interface PlainOpening {
  readonly opening: Opening;
  readonly head: Head;
  /** Undefined for a request without header blocks. */
  readonly findings: Findings | undefined;
}

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
  readonly #tolerance: XmlTolerance;
  /** Limits for a header that is read without its envelope. */
  readonly #headerLimits: Limits;
  readonly #readHeader: ReadHeader;
  readonly #bindings: ReadonlyMap<string | undefined, Binding>;
  readonly #refusesUnknown: boolean;
  /** Undefined for a contract that verifies no signatures. */
  readonly #signed: OpenSoap | undefined;

  constructor(compiled: CompiledContract, mostSteps: number) {
    const { limits, contract } = compiled;
    const tolerance: XmlTolerance = {
      acceptsIllegalReferences: contract.settings.illegalCharacterReferences === 'accept',
      emptyPrefixes: contract.operations.some(({ binding }) => binding.style === 'rpc'),
    };
    this.#contract = contract;
    this.#limits = limits;
    this.#mostSteps = mostSteps;
    this.#tolerance = tolerance;
    this.#headerLimits = { ...limits, xmlDepth: limits.xmlDepth - 1 };
    this.#readHeader = compileReadHeader(compiled);
    const bindings = new Map<Dispatch, Binding>();
    this.#bindings = new Map(
      [...compileDispatch(compiled)].map(([endpoint, dispatch]) => {
        const binding = bindings.get(dispatch) ?? {
          dispatch,
          heads: new KnownHeads<Opening>(),
          headers: new KnownHeaders<Opening>(),
        };
        bindings.set(dispatch, binding);
        return [endpoint, binding];
      }),
    );
    this.#refusesUnknown = contract.settings.unknownElements === 'refuse';
    this.#signed =
      contract.wsse?.x509 === undefined ? undefined : this.#openSigned(contract.wsse, contract.wsse.x509);
  }

  open(message: SoapMessage, address: SoapAddress): Envelope {
    return this.#signed === undefined ? this.#open(message, address) : this.#signed(message, address);
  }

  #open(
    { document, charset, actions, attachments }: SoapMessage,
    { version: claimed, endpoint }: SoapAddress,
  ): Envelope {
    const binding = this.#bindingOf(endpoint);
    const request: SoapRequest = { document, charset, actions, attachments, binding, claimed };
    const plain = this.#openPlain(request);
    return plain === undefined ? this.#openWhole(request, false) : this.#envelopeOf(request, plain);
  }

  /** Returns the opener of signed messages. Its modules are loaded only for a contract that verifies signatures. */
  #openSigned(wsse: Wsse, signing: Signing): OpenSoap {
    const { openSigned }: typeof import('./signed.ts') = createRequire(import.meta.url)(
      `./signed${extname(import.meta.url)}`,
    );
    return openSigned(wsse, signing, this.#limits, this.#tolerance, {
      open: (message, address) => this.#open(message, address),
      isByElement: (operation, { endpoint }) => this.#bindingOf(endpoint).dispatch.isByElement(operation),
    });
  }

  /** Creates a reader of a text. All readers of a document use the same rules. */
  #readerOf(text: string): XmlReader {
    return new XmlReader(text, this.#limits, this.#tolerance);
  }

  #bindingOf(endpoint: string | undefined): Binding {
    const binding = this.#bindings.get(endpoint);
    if (binding === undefined) throw new RangeError(`no endpoint of the contract: ${endpoint}`);
    return binding;
  }

  /** Returns the envelope of a request whose payload the byte reader tries first. */
  #envelopeOf(request: SoapRequest, { opening, head, findings }: PlainOpening): Envelope {
    const { version, operation } = opening;
    const { readBytes } = operation;
    const { document, attachments } = request;
    const readPayload = (): SoapCall => {
      const input = readBytes && tryBytes(readBytes, document, head, this.#startReading());
      if (input === undefined) return this.#openWhole(request, true).readPayload();
      attachments?.noteUnused(input.reading, this.#refusesUnknown);
      return {
        version,
        operation,
        input,
        header: findings?.reply,
        values: findings?.values,
        isMtom: attachments?.form === 'mtom',
      };
    };
    return { version, operation, readPayload, findings };
  }

  /** Opens a request for the byte reader; undefined for a request that the usual reader must read. */
  #openPlain(request: SoapRequest): PlainOpening | undefined {
    const { document, charset, actions, binding } = request;
    if (!hasPlainCharacters(document)) return undefined;
    const known = binding.heads.find(document, charset);
    if (known === undefined) return this.#openAfterHeader(request) ?? this.#openNew(request);
    const { meaning: opening, head } = known;
    const { version, operation } = opening;
    if (!isOfActions(binding.dispatch, operation, actions, version)) return undefined;
    return { opening, head, findings: undefined };
  }

  /** Opens a request that is cached without its header; undefined for any other request. */
  #openAfterHeader(request: SoapRequest): PlainOpening | undefined {
    const { document, charset, actions, binding, attachments } = request;
    const found = attachments === undefined ? binding.headers.find(document, charset) : undefined;
    if (found === undefined) return undefined;
    const { known, end } = found;
    const { meaning: opening, head: base, after } = known;
    const findings = startFindings(opening.version, actions);
    const counts = this.#readHeaderAt(document, known, end, findings);
    if (counts === undefined || !this.#isPlain(opening, findings)) return undefined;
    if (!isOfActions(binding.dispatch, opening.operation, findings.actions, opening.version))
      return undefined;
    const elements = base.elements + counts.elements;
    const attributes = base.attributes + counts.attributes;
    return { opening, head: { ...base, from: end + after.length, elements, attributes }, findings };
  }

  /** Reads the header that ends at an offset and returns its counts; undefined for a header with an error. */
  #readHeaderAt(
    document: Buffer,
    { before, bindings }: Pick<KnownHeader<Opening>, 'before' | 'bindings'>,
    end: number,
    findings: Findings,
  ): XmlReader['counts'] | undefined {
    const text = document.toString('utf8', before.length, end);
    const xml = new XmlReader(text, this.#headerLimits, this.#tolerance);
    xml.declare(bindings);
    try {
      xml.readRoot();
      findings.headerBlocks = this.#readHeader(xml, findings.version, findings);
    } catch (error) {
      if (error instanceof XmlError || error instanceof Fault) return undefined;
      throw error;
    }
    return xml.position === text.length ? xml.counts : undefined;
  }

  /** Adds a request without its header to the cache. */
  #keepHeader(
    document: Buffer,
    charset: string | undefined,
    binding: Binding,
    head: Head,
    opening: Opening,
  ): void {
    const [envelope = ''] = head.names;
    const name = `${envelope.slice(0, -'Envelope'.length)}Header`;
    const start = document.indexOf(`<${name}`);
    const endTag = Buffer.from(`</${name}>`);
    const end = document.indexOf(endTag, Math.max(0, start)) + endTag.length;
    if (start < 0 || end < endTag.length || end > head.from) return;
    // bytes of their own: a part of the document would keep all of it in memory
    const before = Buffer.from(document.subarray(0, start));
    const after = Buffer.from(document.subarray(end, head.from));
    // in a comment a tag is text
    if (!isAscii(before) || before.includes('<!') || after.includes('<!')) return;
    const outer = this.#readerOf(before.toString());
    outer.readRoot();
    const bindings = outer.scope()?.bindings;
    if (bindings === undefined) return;
    const counts = this.#readHeaderAt(
      document,
      { before, bindings },
      end,
      startFindings(opening.version, []),
    );
    if (counts === undefined) return;
    const elements = head.elements - counts.elements;
    const attributes = head.attributes - counts.attributes;
    const known = { before, endTag, after, charset, bindings, meaning: opening };
    binding.headers.keep({ ...known, head: { ...head, elements, attributes } });
  }

  /** Opens a request whose beginning is not in the cache. */
  #openNew({
    document,
    charset,
    actions,
    binding,
    attachments,
    claimed,
  }: SoapRequest): PlainOpening | undefined {
    const start = utf8Start(document, charset);
    if (start === undefined) return undefined;
    const findings = startFindings(claimed, actions);
    let opening: Opening | undefined;
    let head: Head | undefined;
    try {
      head = readHead(
        document,
        start,
        endOfPayloadTag(document, start),
        this.#limits,
        this.#tolerance,
        (xml) => {
          opening = openEnvelope(xml, this.#readHeader, binding.dispatch, findings);
        },
      );
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
    if (head === undefined || opening === undefined || !this.#isPlain(opening, findings)) return undefined;
    if (findings.headerBlocks > 0) {
      if (attachments !== undefined) return undefined;
      if (binding.dispatch.isByElement(opening.operation))
        this.#keepHeader(document, charset, binding, head, opening);
      return { opening, head, findings };
    }
    if (binding.dispatch.isByElement(opening.operation)) binding.heads.keep(document, charset, head, opening);
    return { opening, head, findings: undefined };
  }

  /** Returns true if a request has no error so far, and only its payload is left to read. */
  #isPlain({ operation, isEmpty, deviation }: Opening, findings: Findings): boolean {
    return (
      operation.readBytes !== undefined &&
      !isEmpty &&
      deviation === undefined &&
      findings.fault === undefined &&
      findings.declared.length === 0 &&
      missingTimestamp(this.#contract, findings) === undefined
    );
  }

  #startReading(): Reading {
    return startReading(this.#limits.errors ?? maxReportedProblems, this.#mostSteps);
  }

  /**
   * Opens any request with the usual reader.
   *
   * @param isAgain true if the byte reader gave up
   */
  #openWhole(request: SoapRequest, isAgain: boolean): Envelope {
    const { document, charset, actions, binding, claimed } = request;
    const findings = startFindings(claimed, actions);
    const text = inStage(findings, undefined, () => decodeXml(document, charset));
    const xml = this.#readerOf(text);
    const opening = inStage(findings, xml, () => {
      const opened = openEnvelope(xml, this.#readHeader, binding.dispatch, findings);
      const missing = missingTimestamp(this.#contract, findings);
      if (missing !== undefined) findings.fault ??= new Fault(findings.version, 'InvalidSecurity', missing);
      return opened;
    });
    const { version, operation } = opening;
    const readPayload = (): SoapCall =>
      inStage(findings, xml, () => {
        const call = this.#readOpened(request, opening, findings, text, xml);
        call.input.reading.isReadTwice = isAgain;
        return call;
      });
    return { version, operation, readPayload, findings };
  }

  /**
   * Reads the rest of a document after the start tag of the payload. Learns the form of the payload if there are no
   * errors.
   */
  #readOpened(
    { attachments }: SoapRequest,
    { version, operation, isEmpty, deviation }: Opening,
    findings: Findings,
    text: string,
    xml: XmlReader,
  ): SoapCall {
    const reading = this.#startReading();
    reading.attachments = attachments;
    if (deviation !== undefined) recordDeviation(reading, deviation);
    if (operation.holdsParts) attachments?.hold();
    const { declared } = findings;
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
    return {
      version,
      operation,
      input,
      header: findings.reply,
      values: findings.values,
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
