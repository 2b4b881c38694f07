import type { Socket } from 'node:net';
import { Redis } from 'iovalkey';

/** How a store is reached that replicas share. */
export interface LimitStoreOptions {
  /** `redis://` or `rediss://`, which may hold a password: it is never told. */
  readonly url: string;
  /** How long a call waits for the store, in ms. */
  readonly timeoutMs: number;
  /** Told when the store goes away, with the system's word for why, and when it is back. */
  readonly onChange: (isAway: boolean, code: string) => void;
}

/** For how long the store isn't asked again that didn't answer, in ms. */
const pauseMs = 1_000;

/** A reply is a few numbers; bytes that a store may send without one whole reply. */
const mostReplyBytes = 1_048_576;

/** The store answered something else than what was asked for, as another server at its address does. */
export class OtherAnswer extends Error {
  override readonly name = 'OtherAnswer';
  readonly code = 'answer';
}

/** Valkey or Redis, in which replicas count together. What it doesn't answer in time is counted in the process that asked. */
export class LimitStore {
  /** For what is asked by `ask`. */
  readonly client: Redis;
  readonly #onChange: LimitStoreOptions['onChange'];
  #isAway = false;
  #lastError: unknown;
  /** In ms since 1970. */
  #pausedAt = 0;
  #missed = 0;
  /** Bytes since the last whole reply. */
  #received = 0;

  private constructor({ url, timeoutMs, onChange }: LimitStoreOptions) {
    this.#onChange = onChange;
    this.client = new Redis(url, {
      lazyConnect: true,
      // what can't go out now is counted here: nothing waits for a store that is away
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2_000,
      commandTimeout: timeoutMs,
      enableAutoPipelining: true,
      retryStrategy: (tries) => Math.min(100 * tries, pauseMs),
    });
    // told where a call misses it
    this.client.on('error', (error) => {
      this.#lastError = error;
    });
    this.client.on('connect', () => this.#guard(this.client.stream));
  }

  /**
   * Ends a connection whose bytes the client's parser cannot read. The parser follows arrays within arrays by recursion, and
   * what it throws in a listener would end the process. Also ends a connection that sends too much without a whole reply.
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
          throw new OtherAnswer(`expected a reply of at most ${mostReplyBytes} bytes, got more`);
        return emit(event, ...args);
      } catch (error) {
        stream.destroy(
          error instanceof OtherAnswer
            ? error
            : new OtherAnswer('expected replies of a store', { cause: error }),
        );
        return true;
      }
    };
  }

  /** Connects; a store that is away is told and asked again, and is no error. */
  static async open(options: LimitStoreOptions): Promise<LimitStore> {
    const store = new LimitStore(options);
    try {
      await store.client.connect();
    } catch (error) {
      store.#miss(error);
    }
    return store;
  }

  /** Whether calls are counted in this process, as the store is away. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** What was counted in this process, as the store was away. */
  get missed(): number {
    return this.#missed;
  }

  /**
   * What the store answers about a call; undefined where it is away, didn't answer in time, or answered something else
   * (`question` throws OtherAnswer), which is counted.
   *
   * @param now in ms since 1970
   */
  async ask<Answer>(now: number, question: () => Promise<Answer>): Promise<Answer | undefined> {
    const answer = await this.tell(now, question);
    if (answer === undefined) this.#missed++;
    return answer;
  }

  /** The same for what isn't counted where it is missed. */
  async tell<Answer>(now: number, question: () => Promise<Answer>): Promise<Answer | undefined> {
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

/** The system's word for an error, or the store's, such as `ECONNREFUSED` or `NOAUTH`; undefined where there is none. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error) return String(error.code);
  if (error.message === 'Command timed out') return 'timeout';
  return /^([A-Z]{2,}) /.exec(error.message)?.[1];
}
