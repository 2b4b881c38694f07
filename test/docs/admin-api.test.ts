import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { routes } from '../../gateway/admin/routes.ts';
import { readPage } from './page.ts';

/** Returns the route for the path of a request. */
function routeFor(method: string, path: string) {
  return routes.find(
    (route) =>
      route.method === method && new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path),
  );
}

/** Returns the commands of a page that call the admin API. */
function callsIn(page: string) {
  const commands = [...page.matchAll(/^curl (?:[^\n]*\\\n)*[^\n]*\/api\/v1\/[^\n]*$/gm)];
  return commands.map(([command]) => ({
    command,
    path: /\/api\/v1\/[^\s'"?]*/.exec(command)?.[0] ?? '',
    method: /-X (\w+)/.exec(command)?.[1] ?? (command.includes(" -d '") ? 'POST' : 'GET'),
    body: /-d '([^']*)'/.exec(command)?.[1],
  }));
}

test('docs: each call of the admin API has the members that its route requires, and no unknown one (G71)', (t) => {
  const folder = join(import.meta.dirname, '../../docs');
  const pages = readdirSync(folder).filter((name) => name.endsWith('.md'));
  const calls = pages.flatMap((name) => callsIn(readPage(name)).map((call) => ({ name, ...call })));
  t.true(calls.length >= 7);
  for (const { name, command, path, method, body } of calls) {
    const route = routeFor(method, path);
    if (!t.truthy(route, `${name}: ${command}`)) continue;
    const { members, required = [] } = route?.input ?? {};
    const given = Object.keys(JSON.parse(body ?? '{}'));
    t.deepEqual(
      required.filter((member) => !given.includes(member)),
      [],
      `${name}: ${command}`,
    );
    t.deepEqual(
      given.filter((member) => !Object.keys(members?.keys ?? {}).includes(member)),
      [],
      `${name}: ${command}`,
    );
  }
});

test('docs/admin-api.md: the page marks the required members of a route change (G71)', (t) => {
  const { members, required = [] } = routeFor('POST', '/api/v1/contracts/%2F/routes')?.input ?? {};
  const rows = [...readPage('admin-api.md').matchAll(/^\| (`[^|]*`)( \(required\))? \| /gm)];
  const marks = new Map(
    rows.flatMap(([, names = '', mark]) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, mark !== undefined] as const),
    ),
  );
  for (const name of Object.keys(members?.keys ?? {})) t.is(marks.get(name), required.includes(name), name);
});
