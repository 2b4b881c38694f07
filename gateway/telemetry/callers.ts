import { createHmac, randomBytes } from 'node:crypto';
import type { Credentials } from '../../mappings/contract/credentials.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';

/** Identity that a caller claims: an id, or a secret that is only shown as a pseudonym. */
export interface CallerId {
  readonly kind: 'id' | 'secret';
  readonly value: string;
}

/** Returns names of callers for log and metrics. */
export interface Callers {
  /** Returns the caller's configured name, otherwise its pseudonym. */
  readonly nameOf: (id: CallerId) => string;
  /** True if pseudonyms are equal after a restart and in other processes. */
  readonly isStable: boolean;
  /** Names configured by the operator. */
  readonly names: ReadonlySet<string>;
  /** Returns the pseudonym of a text, of 16 characters; undefined without a stable key. */
  readonly pseudonymOf: ((text: string) => string) | undefined;
  /** Returns the pseudonyms of the ids and secrets with a configured name. */
  readonly pseudonymsOf: (name: string) => readonly string[];
  /** Key of stable pseudonyms; undefined if each start creates a new one. */
  readonly key: Buffer | undefined;
  /** Returns the first id with a configured name; undefined for none. */
  readonly idOf: (name: string) => string | undefined;
}

/** The operator's settings for callers. */
export interface CallerOptions {
  /** Key of the pseudonyms. If undefined, this process uses its own key. */
  readonly key?: Buffer | undefined;
  /** Names by id. */
  readonly namesById?: ReadonlyMap<string, string> | undefined;
  /** Names by pseudonym, for callers identified by a secret. */
  readonly namesByPseudonym?: ReadonlyMap<string, string> | undefined;
}

/** Default key of the pseudonyms. It does not change at a reload, so that counts continue. */
const ownKey = randomBytes(32);

/** Maximum number of cached names. */
const knownCallers = 1_024;
/** Length of a pseudonym in bytes, as 16 characters of base64url. */
const pseudonymBytes = 12;

/**
 * Creates names and pseudonyms. A caller keeps its pseudonym as long as the key does not change. Without the key, a
 * pseudonym reveals nothing (W25).
 */
export function createCallers({ key, namesById, namesByPseudonym }: CallerOptions = {}): Callers {
  const secret = key ?? ownKey;
  const names = new Set([...(namesById?.values() ?? []), ...(namesByPseudonym?.values() ?? [])]);
  const pseudonymOf = (text: string): string =>
    createHmac('sha256', secret).update(text).digest().toString('base64url', 0, pseudonymBytes);
  const namerOf = (kind: CallerId['kind']): ((value: string) => string) => {
    const known = new Map<string, string>();
    return (value) => {
      const found = known.get(value);
      if (found !== undefined) return found;
      const pseudonym = pseudonymOf(`${kind} ${value}`);
      const byId = kind === 'id' ? namesById?.get(value) : undefined;
      const name = byId ?? namesByPseudonym?.get(pseudonym) ?? pseudonym;
      if (known.size >= knownCallers) known.clear();
      known.set(value, name);
      return name;
    };
  };
  const namers = { id: namerOf('id'), secret: namerOf('secret') };
  return {
    key,
    isStable: key !== undefined,
    names,
    pseudonymOf: key === undefined ? undefined : pseudonymOf,
    pseudonymsOf: (name) => [
      ...[...(namesById ?? [])].filter(([, own]) => own === name).map(([id]) => pseudonymOf(`id ${id}`)),
      ...[...(namesByPseudonym ?? [])].filter(([, own]) => own === name).map(([pseudonym]) => pseudonym),
    ],
    idOf: (name) => [...(namesById ?? [])].find(([, own]) => own === name)?.[0],
    nameOf: ({ kind, value }) => namers[kind](value),
  };
}

/** Returns a caller's id from its credentials; undefined if it gave none. */
export type CallerIdOf = (values: CredentialValues) => CallerId | undefined;

/**
 * Compiles a function that finds a caller's id in a contract's credentials. It takes the first credential that is not
 * secret (an id, or a UsernameToken's Username). Otherwise it takes the user of `Authorization: Basic`, otherwise the
 * secret itself (a Bearer token, an API key). The id is only claimed: the upstream verifies it.
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

/** Returns the user of `Basic …` (RFC 7617); undefined for another scheme. */
function basicUser(authorization: string): string | undefined {
  const [, encoded] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const userAndPassword = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = userAndPassword.indexOf(':');
  return colon === -1 ? undefined : userAndPassword.slice(0, colon);
}
