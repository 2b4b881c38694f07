import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { oldNames } from '../../../gateway/commands/environment.ts';
import { raw } from '../gateway.ts';
import { run, start } from './run.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const upstream = ['--upstream', 'http://127.0.0.1:9'];

for (const [variables, args] of [
  [{ UPSTREAM_URL: 'http://127.0.0.1:9' }, []],
  [{ CONFIG: 'release' }, ['mappings/screening', ...upstream]],
  [{ LIMITS: '', FETCH: 'yes', CALLERS: '5' }, upstream],
  [{ WORKERS: '4', SOAPBRIDGE_WORKERS: '1' }, upstream],
] as const) {
  test(`serve with ${Object.keys(variables)} names the new variables and does not start`, async (t) => {
    const environment: Record<string, string> = { PORT: '0', ...variables };
    const { child, ended } = run(t, ['serve', ...args], environment);
    child.stdout.once('data', () => child.kill()); // stop it if it serves
    const { code, err } = await ended;
    t.is(code, 2);
    const set = Object.entries(variables).filter(([name, value]) => oldNames.includes(name) && value !== '');
    t.deepEqual(
      err.trim().split('\n').toSorted(),
      set
        .map(
          ([name]) =>
            `${name}: expected the name SOAPBRIDGE_${name}, got the old name. Rename or unset the variable`,
        )
        .toSorted(),
    );
  });
}

test('check --json reports an old name as JSON', async (t) => {
  const { code, out } = await run(t, ['check', '--json'], { CONTRACT: 'parcels' }).ended;
  t.is(code, 2);
  t.deepEqual(JSON.parse(out).problems, [
    {
      message:
        'CONTRACT: expected the name SOAPBRIDGE_CONTRACT, got the old name. Rename or unset the variable',
    },
  ]);
});

test('other commands ignore an old name if the command line sets the option', async (t) => {
  const environment = {
    CONTRACT: 'no-such',
    CONFIG: 'release',
    OVERLAY: 'no-such',
    LIMITS: 'x',
    FETCH: 'yes',
  };
  const given = ['--limits', 'contractMs=60000', '--fetch'];
  const { code, err } = await run(t, ['check', 'mappings/screening', ...given, ...upstream], environment)
    .ended;
  t.is(err, '');
  t.is(code, 0);
});

for (const [name, near] of [
  ['SOAPBRIDGE_UPSTREAM_URI', 'SOAPBRIDGE_UPSTREAM_URL'],
  ['SOAPBRIDGE_ALLOWED_HOST', 'SOAPBRIDGE_ALLOWED_HOSTS'],
] as const) {
  test(`serve refuses ${name} and suggests ${near}`, async (t) => {
    const { code, err } = await run(t, ['serve', ...upstream], { PORT: '0', [name]: 'x' }).ended;
    t.is(err, `${name}: expected a variable of soapbridge, got an unknown name. Did you mean ${near}?\n`);
    t.is(code, 2);
  });
}

for (const [name, value] of [
  ['SOAPBRIDGE_PORT', '8081'],
  ['SOAPBRIDGE_HOST', '0.0.0.0'],
] as const) {
  test(`serve refuses ${name} and names the variable without prefix`, async (t) => {
    const { code, err } = await run(t, ['serve', ...upstream], { [name]: value }).ended;
    t.is(err, `${name}: expected the name ${name.slice('SOAPBRIDGE_'.length)} without the prefix\n`);
    t.is(code, 2);
  });
}

/** Returns the variables that Kubernetes sets for a Service with one named port. */
function serviceLinks(
  service: string,
  port: number,
  protocol: 'tcp' | 'udp' | 'sctp',
): Record<string, string> {
  const address = `${protocol}://10.0.0.1:${port}`;
  const ofPort = `${service}_PORT_${port}_${protocol.toUpperCase()}`;
  return {
    [`${service}_SERVICE_HOST`]: '10.0.0.1',
    [`${service}_SERVICE_PORT`]: String(port),
    [`${service}_SERVICE_PORT_HTTP`]: String(port),
    [`${service}_PORT`]: address,
    [ofPort]: address,
    [`${ofPort}_ADDR`]: '10.0.0.1',
    [`${ofPort}_PORT`]: String(port),
    [`${ofPort}_PROTO`]: protocol,
  };
}

for (const service of ['SOAPBRIDGE', 'SOAPBRIDGE_CANARY', 'SOAPBRIDGE_PUBLIC_URL', 'SOAPBRIDGE_TLS_KEY']) {
  test(`serve ignores the variables that Kubernetes sets for the service ${service}`, async (t) => {
    const { child } = await start(t, upstream, {
      ...serviceLinks(service, 80, 'tcp'),
      ...serviceLinks(service, 8080, 'tcp'),
      ...serviceLinks(service, 65535, 'sctp'),
      ...serviceLinks(service, 53, 'udp'),
    });
    t.is(child.exitCode, null);
  });
}

for (const name of ['SOAPBRIDGE_PUBLIC_URL_PORT', 'SOAPBRIDGE_WORKERS_']) {
  test(`serve refuses ${name}, which is no variable of Kubernetes`, async (t) => {
    const { code, err } = await run(t, ['serve', ...upstream], { PORT: '0', [name]: '80' }).ended;
    t.regex(err, new RegExp(`^${name}: expected a variable of soapbridge, got an unknown name\\.`));
    t.is(code, 2);
  });
}

for (const [host, address] of [
  ['ci-image-7', '127.0.0.1'],
  ['', '127.0.0.1'],
  ['127.0.0.2', '127.0.0.2'],
  ['localhost', 'localhost'],
] as const) {
  test(`HOST="${host}" listens on ${address}`, async (t) => {
    const { line } = await start(t, upstream, { HOST: host });
    const addresses = address === 'localhost' ? ['127.0.0.1', '[::1]', 'localhost'] : [address];
    t.true(
      addresses.some((each) => line.includes(`http://${each}:`)),
      line,
    );
  });
}

test('an empty --host is refused', async (t) => {
  const { code, err } = await run(t, ['serve', '--host', ' ', ...upstream]).ended;
  t.is(err, '--host: expected an address such as 127.0.0.1, got none\n');
  t.is(code, 2);
});

for (const [what, environment] of [
  ['nothing', {}],
  ['a misspelt variable without the prefix', { UPSTREAM_URI: 'http://127.0.0.1:9' }],
  ['a database of the demo', { SOAPBRIDGE_UPSTREAM_DB: ':memory:' }],
] as const) {
  test(`serve without an upstream and with ${what} does not start the demo`, async (t) => {
    const { child, ended } = run(t, ['serve'], { PORT: '0', ...environment });
    child.stdout.once('data', () => child.kill()); // stop it if it serves
    const { code, err } = await ended;
    t.is(code, 2);
    t.is(
      err,
      '--upstream: expected the URL of the JSON service, got none. Set --upstream or SOAPBRIDGE_UPSTREAM_URL, or serve the demo with --demo\n',
    );
  });
}

test('serve refuses --demo together with an upstream', async (t) => {
  const { code, err } = await run(t, ['serve', '--demo', ...upstream], { PORT: '0' }).ended;
  t.is(code, 2);
  t.regex(err, /'--demo' cannot be used with option '-u, --upstream <url>'/);
});

test('npm start is the only script that serves the demo', (t) => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  t.is(scripts.start, 'node bin/soapbridge.js serve --demo');
});

test('docs/upgrading.md lists every old name with its new one', (t) => {
  const page = readFileSync(join(root, 'docs/upgrading.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| `([A-Z_]+)` \|$/gm)].map(([, old, now]) => [old, now]);
  t.deepEqual(
    rows,
    oldNames.map((name) => [name, `SOAPBRIDGE_${name}`]),
  );
});

for (const [what, flags, status] of [
  ['on loopback', [], 421],
  ['on loopback with a list', ['--allowed-hosts', 'a.example'], 200],
  ['on loopback behind a trusted proxy', ['--trusted-proxies', '127.0.0.1'], 200],
  ['on loopback with a public URL of that host', ['--public-url', 'https://a.example'], 200],
  ['on every address', ['--host', '0.0.0.0'], 200],
] as const) {
  test(`serve ${what} answers Host: a.example with ${status}`, async (t) => {
    const { port } = await start(t, [...upstream, ...flags]);
    const target = '/v2/soap11?wsdl';
    const reply = await raw(port, `GET ${target} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`);
    t.is(Number(reply.slice(9, 12)), status, reply.slice(0, 300));
  });
}
