import { problemText } from '../../mappings/codec/problem.ts';
import { escapeAttribute } from '../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compiled.ts';
import { namespaces } from '../../mappings/contract/model.ts';
import { nearest } from '../../mappings/contract/nearest.ts';
import { parseContentType } from '../../mappings/http-mapping/content-type.ts';
import type { Location } from '../../mappings/xml/error.ts';
import { bindingOf } from '../../wsdl/binding.ts';
import { indentXml } from '../../wsdl/samples/indent.ts';
import { placeholderOf } from '../../wsdl/samples/placeholders.ts';
import { createSampler, type Sampler } from '../../wsdl/samples/samples.ts';
import { CallError } from '../call/error.ts';
import { readHead } from '../call/head.ts';
import { withoutCredentials } from '../call/request.ts';
import { compileReaders, type Readers, readSoapCall } from '../protocols/read-call.ts';
import { Fault } from '../protocols/soap/faults.ts';
import { soap11, soap12 } from '../protocols/soap/versions.ts';
import type { Draft, Edit } from './draft.ts';
import { type MendedEnvelope, mendEnvelope, mendHeader, unescapeContent } from './envelope.ts';
import { type Finding, Findings } from './findings.ts';
import { mendMarkup } from './markup.ts';
import { mendMembers } from './members.ts';
import { listed, nameSpans, type TreeAttribute, type TreeElement, treeOf } from './tree.ts';
import { unwrap } from './unwrap.ts';
import { type ChildView, compileViews, type View, type ViewOf } from './view.ts';

/** A message to explain. */
export interface ExplainedMessage {
  readonly body: Uint8Array;
  /** HTTP headers of the message, with names in lower case. Only `content-type` and `soapaction` are used. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Explanation of a message. */
export interface Explanation {
  /** Operation that the message calls or most likely means; undefined if unknown. */
  readonly operation: string | undefined;
  /** All findings: those about HTTP headers first, then by position in the message. */
  readonly findings: readonly Finding[];
  /** Number of further findings that are not listed. */
  readonly more: number;
  /** The corrected message; undefined if too little is known. Credentials in it are placeholders. */
  readonly corrected: CorrectedMessage | undefined;
}

/** A corrected message as it would be sent. */
export interface CorrectedMessage {
  readonly contentType: string;
  /** Undefined for SOAP 1.2, which states the action in the Content-Type. */
  readonly soapAction: string | undefined;
  readonly text: string;
  /** True if this service accepts the message. Values that only the caller knows may still be wrong. */
  readonly isTaken: boolean;
}

/** Explains messages of a contract that fail. Nothing is sent or stored. */
export interface Doctor {
  /**
   * Returns all problems of a SOAP request with their likely causes, and the corrected message. Never throws because of
   * the message's content. Throws RangeError for a message of more than `maxMessageBytes`.
   */
  readonly explain: (message: ExplainedMessage) => Explanation;
}

/** Creates the doctor of a contract and compiles its codecs and views. */
export function createDoctor(compiled: CompiledContract): Doctor {
  const viewOf = compileViews(compiled);
  const readers = compileReaders(compiled, Number.POSITIVE_INFINITY);
  let sampler: Sampler | undefined;
  const known: Known = {
    compiled,
    viewOf,
    readers,
    roots: [...compiled.operations.values()].flatMap(({ root }) => (root === undefined ? [] : [root.local])),
    get sampler() {
      sampler ??= createSampler(compiled);
      return sampler;
    },
  };
  const { explainBytes = maxMessageBytes } = compiled.limits;
  return {
    explain: (message) => {
      if (message.body.length > explainBytes)
        throw new RangeError(
          `expected a message of at most ${explainBytes} bytes, got ${message.body.length}`,
        );
      return explain(known, message);
    },
  };
}

/** Maximum size of a message for `soapbridge explain` and its page, in bytes. */
export const maxMessageBytes = 256 * 1024;

/** Maximum number of findings about one message. */
export const maxFindings = 100;

/** Parts of a contract that messages are compared with. */
interface Known {
  readonly compiled: CompiledContract;
  readonly viewOf: ViewOf;
  readonly readers: Readers;
  /** Local names of the operations' elements. */
  readonly roots: readonly string[];
  readonly sampler: Sampler;
}

function explain(known: Known, { body, headers }: ExplainedMessage): Explanation {
  const { compiled, roots } = known;
  const { limits, contract } = compiled;
  const findings = new Findings(limits.explainFindings ?? maxFindings);
  const done = (operation?: string, corrected?: CorrectedMessage): Explanation => ({
    operation,
    findings: findings.sorted(),
    more: findings.more,
    corrected,
  });
  const contentType = headers['content-type'];
  const draft = unwrap(Buffer.from(body), contentType, findings, limits);
  if (draft === undefined) return done();
  const illegalReferences = contract.settings.illegalCharacterReferences === 'accept';
  const typesNamespace = contract.namespaces.types;
  const mend = (): boolean => mendMarkup(draft, findings, { limits, illegalReferences, typesNamespace });
  if (!mend()) return done();
  const stated = statedVersion(contentType);
  const envelope = mendEnvelope(draft, findings, { roots, stated });
  if (envelope === undefined) return done();
  const { version } = envelope;
  noteContentType(contentType, version, findings);
  mendHeader(draft, findings, version, limits, (namespace, local) =>
    isUnderstood(known, namespace, local, version),
  );
  const isEscaped = unescapeBody(draft, findings);
  if (isEscaped && !mend()) return done();
  const operation = mendPayload(known, draft, findings, headers.soapaction);
  if (operation !== undefined) {
    noteAction(known, operation, headers, version, findings);
    const isRead = mendMembers(draft, findings, payloadOf, known.viewOf(operation), {
      isSecret: (element) => isSecret(known, element),
      placeholder: (child) => placeholderFor(known, operation, child),
      unknownElements: contract.settings.unknownElements,
      mend,
    });
    if (!isRead) return done(operation.operation.name);
  }
  const corrected = correct(known, draft, findings, envelope, operation);
  return done(operation?.operation.name, corrected);
}

// --- HTTP headers ------------------------------------------------------------------------------------

function statedVersion(contentType: string | undefined): '1.1' | '1.2' | undefined {
  if (contentType === undefined) return undefined;
  const { type } = parseContentType(contentType);
  return type === 'application/soap+xml' ? '1.2' : type === 'text/xml' ? '1.1' : undefined;
}

/** Reports a Content-Type that does not match the envelope. */
function noteContentType(contentType: string | undefined, version: '1.1' | '1.2', findings: Findings): void {
  const right = version === '1.1' ? soap11.contentType : soap12.contentType;
  if (contentType === undefined || contentType.trim() === '') return;
  const { type } = parseContentType(contentType);
  const stated = statedVersion(contentType);
  if (stated === version) return;
  if (type === 'multipart/related' || (version === '1.1' && type === 'application/xml')) return;
  if (stated !== undefined)
    findings.noteHeader(
      'warning',
      `SOAP ${stated} content type on a ${version} envelope: ${type} goes with SOAP ${stated}, and the envelope's namespace is that of SOAP ${version}; this service goes by the envelope, others answer 415 or VersionMismatch`,
      right,
    );
  else
    findings.noteHeader(
      /json|form|html|dime|multipart/.test(type) ? 'error' : 'warning',
      `Content-Type is ${type.slice(0, 64) || 'not readable'}, and a SOAP ${version} message is ${right.split(';')[0]}: the HTTP client's default was not changed`,
      right,
    );
}

/** Reports a SOAPAction, or an action of SOAP 1.2, that does not match the body. */
function noteAction(
  { compiled }: Known,
  operation: CompiledOperation,
  headers: ExplainedMessage['headers'],
  version: '1.1' | '1.2',
  findings: Findings,
): void {
  const { name } = operation.operation;
  const actions = bindingOf(compiled.contract, name).actions;
  const [right = ''] = actions;
  const given = headers.soapaction;
  const content = headers['content-type'];
  if (given === undefined) {
    if (version === '1.1' && content !== undefined && /^\s*text\/xml/i.test(content))
      findings.noteHeader(
        'warning',
        'SOAPAction is missing: SOAP 1.1 wants the header, empty ("") at least; this service goes by the body, .NET services refuse the call',
        `SOAPAction: "${right}"`,
      );
    return;
  }
  const text = given.trim();
  const action = text.replace(/^"(.*)"$/, '$1');
  if (version === '1.2')
    findings.noteHeader(
      'warning',
      'SOAPAction is a header of SOAP 1.1: SOAP 1.2 says it as the action of Content-Type',
      `application/soap+xml; charset=utf-8; action="${right}"`,
    );
  else if (text !== '' && !/^".*"$/.test(text))
    findings.noteHeader(
      'warning',
      'SOAPAction has no quotes: its value is a string in quotes (SOAP 1.1, 6.1.1)',
      `SOAPAction: "${right}"`,
    );
  if (action === '' || actions.includes(action)) return;
  const last = action.slice(Math.max(action.lastIndexOf('/'), action.lastIndexOf('#')) + 1);
  const other = [...compiled.operations.keys()].find(
    (one) => one !== name && (one === last || bindingOf(compiled.contract, one).actions.includes(action)),
  );
  if (other !== undefined)
    findings.noteHeader(
      'error',
      `SOAPAction is that of ${other}, and the body calls ${name}: the header of another call was left`,
      `SOAPAction: "${right}"`,
    );
  else if (last !== name)
    findings.noteHeader(
      'warning',
      `SOAPAction is no action of this service; that of ${name} is "${right}"`,
      `SOAPAction: "${right}"`,
    );
}

// --- the payload -------------------------------------------------------------------------------------

/** Returns the first element of the Body. */
function payloadOf(root: TreeElement): TreeElement | undefined {
  return root.children.find(({ local }) => local === 'Body')?.children[0];
}

/** Converts text in the Body to markup. Returns true if it changed the text. */
function unescapeBody(draft: Draft, findings: Findings): boolean {
  const body = bodyOf(draft);
  return body?.children.length === 0 && unescapeContent(draft, findings, body, 'Body');
}

/**
 * Finds the operation of the Body and corrects its element's name. Returns undefined and adds a finding if no operation
 * matches.
 */
function mendPayload(
  known: Known,
  draft: Draft,
  findings: Findings,
  action: string | undefined,
): CompiledOperation | undefined {
  const body = bodyOf(draft);
  if (body === undefined) return undefined;
  const [payload, ...others] = body.children;
  const empty = [...known.compiled.operations.values()].find(({ root }) => root === undefined);
  if (payload === undefined) {
    if (empty !== undefined) return empty;
    const text = draft.text.slice(body.opened, body.closing).trim();
    const what = /^[[{]/.test(text) ? 'holds JSON' : text === '' ? 'is empty' : 'holds text';
    findings.error(
      draft,
      body.start,
      `Body ${what}: it has to hold the element of an operation: ${listed(known.roots)}`,
    );
    return undefined;
  }
  const operation = operationOf(known, draft, findings, payload, action);
  if (operation !== undefined) mendRest(draft, findings, others.length);
  return operation;
}

function bodyOf({ root }: Draft): TreeElement | undefined {
  return root?.children.find(({ local }) => local === 'Body');
}

/** Removes elements after the operation's element in the Body. */
function mendRest(draft: Draft, findings: Findings, count: number): void {
  const [second] = bodyOf(draft)?.children.slice(1) ?? [];
  if (count === 0 || second === undefined) return;
  const isMultiRef =
    /^(?:multiRef|id\d*)$/i.test(second.local) || second.attributes.some(({ name }) => name === 'id');
  findings.error(
    draft,
    second.start,
    isMultiRef
      ? `<${second.local.slice(0, 64)}> beside the call in Body is SOAP's encoding (multiRef, rpc/encoded): values stand in place in document/literal; make the client of this service's WSDL`
      : `<${second.local.slice(0, 64)}> stands beside the call in Body, which holds one element (document/literal, wrapped): the parameters belong into it`,
    'left out',
  );
  const body = bodyOf(draft);
  if (body !== undefined) draft.replace(second.start, body.closing, '');
}

/** Finds the operation of an element and corrects the element's name and namespace. */
function operationOf(
  known: Known,
  draft: Draft,
  findings: Findings,
  payload: TreeElement,
  action: string | undefined,
): CompiledOperation | undefined {
  const { compiled } = known;
  const all = [...compiled.operations.values()].filter(({ root }) => root !== undefined);
  const { local, namespace, start } = payload;
  const named = all.filter(({ root }) => root?.local === local);
  const stated = action?.trim().replace(/^"(.*)"$/, '$1');
  const isStated = ({ operation }: CompiledOperation): boolean =>
    stated !== undefined && bindingOf(compiled.contract, operation.name).actions.includes(stated);
  const exact = named.filter(({ root }) => root?.namespace === namespace);
  const found = exact.find(isStated) ?? exact[0] ?? named.find(isStated) ?? named[0];
  if (found !== undefined) {
    if (found.root?.namespace !== namespace) mendRootNamespace(draft, findings, payload, found);
    return found;
  }
  const what = otherPayload(payload, known.roots);
  const plain = local.replace(/(?:Request|SoapIn|In|Input|Async|Operation|Response)$/, '');
  const meant =
    known.roots.find((root) => root.toLowerCase() === local.toLowerCase()) ??
    known.roots.find((root) => root === plain) ??
    nearest(local, known.roots.slice(0, 2_000));
  const operation = all.find(({ root }) => root?.local === meant);
  if (operation === undefined || what !== undefined) {
    findings.error(
      draft,
      start,
      what ??
        `<${local.slice(0, 64)}> is no operation of this service, which has ${listed(known.roots)}: the client calls another service, or another version of it`,
    );
    return undefined;
  }
  const kind =
    meant?.toLowerCase() === local.toLowerCase()
      ? 'is written in another case'
      : 'is no operation of this service';
  findings.error(draft, start, `<${local.slice(0, 64)}> ${kind}: did you mean <${meant}>?`, `<${meant}>`);
  const prefix = payload.prefix === '' ? '' : `${payload.prefix}:`;
  draft.replaceAll(
    nameSpans(draft.text, payload).map(([from, to]) => ({ start: from, end: to, text: `${prefix}${meant}` })),
  );
  const renamed = bodyOf(draft)?.children[0];
  if (renamed !== undefined && renamed.namespace !== operation.root?.namespace)
    mendRootNamespace(draft, findings, renamed, operation);
  return operation;
}

/** Explains an element that calls no operation; undefined if it is unknown. */
function otherPayload({ local, namespace }: TreeElement, roots: readonly string[]): string | undefined {
  if (local === 'Fault')
    return 'this is a fault, the answer of a service: what was pasted is a reply, not the request';
  if (local.endsWith('Response') && roots.includes(local.slice(0, -8)))
    return `<${local.slice(0, 64)}> is the reply of ${local.slice(0, -8)}, not its request`;
  if (namespace === namespaces.xenc)
    return 'the body is encrypted (XML Encryption), which this service does not read: turn off encryption, TLS protects the message';
  if (/^RequestSecurityToken/.test(local))
    return 'this asks for a security token (WS-Trust): set establishSecurityContext="false", or use a binding without message security';
  if (/rm\/?$|wsrm/.test(namespace))
    return 'this opens a reliable session (WS-ReliableMessaging): turn it off in the client';
  return undefined;
}

/** Corrects the namespace of the operation's element, and of all members in the scope of the same declaration. */
function mendRootNamespace(
  draft: Draft,
  findings: Findings,
  payload: TreeElement,
  { root }: CompiledOperation,
): void {
  if (root === undefined) return;
  const { namespace, prefix, local } = payload;
  const severity = namespace === '' ? 'warning' : 'error';
  findings.note(
    draft,
    payload.start,
    severity,
    `wrong namespace: <${local.slice(0, 64)}> is ${namespace === '' ? 'in none' : `of "${namespace.slice(0, 200)}"`}, and this service's is "${root.namespace}"${namespaceCause(namespace, root.namespace)}`,
    root.namespace,
  );
  const name = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
  for (let at: TreeElement | undefined = bodyOf(draft)?.children[0]; at !== undefined; at = at.parent) {
    const found = at.declarations.find((one) => one.local === prefix);
    if (found === undefined) continue;
    // The Envelope's own prefix must not change.
    if (at.local === 'Envelope' && prefix === at.prefix) break;
    draft.replace(found.start, found.end, `${name}="${root.namespace}"`);
    return;
  }
  const [[, end] = [0, 0]] = nameSpans(draft.text, payload);
  draft.replace(end, end, ` ${name}="${root.namespace}"`);
}

function namespaceCause(got: string, right: string): string {
  if (got === '') return '; this service takes it, a strict one does not';
  if (got.toLowerCase() === right.toLowerCase()) return ': upper and lower case differ';
  if (got.replace(/\/$/, '') === right.replace(/\/$/, ''))
    return ': a slash at its end is missing, or one too many';
  if (got.replace(/^https?:/, '') === right.replace(/^https?:/, ''))
    return ': http and https differ, a namespace is a name and not an address';
  if (/tempuri\.org/.test(got)) return ": http://tempuri.org/ is .NET's own for services that named none";
  if (/soap\/envelope|soap-envelope/.test(got))
    return ": it is the envelope's, so the element lacks a declaration of its own";
  const digits = /\d+/g;
  if (got.replace(digits, '') === right.replace(digits, ''))
    return ': the client is of another version of the WSDL';
  return ': the client is of another WSDL, or of another version';
}

// --- secrets, and the corrected message ----------------------------------------------------------------

/** Elements of WS-Security with secret text. */
const securitySecrets = new Set([
  'Password',
  'Nonce',
  'BinarySecurityToken',
  'Username',
  'CipherValue',
  'SignatureValue',
]);

/** Returns true if an element's text is a credential. */
function isSecret(known: Known, { local }: TreeElement): boolean {
  return securitySecrets.has(local) || isSecretName(known, local);
}

/** Returns true if an element or attribute with this name is a credential. */
function isSecretName({ compiled }: Known, local: string): boolean {
  const parts = compiled.contract.credentials?.parts ?? [];
  const fold = local.toLowerCase();
  if (/pass(?:word|wd|phrase)?$|secret$|api_?key$|token$/.test(fold)) return true;
  return parts.some(
    ({ xml, moved }) => xml.toLowerCase() === fold || moved?.path.at(-1)?.toLowerCase() === fold,
  );
}

/** Returns the corrected message with placeholders for credentials. */
function correct(
  known: Known,
  draft: Draft,
  findings: Findings,
  { version }: MendedEnvelope,
  operation: CompiledOperation | undefined,
): CorrectedMessage | undefined {
  if (operation === undefined) return undefined;
  hideSecrets(known, draft);
  const right = version === '1.1' ? soap11 : soap12;
  const { action } = bindingOf(known.compiled.contract, operation.operation.name);
  const contentType =
    version === '1.1' || action === '' ? right.contentType : `${right.contentType}; action="${action}"`;
  const text = `<?xml version="1.0" encoding="utf-8"?>\n${laidOut(draft.text.replace(/^<\?xml[^>]*\?>\s*/, ''))}`;
  const isTaken = noteLeft(known, draft, findings, version, contentType);
  return { contentType, soapAction: version === '1.1' ? `"${action}"` : undefined, text, isTaken };
}

/** Indents the text, unless it contains comments, CDATA sections or instructions, which indenting could change. */
function laidOut(text: string): string {
  return /<!--|<!\[CDATA\[|<\?/.test(text) ? text : indentXml(text.replace(/>\s+</g, '><').trim());
}

function hideSecrets(known: Known, draft: Draft): void {
  const member = known.compiled.contract.credentials?.member?.toLowerCase();
  const edits: Edit[] = [];
  const walk = (element: TreeElement, around: boolean): void => {
    const { children, opened, closing, local } = element;
    const holds = around || local.toLowerCase() === member;
    for (const attribute of element.attributes) {
      const isOwn = holds && attribute.namespace === '';
      if (isOwn || isSecretName(known, attribute.local)) edits.push(hiddenAttribute(attribute));
    }
    const isHidden = holds || isSecret(known, element);
    const hasText = draft.text.slice(opened, closing).trim() !== '';
    if (isHidden && hasText && children.length === 0 && local.toLowerCase() !== member)
      edits.push({ start: opened, end: closing, text: placeholderOf(local) });
    else if (isHidden) edits.push(...textsBetween(element, draft.text));
    for (const child of children) walk(child, isHidden);
  };
  const root = draft.root;
  if (root !== undefined) walk(root, false);
  draft.replaceAll(edits);
  // A comment may contain a credential that was commented out.
  draft.replaceAll(
    commentsOf(draft.text).filter(({ start, end }) => draft.text.slice(start + 1, end).includes('<')),
  );
}

function hiddenAttribute({ name, local, start, end }: TreeAttribute): Edit {
  return { start, end, text: `${name}="${placeholderOf(local)}"` };
}

/** Returns edits that remove text around the children of an element. */
function textsBetween({ children, opened, closing }: TreeElement, text: string): Edit[] {
  const starts = [opened, ...children.map(({ end }) => end)];
  const ends = [...children.map(({ start }) => start), closing];
  return starts.flatMap((start, at) => {
    const end = ends[at] as number;
    return text.slice(start, end).trim() === '' ? [] : [{ start, end, text: '' }];
  });
}

/** Returns edits that remove the comments of a well-formed document. */
function commentsOf(text: string): Edit[] {
  const edits: Edit[] = [];
  for (let at = text.indexOf('<!'); at >= 0; at = text.indexOf('<!', at)) {
    const isComment = text.startsWith('<!--', at);
    const close = isComment ? '-->' : ']]>';
    const found = text.indexOf(close, at + 4);
    const end = found < 0 ? text.length : found + 3;
    if (isComment) edits.push({ start: at, end, text: '' });
    at = end;
  }
  return edits;
}

/** Reads the corrected message like the gateway and reports remaining problems. Returns true if there are none. */
function noteLeft(
  { compiled, readers }: Known,
  draft: Draft,
  findings: Findings,
  version: '1.1' | '1.2',
  contentType: string,
): boolean {
  try {
    const call = readSoapCall(
      readers,
      readHead({ headers: { 'content-type': contentType }, rawHeaders: [] }),
      { version: version === '1.1' ? soap11 : soap12, endpoint: undefined },
      Buffer.from(draft.text.replace(/^<\?xml[^>]*\?>/, '')),
    );
    const { reading } = call.input;
    const problems = [...reading.problems, ...withoutCredentials(reading, compiled)];
    for (const problem of problems) {
      const place = placeOf(draft, problem.path);
      if (!isReported(draft, findings, place)) findings.error(draft, place?.start ?? 0, problemText(problem));
    }
    return problems.length === 0;
  } catch (error) {
    if (!(error instanceof Fault || error instanceof CallError)) throw error;
    findings.error(draft, 0, `this service refuses the message: ${error.message}`);
    return false;
  }
}

/**
 * Returns true if an error without a correction is reported for the element: on the line of its start tag, or about its
 * content.
 */
function isReported(draft: Draft, findings: Findings, element: TreeElement | undefined): boolean {
  const start = draft.locationOf(element?.start ?? 0);
  const end = draft.locationOf(element?.end ?? 0);
  const isWithin = (at: Location): boolean =>
    (at.line > start.line || (at.line === start.line && at.column >= start.column)) &&
    (at.line < end.line || (at.line === end.line && at.column <= end.column));
  return findings.list.some(({ at, severity, fix, element: named }) => {
    if (at === undefined || severity !== 'error' || fix !== undefined) return false;
    return at.line === start.line || (isWithin(at) && named !== undefined && named === element?.local);
  });
}

/**
 * Returns the element at the end of a dotted path, or as far as the path exists. The path starts at the payload.
 * Returns undefined if there is no payload.
 */
function placeOf(draft: Draft, field: string): TreeElement | undefined {
  const root = draft.root;
  let at = root === undefined ? undefined : payloadOf(root);
  if (at === undefined) return undefined;
  for (const step of field.split('.')) {
    const [, name = '', index] = /^(.*?)(?:\[(\d{1,7})\])?$/.exec(step) ?? [];
    const next: TreeElement | undefined = at.children.findLast(({ local }) => local === name);
    if (next === undefined) break;
    at = (index === undefined ? undefined : next.children[Number(index)]) ?? next;
  }
  return at;
}

/** Returns true if the gateway accepts a header block with mustUnderstand. It tries a call of the first operation. */
function isUnderstood(
  { compiled, readers }: Known,
  namespace: string,
  local: string,
  version: '1.1' | '1.2',
): boolean {
  const soap = version === '1.1' ? soap11 : soap12;
  const [operation] = compiled.operations.values();
  const { root } = operation ?? {};
  const payload = root === undefined ? '' : `<p:${root.local} xmlns:p="${escapeAttribute(root.namespace)}"/>`;
  const block = `<b:${local} xmlns:b="${escapeAttribute(namespace)}" e:mustUnderstand="1"/>`;
  const probe = `<e:Envelope xmlns:e="${soap.namespace}"><e:Header>${block}</e:Header><e:Body>${payload}</e:Body></e:Envelope>`;
  try {
    const message = { document: Buffer.from(probe), charset: undefined, actions: [], attachments: undefined };
    readers.openSoap(message, { version: soap, endpoint: undefined }).readPayload();
    return true;
  } catch (error) {
    if (error instanceof Fault) return error.code !== 'MustUnderstand';
    throw error;
  }
}

/** Returns a value for a missing required element: from the operation's sample, otherwise a generic one. */
function placeholderFor({ sampler }: Known, { operation }: CompiledOperation, child: ChildView): string {
  const sample = sampler.samplesOf(operation.name)?.requests[0]?.text;
  const root = sample === undefined ? undefined : treeOf(sample);
  const found = root === undefined ? undefined : findElement(root, child.local);
  const content =
    sample === undefined || found === undefined ? '' : sample.slice(found.opened, found.closing);
  // Content with the sample's prefixes would not be well-formed elsewhere.
  if (content !== '' && !/<\w+:/.test(content) && /^[^<]*$/.test(content)) return content;
  return placeholderText(child.view());
}

function placeholderText(view: View): string {
  if (view.kind !== 'text') return '';
  return (
    ['1', 'text', 'true', '2026-01-31', '2026-01-31T12:00:00', ...view.values, 'AAEC', 'P1D'].find(
      (text) => view.refusal(text) === undefined,
    ) ?? ''
  );
}

function findElement(element: TreeElement, local: string): TreeElement | undefined {
  if (element.local === local) return element;
  for (const child of element.children) {
    const found = findElement(child, local);
    if (found !== undefined) return found;
  }
  return undefined;
}
