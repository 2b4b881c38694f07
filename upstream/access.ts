import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Store } from './database.ts';
import { forbidden, unauthorized, unknownUser } from './failure.ts';
import { isObject } from './input.ts';
import type { JsonValue } from './json.ts';

/** A user of an account, with its rights. UpdateSubUser returns it unchanged. */
export interface User {
  readonly isMainUser: boolean;
  readonly userId: string;
  readonly userName: string;
  readonly name: string;
  readonly email: string | null;
  readonly isAdmin: boolean;
  readonly canResolveSearches: boolean;
  readonly canDeleteSearches: boolean;
  /** Names of other users; this user may see their searches. */
  readonly permissions: readonly string[];
}

/** The calling account, and its acting user; undefined if no `userId` was given. */
export interface Caller {
  readonly account: number;
  readonly user: User | undefined;
}

/** Owners of the visible records. */
type Owners = 'all' | ReadonlySet<string>;

// API keys are long and random, so one salted HMAC is as safe as a slow hash.
const hashKey = (key: string, salt: Uint8Array): Buffer => createHmac('sha256', salt).update(key).digest();

/** Returns the columns for a key: a salt and a hash, never the key itself (R2). */
export function sealKey(key: string): { readonly key_salt: Uint8Array; readonly key_hash: Uint8Array } {
  const salt = randomBytes(16);
  return { key_salt: salt, key_hash: hashKey(key, salt) };
}

// Compared instead of an unknown apiUserId, so that the check takes as long as for a wrong key (R5).
const nobody = { id: 0, key_salt: randomBytes(16), key_hash: randomBytes(32) };

/** R5: returns the caller of the credentials. Throws the same `Unauthorized` for every wrong value. */
export function authenticate(store: Store, authentication: JsonValue | undefined): Caller {
  const given = isObject(authentication) ? authentication : {};
  const apiUserId = given.apiUserId ?? '';
  const apiUserKey = given.apiUserKey ?? '';
  const userId = given.userId ?? '';
  const missing = Object.entries({ apiUserId, apiUserKey }).filter(([, value]) => value === '');
  if (missing.length > 0) throw unauthorized(missing.map(([name]) => name));
  if (typeof apiUserId !== 'string' || typeof apiUserKey !== 'string' || typeof userId !== 'string') {
    throw unauthorized();
  }
  const account =
    store.get<typeof nobody>('SELECT id, key_salt, key_hash FROM account WHERE api_user_id = :apiUserId', {
      apiUserId,
    }) ?? nobody;
  const matches = timingSafeEqual(hashKey(apiUserKey, account.key_salt), account.key_hash);
  if (!matches || account === nobody) throw unauthorized();
  if (userId === '') return { account: account.id, user: undefined };
  const user = findUser(store, account.id, 'user_id', guidDigits(userId) ?? '');
  if (user === undefined) throw unauthorized();
  return { account: account.id, user };
}

/** Returns the 32 hex digits of a GUID in one of .NET's formats (N, D, B, P); undefined for other text. */
function guidDigits(text: string): string | undefined {
  const normalized = text.trim().toLowerCase();
  const bare = /^\{.*\}$|^\(.*\)$/.test(normalized) ? normalized.slice(1, -1) : normalized;
  const digits = /^.{8}-.{4}-.{4}-.{4}-.{12}$/.test(bare) ? bare.replaceAll('-', '') : bare;
  return /^[\da-f]{32}$/.test(digits) ? digits : undefined;
}

interface UserRow {
  readonly user_name: string;
  readonly user_id: string;
  readonly name: string;
  readonly email: string | null;
  readonly is_main_user: number;
  readonly is_admin: number;
  readonly can_resolve_searches: number;
  readonly can_delete_searches: number;
}

/** Returns the account's user with that name or id (32 hex digits); undefined if it does not exist. */
export function findUser(
  store: Store,
  account: number,
  column: 'user_name' | 'user_id',
  value: string,
): User | undefined {
  const sql = `SELECT * FROM user WHERE account = :account AND ${column} = :value`;
  const row = store.get<UserRow>(sql, { account, value });
  if (row === undefined) return undefined;
  const permissions = store.all<{ visible: string }>(
    'SELECT visible FROM permission WHERE account = :account AND user_name = :userName ORDER BY position',
    { account, userName: row.user_name },
  );
  return {
    isMainUser: row.is_main_user === 1,
    userId: row.user_id,
    userName: row.user_name,
    name: row.name,
    email: row.email,
    isAdmin: row.is_admin === 1,
    canResolveSearches: row.can_resolve_searches === 1,
    canDeleteSearches: row.can_delete_searches === 1,
    permissions: permissions.map(({ visible }) => visible),
  };
}

/** Returns the account's user with that name. Throws `NotFound` with the name of the input member (R6). */
export function requireUser(store: Store, account: number, userName: string, fieldName: string): User {
  const user = findUser(store, account, 'user_name', userName);
  if (user === undefined) throw unknownUser(fieldName, userName);
  return user;
}

/** R8: rejects an acting user without the right. A call without an acting user, and the main user, have every right. */
export function requireRight(
  caller: Caller,
  right: 'isAdmin' | 'canResolveSearches' | 'canDeleteSearches',
): void {
  const { user } = caller;
  if (user === undefined || user.isMainUser || user[right]) return;
  throw forbidden(`authentication.userId: expected a user with ${right}, got ${user.userName} without it`);
}

/**
 * R6: returns the owners that both the acting user and the named sub user may see. Without a name, only the acting user
 * counts.
 */
export function visibleOwners(
  store: Store,
  caller: Caller,
  subUserName: string | undefined,
  fieldName: string,
): Owners {
  const acting = caller.user === undefined ? 'all' : ownersSeenBy(caller.user);
  if (subUserName === undefined) return acting;
  const named = ownersSeenBy(requireUser(store, caller.account, subUserName, fieldName));
  if (acting === 'all') return named;
  return named === 'all' ? acting : new Set([...acting].filter((owner) => named.has(owner)));
}

function ownersSeenBy(user: User): Owners {
  return user.isMainUser || user.isAdmin ? 'all' : new Set([user.userName, ...user.permissions]);
}

/** R6: rejects a record that exists but is not visible to the user. */
export function requireVisible(owners: Owners, owner: string, kind: string, id: number | bigint): void {
  if (owners === 'all' || owners.has(owner)) return;
  throw forbidden(`${kind} ${id}: expected a user who may see it, got one who may not`);
}

/**
 * Returns the owners as a bound parameter: null for all, otherwise a JSON array. In SQL: `(:owners IS NULL OR owner IN
 * (SELECT value FROM json_each(:owners)))`.
 */
export function ownersParameter(owners: Owners): string | null {
  return owners === 'all' ? null : JSON.stringify([...owners]);
}
