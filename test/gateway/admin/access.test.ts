import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Validator } from '@seriousme/openapi-schema-validator';
import test, { type ExecutionContext } from 'ava';
import { createOperatorPages } from '../../../console/operators/pages.ts';
import { openAdmin } from '../../../gateway/admin/listener.ts';
import { maxAnonymousPerMinute, maxRequestsPerSecond } from '../../../gateway/admin/request-rates.ts';
import { routes } from '../../../gateway/admin/routes.ts';
import type { ServeOptions } from '../../../gateway/process/serve-options.ts';
import { type AdminRequestOptions, ask } from './admin.ts';
import { type AdministeredSite, type Json, startAdministered, tokens } from './migration.ts';

/** Starts a site whose network may send any number of requests. */
function start(t: ExecutionContext, admin: object = {}): Promise<AdministeredSite> {
  let now = 0;
  return startAdministered(t, {
    admin,
    serve: {
      openAdmin: (of) =>
        openAdmin(
          { ...of, pages: createOperatorPages() },
          {
            headersMs: 1_800_000,
            now: () => {
              now += 1_000;
              return now;
            },
          },
        ),
    },
  });
}

/** Paths with values for the parameters. */
const pathOf = (path: string): string =>
  path.replace(':c', '%2Fagency').replace(':caller', 'acme').replace(':id', '1');

const api = routes.filter(({ path, access }) => path.startsWith('/api/') && access !== 'open');
const json = { 'content-type': 'application/json' };

async function signIn(url: string, user: keyof typeof tokens, origin = url) {
  const reply = await ask(url, '/api/v1/session', {
    method: 'POST',
    headers: { origin, ...json },
    body: JSON.stringify({ token: tokens[user] }),
  });
  const cookie = String(reply.headers['set-cookie']);
  return { reply, cookie: cookie.split(';')[0] ?? '', csrf: String(JSON.parse(reply.text).csrf) };
}

test('G69, G71: each call needs authentication, and its role', async (t) => {
  const { url, as } = await start(t);
  for (const { method, path, access } of api) {
    const body = method === 'GET' ? {} : { body: '{}', headers: json };
    const anonymous = await ask(url, pathOf(path), { method, ...body });
    t.is(anonymous.status, 401, `${method} ${path}`);
    if (access !== 'change') continue;
    t.is((await as('vera', pathOf(path), { method, ...body })).status, 403, `${method} ${path}`);
  }
});

test('G68: each call needs a Host of the listener', async (t) => {
  const { as } = await start(t, { origin: 'https://admin.example' });
  for (const { method, path } of api) {
    const headers = { ...json, host: 'evil.example' };
    t.is((await as('otto', pathOf(path), { method, headers })).status, 421, `${method} ${path}`);
  }
  t.is((await as('vera', '/api/v1/session', { headers: { host: 'admin.example' } })).status, 200);
});

test('G70: each call of a session needs Origin, JSON and the CSRF token, except GET', async (t) => {
  const { url } = await start(t);
  const { cookie, csrf } = await signIn(url, 'otto');
  const valid = { cookie, origin: url, 'x-csrf-token': csrf, ...json };
  for (const { method, path } of api) {
    const send = (headers: AdminRequestOptions['headers'] = {}) =>
      ask(url, pathOf(path), { method, headers, ...(method === 'GET' ? {} : { body: '{}' }) });
    if (method === 'GET') {
      const { status } = await send({ cookie });
      t.true([200, 404].includes(status), `${method} ${path}: ${status}`);
      continue;
    }
    for (const name of ['origin', 'x-csrf-token'] as const) {
      t.is((await send({ ...valid, [name]: undefined })).status, 403, `${method} ${path} without ${name}`);
      t.is(
        (await send({ ...valid, [name]: 'https://evil.example' })).status,
        403,
        `${method} ${path} ${name}`,
      );
    }
    t.is((await send({ ...valid, 'content-type': 'text/plain' })).status, 415, `${method} ${path}`);
    t.is((await send({ ...valid, cookie: 'soapbridge=other' })).status, 401, `${method} ${path}`);
  }
});

test('G70: a cookie is bound to its listener, and a session ends on sign-out', async (t) => {
  const { url } = await start(t);
  const { reply, cookie, csrf } = await signIn(url, 'vera');
  t.regex(String(reply.headers['set-cookie']), /^soapbridge=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  const shown: Json = JSON.parse((await ask(url, '/api/v1/session', { headers: { cookie } })).text);
  t.like(shown, { name: 'vera', role: 'read', csrf });
  const headers = { cookie, origin: url, 'x-csrf-token': csrf, ...json };
  const ended = await ask(url, '/api/v1/session', { method: 'DELETE', headers });
  t.is(ended.status, 204);
  t.regex(String(ended.headers['set-cookie']), /^soapbridge=; .*Max-Age=0$/);
  t.is((await ask(url, '/api/v1/session', { headers: { cookie } })).status, 401);
});

test('G70: behind an https origin, the cookie is secure and needs that origin', async (t) => {
  const origin = 'https://admin.example';
  const { url } = await start(t, { origin });
  t.is((await signIn(url, 'vera')).reply.status, 403);
  const { reply } = await signIn(url, 'vera', origin);
  t.regex(String(reply.headers['set-cookie']), /^__Host-soapbridge=[\w-]+; Path=\/; .*; Secure$/);
});

test('G70: a session ends with its token', async (t) => {
  const { url, as, folder, running } = await start(t);
  const { cookie } = await signIn(url, 'vera');
  const { readFileSync, writeFileSync } = await import('node:fs');
  const entries: Json[] = JSON.parse(readFileSync(`${folder}/tokens.yaml`, 'utf8'));
  writeFileSync(`${folder}/tokens.yaml`, JSON.stringify(entries.filter(({ name }) => name !== 'vera')));
  await running.reload();
  t.is((await ask(url, '/api/v1/session', { headers: { cookie } })).status, 401);
  t.is((await as('otto', '/api/v1/session')).status, 200);
});

test('G69, G72: ten failed sign-ins block the network, and are in the audit', async (t) => {
  const { url, as, log } = await start(t);
  const attempt = () =>
    ask(url, '/api/v1/session', {
      method: 'POST',
      headers: { origin: url, ...json },
      body: JSON.stringify({ token: 'guess' }),
    });
  for (let count = 0; count < 9; count++) t.is((await attempt()).status, 401);
  const { items }: Json = JSON.parse((await as('otto', '/api/v1/audit')).text);
  t.is(items.length, 9);
  t.like(items[0], { action: 'sign-in', status: 401, actor: null, network: '127.0.0.1' });
  t.is((await attempt()).status, 401);
  const blocked = await as('otto', '/api/v1/audit');
  t.is(blocked.status, 429);
  t.true(Number(blocked.headers['retry-after']) > 0);
  t.is((await ask(url, '/healthz')).status, 200);
  const lines = log().filter(({ msg }) => msg === 'admin change refused');
  t.is(lines.length, 10);
  t.notRegex(JSON.stringify(lines), /guess/);
});

test('G69: /metrics refuses clients without a token, and those of a blocked network', async (t) => {
  const { url, as } = await start(t);
  const anonymous = await ask(url, '/metrics');
  t.is(anonymous.status, 401);
  t.is(anonymous.headers['content-type'], 'application/problem+json');
  for (let count = 0; count < 10; count++) {
    t.is((await as('vera', '/metrics', { headers: { host: 'gateway.example' } })).status, 200);
    t.is((await ask(url, '/metrics', { token: 'guess' })).status, 401);
  }
  t.is((await as('vera', '/metrics')).status, 429);
  t.is((await ask(url, '/metrics', { token: 'guess' })).status, 429);
  t.is((await ask(url, '/readyz')).status, 200);
});

test('G72: a change that is refused by its headers or its network is in the audit and the log', async (t) => {
  const { url, as, log, folder } = await start(t);
  const path = '/api/v1/contracts/%2Fagency/routes';
  const change = (host?: string) =>
    as('otto', path, { method: 'POST', body: '{}', headers: host === undefined ? {} : { host } });
  t.is((await change('evil.example')).status, 421);
  t.is((await change('evil example')).status, 400);
  for (let count = 0; count < 10; count++) await ask(url, '/metrics', { token: 'guess' });
  t.is((await change()).status, 429);
  const statuses = log().flatMap((line: Json) => line.audit?.status ?? []);
  t.deepEqual(statuses, [421, 400, 429]);
  const database = new DatabaseSync(join(folder, 'store.db'), { timeout: 5_000 });
  t.deepEqual(
    database
      .prepare('SELECT action, status, actor FROM audit ORDER BY id')
      .all()
      .map((row) => ({ ...row })),
    [421, 400, 429].map((status) => ({ action: 'routes', status, actor: null })),
  );
  database.close();
});

test('G72: refused changes above the request rate add ten rows and lines per minute', async (t) => {
  let now = 0;
  const openAdminAt: ServeOptions['openAdmin'] = (of) =>
    openAdmin(of, { headersMs: 1_800_000, now: () => now });
  const { as, log } = await startAdministered(t, { serve: { openAdmin: openAdminAt } });
  const path = '/api/v1/contracts/%2Fagency/routes';
  const statuses: number[] = [];
  for (let count = 0; count < maxRequestsPerSecond + maxAnonymousPerMinute + 1; count++) {
    const method = count < maxRequestsPerSecond ? 'GET' : 'POST';
    const { status } = await as('otto', count < maxRequestsPerSecond ? '/healthz' : path, { method });
    if (method === 'POST') statuses.push(status);
  }
  t.deepEqual(statuses, Array(maxAnonymousPerMinute + 1).fill(429));
  now = 60_000;
  const { items }: Json = JSON.parse((await as('otto', '/api/v1/audit')).text);
  t.is(items.length, maxAnonymousPerMinute);
  t.is(log().filter((line: Json) => line.audit?.status === 429).length, maxAnonymousPerMinute);
});

for (const token of ['Bearer sb_4f9c', 'sb_4f9c\n', ['sb_4f9c'], { sb_4f9c: true }, 'sb_4f9c'.repeat(74)])
  test(`G70, G72: a rejected token is in no response, log line or audit row: ${JSON.stringify(token).slice(0, 20)}`, async (t) => {
    const { url, as, log } = await start(t);
    const body = JSON.stringify({ token });
    const reply = await ask(url, '/api/v1/session', {
      method: 'POST',
      headers: { origin: url, ...json },
      body,
    });
    t.is(reply.status, 400);
    t.like(JSON.parse(reply.text), { problems: [{ pointer: '/token' }] });
    const audit = (await as('otto', '/api/v1/audit')).text;
    t.like(JSON.parse(audit), { items: [{ action: 'sign-in', status: 400 }] });
    for (const text of [reply.text, audit, JSON.stringify(log())]) t.false(text.includes('4f9c'));
  });

test('G71: the OpenAPI document describes the routes of the listener, and no others', async (t) => {
  const { as } = await start(t);
  const document: Json = JSON.parse((await as('vera', '/api/v1/openapi.json')).text);
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  t.true(valid, JSON.stringify(errors));
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  for (const [path, item] of Object.entries<object>(document.paths)) {
    const described = Object.keys(item).map((method) => method.toUpperCase());
    const target = path.replace('{c}', '%2Fagency').replaceAll(/\{\w+\}/g, 'x');
    for (const method of methods.filter((one) => !described.includes(one))) {
      const { status, headers } = await as('otto', target, { method, headers: json });
      const allowed = String(headers.allow).split(', ');
      if (path.endsWith('/rollback') || path.endsWith('/explain')) continue; // also the path of a change
      t.is(status, 405, `${method} ${path}`);
      t.deepEqual(allowed.filter((one) => one !== 'HEAD').toSorted(), described.toSorted(), path);
    }
  }
  const described = Object.entries<object>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = routes.filter(({ path }) => path.startsWith('/api/'));
  t.deepEqual(
    described.toSorted(),
    served.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).toSorted(),
  );
});

test('G71: HEAD is GET without a body', async (t) => {
  const { as } = await start(t);
  const head = await as('vera', '/api/v1/contracts', { method: 'HEAD' });
  t.is(head.status, 200);
  t.is(head.text, '');
});

test('G71: bodies are limited, and are JSON in UTF-8', async (t) => {
  const { url, as, post } = await start(t);
  const path = '/api/v1/contracts/%2Fagency/routes';
  const body = (length: number) =>
    JSON.stringify({ operation: 'x'.repeat(length - '{"operation":""}'.length) });
  const send = (text: string, headers = {}) => as('otto', path, { method: 'POST', body: text, headers });
  t.is((await send(body(64 * 1024))).status, 400);
  t.is((await send(body(64 * 1024 + 1))).status, 413);
  const chunked = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
  t.is((await send(body(64 * 1024 + 1), chunked)).status, 413);
  t.is((await send('{}', { 'content-encoding': 'gzip' })).status, 415);
  t.is((await send('{}', { 'content-type': 'application/json; charset=latin1' })).status, 415);
  t.is((await send('[]')).status, 400);
  t.is(
    (await ask(url, path, { method: 'POST', token: tokens.otto, headers: json, body: '\ufeff{}' })).status,
    400,
  );
  const wrong = await post(path, { operation: 7, mode: 'both', reason: 'why', ifVersion: -1 });
  t.is(wrong.status, 400);
  t.deepEqual(
    wrong.json.problems.map(({ pointer }: Json) => pointer),
    ['/operation', '/ifVersion'],
  );
});
