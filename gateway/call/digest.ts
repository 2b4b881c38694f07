import { hash as hashOf, randomBytes, timingSafeEqual } from 'node:crypto';
import { isBlank } from '../../mappings/xml/characters.ts';

/**
 * PasswordDigest of a UsernameToken, to be checked against a secret (W49). It is plain data, because a worker thread
 * may read it.
 */
export interface DigestToken {
  readonly username: string;
  /** Base64 without whitespace, like `hash`, which has 20 bytes. */
  readonly nonce: string;
  /** Created, as written in the message. */
  readonly created: string;
  readonly hash: string;
  /** End of the time during which the nonce must be remembered, in ms since 1970. */
  readonly until: number;
}

/** Secrets by Username. */
export type Secrets = ReadonlyMap<string, string>;

/** Replaces the secret of an unknown user, so that checking its digest takes the same time. */
const nobody = randomBytes(32).toString('base64');

/** A correct digest. */
export interface RightDigest {
  readonly secret: string;
  /**
   * Key of its nonce in memory, one character per byte: the SHA-256 of Username, a zero byte and the nonce without
   * trailing whitespace. The digest covers the concatenation of nonce and Created, so whitespace between them could
   * belong to either.
   */
  readonly nonce: string;
}

/** Checks a digest in constant time. Returns undefined if it is wrong or its Username is unknown. */
export function checkDigest(
  { username, nonce, created, hash }: DigestToken,
  secrets: Secrets,
): RightDigest | undefined {
  const secret = secrets.get(username);
  const rest = created + (secret ?? nobody);
  const most = (username.length + rest.length) * 3 + nonce.length + 1;
  const bytes = most > scratch.length ? Buffer.alloc(most) : scratch;
  const start = bytes.write(`${username}\0`);
  const end = start + bytes.write(nonce, start, 'base64');
  const size = end + bytes.write(rest, end);
  // Text output is faster than a Buffer here.
  compared.write(hashOf('sha1', bytes.subarray(start, size), 'base64') + hash, 'latin1');
  if (!timingSafeEqual(expected, given) || secret === undefined) return undefined;
  let remembered = end;
  while (remembered > start && isBlank(bytes[remembered - 1] as number)) remembered--;
  return { secret, nonce: hashOf('sha256', bytes.subarray(0, remembered), 'latin1') };
}

/** Scratch buffer for the hashed bytes. Longer input is rare and gets its own buffer. */
const scratch = Buffer.alloc(2_048);

/** Scratch buffer for the two compared digests, each a SHA-1 in base64. One write is faster than two. */
const compared = Buffer.alloc(56);
const expected = compared.subarray(0, 28);
const given = compared.subarray(28);
