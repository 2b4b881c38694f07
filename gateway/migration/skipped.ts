/**
 * Why the replies to a call are not compared (G27). `sample`: the call is not part of the sample. `busy`: no capacity.
 * `size`: a message above `compareBytes`, or too little memory in the thread. `aborted`: a service sent no complete reply, or the caller disconnected.
 * `breaker`: the circuit breaker for shadow requests is open. `replayProtected`: the message may be sent once only.
 */
export type SkipReason = 'sample' | 'busy' | 'size' | 'aborted' | 'breaker' | 'replayProtected';

/** Ends a comparison that cannot be made. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
  readonly reason: SkipReason;
  /** True if the shadow request was sent, or could not be sent, and got no reply. */
  readonly isUnanswered: boolean;

  constructor(reason: SkipReason, isUnanswered = false) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(reason);
    Error.stackTraceLimit = stackTraceLimit;
    this.reason = reason;
    this.isUnanswered = isUnanswered;
  }
}
