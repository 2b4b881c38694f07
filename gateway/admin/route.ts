import type { ParsedUrlQuery } from 'node:querystring';
import type { AdminState } from '../process/admin.ts';
import type { Role } from './tokens.ts';

/** The parts of a request that a route reads. */
export interface AdminRequest {
  readonly query: ParsedUrlQuery;
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** Response of a route: text, or a value that is sent as JSON. */
export type AdminReply =
  | { readonly json: unknown }
  | { readonly status: number; readonly text: string; readonly type: string };

/** A route of the admin listener. `routes.ts` lists all of them. */
export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path in the form of koa-router. */
  readonly path: string;
  /** Clients that may call it: all, or those with an entry of this role. */
  readonly access: 'open' | Role;
  /** True if the request may have any Host header. */
  readonly acceptsAnyHost: boolean;
  /** May throw Problem. */
  readonly answer: (request: AdminRequest, state: AdminState) => AdminReply | Promise<AdminReply>;
}

/** Creates a route that reads state as JSON. */
export function stateRoute(
  path: string,
  read: (state: AdminState, request: AdminRequest) => unknown,
): AdminRoute {
  return {
    method: 'GET',
    path,
    access: 'read',
    acceptsAnyHost: false,
    answer: async (request, state) => ({ json: await read(state, request) }),
  };
}
