import type { Outcome } from '../call/outcome.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { PendingComparison } from './pending-comparison.ts';
import type { Received } from './receive.ts';
import { refusalReply } from './shadow-request.ts';

/** Copies the message and the reply of the upstream, which answers the caller (G26). */
export function compareUpstream(
  context: RequestContext,
  received: Received,
  comparison: PendingComparison,
): void {
  comparison.sent(received.bytes);
  comparison.sentAll();
  context.onUpstreamReply = ({ status, headers, body }) => {
    const { 'content-type': type } = headers;
    const contentType = typeof type === 'string' ? type : undefined;
    comparison.began({ status, contentType, coding: undefined }, body.length);
    comparison.received(body);
    comparison.complete();
  };
}

/** Compares the error for a message that the gateway refuses before it calls the upstream. */
export function noteRefusal(context: RequestContext, outcome: Outcome, comparison: PendingComparison): void {
  if (outcome.kind !== 'failure' || outcome.failure.status >= 500 || context.stats.sent > 0) return;
  const { status, errorCode, responseStatus } = outcome.failure;
  const message = responseStatus.get('message');
  const { body, ...head } = refusalReply(status, errorCode, typeof message === 'string' ? message : '');
  comparison.began(head, 0);
  comparison.received(Buffer.from(body));
  comparison.complete();
}
