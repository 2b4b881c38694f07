import { type StatusValue, statusJson } from '../../mappings/codec/types/response-status.ts';
import type { CompiledContract, CompiledOperation, Frame } from '../../mappings/compile.ts';
import { errorMembers } from '../../mappings/contract/model.ts';
import { expectedAndGot, type Failure, type ToldProblem, upstreamMember } from '../call/error.ts';
import type { Outcome } from '../call/outcome.ts';
import { type Format, writeJsonp } from '../http/negotiate.ts';
import { contentTypes, type Reply } from '../http/reply.ts';
import type { RequestContext } from '../http/request-context.ts';
import { attachedReply } from './soap/attached-reply.ts';
import { replyFrame } from './soap/envelope.ts';
import { type FaultFacts, writeFaultDetail } from './soap/fault-detail.ts';
import { Fault, isSenderCode, statusOfKind, writeFault } from './soap/faults.ts';
import type { ReplyHeader } from './soap/headers/reply-header.ts';
import { type SoapVersion, soap11, soap12, xmlDeclaration } from './soap/versions.ts';

/** The SOAP version of a format (W5). */
export const versionOf = { soap11, soap12 } as const;

/** What a reply is written for: who asked, and how. */
export interface ReplyContext {
  readonly compiled: CompiledContract;
  /** Undefined for an error before the operation is known. */
  readonly operation: CompiledOperation | undefined;
  readonly requestId: string;
  /** What a SOAP reply’s Header answers. */
  readonly header: ReplyHeader | undefined;
  /** The status that the service behind answered with; 0 without an answer. */
  readonly upstreamStatus: number;
  /** The ways to give credentials, for who gave none. */
  readonly challenge?: string | undefined;
  /** True for a SOAP request whose Accept is `application/xml` and nothing else (W7). */
  readonly asXml: boolean;
}

/** What the reply to a request is written for. */
export function replyContext(
  context: RequestContext,
  operation: CompiledOperation | undefined,
  header: ReplyContext['header'],
  asXml = false,
): ReplyContext {
  const { options, requestId, stats } = context;
  const { compiled, challenge } = options.service;
  const { upstreamStatus } = stats;
  return { compiled, operation, requestId, header, challenge, upstreamStatus, asXml };
}

/** An outcome in a SOAP envelope, in-band errors with 200 and X-Status (W26), or as a fault by the setting. */
export function soapReply(version: SoapVersion, outcome: Outcome, context: ReplyContext): Reply {
  const reply = envelopedReply(version, outcome, context);
  if (outcome.kind === 'reply' || outcome.failure.status !== 401) return reply;
  // who has user and password for HTTP Basic may send them when asked, and is asked by no other status
  const isAsked =
    outcome.failure.isUnasked === true && context.compiled.contract.credentials?.basic !== undefined;
  return { ...reply, status: isAsked ? 401 : reply.status, challenge: context.challenge };
}

function envelopedReply(version: SoapVersion, outcome: Outcome, context: ReplyContext): Reply {
  const { operation, compiled, header } = context;
  const contentType = soapContentType(version, context);
  if (outcome.kind === 'reply') {
    if (operation?.isOneWay === true) return { status: 202, contentType, body: '' };
    const { attached } = outcome;
    const body = writtenXml(outcome);
    if (attached !== undefined) return { status: 200, ...attachedReply(version, body, attached) };
    return { status: 200, contentType, body, binary: true };
  }
  const { failure } = outcome;
  if (compiled.contract.settings.soapErrors === 'fault') {
    const { fault } = failure;
    if (fault !== undefined) {
      // a declared fault is the server's; any other is by the status
      const isSender = !fault.isDeclared && failure.status < 500;
      const code = fault.code?.is ?? (isSender ? 'sender' : 'receiver');
      const own = new Fault(version, code, { detail: fault.message ?? '' }, { header, own: fault });
      return faultReply(own, context, failure);
    }
    const isToken = header?.security !== undefined && header.security.token !== 'none';
    const kind = failure.status < 500 ? 'sender' : 'receiver';
    // who sent a UsernameToken is told in its own terms (W52)
    const code = isToken && failure.status === 401 ? 'FailedAuthentication' : kind;
    const told = toldOf(failure);
    return faultReply(
      new Fault(version, code, { detail: messageOf(told, failure) }, { header }),
      context,
      failure,
      told,
    );
  }
  const payload = (operation ?? compiled).writeError(statusJson(failure.responseStatus));
  const { before, after } = replyFrame(version, operation?.replyAction, header);
  return {
    status: 200,
    contentType,
    body: before + payload + after,
    xStatus: failure.status >= 400 ? failure.status : undefined,
    retryAfter: failure.retryAfter,
  };
}

/** What the reply was written into; the frame was chosen before the call (`frameOf`). */
function writtenXml({ xml }: Extract<Outcome, { kind: 'reply' }>): NonNullable<typeof xml> {
  if (xml === undefined) throw new Error('the reply was not written in the form that it goes out in');
  return xml;
}

const xmlFrame: Frame = { before: xmlDeclaration, after: '' };

/** What a reply of an operation is to be written into for a format; undefined for JSON, which passes as it came. */
export function frameOf(format: Format): Frame | undefined {
  if (format === 'json') return undefined;
  return format === 'xml' ? xmlFrame : versionOf[format].frame;
}

/**
 * A SOAP fault, always HTTP 500 unless the setting takes 1.2's own status (W27).
 *
 * @param failure the failed call that it is of; undefined for a request that no operation could answer
 * @param told what the failure says
 */
export function faultReply(fault: Fault, context: ReplyContext, failure?: Failure, told?: Told): Reply {
  const { version } = fault;
  const { settings } = context.compiled.contract;
  const standard = settings.soap12FaultStatus === 'standard';
  return {
    status: standard && version === soap12 && isSenderCode(fault.code) ? 400 : 500,
    contentType: soapContentType(version, context),
    body: writeFault(
      fault,
      context.requestId,
      detailOf(fault, context, failure, told),
      settings.faultCodePrefix,
    ),
    xStatus: failure !== undefined && failure.status >= 400 ? failure.status : undefined,
    retryAfter: failure?.retryAfter,
  };
}

/** The detail that the WSDL declares; undefined where it declares none, and for what a detail may not tell (W27). */
function detailOf(
  fault: Fault,
  context: ReplyContext,
  failure: Failure | undefined,
  told: Told | undefined,
): string | undefined {
  const { compiled, requestId, upstreamStatus } = context;
  const { faultDetail, namespaces } = compiled.contract;
  const status = failure?.status ?? statusOfKind(fault.kind);
  if (faultDetail === undefined || status === undefined || fault.own !== undefined) return undefined;
  const facts = told ?? {
    code: fault.kind,
    message: fault.message,
    problems: [
      { path: undefined, code: fault.kind, message: fault.message, ...expectedAndGot(fault.reason) },
    ],
    upstream: undefined,
  };
  return writeFaultDetail(faultDetail, namespaces.types, factsOf(status, upstreamStatus, requestId, facts));
}

function soapContentType(version: SoapVersion, context: ReplyContext): string {
  const { compiled, asXml } = context;
  const documented = compiled.contract.settings.soapReplyContentType === 'documented';
  return documented || asXml ? contentTypes.xml : version.contentType;
}

/** The element of an error in XML: the one of a SOAP fault's detail where the WSDL declares it, else a responseStatus (W36). */
function errorElement(
  failure: Failure,
  { operation, compiled, requestId, upstreamStatus }: ReplyContext,
): string {
  const { faultDetail, namespaces, settings } = compiled.contract;
  if (faultDetail === undefined) {
    const inBand = operation !== undefined && settings.soapErrors === 'in-band';
    return (inBand ? operation : compiled).writeError(statusJson(failure.responseStatus));
  }
  const facts = factsOf(failure.status, upstreamStatus, requestId, toldOf(failure));
  return writeFaultDetail(faultDetail, namespaces.types, facts);
}

function factsOf(
  status: number,
  upstreamStatus: number,
  requestId: string,
  { problems, ...told }: Told,
): FaultFacts {
  return {
    status,
    upstreamStatus: upstreamStatus === 0 ? undefined : upstreamStatus,
    requestId,
    ...told,
    problems: problems.filter(({ path, expected }) => path !== undefined || expected !== undefined),
  };
}

/** What a failure says, taken apart. */
type Told = Pick<FaultFacts, 'code' | 'message' | 'problems' | 'upstream'>;

function toldOf({ errorCode, responseStatus, problems }: Failure): Told {
  return {
    code: errorCode,
    message: textOf(responseStatus, 'message') ?? '',
    problems: problems ?? listedIn(responseStatus.get('errors')),
    upstream: textOf(responseStatus.get('meta'), upstreamMember),
  };
}

/** The errors that an upstream's responseStatus lists. */
function listedIn(errors: StatusValue | undefined): ToldProblem[] {
  if (!Array.isArray(errors)) return [];
  return errors.map((error: StatusValue) => ({
    path: textOf(error, 'fieldName'),
    code: textOf(error, 'errorCode'),
    message: textOf(error, 'message'),
    expected: undefined,
    got: undefined,
  }));
}

/** The text of a member; undefined if the value has no such member, or one that is no text. */
function textOf(value: StatusValue | undefined, name: string): string | undefined {
  const member = value instanceof Map ? value.get(name) : undefined;
  return typeof member === 'string' ? member : undefined;
}

/** Characters of an upstream's message that a fault's text repeats; the detail has all of it. */
const longestRepeated = 200;

/**
 * The text of a fault: the code and message of a failure, and the fields it names. People read it, and some clients show
 * nothing else (W27). Of an upstream's error it repeats the beginning of the message.
 */
function messageOf({ code, message, problems }: Told, { isOfUpstream }: Failure): string {
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

/** An outcome outside the SOAP endpoints, in the format chosen (W5, W6, W26). */
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
