/** A variant of the same calls. A stack lists its variants in its `stack.json`. */
export interface Variant {
  readonly name: VariantName;
  readonly title: string;
  /** Additional environment variables of the client. */
  readonly environment: Readonly<Record<string, string>>;
  /** Overlay settings that differ from the shipped contract. */
  readonly overlay: object;
  /** Pattern that each request matches, including its head. */
  readonly request: RegExp;
  /** Pattern that no request may match, since it belongs to another variant. */
  readonly not?: RegExp;
  /** Pattern of the reply that contains bytes. */
  readonly reply?: RegExp;
}

export type VariantName = 'text' | 'digest' | 'mtom';

/** Credentials in the body, as in the plain calls. */
const inBody = /ApiUserKey/;
const multipart = /^content-type: *multipart\/related;[^\r]*type="?application\/xop\+xml/im;

export const variants: readonly Variant[] = [
  {
    name: 'text',
    title: 'UsernameToken',
    environment: { SECURITY: 'text' },
    overlay: {},
    request: /UsernameToken[\s>].*demo-key/s,
    not: inBody,
  },
  {
    name: 'digest',
    title: 'UsernameToken with a digest',
    environment: { SECURITY: 'digest' },
    overlay: { wsse: { username: 'apiUserId', password: 'apiUserKey', digest: 'secrets' } },
    request: /#PasswordDigest/,
    not: /demo-key/,
  },
  {
    name: 'mtom',
    title: 'MTOM',
    environment: { MTOM: 'true' },
    overlay: { mtomReplies: 'requested', mtomThreshold: 100 },
    request: multipart,
    reply: multipart,
  },
];

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
