import { hash } from 'node:crypto';
import type { Limits } from '../../mappings/contract/limits.ts';
import { type Reason, sentence } from '../../mappings/contract/reason.ts';
import { CanonicalError, canonicalize } from '../../mappings/security/canonical.ts';
import { Ids } from '../../mappings/security/message.ts';
import { names } from '../../mappings/security/names.ts';
import { SecurityProblem } from '../../mappings/security/problem.ts';
import { type Reference, readSignedInfo } from '../../mappings/security/signed-info.ts';
import { readTree, type Tree, type TreeElement } from '../../mappings/security/tree.ts';
import { XmlError } from '../../mappings/xml/error.ts';
import { Fault, isSecurityCode } from '../protocols/soap/faults.ts';
import type { OpenSoap } from '../protocols/soap/soap-call.ts';
import { soap11 } from '../protocols/soap/versions.ts';
import type { Draft } from './draft.ts';

/** Maximum number of References that an explanation lists. */
export const maxShownReferences = 16;

/**
 * Adds a finding with the first rule of signatures, encryption or assertions that a message violates, and the element of
 * each Reference with the result of its digest (X29). Adds nothing for a message that is accepted or not well-formed.
 */
export function noteSignatures(open: OpenSoap, draft: Draft, limits: Limits): void {
  const problem = problemOf(open, draft.text);
  if (problem === undefined) return;
  let tree: Tree;
  try {
    tree = readTree(draft.text, limits);
  } catch (error) {
    if (error instanceof XmlError) return;
    throw error;
  }
  const all = [...elementsOf(tree.root)];
  const security = all.find((element) => element.is(names.wsse, 'Security'));
  const infos = all.filter((element) => element.is(names.ds, 'SignedInfo'));
  const references = infos.flatMap((info) => resultsOf(tree, info)).slice(0, maxShownReferences);
  const shown = references.length === 0 ? '' : `. References: ${references.join(', ')}`;
  draft.error(Math.max(0, (security?.start ?? 1) - 1), sentence(problem) + shown);
}

/** Returns the reason of the fault that a message gets for its Security block; undefined for none. */
function problemOf(open: OpenSoap, text: string): Reason | undefined {
  const message = { document: Buffer.from(text), charset: 'utf-8', actions: [], attachments: undefined };
  try {
    open(message, { version: soap11, endpoint: undefined }).readPayload();
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return isSecurityCode(error.code) && error.lock === undefined ? error.reason : undefined;
  }
}

function* elementsOf(root: TreeElement): Generator<TreeElement> {
  const pending = [root];
  for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
    yield element;
    pending.push(...element.children.toReversed());
  }
}

/** Returns a text for each Reference of a SignedInfo: its element, and whether the digest matches. */
function resultsOf(tree: Tree, info: TreeElement): readonly string[] {
  let references: readonly Reference[];
  try {
    ({ references } = readSignedInfo(info, { sha1: true, references: maxShownReferences }));
  } catch (error) {
    if (error instanceof SecurityProblem) return [];
    throw error;
  }
  const ids = new Ids(tree.root);
  return references.map((reference) => {
    if (reference.isPart) return 'a part (not compared)';
    try {
      const element = ids.resolve(reference.uri);
      const name = element.local.slice(0, 64);
      if (reference.isToken) return `${name} (the token is not compared)`;
      const parent = reference.isEnveloped ? info.parent : undefined;
      const octets = canonicalize(tree, element, reference.form, { left: 4 * 1024 * 1024 }, parent);
      return `${name} (the digest ${hash(reference.hash, octets, 'buffer').equals(reference.digest) ? 'matches' : 'differs'})`;
    } catch (error) {
      if (error instanceof SecurityProblem || error instanceof CanonicalError) return 'no element';
      throw error;
    }
  });
}
