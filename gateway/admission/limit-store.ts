import type { Socket } from 'node:net';
import { Redis } from 'iovalkey';

/** Connection settings of the store that replicas share. */
export interface LimitStoreOptions {
  /** A `redis://` or `rediss://` URL. It may contain a password, so it is never logged. */
  readonly url: string;
  /** Maximum time in ms that a call waits for the store. */
  readonly timeoutMs: number;
  /** Called when the store becomes unavailable, with the error code, and when it is available again. */
  readonly onChange: (isAway: boolean, code: string) => void;
}

/** Time in ms after a failed request during which the store is not used. */
const pauseMs = 1_000;

/** Maximum number of bytes that the store may send without a complete reply. A reply contains only a few numbers. */
const mostReplyBytes = 1_048_576;

/** The store sent an unexpected reply, for example because another server has its address. */
export class OtherAnswer extends Error {
  override readonly name = 'OtherAnswer';
  readonly code = 'answer';
}

/**
 * Valkey or Redis, used by replicas to count together. Calls that it does not answer in time are counted in this
 * process.
 */
export class LimitStore {
  /** Client for use within `query` and `queryUncounted`. */
  readonly client: Redis;
  readonly #onChange: LimitStoreOptions['onChange'];
  #isAway = false;
  #lastError: unknown;
  /** In ms since 1970. */
  #pausedAt = 0;
  #missed = 0;
  /** Number of bytes received since the last complete reply. */
  #received = 0;

  private constructor({ url, timeoutMs, onChange }: LimitStoreOptions) {
    this.#onChange = onChange;
    this.client = new Redis(url, {
      lazyConnect: true,
      // commands that cannot be sent now fail at once, and the call is counted in this process
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2_000,
      commandTimeout: timeoutMs,
      enableAutoPipelining: true,
      retryStrategy: (tries) => Math.min(100 * tries, pauseMs),
    });
    // reported when a call needs the store
    this.client.on('error', (error) => {
      this.#lastError = error;
    });
    this.client.on('connect', () => this.#guard(this.client.stream));
  }

  /**
   * Closes a connection if the client's parser fails on its data. The parser handles nested arrays by recursion, and an
   * error thrown in a listener would end the process. Also closes a connection that sends too many bytes without a
   * complete reply.
   */
  #guard(stream: Socket): void {
    this.#received = 0;
    const emit = stream.emit.bind(stream);
    stream.emit = (event: string | symbol, ...args: unknown[]): boolean => {
      if (event !== 'data') return emit(event, ...args);
      const [data] = args;
      this.#received += data instanceof Uint8Array ? data.length : 0;
      try {
        if (this.#received > mostReplyBytes)
          throw new OtherAnswer(`expected a reply of at most ${mostReplyBytes} bytes, got more bytes`);
        return emit(event, ...args);
      } catch (error) {
        stream.destroy(
          error instanceof OtherAnswer
            ? error
            : new OtherAnswer('expected replies of a Redis server', { cause: error }),
        );
        return true;
      }
    };
  }

  /** Connects to the store. An unavailable store is reported and tried again later, and is not an error. */
  static async open(options: LimitStoreOptions): Promise<LimitStore> {
    const store = new LimitStore(options);
    try {
      await store.client.connect();
    } catch (error) {
      store.#miss(error);
    }
    return store;
  }

  /** True while calls are counted in this process because the store is unavailable. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Number of calls counted in this process because the store was unavailable. */
  get missed(): number {
    return this.#missed;
  }

  /**
   * Returns the result of a question about a call. Returns undefined, and counts a missed call, if the store is
   * unavailable, does not answer in time, or sends an unexpected reply (`question` throws OtherAnswer).
   *
   * @param now time in ms since 1970
   */
  async query<Answer>(now: number, question: () => Promise<Answer>): Promise<Answer | undefined> {
    const answer = await this.queryUncounted(now, question);
    if (answer === undefined) this.#missed++;
    return answer;
  }

  /** Same as `query`, but does not count missed calls. */
  async queryUncounted<Answer>(now: number, question: () => Promise<Answer>): Promise<Answer | undefined> {
    if (this.client.status !== 'ready') this.#miss(undefined);
    else if (now < this.#pausedAt || now >= this.#pausedAt + pauseMs) {
      try {
        const answer = await question();
        this.#received = 0;
        if (this.#isAway) {
          this.#isAway = false;
          this.#onChange(false, '');
        }
        return answer;
      } catch (error) {
        this.#pausedAt = now;
        this.#miss(error);
      }
    }
    return undefined;
  }

  /** Ends the connection. */
  close(): void {
    this.client.disconnect();
  }

  #miss(error: unknown): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#onChange(true, codeOf(error) ?? codeOf(this.#lastError) ?? this.client.status);
  }
}

/**
 * Returns the error code of the system or the store, for example `ECONNREFUSED` or `NOAUTH`; undefined if there is
 * none.
 */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error) return String(error.code);
  if (error.message === 'Command timed out') return 'timeout';
  return /^([A-Z]{2,}) /.exec(error.message)?.[1];
}
