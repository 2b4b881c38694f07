import { hash as hashOf, randomBytes, timingSafeEqual } from 'node:crypto';
import { isBlank } from '../../mappings/xml/characters.ts';

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

/** A digest that is right. */
export interface RightDigest {
  readonly secret: string;
  /**
   * What stands for its nonce in memory: the SHA-256 of Username, a zero byte and the nonce without blanks at its end, a
   * character for each byte. The digest is of nonce and Created in one, and a blank between them could go to either.
   */
  readonly nonce: string;
}

/** Checks a digest, in constant time: undefined where it is wrong, or its Username unknown. */
export function checkDigest(
  { username, nonce, created, hash }: DigestToken,
  secrets: Secrets,
): RightDigest | undefined {
  const secret = secrets.get(username);
  const rest = created + (secret ?? nobody);
  const most = (username.length + rest.length) * 3 + nonce.length + 1;
  const bytes = most > room.length ? Buffer.alloc(most) : room;
  const start = bytes.write(`${username}\0`);
  const end = start + bytes.write(nonce, start, 'base64');
  const size = end + bytes.write(rest, end);
  // a hash as a Buffer takes four times as long as one that is text
  expected.write(hashOf('sha1', bytes.subarray(start, size), 'base64'), 'latin1');
  given.write(hash, 'latin1');
  if (!timingSafeEqual(expected, given) || secret === undefined) return undefined;
  let remembered = end;
  while (remembered > start && isBlank(bytes[remembered - 1] as number)) remembered--;
  return { secret, nonce: hashOf('sha256', bytes.subarray(0, remembered), 'latin1') };
}

/** Room for what is hashed, which is seldom more. */
const room = Buffer.alloc(2_048);

/** The two digests that are compared, each a SHA-1 in base64. */
const expected = Buffer.alloc(28);
const given = Buffer.alloc(28);
