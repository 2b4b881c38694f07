import type { Saml, Signing } from '../../../mappings/contract/credentials.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { valueFrom } from '../../../mappings/security/assertion.ts';
import { invalid } from '../../../mappings/security/problem.ts';
import type { Confirmed } from '../../../mappings/security/saml.ts';
import type { OnceEntry } from '../../call/credentials.ts';

/** Data of a confirmed Assertion that a call uses (X26). */
export interface AssertionFacts {
  readonly values: readonly (readonly [name: string, value: string])[];
  /** The entry for the memory of messages, for an Assertion that is accepted once only. */
  readonly once: readonly OnceEntry[];
  readonly issuer: string;
  readonly recipients: readonly string[] | undefined;
}

/** The last time that the memory of messages can store, in ms since 1970. */
const lastUntil = Date.UTC(2100, 0);

/** Returns the facts of a confirmed Assertion. Throws SecurityProblem if it cannot be remembered. */
export function factsOfAssertion(
  { assertion, method, recipients, until, key }: Confirmed,
  { credential }: Saml,
  replay: Signing['replay'],
  { wsseSkewMs }: Limits,
): AssertionFacts {
  const { issuer, isOneTime } = assertion;
  const value = credential && valueFrom(assertion, credential.from);
  const isOnce = isOneTime || (method === 'bearer' && replay === 'refuse');
  if (isOnce && until === undefined)
    invalid({ expected: 'NotOnOrAfter in an Assertion that is accepted once', got: 'none' }, 'assertion');
  const end = Math.min((until ?? 0) + wsseSkewMs, lastUntil);
  return {
    values: credential === undefined || value === undefined ? [] : [[credential.name, value]],
    once: isOnce ? [{ key, until: end, caller: `issuer ${issuer}` }] : [],
    issuer,
    recipients,
  };
}
