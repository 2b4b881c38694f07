import { createHmac, randomBytes } from 'node:crypto';
import type { Credentials } from '../../mappings/contract/model.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';

/** Who a caller says it is: an id that may be known to others, or a secret of which only a pseudonym is ever told. */
export interface CallerId {
  readonly kind: 'id' | 'secret';
  readonly value: string;
}

/** Names for callers, as log and metrics show them. */
export interface Callers {
  /** The caller's name, where the operator gave it one, else its pseudonym. */
  readonly nameOf: (id: CallerId) => string;
  /** Whether the same caller has the same pseudonym after a restart and in another process. */
  readonly isStable: boolean;
  /** The names that the operator gave. */
  readonly names: ReadonlySet<string>;
}

/** What the operator says of callers. */
export interface CallerOptions {
  /** What pseudonyms are made with; undefined: a key of this process's own. */
  readonly key?: Buffer | undefined;
  /** Names by id. */
  readonly namesById?: ReadonlyMap<string, string> | undefined;
  /** Names by pseudonym, for callers whose credential is a secret. */
  readonly namesByPseudonym?: ReadonlyMap<string, string> | undefined;
}

/** What pseudonyms are made with where nobody gave a key: the same after a reload, so that what was counted stays. */
const ownKey = randomBytes(32);

/** How many callers are kept with their names. */
const knownCallers = 1_024;
/** In bytes: 16 characters of base64url. */
const pseudonymBytes = 12;

/**
 * Names and pseudonyms: a pseudonym is the same for the same caller as long as the key is, and says nothing to anyone who
 * lacks the key (W25).
 */
export function createCallers({ key, namesById, namesByPseudonym }: CallerOptions = {}): Callers {
  const secret = key ?? ownKey;
  const names = new Set([...(namesById?.values() ?? []), ...(namesByPseudonym?.values() ?? [])]);
  const namerOf = (kind: CallerId['kind']): ((value: string) => string) => {
    const known = new Map<string, string>();
    return (value) => {
      const found = known.get(value);
      if (found !== undefined) return found;
      const digest = createHmac('sha256', secret).update(`${kind} ${value}`).digest();
      const pseudonym = digest.toString('base64url', 0, pseudonymBytes);
      const byId = kind === 'id' ? namesById?.get(value) : undefined;
      const name = byId ?? namesByPseudonym?.get(pseudonym) ?? pseudonym;
      if (known.size >= knownCallers) known.clear();
      known.set(value, name);
      return name;
    };
  };
  const namers = { id: namerOf('id'), secret: namerOf('secret') };
  return {
    isStable: key !== undefined,
    names,
    nameOf: ({ kind, value }) => namers[kind](value),
  };
}

/** A caller's id among its credentials; undefined where it gave none. */
export type CallerIdOf = (values: CredentialValues) => CallerId | undefined;

/**
 * One function that finds a contract's callers' ids: the first credential that isn't secret (an id, or a UsernameToken's
 * Username), else the user of `Authorization: Basic`, else the secret itself (a Bearer token, an API key). It is what the caller
 * says: whether it is true is for the service behind to find out.
 */
export function compileCallerId(credentials: Credentials | undefined): CallerIdOf {
  const parts = credentials?.parts ?? [];
  const open = parts.find(({ secret }) => !secret)?.name;
  const secrets = parts.filter(({ secret }) => secret);
  return ({ all }) => {
    const id = open === undefined ? undefined : all.get(open);
    if (id !== undefined) return { kind: 'id', value: id };
    for (const { name, header } of secrets) {
      const value = all.get(name);
      if (value === undefined) continue;
      const user = header.toLowerCase() === 'authorization' ? basicUser(value) : undefined;
      return user === undefined ? { kind: 'secret', value } : { kind: 'id', value: user };
    }
    return undefined;
  };
}

/** The user of `Basic …` (RFC 7617); undefined for another scheme. */
function basicUser(authorization: string): string | undefined {
  const [, encoded] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const userAndPassword = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = userAndPassword.indexOf(':');
  return colon === -1 ? undefined : userAndPassword.slice(0, colon);
}
