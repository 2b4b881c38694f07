/** An operation is quick if its calls keep a connection for less than this time on average, in ms. */
export const quickMs = 100;

/** A call of a quick operation that keeps its connection for longer than this time counts as stuck, in ms. */
export const stuckMs = 400;

/**
 * An operation is no longer quick, and an address gets no calls, if its stuck calls have more than one of this number of
 * connections.
 */
export const stuckShare = 16;

/** A call, and the time when it was passed to a connection, in ms. */
interface TimedCall {
  readonly operation: string;
  readonly sentAt: number;
}

/** Weight of a new call in the mean time of its operation. */
const weight = 1 / 8;

/** Measurements of one operation. */
interface Pace {
  meanMs: number;
  /** Number of the last period of `quickMs` in which a call completed. */
  period: number;
  /** Calls completed in this period, and in the one before. */
  completed: number;
  completedBefore: number;
}

/** Measures how long the calls of each operation keep their connections. The number of operations is the contract's. */
export class OperationPaces {
  readonly #paces = new Map<string, Pace>();

  /**
   * Adds a call that kept its connection for `ms`. A short failure says nothing about the duration of a successful call,
   * so the mean ignores it.
   */
  note(operation: string, ms: number, isAnswered: boolean, now: number): void {
    let pace = this.#paces.get(operation);
    const isMeasured = isAnswered || ms > (pace?.meanMs ?? quickMs);
    if (pace === undefined) {
      if (!isMeasured) return;
      pace = { meanMs: ms, period: 0, completed: 0, completedBefore: 0 };
      this.#paces.set(operation, pace);
    } else if (isMeasured) pace.meanMs += (ms - pace.meanMs) * weight;
    const period = Math.floor(now / quickMs);
    if (period !== pace.period) {
      pace.completedBefore = period === pace.period + 1 ? pace.completed : 0;
      pace.completed = 0;
      pace.period = period;
    }
    pace.completed++;
  }

  /**
   * Returns true if calls of an operation give their connections back soon. An operation without a completed call is not
   * quick.
   *
   * @param out calls that have a connection, the first one sent first
   * @param total number of connections
   */
  isQuick(operation: string, out: readonly TimedCall[], total: number, now: number): boolean {
    const pace = this.#paces.get(operation);
    if (pace === undefined || pace.meanMs >= quickMs) return false;
    let stuck = 0;
    for (const call of out) {
      if (now - call.sentAt < stuckMs) break;
      if (call.operation === operation) stuck++;
    }
    return stuck <= total / stuckShare;
  }

  /**
   * Returns true if an operation completed as many calls as it has connections, in the last one or two periods of
   * `quickMs`. Calls that take less than `quickMs` do that (Little's law). An operation that begins to hang does not, so it
   * gets no more than its share.
   *
   * @param out calls that have a connection
   */
  keepsUp(operation: string, out: readonly TimedCall[], now: number): boolean {
    const pace = this.#paces.get(operation);
    if (pace === undefined) return false;
    const age = Math.floor(now / quickMs) - pace.period;
    const before = age === 0 ? pace.completedBefore : 0;
    const completed = age <= 1 ? pace.completed + before : 0;
    return countOf(operation, out, out.length) <= completed;
  }

  /**
   * Returns the expected time in ms until a new call of an operation gets a connection. Returns 0 if no call has completed,
   * or if no call of the operation has a connection, because then it depends on other operations.
   *
   * @param waiting waiting calls, the next one first
   * @param at position of the new call in `waiting`
   */
  waitOf(operation: string, out: readonly TimedCall[], waiting: readonly TimedCall[], at: number): number {
    const pace = this.#paces.get(operation);
    if (pace === undefined) return 0;
    const sent = countOf(operation, out, out.length);
    return sent === 0 ? 0 : ((countOf(operation, waiting, at) + 1) * pace.meanMs) / sent;
  }
}

function countOf(operation: string, calls: readonly TimedCall[], end: number): number {
  let count = 0;
  for (let index = 0; index < end; index++) if (calls[index]?.operation === operation) count++;
  return count;
}
