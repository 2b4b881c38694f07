import type { Breaker, Subject } from './breaker.ts';

/** The property of an address that the balancer uses. */
interface Target {
  readonly breaker: Pick<Breaker, 'refusal'>;
}

/** An address with its weight. */
interface Share<T> {
  readonly target: T;
  readonly weight: number;
  /** Grows by the weight with each call. The address with the most credit gets the call and pays the total. */
  credit: number;
  isHealthy: boolean;
}

/**
 * Distributes calls over the addresses of an upstream by weight (smooth weighted round robin, as in nginx). It skips
 * addresses that fail the health check or leave calls unanswered, and addresses with an open circuit breaker. The breaker
 * still gets its probes. If all addresses fail, the check itself may be wrong, and only the circuit breakers decide.
 */
export class Balancer<T extends Target> {
  readonly #shares: Share<T>[] = [];
  readonly #isStuck: (target: T, now: number) => boolean;

  /** @param isStuck returns true if an address leaves calls unanswered */
  constructor(isStuck: (target: T, now: number) => boolean) {
    this.#isStuck = isStuck;
  }

  /** @param weight share of the calls, relative to the other weights */
  add(target: T, weight: number): void {
    this.#shares.push({ target, weight, credit: 0, isHealthy: true });
  }

  /** Records the result of a health check. */
  setHealth(target: T, isHealthy: boolean): void {
    for (const share of this.#shares) if (share.target === target) share.isHealthy = isHealthy;
  }

  /** Returns false if calls are kept from the address because its health check fails. */
  isHealthy(target: T): boolean {
    return this.#shares.some((share) => share.target === target && share.isHealthy);
  }

  /** Returns true if the address passes its health check and answers its calls. */
  isUsable(target: T, now: number): boolean {
    return this.isHealthy(target) && !this.#isStuck(target, now);
  }

  /**
   * Chooses the address of a call. Returns the whole seconds until the next attempt if every circuit breaker rejects the
   * call, and undefined if the call tried all addresses.
   *
   * @param tried addresses that failed for this call
   * @param now in ms of a monotonic clock
   */
  choose(call: Subject, tried: readonly T[], now: number): T | number | undefined {
    const usable = this.#shares.filter(({ target, isHealthy }) => isHealthy && !this.#isStuck(target, now));
    const healthy = this.#shares.filter(({ isHealthy }) => isHealthy);
    const [candidates = this.#shares] = [usable, healthy].filter(({ length }) => length > 0);
    const shares = candidates.filter(({ target }) => !tried.includes(target));
    const chosen = this.#chooseFrom(shares, call, true, now);
    // An operation that fails at all addresses may fail because of one caller's data. Others may try it.
    return typeof chosen === 'number' ? this.#chooseFrom(shares, call, false, now) : chosen;
  }

  #chooseFrom(
    shares: readonly Share<T>[],
    call: Subject,
    onlyProbes: boolean,
    now: number,
  ): T | number | undefined {
    const byCredit = shares.toSorted((a, b) => b.credit + b.weight - (a.credit + a.weight));
    let retryAfter: number | undefined;
    const refused = new Set<Share<T>>();
    for (const share of byCredit) {
      const refusal = share.target.breaker.refusal(call, now, onlyProbes);
      if (refusal === undefined) {
        this.#pay(share, shares, refused);
        return share.target;
      }
      refused.add(share);
      retryAfter = Math.min(retryAfter ?? refusal, refusal);
    }
    return retryAfter;
  }

  /** Charges the chosen address. Rejected addresses get no credit, so that they get no burst of calls later. */
  #pay(chosen: Share<T>, shares: readonly Share<T>[], refused: ReadonlySet<Share<T>>): void {
    for (const share of shares) {
      if (refused.has(share)) continue;
      share.credit += share.weight;
      chosen.credit -= share.weight;
    }
  }
}
