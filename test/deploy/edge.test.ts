import { spawn } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { freePort } from '../free-port.ts';
import { env, needs, scratch } from './tool.ts';

// Runs the load balancers with the rules of docs/deploy.md for authentication.

const root = join(import.meta.dirname, '../..');

/** Returns the code block of docs/deploy.md in this language that contains a text. */
function ruleOf(language: string, text: string): string {
  const page = readFileSync(join(root, 'docs/deploy.md'), 'utf8');
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))];
  const [only, second] = blocks.flatMap(([, code = '']) => (code.includes(text) ? [code] : []));
  if (only === undefined || second !== undefined) throw new Error(`expected one block with ${text}`);
  return only;
}

/** Starts an HTTP server that answers with a status. Returns its port, and the headers of all its requests to a path. */
async function startServer(
  t: ExecutionContext,
  statusOf: (headers: IncomingHttpHeaders) => number,
  path: string,
): Promise<{ port: number; received: IncomingHttpHeaders[] }> {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer((incoming, response) => {
    if (incoming.url === path) received.push(incoming.headers);
    response.writeHead(statusOf(incoming.headers)).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, received };
}

/** Starts a tool, and waits until it listens on a port. */
async function startOn(t: ExecutionContext, port: number, tool: string, args: readonly string[]) {
  const child = spawn(tool, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  t.teardown(() => child.kill()); // SIGKILL would leave the workers of nginx
  for (;;) {
    const isListening = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isListening) return;
    if (child.exitCode !== null) throw new Error(`expected ${tool} to start, got ${said}`);
    await pause(20);
  }
}

const target = '/v2/soap11';

/** Starts a gateway's replacement, and returns a function that sends it a call through the load balancer. */
async function callerOf(
  t: ExecutionContext,
  start: (t: ExecutionContext, replica: number) => Promise<number>,
): Promise<{
  statusFor: (headers?: Record<string, string>) => Promise<number | undefined>;
  received: IncomingHttpHeaders[];
}> {
  const { port: replica, received } = await startServer(t, () => 200, target);
  const port = await start(t, replica);
  const statusFor = (headers: Record<string, string> = {}): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = { port, method: 'POST', path: target, agent: false };
      request(
        { ...options, headers: { host: 'soap.example.com', 'content-length': 2, ...headers } },
        (response) => resolve(response.resume().statusCode),
      )
        .on('error', reject)
        .end('ab');
    });
  return { statusFor, received };
}

/** Starts HAProxy with its file in deploy/, without TLS, and with these rules. */
function haproxyWith(rules: string, files: Readonly<Record<string, string>>) {
  return async (t: ExecutionContext, replica: number): Promise<number> => {
    const folder = scratch(t);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const port = await freePort();
    const config = readFileSync(join(root, 'deploy/haproxy/haproxy.cfg'), 'utf8')
      .replace(/^ {2}bind :443 .*\n/m, '')
      .replace(/^ {2}http-request redirect .*\n/m, '')
      .replace('bind :80', `bind 127.0.0.1:${port}`)
      .replace('log stdout format raw local0 info', '')
      .replaceAll(/127\.0\.0\.1:808\d/g, `127.0.0.1:${replica}`)
      .replace(/^ {2}default_backend/m, `${rules.replaceAll('/etc/haproxy/', `${folder}/`)}$&`);
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, config);
    await startOn(t, port, 'haproxy', ['-db', '-q', '-f', file]);
    return port;
  };
}

/** Starts nginx with its file in deploy/, without TLS, and with these rules in the contexts `http` and `server`. */
function nginxWith(http: string, server: string, files: Readonly<Record<string, string>> = {}) {
  return async (t: ExecutionContext, replica: number): Promise<number> => {
    const folder = scratch(t);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const port = await freePort();
    const site = readFileSync(join(root, 'deploy/nginx/soapbridge.conf'), 'utf8')
      .replace(/^server \{\n\s*listen 80;.*?^\}$/ms, '')
      .replaceAll(/^ +(?:ssl_.*|listen \[::\]:443 .*)$/gm, '')
      .replace(/^ +listen 443 .*$/m, `listen 127.0.0.1:${port};\n${server}`)
      .replaceAll(/127\.0\.0\.1:808\d/g, `127.0.0.1:${replica}`);
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const main = join(folder, 'nginx.conf');
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const all = `${user}\ndaemon off;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp { access_log off; ${folders.join(' ')}\n${http}\n${site} }\n`;
    writeFileSync(main, all.replaceAll('/etc/nginx/', `${folder}/`));
    await startOn(t, port, 'nginx', ['-c', main]);
    return port;
  };
}

const networks = '192.0.2.0/24\n127.0.0.0/8\n';

for (const [what, list, status] of [
  ['accepts', networks, 200],
  ['rejects', '192.0.2.0/24\n', 403],
] as const)
  needs('haproxy', `the rule for HAProxy ${what} an address by its list`, async (t) => {
    const rule = ruleOf('haproxy', 'networks.lst');
    const { statusFor, received } = await callerOf(t, haproxyWith(rule, { 'networks.lst': list }));
    t.is(await statusFor(), status);
    t.is(received.length, status === 200 ? 1 : 0);
  });

needs('haproxy', 'the rule for HAProxy accepts only known API keys, and removes them', async (t) => {
  const keys = { 'api-keys.map': 'key-one acme\nkey-two other\n' };
  const { statusFor, received } = await callerOf(t, haproxyWith(ruleOf('haproxy', 'api-keys.map'), keys));
  t.is(await statusFor(), 401);
  for (const key of ['', 'key', 'key-one2', 'acme', 'KEY-ONE'])
    t.is(await statusFor({ 'X-Edge-Key': key }), 401, key);
  t.is(received.length, 0);
  t.is(await statusFor({ 'X-Edge-Key': 'key-one' }), 200);
  t.is(await statusFor({ 'X-Edge-Key': 'key-two' }), 200);
  t.deepEqual(
    received.map((headers) => headers['x-edge-key']),
    [undefined, undefined],
  );
});

/** Returns a signed JWT. */
function tokenOf(key: KeyObject, claims: object, alg = 'RS256'): string {
  const parts = [{ alg, typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const text = parts.join('.');
  return `Bearer ${text}.${alg === 'none' ? '' : sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

needs('haproxy', 'the rule for HAProxy accepts only a valid JWT of the issuer, and removes it', async (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const pem = String(createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }));
  const rule = ruleOf('haproxy', 'issuer.pem');
  const { statusFor, received } = await callerOf(t, haproxyWith(rule, { 'issuer.pem': pem }));
  const exp = Math.floor(Date.now() / 1000) + 3_600;
  const claims = { iss: 'https://issuer.example.com', aud: 'soap', sub: 'acme', exp };
  t.is(await statusFor(), 401);
  for (const [title, authorization] of [
    ['another key', tokenOf(other, claims)],
    ['no signature', tokenOf(privateKey, claims, 'none')],
    ['an expired token', tokenOf(privateKey, { ...claims, exp: exp - 7_200 })],
    ['no expiry', tokenOf(privateKey, { ...claims, exp: undefined })],
    ['another issuer', tokenOf(privateKey, { ...claims, iss: 'https://issuer.example.com.evil' })],
    ['another audience', tokenOf(privateKey, { ...claims, aud: 'files' })],
    ['no token', 'Bearer x'],
    ['another scheme', tokenOf(privateKey, claims).replace('Bearer', 'Basic')],
  ] as const)
    t.is(await statusFor({ Authorization: authorization }), 401, title);
  t.is(received.length, 0);
  t.is(await statusFor({ Authorization: tokenOf(privateKey, claims) }), 200);
  t.is(received[0]?.authorization, undefined);
});

for (const [what, network, status] of [
  ['accepts', '127.0.0.0/8', 200],
  ['rejects', '192.0.2.0/24', 403],
] as const)
  needs('nginx', `the rule for nginx ${what} an address by its list`, async (t) => {
    const rule = ruleOf('nginx', 'deny all').replace('192.0.2.0/24', network);
    const { statusFor, received } = await callerOf(t, nginxWith('', rule));
    t.is(await statusFor(), status);
    t.is(received.length, status === 200 ? 1 : 0);
  });

needs('nginx', 'the rule for nginx accepts only known API keys, and removes them', async (t) => {
  const keys = { 'api-keys.map': '"key-one" acme;\n"key-two" other;\n' };
  const rules = nginxWith(ruleOf('nginx', 'map $http'), ruleOf('nginx', 'return 401'), keys);
  const { statusFor, received } = await callerOf(t, rules);
  t.is(await statusFor(), 401);
  for (const key of ['key', 'key-one2', 'acme']) t.is(await statusFor({ 'X-Edge-Key': key }), 401, key);
  t.is(received.length, 0);
  t.is(await statusFor({ 'X-Edge-Key': 'key-two' }), 200);
  t.is(received[0]?.['x-edge-key'], undefined);
  t.is(received[0]?.['x-forwarded-for'], '127.0.0.1');
});

needs('nginx', 'the rule for nginx accepts only tokens that the service verifies', async (t) => {
  const verifier = await startServer(
    t,
    ({ authorization }) => (authorization === 'Bearer good' ? 202 : 401),
    '/oauth2/auth',
  );
  const rule = ruleOf('nginx', 'auth_request /').replace('127.0.0.1:4180', `127.0.0.1:${verifier.port}`);
  const { statusFor, received } = await callerOf(t, nginxWith('', rule));
  t.is(await statusFor(), 401);
  t.is(await statusFor({ Authorization: 'Bearer bad' }), 401);
  t.is(received.length, 0);
  t.is(await statusFor({ Authorization: 'Bearer good' }), 200);
  t.is(received[0]?.authorization, undefined);
  t.is(verifier.received.length, 3);
});

needs('nginx', 'the rule for nginx sends no call if the service that verifies tokens is gone', async (t) => {
  const port = await freePort();
  const rule = ruleOf('nginx', 'auth_request /').replace('127.0.0.1:4180', `127.0.0.1:${port}`);
  const { statusFor, received } = await callerOf(t, nginxWith('', rule));
  t.is(await statusFor({ Authorization: 'Bearer good' }), 500);
  t.is(received.length, 0);
});
