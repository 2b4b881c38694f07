import { join } from 'node:path';
import { signingKeys } from './signing-keys.ts';

/** A variant of the same calls. A stack lists its variants in its `stack.json`. */
export interface Variant {
  readonly name: VariantName;
  readonly title: string;
  /** Returns additional environment variables of the client. */
  readonly environment: () => Readonly<Record<string, string>>;
  /** Returns overlay settings that differ from the shipped contract. */
  readonly overlay: () => object;
  /** Pattern that each request matches, including its head. */
  readonly request: RegExp;
  /** Pattern that no request may match, since it belongs to another variant. */
  readonly not?: RegExp;
  /** Pattern that a reply matches. */
  readonly reply?: RegExp;
  /** True if the calls are repeated by clients that trust another certificate of the gateway. */
  readonly isDistrusted?: boolean;
}

export type VariantName = 'text' | 'digest' | 'mtom' | 'signed' | 'encrypted';

/** Credentials in the body, as in the plain calls. */
const inBody = /ApiUserKey/;
const signature = /SignatureValue[\s>]/;
const ciphertext = /CipherValue[\s>]/;
const multipart = /^content-type: *multipart\/related;[^\r]*type="?application\/xop\+xml/im;

export const variants: readonly Variant[] = [
  {
    name: 'text',
    title: 'UsernameToken',
    environment: () => ({ SECURITY: 'text' }),
    overlay: () => ({}),
    request: /UsernameToken[\s>].*demo-key/s,
    not: inBody,
  },
  {
    name: 'digest',
    title: 'UsernameToken with a digest',
    environment: () => ({ SECURITY: 'digest' }),
    overlay: () => ({ wsse: { username: 'apiUserId', password: 'apiUserKey', digest: 'secrets' } }),
    request: /#PasswordDigest/,
    not: /demo-key/,
  },
  {
    name: 'mtom',
    title: 'MTOM',
    environment: () => ({ MTOM: 'true' }),
    overlay: () => ({ mtomReplies: 'requested', mtomThreshold: 100 }),
    request: multipart,
    reply: multipart,
  },
  {
    name: 'signed',
    title: 'signed',
    environment: () => trusting('gateway'),
    overlay: () => ({ wsse: signedBy('body', 'timestamp') }),
    request: signature,
    reply: signature,
    isDistrusted: true,
  },
  {
    name: 'encrypted',
    title: 'signed and encrypted',
    environment: () => trusting('gateway'),
    // the suites of WS-SecurityPolicy up to 1.3 use AES-CBC
    overlay: () => ({
      wsse: { ...signedBy('body', 'timestamp', 'encryption'), decrypt: { cbc: true } },
    }),
    request: ciphertext,
    not: inBody,
    reply: ciphertext,
  },
];

/** Returns the variables of a client that signs, and trusts a certificate as that of the gateway. */
export function trusting(name: 'gateway' | 'other'): Readonly<Record<string, string>> {
  const keys = signingKeys();
  return { SIGNING: keys, GATEWAY_CERTIFICATE: join(keys, `${name}.crt`) };
}

/**
 * Returns settings that require signatures of the caller, whose certificate supplies its user name. The suites of
 * WS-SecurityPolicy up to 1.3 use RSA-SHA1.
 */
function signedBy(...require: readonly string[]): object {
  const keys = signingKeys();
  return {
    x509: {
      certificates: join(keys, 'caller.crt'),
      require,
      sha1: 'signature',
      credential: { apiUserId: 'commonName' },
    },
    sign: { key: join(keys, 'gateway.key'), certificate: join(keys, 'gateway.crt') },
  };
}

export function variantNamed(name: VariantName): Variant {
  const found = variants.find((variant) => variant.name === name);
  if (found === undefined) throw new Error(`expected a variant ${name}, got none`);
  return found;
}

/** Returns the deviation of requests and replies from the variant, or undefined. */
export function problemOnTheWire(
  { title, request, not, reply }: Variant,
  requests: readonly Buffer[],
  replies: string,
): string | undefined {
  const texts = requests.map((bytes) => bytes.toString('latin1').replace(/\r\n[\da-f]+\r\n/gi, ''));
  const calls = texts.filter((text) => text.startsWith('POST '));
  if (calls.length === 0) return 'expected calls, got none';
  const others = calls.filter((text) => !request.test(text) || not?.test(text) === true);
  const head = others[0]?.slice(0, 2_000);
  if (head !== undefined)
    return `expected ${title} in every call, got ${others.length} of ${calls.length} without: ${head}`;
  if (reply !== undefined && !reply.test(replies)) return `expected a reply with ${title}, got none`;
  return undefined;
}
