import type { Client } from 'undici';
import { type Cause, causeOf } from './cause.ts';

/** Health check of an upstream's addresses. */
export interface HealthCheckPlan {
  /** Path at the host of each address. */
  readonly path: string;
  /** Time between two checks, in ms. */
  readonly everyMs: number;
}

/** Called with each result: undefined if the check passed. `failures` counts the failures in a row. */
export type ReportHealth = (failure: Cause | undefined, failures: number) => void;

/** Number of failures in a row after which an address gets no calls. */
export const maxFailedChecks = 2;

/** Number of checks after the last call of the upstream. Later checks wait for the next call. */
export const maxIdleChecks = 30;

/**
 * Checks an address regularly with GET. A status from 200 to 399 passes. Checks pause while the upstream has no calls,
 * for example after a reload removed its contract.
 */
export class HealthCheck {
  readonly #client: Client;
  readonly #request: { readonly path: string; readonly headers: Readonly<Record<string, string>> };
  readonly #everyMs: number;
  readonly #timeoutMs: number;
  readonly #report: ReportHealth;
  #failures = 0;
  #idleChecks = 0;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isClosed = false;

  /**
   * @param request path, and headers such as those for a proxy
   * @param timeoutMs maximum time of one check
   */
  constructor(
    client: Client,
    request: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
    everyMs: number,
    timeoutMs: number,
    report: ReportHealth,
  ) {
    this.#client = client;
    this.#request = request;
    this.#everyMs = everyMs;
    this.#timeoutMs = timeoutMs;
    this.#report = report;
  }

  /** Records a call, and starts the checks if they pause. */
  wake(): void {
    this.#idleChecks = 0;
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    void this.#check();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client.destroy();
  }

  async #check(): Promise<void> {
    const failure = await this.#probe();
    if (this.#isClosed) return;
    this.#failures = failure === undefined ? 0 : this.#failures + 1;
    this.#report(failure, this.#failures);
    this.#idleChecks++;
    if (this.#idleChecks >= maxIdleChecks) {
      this.#isRunning = false;
      return;
    }
    this.#timer = setTimeout(() => void this.#check(), this.#everyMs);
    this.#timer.unref();
  }

  async #probe(): Promise<Cause | undefined> {
    try {
      const { statusCode, body } = await this.#client.request({
        ...this.#request,
        method: 'GET',
        reset: true,
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      await body.dump();
      if (statusCode >= 200 && statusCode < 400) return undefined;
      return { cause: 'status', status: statusCode };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error.name !== 'TimeoutError') return causeOf(error);
      return { cause: 'timeout', reason: `no response arrived within ${this.#timeoutMs} ms` };
    }
  }
}
