import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { problemText } from '../../mappings/codec/problem.ts';
import { escapeAttribute } from '../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compiled.ts';
import type { Location } from '../../mappings/xml/error.ts';
import { indentXml } from '../../wsdl/samples/indent.ts';
import { createSampler, type Sampler } from '../../wsdl/samples/samples.ts';
import { CallError } from '../call/error.ts';
import { readHead } from '../call/head.ts';
import { withoutCredentials } from '../call/request.ts';
import { compileReaders, readSoapCall, withoutKeys } from '../protocols/read-call.ts';
import { Fault } from '../protocols/soap/faults.ts';
import { soap11, soap12 } from '../protocols/soap/versions.ts';
import type { Draft } from './draft.ts';
import { type FixedEnvelope, fixEnvelope, fixHeader } from './envelope.ts';
import { type Finding, Findings } from './findings.ts';
import { noteAction, noteContentType, statedVersion } from './http-headers.ts';
import type { Known } from './known.ts';
import { fixMarkup } from './markup.ts';
import { fixMembers } from './members.ts';
import { fixPayload, payloadOf, unescapeBody } from './payload.ts';
import { hideSecrets, isSecret } from './secrets.ts';
import { type TreeElement, treeOf } from './tree.ts';
import { unwrap } from './unwrap.ts';
import { type ChildView, compileViews, type View } from './view.ts';

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

/**
 * Creates the doctor of a contract and compiles its codecs and views.
 *
 * @param decrypts true if encrypted messages are decrypted. Only who has the keys may see the explanation (X24).
 */
export function createDoctor(compiled: CompiledContract, decrypts = false): Doctor {
  const viewOf = compileViews(compiled);
  const readers = compileReaders(decrypts ? compiled : withoutKeys(compiled), Number.POSITIVE_INFINITY);
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

/** Few contracts verify signatures, so the module is loaded on use. */
function loadSignatures(): typeof import('./signatures.ts') {
  return createRequire(import.meta.url)(`./signatures${extname(import.meta.url)}`);
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
  const draft = unwrap(Buffer.from(body), contentType, findings);
  if (draft === undefined) return done();
  if (contract.wsse?.x509 !== undefined)
    loadSignatures().noteSignatures(known.readers, Buffer.from(body), contentType, draft);
  const acceptsIllegalReferences = contract.settings.illegalCharacterReferences === 'accept';
  const typesNamespace = contract.namespaces.types;
  const fixText = (): boolean => fixMarkup(draft, { limits, acceptsIllegalReferences, typesNamespace });
  if (!fixText()) return done();
  const stated = statedVersion(contentType);
  const envelope = fixEnvelope(draft, { roots, stated });
  if (envelope === undefined) return done();
  const { version } = envelope;
  noteContentType(contentType, version, findings);
  fixHeader(draft, version, limits, (namespace, local) => isUnderstood(known, namespace, local, version));
  const isEscaped = unescapeBody(draft);
  if (isEscaped && !fixText()) return done();
  const operation = fixPayload(known, draft, headers.soapaction);
  if (operation !== undefined) {
    noteAction(known, operation, headers, version, findings);
    const isRead = fixMembers(draft, payloadOf, known.viewOf(operation), {
      isSecret: (element) => isSecret(known, element),
      placeholder: (child) => placeholderFor(known, operation, child),
      unknownElements: contract.settings.unknownElements,
      fixText,
    });
    if (!isRead) return done(operation.operation.name);
  }
  const corrected = correct(known, draft, envelope, operation);
  return done(operation?.operation.name, corrected);
}

// --- the corrected message ---------------------------------------------------------------------------

/** Returns the corrected message with placeholders for credentials. */
function correct(
  known: Known,
  draft: Draft,
  { version }: FixedEnvelope,
  operation: CompiledOperation | undefined,
): CorrectedMessage | undefined {
  if (operation === undefined) return undefined;
  hideSecrets(known, draft);
  const right = version === '1.1' ? soap11 : soap12;
  const { action } = operation.operation.binding;
  const contentType =
    version === '1.1' || action === '' ? right.contentType : `${right.contentType}; action="${action}"`;
  const text = `<?xml version="1.0" encoding="utf-8"?>\n${laidOut(draft.text.replace(/^<\?xml[^>]*\?>\s*/, ''))}`;
  const isTaken = noteLeft(known, draft, version, contentType);
  return { contentType, soapAction: version === '1.1' ? `"${action}"` : undefined, text, isTaken };
}

/** Indents the text, unless it contains comments, CDATA sections or instructions, which indenting could change. */
function laidOut(text: string): string {
  return /<!--|<!\[CDATA\[|<\?/.test(text) ? text : indentXml(text.replace(/>\s+</g, '><').trim());
}

/** Reads the corrected message like the gateway and reports remaining problems. Returns true if there are none. */
function noteLeft(
  { compiled, readers }: Known,
  draft: Draft,
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
      if (!isReported(draft, place)) draft.error(place?.start ?? 0, problemText(problem));
    }
    return problems.length === 0;
  } catch (error) {
    if (!(error instanceof Fault || error instanceof CallError)) throw error;
    draft.error(0, `this service rejects the message: ${error.message}`);
    return false;
  }
}

/**
 * Returns true if an error without a correction is reported for the element: on the line of its start tag, or about its
 * content.
 */
function isReported(draft: Draft, element: TreeElement | undefined): boolean {
  const start = draft.locationOf(element?.start ?? 0);
  const end = draft.locationOf(element?.end ?? 0);
  const isWithin = (at: Location): boolean =>
    (at.line > start.line || (at.line === start.line && at.column >= start.column)) &&
    (at.line < end.line || (at.line === end.line && at.column <= end.column));
  return draft.findings.list.some(({ at, severity, fix, element: named }) => {
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
