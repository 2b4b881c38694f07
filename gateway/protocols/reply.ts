import { type StatusValue, statusJson } from '../../mappings/codec/types/response-status.ts';
import type { CompiledContract, CompiledOperation, Frame } from '../../mappings/compile.ts';
import { errorMembers } from '../../mappings/contract/model.ts';
import {
  errorCodes,
  expectedAndGot,
  type Failure,
  type ReportedProblem,
  upstreamMember,
} from '../call/error.ts';
import type { Outcome } from '../call/outcome.ts';
import { type Format, writeJsonp } from '../http/negotiate.ts';
import { contentTypes, type Reply } from '../http/reply.ts';
import type { RequestContext } from '../http/request-context.ts';
import { attachedReply, packagedReply } from './soap/attached-reply.ts';
import { replyFrame } from './soap/envelope.ts';
import { type FaultFacts, writeFaultDetail } from './soap/fault-detail.ts';
import { countedStatus, Fault, isSenderCode, statusOfKind, writeFault } from './soap/faults.ts';
import type { ReplyHeader } from './soap/headers/reply-header.ts';
import { signedEnvelope } from './soap/signed-reply.ts';
import { type SoapVersion, soap11, soap12, xmlDeclaration } from './soap/versions.ts';

/** SOAP versions by format (W5). */
export const versionOf = { soap11, soap12 } as const;

/** Data that is needed to write a reply. */
export interface ReplyContext {
  readonly compiled: CompiledContract;
  /** Undefined for an error before the operation is known. */
  readonly operation: CompiledOperation | undefined;
  readonly requestId: string;
  /** Request headers that the Header of a SOAP reply answers. */
  readonly header: ReplyHeader | undefined;
  /** The status of the upstream's response; 0 without a response. */
  readonly upstreamStatus: number;
  /** Value of WWW-Authenticate for callers without credentials. */
  readonly challenge?: string | undefined;
  /** True for a SOAP request with exactly `application/xml` in Accept (W7). */
  readonly asXml: boolean;
  /** True if every reply is an MTOM package (G23). */
  readonly isPackaged?: boolean | undefined;
}

/** Returns the context for the reply to a request. */
export function replyContext(
  context: RequestContext,
  operation: CompiledOperation | undefined,
  header: ReplyContext['header'],
  asXml = false,
): ReplyContext {
  const { options, requestId, stats } = context;
  const { compiled, challenge } = options.service;
  const { upstreamStatus } = stats;
  const isPackaged = options.migration?.packaging === 'always';
  return { compiled, operation, requestId, header, challenge, upstreamStatus, asXml, isPackaged };
}

/**
 * Writes an outcome in a SOAP envelope. Errors are in-band with status 200 and X-Status (W26), or faults, depending on
 * the setting.
 */
export function soapReply(version: SoapVersion, outcome: Outcome, context: ReplyContext): Reply {
  const reply = envelopedReply(version, outcome, context);
  if (outcome.kind === 'reply' || outcome.failure.status !== 401) return reply;
  // a client with credentials for HTTP Basic may send them only after a 401
  const isChallenged =
    outcome.failure.lacksCredentials === true && context.compiled.contract.credentials?.basic !== undefined;
  return { ...reply, status: isChallenged ? 401 : reply.status, challenge: context.challenge };
}

function envelopedReply(version: SoapVersion, outcome: Outcome, context: ReplyContext): Reply {
  const { operation, compiled, header } = context;
  const contentType = soapContentType(version, context);
  if (outcome.kind === 'reply') {
    if (operation?.isOneWay === true) return { status: 202, contentType, body: '' };
    const { attached } = outcome;
    const written = writtenXml(outcome);
    const { isSigned = false } = outcome;
    const body = isSigned
      ? written
      : (signedEnvelope(version, written, header, compiled, attached) ?? written);
    if (attached !== undefined) {
      const write = context.isPackaged === true ? packagedReply : attachedReply;
      return { status: 200, ...write(version, body, attached) };
    }
    return { status: 200, contentType, body, binary: true };
  }
  const { failure } = outcome;
  if (failure.errorCode === 'ReplayedMessage' && header?.security?.signed !== undefined)
    return faultReply(
      new Fault(version, 'FailedAuthentication', { detail: errorCodes.ReplayedMessage.message }, { header }),
      context,
      failure,
      failureFactsOf(failure),
    );
  if (compiled.contract.settings.soapErrors === 'fault') {
    const { fault } = failure;
    if (fault !== undefined) {
      // a declared fault has the server code; the code of other faults depends on the status
      const isSender = !fault.isDeclared && failure.status < 500;
      const code = fault.code?.is ?? (isSender ? 'sender' : 'receiver');
      const own = new Fault(version, code, { detail: fault.message ?? '' }, { header, own: fault });
      return faultReply(own, context, failure);
    }
    const isToken = header?.security !== undefined && header.security.token !== 'none';
    const kind = failure.status < 500 ? 'sender' : 'receiver';
    // a caller with a UsernameToken gets the code of WS-Security (W52)
    const code = isToken && failure.status === 401 ? 'FailedAuthentication' : kind;
    const facts = failureFactsOf(failure);
    return faultReply(
      new Fault(version, code, { detail: messageOf(facts, failure) }, { header }),
      context,
      failure,
      facts,
    );
  }
  const payload = (operation ?? compiled).writeError(statusJson(failure.responseStatus));
  const { before, after } = replyFrame(version, operation?.replyAction, header);
  return {
    status: 200,
    contentType,
    body: signedText(version, before + payload + after, header, compiled),
    xStatus: failure.status >= 400 ? failure.status : undefined,
    retryAfter: failure.retryAfter,
  };
}

/** Returns a signed envelope, or the envelope itself if the reply is not signed. */
function signedText(
  version: SoapVersion,
  envelope: string,
  header: ReplyHeader | undefined,
  compiled: CompiledContract,
): string | Buffer {
  if (header?.security?.answered === undefined) return envelope;
  return signedEnvelope(version, Buffer.from(envelope), header, compiled) ?? envelope;
}

/** Returns the XML of a reply. It was written during the call, in the frame of `frameOf`. */
function writtenXml({ xml }: Extract<Outcome, { kind: 'reply' }>): NonNullable<typeof xml> {
  if (xml === undefined) throw new Error('the reply was written in another format');
  return xml;
}

const xmlFrame: Frame = { before: xmlDeclaration, after: '' };

/** Returns the frame of a reply for a format; undefined for JSON, which is not rewritten. */
export function frameOf(format: Format): Frame | undefined {
  if (format === 'json') return undefined;
  return format === 'xml' ? xmlFrame : versionOf[format].frame;
}

/**
 * Writes a SOAP fault. The status is 500, or that of SOAP 1.2 if the setting says so (W27).
 *
 * @param failure the failed call; undefined for a request without an operation
 * @param facts code, message and problems of the failure
 */
export function faultReply(
  fault: Fault,
  context: ReplyContext,
  failure?: Failure,
  facts?: FailureFacts,
): Reply {
  const { version } = fault;
  const { settings } = context.compiled.contract;
  const standard = settings.soap12FaultStatus === 'standard';
  const detail = detailOf(fault, context, failure, facts);
  const body = writeFault(fault, context.requestId, detail, settings.faultCodePrefix);
  return {
    status: standard && version === soap12 && isSenderCode(fault.code) ? 400 : 500,
    contentType: soapContentType(version, context),
    body: signedText(version, body, fault.header, context.compiled),
    xStatus: failure !== undefined && failure.status >= 400 ? failure.status : undefined,
    counted: countedStatus(fault.kind),
    retryAfter: failure?.retryAfter,
  };
}

/**
 * Returns the declared detail of a fault. Returns undefined if the WSDL declares none, or if the fault must not have
 * one (W27).
 */
function detailOf(
  fault: Fault,
  context: ReplyContext,
  failure: Failure | undefined,
  failureFacts: FailureFacts | undefined,
): string | undefined {
  const { compiled, requestId, upstreamStatus } = context;
  const { faultDetail, namespaces } = compiled.contract;
  const status = failure?.status ?? statusOfKind(fault.kind);
  if (faultDetail === undefined || status === undefined || fault.own !== undefined) return undefined;
  const facts = failureFacts ?? (failure === undefined ? factsOfFault(fault) : failureFactsOf(failure));
  return writeFaultDetail(faultDetail, namespaces.types, factsOf(status, upstreamStatus, requestId, facts));
}

function factsOfFault({ kind: code, message, reason }: Fault): FailureFacts {
  const problems = [{ path: undefined, code, message, ...expectedAndGot(reason) }];
  return { code, message, problems, upstream: undefined };
}

function soapContentType(version: SoapVersion, context: ReplyContext): string {
  const { compiled, asXml } = context;
  const documented = compiled.contract.settings.soapReplyContentType === 'documented';
  return documented || asXml ? contentTypes.xml : version.contentType;
}

/**
 * Returns the XML element of an error: the element of a fault's detail if the WSDL declares one, otherwise a
 * responseStatus (W36).
 */
function errorElement(
  failure: Failure,
  { operation, compiled, requestId, upstreamStatus }: ReplyContext,
): string {
  const { faultDetail, namespaces, settings } = compiled.contract;
  if (faultDetail === undefined) {
    const inBand = operation !== undefined && settings.soapErrors === 'in-band';
    return (inBand ? operation : compiled).writeError(statusJson(failure.responseStatus));
  }
  const facts = factsOf(failure.status, upstreamStatus, requestId, failureFactsOf(failure));
  return writeFaultDetail(faultDetail, namespaces.types, facts);
}

function factsOf(
  status: number,
  upstreamStatus: number,
  requestId: string,
  { problems, ...facts }: FailureFacts,
): FaultFacts {
  return {
    status,
    upstreamStatus: upstreamStatus === 0 ? undefined : upstreamStatus,
    requestId,
    ...facts,
    problems: problems.filter(({ path, expected }) => path !== undefined || expected !== undefined),
  };
}

/** Code, message and problems of a failure. */
type FailureFacts = Pick<FaultFacts, 'code' | 'message' | 'problems' | 'upstream'>;

function failureFactsOf({ errorCode, responseStatus, problems }: Failure): FailureFacts {
  return {
    code: errorCode,
    message: textOf(responseStatus, 'message') ?? '',
    problems: problems ?? listedIn(responseStatus.get('errors')),
    upstream: textOf(responseStatus.get('meta'), upstreamMember),
  };
}

/** Returns the errors that the responseStatus of an upstream lists. */
function listedIn(errors: StatusValue | undefined): ReportedProblem[] {
  if (!Array.isArray(errors)) return [];
  return errors.map((error: StatusValue) => ({
    path: textOf(error, 'fieldName'),
    code: textOf(error, 'errorCode'),
    message: textOf(error, 'message'),
    expected: undefined,
    got: undefined,
  }));
}

/** Returns the text of a member; undefined if it is missing or not a text. */
function textOf(value: StatusValue | undefined, name: string): string | undefined {
  const member = value instanceof Map ? value.get(name) : undefined;
  return typeof member === 'string' ? member : undefined;
}

/**
 * Maximum number of characters of an upstream message in the text of a fault. The detail contains the complete message.
 */
const longestRepeated = 200;

/**
 * Returns the text of a fault: code, message and problems of a failure, because some clients show users nothing else
 * (W27). The message of an upstream error is shortened.
 */
function messageOf({ code, message, problems }: FailureFacts, { isOfUpstream }: Failure): string {
  const fields = problems
    .map((problem) => problem.message ?? '')
    .filter((text) => text !== '' && text !== message);
  const text = [message, ...fields].join('; ');
  return `${code}: ${isOfUpstream === true ? cut(text) : text}`;
}

/** A text of at most `longestRepeated` characters, without half of a surrogate pair at its end. */
function cut(text: string): string {
  if (text.length <= longestRepeated) return text;
  const end = longestRepeated - 1;
  const isHalf = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return `${text.slice(0, isHalf ? end - 1 : end)}…`;
}

/** Writes an outcome outside the SOAP endpoints, in the chosen format (W5, W6, W26). */
export function plainReply(
  format: Format,
  callback: string | undefined,
  outcome: Outcome,
  context: ReplyContext,
): Reply {
  if (format === 'soap11' || format === 'soap12') return soapReply(versionOf[format], outcome, context);
  const reply = unenvelopedReply(format, callback, outcome, context);
  const isUnauthorized = outcome.kind === 'failure' && outcome.failure.status === 401;
  return isUnauthorized ? { ...reply, challenge: context.challenge } : reply;
}

function unenvelopedReply(
  format: 'json' | 'xml',
  callback: string | undefined,
  outcome: Outcome,
  context: ReplyContext,
): Reply {
  const retryAfter = outcome.kind === 'failure' ? outcome.failure.retryAfter : undefined;
  const status = outcome.kind === 'failure' ? outcome.failure.status : outcome.status;
  if (format === 'json') {
    const json =
      outcome.kind === 'reply'
        ? outcome.json
        : (outcome.failure.json ??
          `{"${errorMembers.data}":{"${errorMembers.status}":${statusJson(outcome.failure.responseStatus)}}}`);
    if (callback === undefined) return { status, contentType: contentTypes.json, body: json, retryAfter };
    return {
      status: 200,
      contentType: contentTypes.jsonp,
      body: writeJsonp(callback, json),
      xStatus: status >= 400 ? status : undefined,
      retryAfter,
      nosniff: true,
    };
  }
  const common = { status, contentType: contentTypes.xml, retryAfter };
  if (outcome.kind === 'reply') return { ...common, body: writtenXml(outcome), binary: true };
  return { ...common, body: xmlDeclaration + errorElement(outcome.failure, context) };
}
