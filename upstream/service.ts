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

/** An HTTP call of the service. */
export interface JsonRequest {
  readonly method: string;
  /** Path with or without a prefix before `/json/reply/{Op}`. A query is ignored. */
  readonly path: string;
  readonly body: Uint8Array | string;
  /** Names in lower case. They are only used for the three credentials, if the body lacks them. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** HTTP reply of the service. */
export interface JsonReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The screening service: twelve operations over SQLite, with JSON requests and replies. */
export interface ReferenceUpstream {
  /** Answers one call. Never rejects: every failure becomes a reply with `data.responseStatus`. */
  handle(request: JsonRequest): Promise<JsonReply>;
  close(): void;
}

/** Options of the service. */
export interface ReferenceUpstreamOptions {
  /** A file's path, or `:memory:`, the default. A file is seeded only if it is empty (R1). */
  readonly database?: string;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. The seed's dates are relative to it (R4). */
  readonly clock?: () => number;
  /** Called with every error that a caller sees as `InternalError`; by default it emits a process warning. */
  readonly onError?: (error: unknown) => void;
}

/** Opens the service. Throws if the database cannot be opened or belongs to another service. */
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
    // TextDecoder removes a byte order mark.
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

/** Returns the members of `authentication`, from the body or, if missing there, from their headers. */
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

/** Converts a failure to a reply. */
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
