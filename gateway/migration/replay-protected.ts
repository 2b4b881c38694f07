import type { Operation } from '../../mappings/contract/model.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Received } from './receive.ts';
import { rootOf } from './root-part.ts';

/** Marks of a message that its receiver accepts only once (G22). */
const marks = ['Nonce', 'Signature', 'Timestamp', 'RelatesTo'];

/**
 * Returns true if a message may have a nonce, a signature, a Timestamp or `RelatesTo`. The bytes must show its text. The
 * result is also true without visible text: in UTF-16, after compression, or in a package with an encoded first part.
 */
export function isReplayProtected(bytes: Buffer, context: Pick<RequestContext, 'head' | 'options'>): boolean {
  const envelope = context.head.related === undefined ? bytes : rootOf(bytes, context)?.root;
  return (
    envelope === undefined || !envelope.includes('Envelope') || marks.some((mark) => envelope.includes(mark))
  );
}

/** Notes a read that is sent to the upstream at most once, because of its header blocks (G22). */
export function noteSentOnce(context: RequestContext, received: Received, { readOnly }: Operation): void {
  // now, because a worker thread may take the memory
  if (readOnly && isReplayProtected(received.body ?? received.bytes, context)) context.isSentOnce = true;
}
