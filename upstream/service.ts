import { authenticate } from './access.ts';
import { openStore, type Store } from './database.ts';
import { Failure, failureData } from './failure.ts';
import { isObject } from './input.ts';
import { type JsonObject, type JsonValue, readJson, writeJson } from './json.ts';
import { getEulaStatus, updateSubUser } from './operations/account.ts';
import { addClientTemplate, countIncompleteClients, deleteClient } from './operations/clients.ts';
import { getPdf } from './operations/documents.ts';
import type { Operation } from './operations/operation.ts';
import { costRenewAllPepSearches, renewAllPepSearches } from './operations/peps.ts';
import { getDbsSearch, getSearch } from './operations/searches.ts';
import { getValidIds, updateValidId } from './operations/valid-ids.ts';
import { seed } from './seed/seed.ts';

/** A call of the service, as HTTP brings it. */
export interface JsonRequest {
  readonly method: string;
  /** With or without a base before `/json/reply/{Op}`; a query is ignored. */
  readonly path: string;
  readonly body: Uint8Array | string;
  /** Names in lower case. Read for the three credentials alone, where the body lacks them. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What the service answers, as HTTP takes it. */
export interface JsonReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The screening service itself: twelve operations over SQLite, JSON in and JSON out. */
export interface ReferenceUpstream {
  /** Answers one call. Never rejects: whatever fails is a reply with `data.responseStatus`. */
  handle(request: JsonRequest): Promise<JsonReply>;
  close(): void;
}

/** How the service is opened. */
export interface ReferenceUpstreamOptions {
  /** A file's path, or `:memory:`, the default. A file is seeded only when it's empty (R1). */
  readonly database?: string;
  /** Milliseconds since 1970, `Date.now` by default; the seed's dates are relative to it (R4). */
  readonly clock?: () => number;
  /** Is told of every failure that a caller sees as `InternalError`; by default a process warning. */
  readonly onError?: (error: unknown) => void;
}

/** Opens the service. Throws when the database can't be opened or isn't this service's. */
export function createReferenceUpstream(options: ReferenceUpstreamOptions = {}): ReferenceUpstream {
  const { database = ':memory:', clock = Date.now, onError = warn } = options;
  const store = openStore(database, (empty) => seed(empty, clock()));
  return {
    async handle(request) {
      try {
        return await answer(request, store, clock);
      } catch (error) {
        if (error instanceof Failure) return failureReply(error);
        onError(error);
        return failureReply(new Failure(500, 'InternalError', 'internal error'));
      }
    },
    close: () => store.close(),
  };
}

const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries({
    UpdateSubUser: updateSubUser,
    UpdateValidId: updateValidId,
    AddClientTemplate: addClientTemplate,
    GetDbsSearch: getDbsSearch,
    RenewAllPepSearches: renewAllPepSearches,
    DeleteClient: deleteClient,
    GetSearch: getSearch,
    CostRenewAllPepSearches: costRenewAllPepSearches,
    GetPdf: getPdf,
    CountIncompleteClients: countIncompleteClients,
    GetEulaStatus: getEulaStatus,
    GetValidIds: getValidIds,
  }),
);

async function answer(request: JsonRequest, store: Store, clock: () => number): Promise<JsonReply> {
  const operation = findOperation(request.path);
  if (request.method !== 'POST') {
    throw new Failure(405, 'MethodNotAllowed', `method: expected POST, got ${request.method}`);
  }
  const input = readBody(request.body);
  const caller = authenticate(store, credentials(request, input));
  const output = await operation({ store, caller, now: clock() }, input);
  return reply(200, writeJson({ data: { ...output, responseStatus: {} } }));
}

function findOperation(path: string): Operation {
  const name = /\/json\/reply\/([^/?]+)\/?(?:\?|$)/.exec(path)?.[1];
  if (name === undefined) throw new Failure(404, 'NotFound', 'path: expected /json/reply/{operation}');
  const operation = operations.get(name);
  if (operation === undefined) {
    throw new Failure(404, 'OperationNotFound', `path: expected one of ${[...operations.keys()].join(', ')}`);
  }
  return operation;
}

function readBody(body: Uint8Array | string): JsonObject {
  let value: JsonValue;
  try {
    // TextDecoder skips a byte order mark.
    const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body);
    value = readJson(text.trim() === '' ? '{}' : text);
  } catch {
    throw new Failure(400, 'MalformedRequest', 'body: expected JSON in UTF-8, got something else');
  }
  if (!isObject(value)) {
    throw new Failure(400, 'MalformedRequest', 'body: expected a JSON object, got another value');
  }
  return value;
}

/** The members of `authentication`, each from the body or else from its header. */
function credentials({ headers }: JsonRequest, { authentication }: JsonObject): JsonValue {
  const given = isObject(authentication) ? authentication : {};
  const one = (member: string, header: string): JsonValue => {
    const value = given[member] ?? '';
    const sent = headers?.[header];
    return value === '' && typeof sent === 'string' ? sent : value;
  };
  return {
    apiUserId: one('apiUserId', 'x-api-user'),
    apiUserKey: one('apiUserKey', 'x-api-key'),
    userId: one('userId', 'x-user-id'),
  };
}

/** The reply that tells a caller of a failure. */
export function failureReply(failure: Failure): JsonReply {
  return reply(
    failure.status,
    writeJson({ data: failureData(failure) }),
    failure.status === 405 ? { allow: 'POST' } : {},
  );
}

function reply(status: number, body: string, headers: Readonly<Record<string, string>> = {}): JsonReply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
