import type { IncomingMessage } from 'node:http';
import type { ParsedUrlQuery } from 'node:querystring';
import type { AdminState } from '../process/admin.ts';
import type { Audit } from './audit.ts';
import type { Actor, Authenticator } from './authenticator.ts';
import type { Input } from './input.ts';
import { pageOf } from './page.ts';
import type { Role } from './tokens.ts';

/** The parts of a request that a route reads. */
export interface AdminRequest {
  readonly query: ParsedUrlQuery;
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Checked members of the body; undefined for a route without `input`. */
  readonly body: unknown;
  /** Undefined for a route that is open to all clients. */
  readonly actor: Actor | undefined;
  /** Address of the client, or its /64 network for IPv6. */
  readonly network: string;
  readonly incoming: IncomingMessage;
  readonly authenticator: Authenticator;
  readonly audit: Audit;
}

/** Response of a route: text, or a value that is sent as JSON. */
export type AdminReply = {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
} & ({ readonly json: unknown } | { readonly text: string; readonly type: string });

/** A route of the admin listener. `routes.ts` lists all of them. */
export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path in the form of koa-router. */
  readonly path: string;
  /** Description for the OpenAPI document. */
  readonly summary: string;
  /** Clients that may call it: all, or those with an entry of this role. */
  readonly access: 'open' | Role;
  /** True if the request may have any Host header. */
  readonly acceptsAnyHost?: true;
  /** True for a page of the operator console, whose problems are pages too. */
  readonly isPage?: true;
  /** Name of the change in the audit (G72). A route without it changes nothing that is audited. */
  readonly action?: string;
  /** Body of the request. Undefined if it has none. */
  readonly input?: Input;
  /** Names of the parameters in the query. */
  readonly parameters?: readonly string[];
  /** Returns all items of a list that `answer` sends in pages. May throw Problem. */
  readonly list?: (
    state: AdminState,
    request: Pick<AdminRequest, 'params' | 'query'>,
  ) => Promise<readonly unknown[]>;
  /** May throw Problem. */
  readonly answer: (request: AdminRequest, state: AdminState) => AdminReply | Promise<AdminReply>;
}

/** Creates a route that reads state as JSON. */
export function stateRoute(
  path: string,
  summary: string,
  read: (state: AdminState, request: AdminRequest) => unknown,
  more: Partial<Pick<AdminRoute, 'access' | 'parameters'>> = {},
): AdminRoute {
  return {
    method: 'GET',
    path,
    summary,
    access: 'read',
    ...more,
    answer: async (request, state) => ({ json: await read(state, request) }),
  };
}

/** A request of an authenticated client with the members of its body. */
export type ChangeRequest<Body> = Omit<AdminRequest, 'actor' | 'body'> & {
  readonly actor: Actor;
  readonly body: Body;
};

/** Creates a route of POST or DELETE. `Body` has the members of `input`. */
export function changeRoute<Body>(
  route: Pick<AdminRoute, 'path' | 'summary' | 'action' | 'input'> &
    Partial<Pick<AdminRoute, 'method' | 'access'>> & {
      readonly change: (state: AdminState, request: ChangeRequest<Body>) => Promise<AdminReply>;
    },
): AdminRoute {
  const { change, ...of } = route;
  return {
    method: 'POST',
    access: 'change',
    ...of,
    answer: (request, state) => {
      const { actor, body } = request;
      if (actor === undefined) throw new TypeError(`${of.path}: expected an authenticated client, got none`);
      return change(state, { ...request, actor, body: body as Body });
    },
  };
}

/** Parameters of a list. */
export const listParameters = ['limit', 'cursor'] as const;

/** Creates a route of a list that is read as a whole, and sent in pages in the order of the keys. */
export function listRoute<Item>(
  path: string,
  summary: string,
  list: (state: AdminState, request: Pick<AdminRequest, 'params' | 'query'>) => Promise<readonly Item[]>,
  keyOf: (item: Item) => string,
  parameters: readonly string[] = [],
): AdminRoute {
  const read = async (state: AdminState, request: AdminRequest) =>
    pageOf(await list(state, request), request.query, keyOf);
  return { ...stateRoute(path, summary, read, { parameters: [...listParameters, ...parameters] }), list };
}
