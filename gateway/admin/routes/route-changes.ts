import { count, flag, keyword, map, record, text, value } from '../../../mappings/contract/setting.ts';
import { expectedInstant } from '../../../mappings/contract/times.ts';
import type { ExplainInput, RollbackInput, RouteChangeInput } from '../api-types.ts';
import { maxMessageBodyBytes } from '../input.ts';
import { reasonMember } from '../members.ts';
import { type AdminRoute, changeRoute, stateRoute } from '../route.ts';

/** Loads the code only for a request, because few configurations have a legacy service. */
const load = () => import('../resources/route-changes.ts');

const path = '/api/v1/contracts/:c/routes';
const version = (description: string) => count(description, 'a version', 0, 1_000_000_000);

/** Changes of routes at run time (G66, G67). */
export const routeChanges: readonly AdminRoute[] = [
  stateRoute(
    path,
    'Routes of a contract: rules of the file, changes, and processes that use them.',
    async (state, { params }) => (await load()).readRoutes(state, params.c ?? ''),
  ),
  changeRoute<RouteChangeInput>({
    path,
    summary: 'Routes an operation differently. The change precedes the rules of the file.',
    action: 'routes',
    input: {
      members: record('A route change.', {
        operation: text('Name of the operation.', 'the name of an operation'),
        mode: keyword('Mode.', 'legacy', 'new', 'compare', 'blend', 'fallback'),
        percent: value('Share of the callers, from 0 to 100. The others follow the file. Default: 100.'),
        answer: keyword('With mode compare: service that answers. Default: legacy.', 'legacy', 'new'),
        until: text('Time at which the change ends.', expectedInstant),
        force: flag('True to route a read to the new service without the verdict ready.'),
        reason: reasonMember,
        ifVersion: version('Version that the change replaces.'),
      }),
      required: ['operation', 'mode', 'reason', 'ifVersion'],
    },
    change: async (state, request) => (await load()).change(state, request),
  }),
  changeRoute<RollbackInput>({
    path: `${path}/rollback`,
    summary: 'Restores the changes of an earlier version as a new version.',
    action: 'rollback',
    input: {
      members: record('A rollback.', {
        toVersion: version('Version to restore. 0 is the file without changes.'),
        reason: reasonMember,
      }),
      required: ['toVersion', 'reason'],
    },
    change: async (state, request) => (await load()).rollBack(state, request),
  }),
  changeRoute<undefined>({
    method: 'DELETE',
    path: `${path}/:id`,
    summary: 'Ends a change. The operation follows the rules of the file.',
    action: 'routes',
    change: async (state, request) => (await load()).end(state, request),
  }),
  changeRoute<ExplainInput>({
    path: `${path}/explain`,
    summary: 'Rule and mode for a message. Nothing is sent.',
    access: 'read',
    input: {
      members: record('A call.', {
        operation: text('Name of the operation. Required without body.', 'the name of an operation'),
        caller: text('Name or id of the caller.', 'the name or id of a caller'),
        body: text('The message. Without it, values of the request are absent.', 'a message'),
        headers: map('HTTP headers of the message.', '`name: value`', text('A value.')),
      }),
      required: [],
      maxBytes: maxMessageBodyBytes,
    },
    change: async (state, { params, body }) => {
      const { explainCall } = await import('../resources/explain.ts');
      return { json: await explainCall(state, params.c ?? '', body) };
    },
  }),
];
