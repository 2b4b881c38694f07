import { hash as hashOf, randomBytes, timingSafeEqual } from 'node:crypto';

/** A PasswordDigest of a UsernameToken that is to be checked by a secret (W49): plain data, as it may be read in a thread. */
export interface DigestToken {
  readonly username: string;
  /** In base64 without blanks, as is `hash`, which is of 20 bytes. */
  readonly nonce: string;
  /** Created, as written. */
  readonly created: string;
  readonly hash: string;
  /** How long the nonce has to be remembered, in ms since 1970. */
  readonly until: number;
}

/** Secrets by Username. */
export type Secrets = ReadonlyMap<string, string>;

/** In place of the secret of who isn't known, so that a digest takes as long. */
const nobody = randomBytes(32).toString('base64');

/** The secret that a digest was made of; undefined where it is wrong, or its Username unknown. In constant time. */
export function secretOf(
  { username, nonce, created, hash }: DigestToken,
  secrets: Secrets,
): string | undefined {
  const secret = secrets.get(username);
  const hashed = Buffer.concat([Buffer.from(nonce, 'base64'), Buffer.from(created + (secret ?? nobody))]);
  expected.write(hashOf('sha1', hashed, 'latin1'), 'latin1'); // as a Buffer it takes four times as long
  given.write(hash, 'base64');
  return timingSafeEqual(expected, given) ? secret : undefined;
}

/** The two digests that are compared, at the length of a SHA-1. */
const expected = Buffer.alloc(20);
const given = Buffer.alloc(20);

/** What stands for a digest's nonce in memory: the SHA-256 of Username, a zero byte and the nonce. */
export function nonceKey({ username, nonce }: DigestToken): string {
  return hashOf(
    'sha256',
    Buffer.concat([Buffer.from(`${username}\0`), Buffer.from(nonce, 'base64')]),
    'base64',
  );
}

/** What came of keeping a nonce: it is new, it was used before, or there is no room to remember it. */
export type NonceAnswer = 'new' | 'used' | 'full';

/** Where nonces are remembered: in this process, or in a store that several share. */
export interface NonceStore {
  /** Remembers a key until a time, both at once: of two that ask at the same time one alone is told that it is new. */
  readonly keep: (key: string, until: number, now: number) => NonceAnswer | Promise<NonceAnswer>;
}

/** At most this often, in ms, a full store is looked through for what has ended. */
const sweepMs = 1_000;

/** Nonces in memory, at most so many; what is live is never forgotten for another (W49). */
export function createNonces(
  most: number,
): NonceStore & { readonly keep: (...given: Parameters<NonceStore['keep']>) => NonceAnswer } {
  const live = new Map<string, number>();
  let swept = Number.NEGATIVE_INFINITY;
  return {
    keep: (key, until, now) => {
      const known = live.get(key);
      if (known !== undefined && known >= now) return 'used';
      if (live.size >= most && Math.abs(now - swept) >= sweepMs) {
        swept = now;
        for (const [each, end] of live) if (end < now) live.delete(each);
      }
      if (live.size >= most && known === undefined) return 'full';
      live.set(key, until);
      return 'new';
    },
  };
}
