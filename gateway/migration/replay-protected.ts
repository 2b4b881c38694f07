import type { RequestContext } from '../http/request-context.ts';
import { rootOf } from './root-part.ts';

/** Marks of a message that its receiver accepts only once (G22). */
const marks = ['Nonce', 'Signature', 'Timestamp', 'RelatesTo'];

/**
 * Returns true if a message may have a nonce, a signature, a Timestamp or `RelatesTo`. Returns true for a message whose
 * text is not visible, for example in UTF-16, compressed, or in a package whose first part is encoded.
 */
export function isReplayProtected(bytes: Buffer, context: Pick<RequestContext, 'head' | 'options'>): boolean {
  const envelope = context.head.related === undefined ? bytes : rootOf(bytes, context)?.root;
  return (
    envelope === undefined || !envelope.includes('Envelope') || marks.some((mark) => envelope.includes(mark))
  );
}
