import { record, text } from '../../../mappings/contract/setting.ts';
import { sessionView } from '../authenticator.ts';
import { Problem } from '../problem.ts';
import { type AdminRoute, changeRoute, stateRoute } from '../route.ts';
import { bearerToken } from '../tokens.ts';

const path = '/api/v1/session';

/** Browser sessions (G70). */
export const session: readonly AdminRoute[] = [
  {
    method: 'POST',
    path,
    summary: 'Signs in with a token and sets the cookie of a session.',
    access: 'open',
    acceptsAnyHost: false,
    action: 'sign-in',
    input: {
      members: record('A sign-in.', {
        token: text(
          'The token. Without it, the header Authorization has the token.',
          'a token',
          /^[!-~]{1,512}$/,
        ),
      }),
      required: [],
      isOptional: true,
    },
    answer: async ({ body, incoming, authenticator, network, audit }) => {
      const { token = bearerToken(incoming.headers.authorization) } = body as { readonly token?: string };
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
