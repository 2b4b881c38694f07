import { type Head, Heads } from '../../../mappings/codec/fast-path/prefix-cache.ts';
import { createDesk, type Desk, Templates } from '../../../mappings/codec/fast-path/request-shapes.ts';
import { type Reading, startReading } from '../../../mappings/codec/problem.ts';
import { collapse } from '../../../mappings/codec/scalars/numbers.ts';
import { escapeAttribute, escapeXml } from '../../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation, Frame } from '../../../mappings/compile.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import type { Input } from '../../../mappings/http-mapping/call.ts';
import { decodeXml } from '../../../mappings/xml/decode.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';

/** Everything that differs between SOAP 1.1 and 1.2, as one value each (W3, W7, W27, W28). */
export interface SoapVersion {
  readonly name: '1.1' | '1.2';
  readonly format: 'soap11' | 'soap12';
  readonly namespace: string;
  readonly contentType: string;
  /** Code of a fault that the caller can mend, and of one that it can't. */
  readonly sender: 'Client' | 'Sender';
  readonly receiver: 'Server' | 'Receiver';
  readonly roleAttribute: 'actor' | 'role';
  /** Roles that are ours besides an absent or empty one. */
  readonly ourRoles: readonly string[];
  /** What a payload goes out in when there is no header to write. */
  readonly frame: Frame;
}

const declaration = '<?xml version="1.0" encoding="utf-8"?>';

function version(facts: Omit<SoapVersion, 'frame'>): SoapVersion {
  return {
    ...facts,
    frame: envelopeFrame(facts.namespace, ''),
  };
}

export const soap11: SoapVersion = version({
  name: '1.1',
  format: 'soap11',
  namespace: namespaces.soap11,
  contentType: 'text/xml; charset=utf-8',
  sender: 'Client',
  receiver: 'Server',
  roleAttribute: 'actor',
  ourRoles: ['http://schemas.xmlsoap.org/soap/actor/next'],
});

export const soap12: SoapVersion = version({
  name: '1.2',
  format: 'soap12',
  namespace: namespaces.soap12,
  contentType: 'application/soap+xml; charset=utf-8',
  sender: 'Sender',
  receiver: 'Receiver',
  roleAttribute: 'role',
  ourRoles: [
    'http://www.w3.org/2003/05/soap-envelope/role/next',
    'http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver',
  ],
});

/** WS-Addressing of one request, to be answered in its own version (W28). */
export interface Addressing {
  readonly namespace: string;
  messageId: string | undefined;
}

export type FaultCode =
  | 'sender'
  | 'receiver'
  | 'VersionMismatch'
  | 'MustUnderstand'
  | 'OnlyAnonymousAddressSupported';

/** What a SOAP caller meets when no operation can answer (W27). */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly version: SoapVersion;
  /** The header block that a MustUnderstand fault is about. */
  readonly block: { readonly namespace: string; readonly local: string } | undefined;
  addressing: Addressing | undefined;

  constructor(
    soapVersion: SoapVersion,
    code: FaultCode,
    reason: string,
    details: {
      readonly block?: Fault['block'];
      readonly addressing?: Addressing | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(reason, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'Fault';
    this.version = soapVersion;
    this.code = code;
    this.block = details.block;
    this.addressing = details.addressing;
  }
}

/** One SOAP request, read whole. */
export interface SoapCall {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  readonly input: Input;
  readonly addressing: Addressing | undefined;
  /** What the header block `Credentials` holds, as a member of the body would. */
  readonly credentials: ReadonlyMap<string, string> | undefined;
}

/**
 * Reads SOAP requests of a contract; `charset` is the Content-Type's, `actions` are the hints at an action in the HTTP
 * message (W4). Throws Fault; UnsupportedCharset.
 */
export type ReadSoap = (
  document: Buffer,
  charset: string | undefined,
  pathVersion: SoapVersion,
  actions: readonly string[],
) => SoapCall;

/** What the text up to the payload's start tag says. */
interface Opening {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  /** Of the requests that go on from there. */
  readonly templates: Templates;
}

/** A request's document, and what else its HTTP message says of it. */
interface SoapRequest {
  readonly document: Buffer;
  readonly charset: string | undefined;
  /** Its beginning, if it was met before. */
  readonly head: Head<Opening> | undefined;
  readonly actions: readonly string[];
}

/** What is known of a request while it is read, for the fault of whatever comes next. */
interface Findings {
  version: SoapVersion;
  readonly actions: string[];
  headerBlocks: number;
  addressing: Addressing | undefined;
  credentials: ReadonlyMap<string, string> | undefined;
  /** A fault of the header blocks waits until the envelope and the operation are known (W43). */
  fault: Fault | undefined;
}

/**
 * A reader of SOAP requests: envelope, headers, and the payload by its operation's codec. Problems of members are in
 * the input's reading; everything before them throws Fault, in the version of the envelope once it is known
 * and else of the path (W3). The first stage that fails speaks, whatever comes later in the text (W43).
 *
 * @param mostSteps as `startReading` has it: one that takes more throws TooManySteps
 */
export function createSoapReader(
  compiled: CompiledContract,
  mostSteps: number = Number.POSITIVE_INFINITY,
): ReadSoap {
  const { limits, contract } = compiled;
  const quirks = { illegalReferences: contract.settings.illegalCharacterReferences === 'accept' };
  const heads = new Heads<Opening>();
  const desk = createDesk();

  /** Up to the payload's start tag; an envelope without header blocks is remembered up to there. */
  const open = (xml: XmlReader, request: SoapRequest, findings: Findings): Opening => {
    const { document, charset, head } = request;
    if (head !== undefined) {
      xml.resume(head.standing);
      findings.version = head.meaning.version;
      return head.meaning;
    }
    const opening = openEnvelope(xml, compiled, findings, desk);
    if (findings.headerBlocks === 0) heads.note(document, charset, xml.position, opening, limits);
    return opening;
  };

  /** Reads a request that goes on from its beginning as others did; undefined where it doesn't. */
  const readAsBefore = (document: Buffer, head: Head<Opening>): Input | undefined => {
    const { templates } = head.meaning;
    const { length } = head.bytes;
    if (!templates.mayKnow(document)) return undefined;
    return templates.read(document, length, limits.errors, quirks.illegalReferences);
  };

  /** Learns the form of a request behind a known beginning that was read without fault. */
  const learn = (text: string, { standing, meaning: { operation, templates } }: Head<Opening>): void =>
    templates.note(text, standing.position, limits.errors, (reading) => {
      const xml = new XmlReader(text, limits, quirks);
      xml.resume(standing);
      return operation.readXml(xml, reading);
    });

  return (document, charset, pathVersion, actions) => {
    const head = heads.find(document, charset);
    const input = head && readAsBefore(document, head);
    if (head === undefined || input === undefined)
      return readWhole({ document, charset, head, actions }, pathVersion);
    const { version: soapVersion, operation } = head.meaning;
    for (const action of actions) checkAction(action, operation, compiled, soapVersion);
    return { version: soapVersion, operation, input, addressing: undefined, credentials: undefined };
  };

  function readWhole(request: SoapRequest, pathVersion: SoapVersion): SoapCall {
    const { document, charset, head, actions } = request;
    const findings: Findings = {
      version: pathVersion,
      actions: [...actions],
      headerBlocks: 0,
      addressing: undefined,
      credentials: undefined,
      fault: undefined,
    };
    try {
      const text = decodeXml(document, charset);
      const xml = new XmlReader(text, limits, quirks);
      try {
        const { version: soapVersion, operation } = open(xml, request, findings);
        for (const action of findings.actions) checkAction(action, operation, compiled, soapVersion);
        const input = operation.readXml(xml, startReading(limits.errors, mostSteps));
        closeEnvelope(xml, soapVersion);
        if (findings.fault !== undefined) throw findings.fault;
        if (head !== undefined && isFaultless(input.reading)) learn(text, head);
        const { addressing, credentials } = findings;
        return { version: soapVersion, operation, input, addressing, credentials };
      } catch (error) {
        // A document that isn't well-formed is told so before anything else is (W43).
        if (error instanceof Fault && error !== findings.fault) xml.drain();
        throw error;
      }
    } catch (error) {
      const { addressing } = findings;
      if (error instanceof XmlError) {
        throw new Fault(findings.version, 'sender', error.message, { cause: error, addressing });
      }
      if (error instanceof Fault) error.addressing ??= addressing;
      throw error;
    }
  }
}

function isFaultless({ problems, missing, ignored }: Reading): boolean {
  return problems.length + missing.length + ignored.length === 0;
}

function envelopeVersion(xml: XmlReader, pathVersion: SoapVersion): SoapVersion {
  if (xml.local !== 'Envelope') {
    throw new Fault(pathVersion, 'sender', `expected a SOAP Envelope, got <${xml.local.slice(0, 64)}>`);
  }
  if (xml.namespace === soap11.namespace) return soap11;
  if (xml.namespace === soap12.namespace) return soap12;
  throw new Fault(
    pathVersion,
    'VersionMismatch',
    `expected an Envelope of SOAP 1.1 (${soap11.namespace}) or SOAP 1.2 (${soap12.namespace}), got one of another namespace`,
  );
}

/** At most one Header, then a Body, blanks between (W41), up to the start tag of what is in Body. */
function openEnvelope(xml: XmlReader, compiled: CompiledContract, findings: Findings, desk: Desk): Opening {
  xml.readRoot();
  const soapVersion = envelopeVersion(xml, findings.version);
  findings.version = soapVersion;
  if (soapVersion === soap12) {
    for (let index = 0; index < xml.attributeCount; index++) {
      if (xml.attributeNamespace(index) === '')
        fail(soapVersion, 'expected no attribute without namespace on Envelope (SOAP 1.2)');
    }
  }
  for (let seenHeader = false; ; seenHeader = true) {
    if (!xml.nextChild()) {
      refuseStray(xml, soapVersion);
      fail(soapVersion, 'expected a Body in Envelope, got none');
    }
    const ours = xml.namespace === soapVersion.namespace;
    if (ours && xml.local === 'Body') break;
    if (!ours || xml.local !== 'Header' || seenHeader) {
      const expected = seenHeader ? 'Body' : 'Header or Body';
      fail(soapVersion, `expected ${expected} of the Envelope's namespace, got <${xml.local.slice(0, 64)}>`);
    }
    readHeader(xml, compiled, soapVersion, findings);
  }
  if (!xml.nextChild()) fail(soapVersion, 'expected one element in Body, got none');
  const operation = findOperation(xml, compiled, soapVersion);
  return { version: soapVersion, operation, templates: new Templates(operation.operation.input, desk) };
}

/** From the payload's end tag to the end of the document: nothing more in Body, nothing after it (W41). */
function closeEnvelope(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.nextChild()) {
    fail(soapVersion, `expected one element in Body, got <${xml.local.slice(0, 64)}> after it`);
  }
  if (xml.stray) fail(soapVersion, 'expected one element in Body, got text beside it');
  if (xml.nextChild()) {
    fail(soapVersion, `expected nothing after Body, got <${xml.local.slice(0, 64)}>`);
  }
  refuseStray(xml, soapVersion);
  xml.finish();
}

function refuseStray(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.stray) fail(soapVersion, 'expected only blanks between the parts of Envelope, got text');
}

function fail(soapVersion: SoapVersion, reason: string): never {
  throw new Fault(soapVersion, 'sender', reason);
}

/** Dispatch is on Body's first child alone (W4). */
function findOperation(
  xml: XmlReader,
  compiled: CompiledContract,
  soapVersion: SoapVersion,
): CompiledOperation {
  const { types } = compiled.contract.namespaces;
  const operation = compiled.operations.get(xml.local);
  const name = xml.local.slice(0, 64);
  if (operation === undefined) {
    throw new Fault(soapVersion, 'sender', `expected an operation of the contract in Body, got <${name}>`);
  }
  if (xml.namespace !== types && xml.namespace !== '') {
    throw new Fault(
      soapVersion,
      'sender',
      `expected <${name}> in namespace "${types}", got another namespace`,
    );
  }
  return operation;
}

/** A hint that names another operation of the contract is a spoof; any other is nothing (W4). */
function checkAction(
  action: string,
  operation: CompiledOperation,
  compiled: CompiledContract,
  soapVersion: SoapVersion,
): void {
  if (action === operation.operation.name) return;
  const name = action.slice(Math.max(action.lastIndexOf('/'), action.lastIndexOf('#')) + 1);
  if (name !== operation.operation.name && compiled.operations.has(name)) {
    throw new Fault(
      soapVersion,
      'sender',
      `expected the action of ${operation.operation.name}, the operation in Body, got that of ${name}`,
    );
  }
}

const addressingNamespaces = new Set<string>([namespaces.addressing10, namespaces.addressing2004]);
const addressingHeaders = new Set(['Action', 'MessageID', 'To', 'From', 'ReplyTo', 'FaultTo', 'RelatesTo']);
/** Addresses that mean "on this connection" or "nowhere". */
const anonymousAddresses = new Set([
  `${namespaces.addressing10}/anonymous`,
  `${namespaces.addressing10}/none`,
  `${namespaces.addressing2004}/role/anonymous`,
]);

function readHeader(
  xml: XmlReader,
  compiled: CompiledContract,
  soapVersion: SoapVersion,
  findings: Findings,
): void {
  const { limits } = compiled;
  const endTag = `</${xml.prefix}:${xml.local}>`.length - (xml.prefix === '' ? 1 : 0);
  const start = xml.position;
  while (xml.nextChild()) {
    if (++findings.headerBlocks > limits.soapHeaderBlocks) {
      throw new Fault(soapVersion, 'sender', `more than ${limits.soapHeaderBlocks} header blocks`);
    }
    const must = mustUnderstand(xml, soapVersion, findings);
    const { namespace, local } = xml;
    if (addressingNamespaces.has(namespace) && addressingHeaders.has(local)) {
      readAddressing(xml, soapVersion, must, findings, limits.xmlText);
    } else if (isCredentials(xml, compiled)) {
      readCredentialsBlock(xml, compiled, soapVersion, findings);
    } else {
      if (must && namespace !== namespaces.addressingNone) {
        const security = local === 'Security' ? '; WS-Security is not understood here' : '';
        findings.fault ??= new Fault(
          soapVersion,
          'MustUnderstand',
          `the header block ${local.slice(0, 64)} has mustUnderstand and is not understood${security}`,
          { block: { namespace, local } },
        );
      }
      xml.skip();
    }
  }
  if (xml.stray) throw new Fault(soapVersion, 'sender', 'expected only elements in Header, got text');
  if (xml.position - endTag - start > limits.soapHeaderText) {
    throw new Fault(soapVersion, 'sender', `Header longer than ${limits.soapHeaderText} characters`);
  }
}

/** The block that may hold what a caller could give in HTTP headers, where the body has no place for it (W24). */
function isCredentials({ local, namespace }: XmlReader, { contract }: CompiledContract): boolean {
  const { credentials, namespaces: own } = contract;
  if (credentials === undefined || credentials.member !== undefined) return false;
  return local === 'Credentials' && namespace === own.types;
}

function readCredentialsBlock(
  xml: XmlReader,
  { contract, limits }: CompiledContract,
  soapVersion: SoapVersion,
  findings: Findings,
): void {
  const given = new Map<string, string>();
  const parts = contract.credentials?.parts ?? [];
  while (xml.nextChild()) {
    const { local, namespace } = xml;
    const part = parts.find(
      (candidate) => candidate.xml === local && namespace === contract.namespaces.types,
    );
    if (part === undefined || given.has(part.name)) {
      const expected = parts.map((candidate) => `<${candidate.xml}>`).join(', ');
      fail(soapVersion, `expected ${expected} in Credentials, each once, got <${local.slice(0, 64)}>`);
    }
    given.set(part.name, collapse(xml.readText(limits.xmlText, false) ?? ''));
  }
  findings.credentials = given;
}

/** Whether the block must be understood by us: only the envelope's own attributes count (W28). */
function mustUnderstand(xml: XmlReader, soapVersion: SoapVersion, findings: Findings): boolean {
  const flag = xml.attribute(soapVersion.namespace, 'mustUnderstand');
  if (flag === undefined) return false;
  const word = collapse(flag);
  if (word !== '1' && word !== 'true') {
    // a message that isn't well made is told so before a block that isn't understood, wherever either stands
    if (word !== '0' && word !== 'false' && findings.fault?.code !== 'sender') {
      findings.fault = new Fault(soapVersion, 'sender', 'expected 0, 1, true or false in mustUnderstand');
    }
    return false;
  }
  const role = collapse(xml.attribute(soapVersion.namespace, soapVersion.roleAttribute) ?? '');
  return role === '' || soapVersion.ourRoles.includes(role);
}

function readAddressing(
  xml: XmlReader,
  soapVersion: SoapVersion,
  must: boolean,
  findings: Findings,
  maxText: number,
): void {
  const { namespace, local } = xml;
  findings.addressing ??= { namespace, messageId: undefined };
  if (local === 'Action' || local === 'MessageID') {
    const text = collapse(xml.readText(maxText, false) ?? '');
    if (local === 'Action') findings.actions.push(text);
    else findings.addressing.messageId ??= text;
    return;
  }
  if (local !== 'ReplyTo' && local !== 'FaultTo') {
    xml.skip();
    return;
  }
  while (xml.nextChild()) {
    if (xml.local !== 'Address' || xml.namespace !== namespace) {
      xml.skip();
      continue;
    }
    const address = collapse(xml.readText(maxText, false) ?? '');
    if (must && !anonymousAddresses.has(address)) {
      findings.fault ??= new Fault(
        soapVersion,
        'OnlyAnonymousAddressSupported',
        `replies go back on the connection of the request; ${local} names another address`,
        { addressing: findings.addressing },
      );
    }
  }
}

/** An envelope around a payload. */
function envelopeFrame(namespace: string, header: string): Frame {
  return {
    before: `${declaration}<s:Envelope xmlns:s="${namespace}">${header}<s:Body>`,
    after: '</s:Body></s:Envelope>',
  };
}

/** The envelope of an operation's reply or in-band error; WS-Addressing is answered where the request carried it (W28). */
export function replyFrame(
  soapVersion: SoapVersion,
  operation: string | undefined,
  addressing: Addressing | undefined,
): Frame {
  if (addressing === undefined || operation === undefined) return soapVersion.frame;
  return envelopeFrame(soapVersion.namespace, addressingHeader(addressing, `${operation}Response`));
}

function addressingHeader({ namespace, messageId }: Addressing, action: string, more = ''): string {
  const relates =
    messageId === undefined ? '' : `<w:RelatesTo>${escapeXml(messageId, { replaced: 0 })}</w:RelatesTo>`;
  return `<s:Header xmlns:w="${namespace}"><w:Action>${action}</w:Action>${relates}${more}</s:Header>`;
}

/** A fault in an envelope; `requestId` goes into the text, so that a caller can name it (W27). */
export function writeFault(fault: Fault, requestId: string): string {
  const { version: soapVersion, addressing, code } = fault;
  const reason = escapeXml(`${fault.message} (request ${requestId})`, { replaced: 0 });
  const name =
    code === 'receiver'
      ? soapVersion.receiver
      : code === 'sender' || isAddressing(code)
        ? soapVersion.sender
        : code;
  const blocks = headerBlocks(fault);
  let header = blocks === '' ? '' : `<s:Header>${blocks}</s:Header>`;
  if (addressing !== undefined) {
    header = addressingHeader(addressing, faultAction(addressing, code), blocks);
  }
  const addressingNamespace = addressing?.namespace ?? namespaces.addressing10;
  const body =
    soapVersion === soap11
      ? `<faultcode${isAddressing(code) ? ` xmlns:w="${addressingNamespace}">w:${code}` : `>s:${name}`}</faultcode><faultstring>${reason}</faultstring>`
      : `<s:Code><s:Value>s:${name}</s:Value>${isAddressing(code) ? `<s:Subcode><s:Value xmlns:w="${addressingNamespace}">w:${code}</s:Value></s:Subcode>` : ''}</s:Code>` +
        `<s:Reason><s:Text xml:lang="en">${reason}</s:Text></s:Reason>`;
  const { before, after } = envelopeFrame(soapVersion.namespace, header);
  return `${before}<s:Fault>${body}</s:Fault>${after}`;
}

function isAddressing(code: FaultCode): boolean {
  return code === 'OnlyAnonymousAddressSupported';
}

function faultAction({ namespace }: Addressing, code: FaultCode): string {
  if (namespace === namespaces.addressing2004) return `${namespace}/fault`;
  return isAddressing(code) ? `${namespace}/fault` : `${namespace}/soap/fault`;
}

/** What SOAP 1.2 says of a fault in header blocks: Upgrade (Part 1, 5.4.7) and NotUnderstood (5.4.8). */
function headerBlocks({ code, version: soapVersion, block }: Fault): string {
  if (soapVersion !== soap12) return '';
  if (code === 'VersionMismatch') {
    return (
      `<s:Upgrade><s:SupportedEnvelope qname="e2:Envelope" xmlns:e2="${namespaces.soap12}"/>` +
      `<s:SupportedEnvelope qname="e1:Envelope" xmlns:e1="${namespaces.soap11}"/></s:Upgrade>`
    );
  }
  if (code === 'MustUnderstand' && block !== undefined) {
    const { namespace, local } = block;
    if (namespace === '') return `<s:NotUnderstood qname="${escapeAttribute(local)}"/>`;
    return `<s:NotUnderstood qname="q:${escapeAttribute(local)}" xmlns:q="${escapeAttribute(namespace)}"/>`;
  }
  return '';
}

/** Reply bodies that aren't SOAP start with it too (W8). */
export { declaration as xmlDeclaration };
