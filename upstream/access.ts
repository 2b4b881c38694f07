import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Store } from './database.ts';
import { forbidden, unauthorized, unknownUser } from './failure.ts';
import { isObject } from './input.ts';
import type { JsonValue } from './json.ts';

/** A user of an account, as the rules on rights see it; UpdateSubUser answers with one as it is. */
export interface User {
  readonly isMainUser: boolean;
  readonly userId: string;
  readonly userName: string;
  readonly name: string;
  readonly email: string | null;
  readonly isAdmin: boolean;
  readonly canResolveSearches: boolean;
  readonly canDeleteSearches: boolean;
  /** The users whose searches this one may see beside its own. */
  readonly permissions: readonly string[];
}

/** Who calls: the account, and the user that acts; undefined where no `userId` was given. */
export interface Caller {
  readonly account: number;
  readonly user: User | undefined;
}

/** The owners whose records may be seen. */
type Owners = 'all' | ReadonlySet<string>;

// An API key is issued, long and random, so one HMAC over a salt keeps it as well as a slow hash would, at
// a few microseconds per call.
const hashKey = (key: string, salt: Uint8Array): Buffer => createHmac('sha256', salt).update(key).digest();

/** A key as its columns hold it: never itself, but a salt and a hash (R2). */
export function sealKey(key: string): { readonly key_salt: Uint8Array; readonly key_hash: Uint8Array } {
  const salt = randomBytes(16);
  return { key_salt: salt, key_hash: hashKey(key, salt) };
}

// An unknown apiUserId is compared with this one, so that it takes as long as a wrong key (R5).
const nobody = { id: 0, key_salt: randomBytes(16), key_hash: randomBytes(32) };

/** R5: whose credentials these are; throws `Unauthorized`, the same for every reason. */
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

/** The 32 hex digits of a GUID in any of .NET's spellings (N, D, B, P), or undefined. */
function guidDigits(text: string): string | undefined {
  const spelled = text.trim().toLowerCase();
  const bare = /^\{.*\}$|^\(.*\)$/.test(spelled) ? spelled.slice(1, -1) : spelled;
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

/** The account's user of that name or id (32 hex digits), or undefined. */
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

/** The account's user of that name; throws `NotFound` with the member that named it (R6). */
export function requireUser(store: Store, account: number, userName: string, fieldName: string): User {
  const user = findUser(store, account, 'user_name', userName);
  if (user === undefined) throw unknownUser(fieldName, userName);
  return user;
}

/** R8: refuses an acting user who lacks the right. No acting user, and the main user, have every right. */
export function requireRight(
  caller: Caller,
  right: 'isAdmin' | 'canResolveSearches' | 'canDeleteSearches',
): void {
  const { user } = caller;
  if (user === undefined || user.isMainUser || user[right]) return;
  throw forbidden(`authentication.userId: expected a user with ${right}, got ${user.userName} without it`);
}

/** R6: what the acting user and the sub user named may both see. An absent name narrows nothing. */
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

/** R6: refuses a record that exists but may not be seen. */
export function requireVisible(owners: Owners, owner: string, kind: string, id: number | bigint): void {
  if (owners === 'all' || owners.has(owner)) return;
  throw forbidden(`${kind} ${id}: expected a user who may see it, got one who may not`);
}

/** The owners as a bound parameter: null for all, else a JSON array. In SQL:
 *  `(:owners IS NULL OR owner IN (SELECT value FROM json_each(:owners)))`. */
export function ownersParameter(owners: Owners): string | null {
  return owners === 'all' ? null : JSON.stringify([...owners]);
}
