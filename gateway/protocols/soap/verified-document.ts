import { randomBytes } from 'node:crypto';
import type { Wsse } from '../../../mappings/contract/credentials.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import type { CanonicalForm } from '../../../mappings/security/canonical.ts';
import type { Tree, TreeElement } from '../../../mappings/security/tree.ts';
import type { Verified, Verifier } from '../../../mappings/security/verify.ts';
import type { SoapVersion } from './versions.ts';

/**
 * The prefix of the envelope of verified documents. Callers cannot know it, so no value in a signed element has this
 * prefix (X15).
 */
const prefix = `e${randomBytes(8).toString('hex')}`;

const inclusive: CanonicalForm = { kind: 'inclusive', prefixes: new Set() };

/** The parts of an envelope. */
export interface EnvelopeParts {
  readonly tree: Tree;
  readonly version: SoapVersion;
  readonly header: TreeElement | undefined;
  readonly body: TreeElement;
  /** Security blocks for the gateway. */
  readonly blocks: readonly TreeElement[];
}

/** Returns true for a Timestamp. */
export function isTimestamp(element: TreeElement): boolean {
  return element.is(namespaces.wsu, 'Timestamp');
}

/** Returns true for a UsernameToken. */
export function isToken(element: TreeElement): boolean {
  return element.is(namespaces.wsse, 'UsernameToken');
}

/** Namespaces of WS-Addressing. */
export const addressing: ReadonlySet<string> = new Set([namespaces.addressing10, namespaces.addressing2004]);

/** Writes the document that the gateway reads instead of the message (X12). */
export class Composer {
  readonly #parts: EnvelopeParts;
  readonly #block: TreeElement;
  readonly #octets: Map<TreeElement, string>;
  readonly #verifier: Verifier;
  readonly #wsse: Wsse;
  readonly #unsigned = new Set<TreeElement>();
  readonly #signedContent: string | undefined;

  /** @param signedContent content of a Body that is not signed itself (X8) */
  constructor(
    parts: EnvelopeParts,
    block: TreeElement,
    verified: Verified,
    verifier: Verifier,
    wsse: Wsse,
    signedContent: string | undefined,
  ) {
    this.#signedContent = signedContent;
    this.#parts = parts;
    this.#block = block;
    this.#octets = new Map(verified.octets);
    this.#verifier = verifier;
    this.#wsse = wsse;
  }

  /** @param withUnsignedActions false to leave out actions that no Signature covers (X4) */
  document(withUnsignedActions: boolean): string {
    const { version, header, body } = this.#parts;
    const blocks = (header?.children ?? [])
      .filter((one) => withUnsignedActions || !isAction(one) || !this.#isUnsigned(one))
      .map((one) => (one === this.#block ? this.#security() : this.#textOf(one)));
    const content = `<${prefix}:Header>${blocks.join('')}</${prefix}:Header>${this.#bodyText(body)}`;
    return `<${prefix}:Envelope xmlns:${prefix}="${version.namespace}">${content}</${prefix}:Envelope>`;
  }

  #security(): string {
    const children = this.#block.children.map((child) => {
      if (isTimestamp(child) || isToken(child)) return this.#textOf(child);
      const isIgnored = this.#wsse.unverified.some((name) => name === child.local);
      return isIgnored && child.local === 'Assertion' ? `<${prefix}o:Assertion/>` : '';
    });
    return `<${prefix}o:Security xmlns:${prefix}o="${namespaces.wsse}">${children.join('')}</${prefix}o:Security>`;
  }

  #bodyText(body: TreeElement): string {
    const signed = this.#signedContent;
    if (signed === undefined || this.#octets.has(body)) return this.#textOf(body);
    return `<${prefix}:Body>${signed}</${prefix}:Body>`;
  }

  #isUnsigned(element: TreeElement): boolean {
    return this.#unsigned.has(element) || !this.#octets.has(element);
  }

  /** Returns the octets of a covered element, and a canonical form with all declarations of any other. */
  #textOf(element: TreeElement): string {
    const known = this.#octets.get(element);
    if (known !== undefined) return known;
    const text = this.#verifier.formOf(element, inclusive, true);
    this.#octets.set(element, text);
    this.#unsigned.add(element);
    return text;
  }
}

function isAction(element: TreeElement): boolean {
  return element.local === 'Action' && addressing.has(element.namespace);
}
