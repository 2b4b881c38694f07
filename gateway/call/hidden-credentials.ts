import type { Hide } from '../../mappings/codec/scalars/text.ts';
import type { CredentialPart, Credentials } from '../../mappings/contract/credentials.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';
import { compileHide } from '../telemetry/secrets.ts';
import { basicOf, isAuthorization, type MessageCredentials } from './credentials.ts';
import type { MessageHead } from './head.ts';

/** Selects the credentials to remove from a text. */
export type IsHidden = (part: CredentialPart) => boolean;

/** Selects the secrets of a call. Secrets with fewer than 6 characters are not searched for (W25). */
export const secrets: IsHidden = ({ secret }) => secret;

/** Selects all credentials of a call, including the caller's id, for logs (W25). */
export const allCredentials: IsHidden = () => true;

/**
 * Compiles a function that hides a call's credentials.
 *
 * @param own secrets that the gateway itself sent upstream
 */
export function hideCredentials(
  credentials: Credentials | undefined,
  values: CredentialValues | undefined,
  isHidden: IsHidden,
  own: readonly string[] = [],
): Hide {
  return compileHide([...claimedSecrets(credentials, values, isHidden), ...own]);
}

/** Returns the credentials of a call that a text must not contain. */
export function claimedSecrets(
  credentials: Credentials | undefined,
  values: CredentialValues | undefined,
  isHidden: IsHidden,
): readonly string[] {
  return values === undefined ? [] : hiddenOf(credentials, values.all, isHidden);
}

/** Hides the credentials in a message and its headers before they are checked (W25). */
export function hideGiven(
  credentials: Credentials | undefined,
  given: MessageCredentials,
  head: MessageHead,
  isHidden: IsHidden,
): Hide {
  return compileHide(givenSecrets(credentials, given, head, isHidden));
}

/** Returns the credentials in a message and its headers. */
export function givenSecrets(
  credentials: Credentials | undefined,
  { body, block, token, signed }: MessageCredentials,
  { headers }: MessageHead,
  isHidden: IsHidden,
): readonly string[] {
  const inHeaders = new Map<string, string>();
  const basic = credentials?.basic;
  const head = { headers, rawHeaders: [] };
  const pair = basic === undefined ? undefined : basicOf(head, basic, defaultLimits);
  for (const { name, header } of credentials?.parts ?? []) {
    const value = headers[header.toLowerCase()];
    if (typeof value === 'string') inHeaders.set(name, value);
  }
  const fromHeaders = hiddenOf(credentials, inHeaders, isHidden);
  const fromBlocks = [block, token, signed?.values, typeof pair === 'object' ? pair : undefined].flatMap(
    (values) => (values === undefined ? [] : hiddenOf(credentials, values, isHidden)),
  );
  return [...fromHeaders, ...fromBlocks, ...hiddenOf(credentials, body, isHidden)];
}

function hiddenOf(
  credentials: Credentials | undefined,
  values: ReadonlyMap<string, string>,
  isHidden: IsHidden,
): string[] {
  const hidden: string[] = [];
  for (const part of credentials?.parts ?? []) {
    const value = isHidden(part) ? values.get(part.name) : undefined;
    if (value === undefined) continue;
    hidden.push(value);
    // The token of an Authorization header is a secret even without its scheme.
    if (isAuthorization(part)) hidden.push(value.slice(value.lastIndexOf(' ') + 1));
  }
  return hidden;
}
