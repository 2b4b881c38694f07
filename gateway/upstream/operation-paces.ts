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

/** Measures how long the calls of each operation keep their connections. The number of operations is the contract's. */
export class OperationPaces {
  /** Mean time in ms by operation. */
  readonly #means = new Map<string, number>();

  /**
   * Adds a call that kept its connection for `ms`. A short failure says nothing about the duration of a successful call,
   * so it is not counted.
   */
  note(operation: string, ms: number, isAnswered: boolean): void {
    const mean = this.#means.get(operation);
    if (!isAnswered && ms <= (mean ?? quickMs)) return;
    this.#means.set(operation, mean === undefined ? ms : mean + (ms - mean) * weight);
  }

  /**
   * Returns true if calls of an operation give their connections back soon. An operation without a completed call is not
   * quick.
   *
   * @param out calls that have a connection, the first one sent first
   * @param total number of connections
   */
  isQuick(operation: string, out: readonly TimedCall[], total: number, now: number): boolean {
    const mean = this.#means.get(operation);
    if (mean === undefined || mean >= quickMs) return false;
    let stuck = 0;
    for (const call of out) {
      if (now - call.sentAt < stuckMs) break;
      if (call.operation === operation) stuck++;
    }
    return stuck <= total / stuckShare;
  }

  /**
   * Returns the expected time in ms until a new call of an operation gets a connection. Returns 0 if no call has completed,
   * or if no call of the operation has a connection, because then it depends on other operations.
   *
   * @param waiting waiting calls, the next one first
   * @param at position of the new call in `waiting`
   */
  waitOf(operation: string, out: readonly TimedCall[], waiting: readonly TimedCall[], at: number): number {
    const mean = this.#means.get(operation);
    if (mean === undefined) return 0;
    const sent = countOf(operation, out, out.length);
    return sent === 0 ? 0 : ((countOf(operation, waiting, at) + 1) * mean) / sent;
  }
}

function countOf(operation: string, calls: readonly TimedCall[], end: number): number {
  let count = 0;
  for (let index = 0; index < end; index++) if (calls[index]?.operation === operation) count++;
  return count;
}
