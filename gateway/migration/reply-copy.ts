import type { Limits } from '../../mappings/contract/limits.ts';
import { parseContentType } from '../../mappings/http-mapping/content-type.ts';
import { type RelatedType, RelatedTypeError, readRelatedType } from '../../mappings/http-mapping/related.ts';
import { DigestedPackage } from '../../mappings/http-mapping/related-digests.ts';
import { BodyCopy, transferable } from './body-copy.ts';
import type { ReceivedReply } from './compare-task.ts';
import type { CopyMemory } from './copy-memory.ts';
import type { ReplyHead } from './reply-head.ts';
import type { Skipped } from './skipped.ts';

/** A copy of a reply that is compared. Only the envelope of a package counts against `compareBytes` (G27). */
export class ReplyCopy {
  readonly #head: ReplyHead;
  readonly #copy: BodyCopy;
  readonly #package: DigestedPackage | undefined;
  readonly #compareBytes: number;

  constructor(head: ReplyHead, memory: CopyMemory, limits: Limits) {
    const copy = new BodyCopy(memory);
    const type = packageTypeOf(head);
    this.#head = head;
    this.#copy = copy;
    this.#package =
      type && new DigestedPackage(type, limits, (bytes, isEnvelope) => copy.add(bytes, isEnvelope));
    this.#compareBytes = limits.compareBytes;
  }

  /** Returns true for a reply whose announced length is too large for a comparison. */
  isTooLarge(announced: number): boolean {
    return this.#package === undefined && announced > this.#compareBytes;
  }

  /** Why there is no copy; undefined while there is one. */
  get dropped(): Skipped | undefined {
    return this.#copy.dropped;
  }

  /** Copies a piece. */
  add(piece: Buffer): void {
    if (this.#package === undefined) this.#copy.add(piece);
    else if (this.dropped === undefined) this.#package.add(piece);
  }

  /** Releases the copy. */
  drop(why: Skipped): void {
    this.#copy.drop(why);
  }

  /** Returns the copy of the complete reply. Throws Skipped if it was dropped. */
  take(): ReceivedReply {
    this.#package?.end();
    return { ...this.#head, body: transferable(this.#copy.take()), digests: this.#package?.digests };
  }
}

/** Returns the type of a package without a content coding; undefined for another reply, which is copied whole. */
function packageTypeOf({ contentType, coding }: ReplyHead): RelatedType | undefined {
  if (contentType === undefined || coding !== undefined) return undefined;
  if (parseContentType(contentType).type !== 'multipart/related') return undefined;
  try {
    return readRelatedType(contentType);
  } catch (error) {
    if (error instanceof RelatedTypeError) return undefined; // the comparison finds it unreadable
    throw error;
  }
}
