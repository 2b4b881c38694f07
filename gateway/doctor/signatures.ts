import { hash } from 'node:crypto';
import { type Reason, sentence } from '../../mappings/contract/reason.ts';
import { RelatedError } from '../../mappings/http-mapping/related.ts';
import { CanonicalError, canonicalize } from '../../mappings/security/canonical.ts';
import { Ids } from '../../mappings/security/message.ts';
import { names } from '../../mappings/security/names.ts';
import { Parts } from '../../mappings/security/parts.ts';
import { SecurityProblem } from '../../mappings/security/problem.ts';
import { type Reference, readSignedInfo } from '../../mappings/security/signed-info.ts';
import { readTree, type Tree, type TreeElement } from '../../mappings/security/tree.ts';
import { decodeXml } from '../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../mappings/xml/error.ts';
import { CallError } from '../call/error.ts';
import { readHead } from '../call/head.ts';
import { messageOf as messageWithParts, type Readers, splitSoap } from '../protocols/read-call.ts';
import { Fault, isSecurityCode } from '../protocols/soap/faults.ts';
import type { SoapMessage } from '../protocols/soap/soap-call.ts';
import { soap11 } from '../protocols/soap/versions.ts';
import type { Draft } from './draft.ts';

/** Maximum number of References that an explanation lists. */
export const maxShownReferences = 16;

/**
 * Adds a finding with the first rule of signatures, encryption or assertions that a message violates, and the element of
 * each Reference with the result of its digest (X29). Adds nothing for a message that is accepted or not well-formed.
 */
export function noteSignatures(
  readers: Readers,
  body: Buffer,
  contentType: string | undefined,
  draft: Draft,
): void {
  const message = messageOf(readers, body, contentType, draft);
  const problem = message && problemOf(readers, message);
  if (message === undefined || problem === undefined) return;
  const { attachments } = message;
  let tree: Tree;
  let all: readonly TreeElement[];
  let security: TreeElement | undefined;
  let parts: Parts | undefined;
  try {
    tree = readTree(decodeXml(message.document, message.charset), readers.compiled.limits);
    all = elementsOf(tree.root);
    security = all.find((element) => element.is(names.wsse, 'Security'));
    if (attachments !== undefined) parts = new Parts(attachments, tree, security ?? tree.root);
  } catch (error) {
    if (error instanceof XmlError || error instanceof SecurityProblem) return;
    throw error;
  }
  const references = all
    .filter((element) => element.is(names.ds, 'SignedInfo'))
    .flatMap((info) => resultsOf(tree, info, parts))
    .slice(0, maxShownReferences);
  const shown = references.length === 0 ? '' : `. References: ${references.join(', ')}`;
  draft.error(Math.max(0, (security?.start ?? 1) - 1), sentence(problem) + shown);
}

/** Returns the message with its MIME parts; undefined for a multipart message that cannot be split. */
function messageOf(
  readers: Readers,
  body: Buffer,
  contentType: string | undefined,
  draft: Draft,
): SoapMessage | undefined {
  if (contentType?.toLowerCase().startsWith('multipart/') !== true)
    return { document: Buffer.from(draft.text), charset: 'utf-8', actions: [], attachments: undefined };
  const head = readHead({ headers: { 'content-type': contentType }, rawHeaders: [] });
  try {
    return messageWithParts(head, body, splitSoap(readers, head, soap11, body));
  } catch (error) {
    if (error instanceof Fault || error instanceof CallError || error instanceof RelatedError)
      return undefined;
    throw error;
  }
}

/** Returns the reason of the fault that a message gets for its Security block; undefined for none. */
function problemOf({ openSoap }: Readers, message: SoapMessage): Reason | undefined {
  try {
    openSoap(message, { version: soap11, endpoint: undefined }).readPayload();
    return undefined;
  } catch (error) {
    if (error instanceof UnsupportedCharset) return undefined;
    if (!(error instanceof Fault)) throw error;
    return isSecurityCode(error.code) && error.lock === undefined ? error.reason : undefined;
  }
}

/** Returns an element and all elements in it, in document order. */
function elementsOf(element: TreeElement): TreeElement[] {
  return [element, ...element.children.flatMap(elementsOf)];
}

/** Returns a text for each Reference of a SignedInfo: its element, and whether the digest matches. */
function resultsOf(tree: Tree, info: TreeElement, parts: Parts | undefined): readonly string[] {
  let references: readonly Reference[];
  try {
    ({ references } = readSignedInfo(info, { sha1: true, references: maxShownReferences }));
  } catch (error) {
    if (error instanceof SecurityProblem) return [];
    throw error;
  }
  const ids = new Ids(tree.root);
  return references.map((reference) => {
    const resultOf = (octets: string | Buffer): string =>
      hash(reference.hash, octets, 'buffer').equals(reference.digest) ? 'matches' : 'differs';
    try {
      if (reference.isPart)
        return parts === undefined
          ? 'no part'
          : `a part (the digest ${resultOf(parts.bytesOf(parts.find(reference.uri)))})`;
      const element = ids.resolve(reference.uri);
      const name = element.local.slice(0, 64);
      if (reference.isToken) return `${name} (the token is not compared)`;
      const parent = reference.isEnveloped ? info.parent : undefined;
      const octets = canonicalize(tree, element, reference.form, { left: 4 * 1024 * 1024 }, parent);
      return `${name} (the digest ${resultOf(octets)})`;
    } catch (error) {
      if (error instanceof SecurityProblem || error instanceof CanonicalError)
        return reference.isPart ? 'no part' : 'no element';
      throw error;
    }
  });
}
