import { announcedBytes } from '../upstream/content-length.ts';

import type { ReceivedReply } from './compare-task.ts';

// The status and headers of a reply of the legacy service.

/** A reply without its body. */
export type ReplyHead = Omit<ReceivedReply, 'body'>;

/** Returns the head of a reply with these headers, which alternate names and values. */
export function headOf(status: number, rawHeaders: readonly string[]): ReplyHead {
  const contentType = headerIn(rawHeaders, 'content-type');
  const retryAfter = headerIn(rawHeaders, 'retry-after');
  return { status, contentType, coding: headerIn(rawHeaders, 'content-encoding'), retryAfter };
}

/** Returns the length that a reply with these headers announces; 0 if it announces none. */
export function announcedIn(rawHeaders: readonly string[]): number {
  return announcedBytes(headerIn(rawHeaders, 'content-length')) || 0;
}

/** Returns the value of a header; undefined for none. `name` is in lower case. */
export function headerIn(rawHeaders: readonly string[], name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === name) return rawHeaders[at + 1];
  return undefined;
}
