import { quoteElement } from '../contract/reason.ts';
import { names } from './names.ts';
import type { Parts } from './parts.ts';
import { invalid } from './problem.ts';
import { shownName, type Tree, type TreeElement } from './tree.ts';

/** The parts of a message that a signature can cover. */
export interface SignedMessage {
  readonly tree: Tree;
  readonly header: TreeElement;
  /** The Security block for the gateway. */
  readonly block: TreeElement;
  readonly body: TreeElement;
  /** The MIME parts after the envelope; undefined for a message that is not multipart. */
  readonly parts?: Parts | undefined;
}

/** Elements of a message by the names that refer to them (X7). */
export class Ids {
  readonly #root: TreeElement;
  #byName: Map<string, TreeElement[]> | undefined;
  /** The elements that names resolved to. */
  readonly #resolved = new Map<string, TreeElement>();

  constructor(root: TreeElement) {
    this.#root = root;
  }

  /**
   * Returns the only element with a name. A name matches an Id as written or percent-decoded. Throws SecurityProblem for
   * no element or several.
   */
  find(name: string): TreeElement {
    const [element, ...others] = this.#named(name);
    if (element === undefined)
      invalid({ expected: 'an element with the Id of each reference', got: 'none' }, 'id');
    const decoded = decode(name);
    const isNamed = idsOf(element).some((id) => id === name || id === decoded);
    if (others.length > 0 || !isNamed) ambiguous();
    this.#resolved.set(name, element);
    return element;
  }

  /**
   * Counts all names used so far again, because elements were replaced. A name of a replaced element must match no other
   * element (X7). Throws SecurityProblem.
   */
  recount(): void {
    this.#byName = undefined;
    for (const [name, element] of this.#resolved)
      if ([...this.#named(name)].some((other) => other !== element)) ambiguous();
  }

  #named(name: string): ReadonlySet<TreeElement> {
    this.#byName ??= indexOf(this.#root);
    const decoded = this.#byName.get(decode(name)) ?? [];
    return new Set([...(this.#byName.get(name) ?? []), ...decoded]);
  }

  /** Returns the element that a URI of the form `#name` names (X7). Throws SecurityProblem. */
  resolve(uri: string | undefined): TreeElement {
    if (uri === undefined || uri.length < 2 || !uri.startsWith('#') || uri.startsWith('#xpointer('))
      invalid({ expected: '# and an Id as the URI of each reference', got: 'another value' }, 'uri');
    return this.find(uri.slice(1));
  }
}

function ambiguous(): never {
  invalid({ expected: 'each Id of a reference on one element, and no xml:id' }, 'id');
}

/** Decodes percent escapes. A malformed escape is compared only as written. */
function decode(name: string): string {
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch (error) {
    if (error instanceof URIError) return name;
    throw error;
  }
}

/** Returns the Ids of an element that resolve names. */
function idsOf(element: TreeElement): string[] {
  const isSaml = names.saml.some((namespace) => namespace === element.namespace);
  return element.attributes.flatMap(({ namespace, local, value }) => {
    const isId = local === 'Id' && (namespace === names.wsu || namespace === '');
    const isOfSaml = isSaml && namespace === '' && (local === 'ID' || local === 'AssertionID');
    return isId || isOfSaml ? [value] : [];
  });
}

/** Collects the elements by name. An `xml:id` counts, so that it makes a name ambiguous. */
function indexOf(root: TreeElement): Map<string, TreeElement[]> {
  const byName = new Map<string, TreeElement[]>();
  const pending = [root];
  for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
    // an element that is copied from its source has no attributes in it
    for (const node of element.content)
      if (typeof node !== 'string' && node.source === undefined) pending.push(node);
    if (element.attributes.length === 0) continue;
    const xmlId = element.attribute('http://www.w3.org/XML/1998/namespace', 'id');
    for (const name of new Set(xmlId === undefined ? idsOf(element) : [...idsOf(element), xmlId])) {
      const same = byName.get(name);
      if (same === undefined) byName.set(name, [element]);
      else if (same.length < 2) same.push(element);
    }
  }
  return byName;
}

/** Children of the Security block that a Reference may name (X8). */
const inBlock: readonly (readonly [namespace: string, local: string])[] = [
  [names.wsu, 'Timestamp'],
  [names.wsse, 'UsernameToken'],
  [names.wsse, 'BinarySecurityToken'],
  [names.wsse, 'SecurityTokenReference'],
  [names.wsse11, 'SignatureConfirmation'],
  [names.xenc, 'EncryptedData'],
  ...names.saml.map((namespace) => [namespace, 'Assertion'] as const),
];

/** Throws SecurityProblem for an element that a Reference must not name, because it may not be read (X8). */
export function checkPlace(element: TreeElement, { header, block, body }: SignedMessage): void {
  const { parent } = element;
  const isHeaderBlock = parent === header && element !== block;
  const isChild = parent === block && inBlock.some(([namespace, local]) => element.is(namespace, local));
  const isContent = parent === body && element.is(names.xenc, 'EncryptedData');
  if (element === body || isHeaderBlock || isChild || isContent || isKeyReference(element, block)) return;
  const { text } = quoteElement(shownName(element));
  invalid({ detail: `signed element ${text} is at a place that is not read` }, 'place');
}

/** Returns true for a SecurityTokenReference in the KeyInfo of a Signature of the block, or in place of the KeyInfo. */
function isKeyReference(element: TreeElement, block: TreeElement): boolean {
  if (!element.is(names.wsse, 'SecurityTokenReference')) return false;
  const outer = element.parent?.is(names.ds, 'KeyInfo') === true ? element.parent.parent : element.parent;
  return outer?.is(names.ds, 'Signature') === true && outer.parent === block;
}
