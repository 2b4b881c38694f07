import { createHash, randomBytes } from 'node:crypto';

/** Maximum number of browser sessions. The one that was idle for longest ends. */
export const maxSessions = 1_000;

/** Time in ms after which a session ends without a request, and in any case (G70). */
export const sessionTimes = { idle: 30 * 60_000, total: 12 * 60 * 60_000 } as const;

/** Failed attempts of a network within a minute, after which the network is blocked for a minute (G69). */
export const maxFailures = 10;

/** Maximum number of networks with failures. The one that failed longest ago is forgotten. */
export const maxFailedNetworks = 1_000;

const minuteMs = 60_000;

/** A browser session. All times are in ms since 1970. */
export interface Session {
  readonly csrf: string;
  /** SHA-256 of the token that opened it, in hexadecimal digits. */
  readonly token: string;
  readonly idleUntil: number;
  readonly until: number;
}

/** A command to the memory. It is JSON, so that a worker can send it to the primary process. */
export type MemoryCommand =
  | { readonly kind: 'enter'; readonly network: string; readonly session: string | undefined }
  | { readonly kind: 'fail'; readonly network: string }
  | { readonly kind: 'open'; readonly token: string }
  | { readonly kind: 'end'; readonly session: string };

/** Answer to a command. Members that the command does not ask for are missing. */
export interface MemoryAnswer {
  /** `enter`: time in ms until the network is no longer blocked, or 0. */
  readonly blockedMs?: number;
  /** `enter` and `open`: the session, unless it has ended. */
  readonly session?: Session | undefined;
  /** `open`: the secret of the session's cookie. */
  readonly secret?: string;
}

/** Runs a command, in this process or in the primary process. */
export type AskMemory = (command: MemoryCommand) => Promise<MemoryAnswer>;

interface Failures {
  /** Times of the last failures. */
  readonly times: number[];
  blockedUntil: number;
}

/** Browser sessions and failed attempts at the admin listener, shared by all workers of a gateway (G69, G70). */
export class AdminMemory {
  readonly #now: () => number;
  /** By the SHA-256 of the secret, the one that was idle for longest first. */
  readonly #sessions = new Map<string, Session>();
  /** By network, the one that failed longest ago first. */
  readonly #failures = new Map<string, Failures>();

  /** @param now returns the time in ms since 1970 */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  readonly run = (command: MemoryCommand): MemoryAnswer => {
    switch (command.kind) {
      case 'enter':
        return {
          blockedMs: this.#blockedMs(command.network),
          session: command.session === undefined ? undefined : this.#use(command.session),
        };
      case 'fail':
        this.#fail(command.network);
        return {};
      case 'open':
        return this.#open(command.token);
      case 'end':
        this.#sessions.delete(keyOf(command.session));
        return {};
    }
  };

  #open(token: string): MemoryAnswer {
    const now = this.#now();
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= maxSessions && oldest !== undefined) this.#sessions.delete(oldest);
    const secret = randomBytes(32).toString('base64url');
    const csrf = randomBytes(32).toString('base64url');
    const session = { csrf, token, idleUntil: now + sessionTimes.idle, until: now + sessionTimes.total };
    this.#sessions.set(keyOf(secret), session);
    return { secret, session };
  }

  /** Returns a session that has not ended, and moves it to the end of the order. */
  #use(secret: string): Session | undefined {
    const now = this.#now();
    const key = keyOf(secret);
    const found = this.#sessions.get(key);
    this.#sessions.delete(key);
    if (found === undefined || now >= Math.min(found.idleUntil, found.until)) return undefined;
    const session = { ...found, idleUntil: now + sessionTimes.idle };
    this.#sessions.set(key, session);
    return session;
  }

  #blockedMs(network: string): number {
    return Math.max(0, (this.#failures.get(network)?.blockedUntil ?? 0) - this.#now());
  }

  #fail(network: string): void {
    const now = this.#now();
    const failures = this.#failures.get(network) ?? { times: [], blockedUntil: 0 };
    this.#failures.delete(network);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= maxFailedNetworks && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.set(network, failures);
    failures.times.push(now);
    if (failures.times.length < maxFailures) return;
    if (now - (failures.times.shift() ?? 0) < minuteMs) failures.blockedUntil = now + minuteMs;
  }
}

/** Returns the key of a session. A lookup of the secret itself would take a time that depends on it. */
function keyOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
