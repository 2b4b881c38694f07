import { record, value } from '../../../mappings/contract/setting.ts';
import { sessionView } from '../authenticator.ts';
import { invalid, Problem } from '../problem.ts';
import { type AdminRoute, changeRoute, stateRoute } from '../route.ts';
import { bearerToken } from '../tokens.ts';

const path = '/api/v1/session';

/** Returns the member `token`. Throws Problem 400, whose message does not contain the value. */
function checkedToken(given: unknown): string {
  if (typeof given === 'string' && /^[!-~]{1,512}$/.test(given)) return given;
  const message = 'expected 1 to 512 visible ASCII characters, without "Bearer ", got another value';
  throw invalid(400, [{ pointer: '/token', message }]);
}

/** Browser sessions (G70). */
export const session: readonly AdminRoute[] = [
  {
    method: 'POST',
    path,
    summary: 'Signs in with a token and sets the cookie of a session.',
    access: 'open',
    action: 'sign-in',
    input: {
      members: record('A sign-in.', {
        // Not text: an error would show the value, and the audit stores errors.
        token: value('The token. Without it, the header Authorization has the token.'),
      }),
      required: [],
      isOptional: true,
    },
    answer: async ({ body, incoming, authenticator, network, audit }) => {
      const { token: given } = body as { readonly token?: unknown };
      const token = given === undefined ? bearerToken(incoming.headers.authorization) : checkedToken(given);
      if (token === undefined) throw new Problem(401, 'token: expected a token, got none');
      const { actor, open } = await authenticator.signIn(token, network);
      await audit.writeOrLog({ actor: actor.name, network, action: 'sign-in', status: 201 });
      const { secret, session: opened } = await open();
      const view = sessionView({ ...actor, means: 'session', session: opened });
      return { status: 201, json: view, headers: { 'Set-Cookie': authenticator.cookie(secret) } };
    },
  },
  stateRoute(path, 'Shows the client of the request and its session.', (_state, { actor }) =>
    actor === undefined ? null : sessionView(actor),
  ),
  changeRoute({
    method: 'DELETE',
    path,
    summary: 'Ends the session.',
    access: 'read',
    action: 'sign-out',
    change: async (_state, { actor, incoming, authenticator, network, audit }) => {
      await authenticator.signOut(incoming);
      await audit.writeOrLog({ actor: actor.name, network, action: 'sign-out', status: 204 });
      return { status: 204, json: null, headers: { 'Set-Cookie': authenticator.cookie(undefined) } };
    },
  }),
];
