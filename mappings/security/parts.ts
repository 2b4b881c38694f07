import type { Attachments } from '../codec/attachments.ts';
import { namespaces } from '../contract/model.ts';
import { contains } from './canonical.ts';
import { maxCertificateBytes } from './certificate.ts';
import { names } from './names.ts';
import { invalid, SecurityProblem } from './problem.ts';
import type { Tree, TreeElement } from './tree.ts';

/** Maximum number of bytes of a digest: that of SHA-512. */
export const maxDigestBytes = 64;

/** Elements of the Security block that may hold an `xop:Include` (X22), and the maximum size of its part in bytes. */
const inBlock: readonly (readonly [namespace: string, local: string, most: number])[] = [
  [names.wsse, 'BinarySecurityToken', maxCertificateBytes],
  [names.xenc, 'CipherValue', Number.POSITIVE_INFINITY],
  [names.ds, 'DigestValue', maxDigestBytes],
];

/** The MIME parts of a message after its envelope, as signatures cover them (X22). */
export class Parts {
  readonly #attachments: Attachments;
  /** Positions of parts by the elements that include them. */
  readonly #included = new Map<TreeElement, number>();
  /** Positions of the parts that the Security block includes. */
  readonly #inBlock = new Set<number>();

  /**
   * Finds the `xop:Include` elements. In the Security block, those of tokens and digests are replaced by base64, which the
   * block's readers read. Throws SecurityProblem.
   */
  constructor(attachments: Attachments, tree: Tree, block: TreeElement) {
    this.#attachments = attachments;
    if (attachments.form !== 'mtom') return;
    const pending = [tree.root];
    for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
      const included = includeIn(element);
      if (included === undefined) pending.push(...element.children);
      else this.#include(element, included, tree, block);
    }
  }

  #include(parent: TreeElement, element: TreeElement, tree: Tree, block: TreeElement): void {
    const href = element.attribute('', 'href') ?? '';
    const index = this.#attachments.indexOf(href);
    if (index === undefined) return;
    const bytes = this.bytesOf(index);
    if (contains(block, parent)) {
      const found = inBlock.find(([namespace, local]) => parent.is(namespace, local));
      if (found === undefined) return;
      const [, local, most] = found;
      if (this.#inBlock.has(index))
        invalid({ expected: 'one xop:Include in Security for each part', got: 'several' }, 'limit');
      if (bytes.length > most)
        invalid({ detail: `a part for ${local} has more than ${most} bytes` }, 'limit');
      this.#inBlock.add(index);
      this.#attachments.mention(href);
      if (Number.isFinite(most)) {
        parent.content.splice(0, parent.content.length, bytes.toString('base64'));
        this.#included.set(parent, index);
        return;
      }
    }
    tree.included.set(element, bytes);
    this.#included.set(element, index);
  }

  /** Number of parts. */
  get size(): number {
    return this.#attachments.parts.length;
  }

  /** Number of characters of all parts in base64. */
  get characters(): number {
    return this.#attachments.parts.reduce((sum, _, index) => sum + base64Length(this.bytesOf(index)), 0);
  }

  /** Returns the positions of the parts that the content of an element includes. */
  within(element: TreeElement): readonly number[] {
    return [...this.#included].filter(([one]) => contains(element, one)).map(([, index]) => index);
  }

  /** Returns the position of the part that a Reference names by `cid:`. Throws SecurityProblem. */
  find(uri: string | undefined): number {
    const index = this.#attachments.indexOf(uri ?? '');
    if (index === undefined)
      invalid({ expected: 'a part of the message for each cid: reference', got: 'none' }, 'part');
    // its canonical form depends on its type, which is not signed
    if (isTextType(this.#attachments.parts[index]?.contentType))
      throw new SecurityProblem(
        'UnsupportedAlgorithm',
        { detail: 'a signed part of text or XML is not supported; send it as application/octet-stream' },
        'part',
      );
    return index;
  }

  /** Returns the decoded bytes of a part. */
  bytesOf(index: number): Buffer {
    const bytes = this.#attachments.parts[index]?.bytes;
    if (!Buffer.isBuffer(bytes)) throw new RangeError('expected the bytes of a part that was not streamed');
    return bytes;
  }
}

/** Throws `InvalidSecurity` for the first of some parts that is not covered (X22). */
export function refuseUncovered(
  { parts }: Attachments,
  indexes: readonly number[],
  covered: ReadonlySet<number>,
): void {
  const index = indexes.find((one) => !covered.has(one));
  if (index === undefined) return;
  const name = parts[index]?.id?.slice(0, 64) ?? String(index + 2);
  invalid({ detail: `the part ${name} is not signed` }, 'part');
}

/** Returns the number of characters of the base64 of some bytes. */
export function base64Length({ length }: Buffer): number {
  return 4 * Math.ceil(length / 3);
}

/** Returns the `xop:Include` that is the whole content of an element; undefined for none. */
function includeIn(element: TreeElement): TreeElement | undefined {
  const [child, ...others] = element.children;
  const isOne = others.length === 0 && child?.is(namespaces.xop, 'Include') === true;
  return isOne && child.content.length === 0 && !/[^ \t\r\n]/.test(element.text) ? child : undefined;
}

/** Returns true for a media type of text or XML, of which the profile signs a changed form. */
function isTextType(contentType: string | undefined): boolean {
  const [type = ''] = (contentType ?? '').toLowerCase().split(';');
  const name = type.trim();
  return name.startsWith('text/') || name.endsWith('/xml') || name.endsWith('+xml');
}
