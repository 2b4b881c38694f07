import test from 'ava';
import { readScenario } from '../../migration/scenario.ts';
import { ask } from './admin.ts';
import { type Json, startAdministered, tokens } from './migration.ts';

interface Scenario {
  readonly admin: readonly {
    readonly call: string;
    readonly as: keyof typeof tokens | null;
    readonly body?: object;
    readonly raw?: string;
    readonly headers?: Record<string, string>;
    readonly session?: true;
    readonly csrf?: 'valid' | null;
    readonly expect: {
      readonly status: number;
      readonly title?: string;
      readonly version?: number;
      readonly problems?: readonly object[];
      readonly headers?: Record<string, string>;
      readonly route?: { readonly operation: string; readonly mode: string };
    };
  }[];
  readonly audited: readonly string[];
}

test('scenario S38 holds over sockets (G66, G67, G69 to G72)', async (t) => {
  const { admin, audited } = readScenario<Scenario>('S38');
  const { url, as } = await startAdministered(t);
  const signedIn = async (user: keyof typeof tokens) => {
    const reply = await ask(url, '/api/v1/session', {
      method: 'POST',
      headers: { origin: url, 'content-type': 'application/json' },
      body: JSON.stringify({ token: tokens[user] }),
    });
    t.is(reply.status, 201);
    const cookie = String(reply.headers['set-cookie']).split(';')[0] ?? '';
    return { cookie, csrf: JSON.parse(reply.text).csrf };
  };
  for (const { call, as: user, body, raw, headers, session, csrf, expect } of admin) {
    const [method = '', path = ''] = call.split(' ');
    const opened = session && user !== null ? await signedIn(user) : undefined;
    const reply = await ask(url, path, {
      method,
      ...(user !== null && opened === undefined ? { token: tokens[user] } : {}),
      ...(raw === undefined && body === undefined ? {} : { body: raw ?? JSON.stringify(body) }),
      headers: {
        ...(raw === undefined && body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(opened === undefined ? {} : { cookie: opened.cookie, origin: url }),
        ...(csrf === 'valid' ? { 'x-csrf-token': opened?.csrf } : {}),
        ...headers,
      },
    });
    t.is(reply.status, expect.status, `${call} ${raw ?? JSON.stringify(body)}: ${reply.text}`);
    const json: Json = reply.text === '' ? {} : JSON.parse(reply.text);
    if (expect.title !== undefined) t.is(json.title, expect.title);
    if (expect.problems !== undefined) t.deepEqual(json.problems, expect.problems);
    for (const [name, value] of Object.entries(expect.headers ?? {})) t.is(reply.headers[name], value);
    const routes: Json = JSON.parse((await as('vera', '/api/v1/contracts/%2Fagency/routes')).text);
    if (expect.version !== undefined) t.is(routes.version, expect.version);
    if (expect.route !== undefined) t.like(routes.changes[0], expect.route);
  }
  const entries: Json[] = JSON.parse((await as('otto', '/api/v1/audit')).text).items.toReversed();
  const named = entries.map(({ action, status, force }) => `${action} ${status}${force ? ' force' : ''}`);
  let from = 0;
  for (const one of audited) {
    const at = named.indexOf(one, from);
    t.not(at, -1, `${one} after ${from} in ${named.join(', ')}`);
    from = at + 1;
  }
});
