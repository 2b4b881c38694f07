import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { fetchDeadline } from '../../../gateway/commands/fetch.ts';
import { withConstants } from '../../constant-limits.ts';
import { send } from '../gateway.ts';
import { file } from './file.ts';
import { run, start } from './run.ts';

const openapi = fileURLToPath(new URL('../../fixtures/contracts/parcels/openapi.yaml', import.meta.url));
const folder = dirname(openapi);
const overlay = join(folder, 'soap.yaml');

const document = `openapi: 3.0.3
info: { title: Fetched, version: '1' }
paths: { /pets: { get: { operationId: ListPets, responses: { 200: { description: Pets. } } } } }
`;

/** Creates a temporary working directory, which is removed after the test. */
function workingDirectory(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'working-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a server until the end of the test and returns its address. */
async function serverOf(t: ExecutionContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('every command about a contract accepts its document by position', async (t) => {
  const own = file(t, document);
  const request = '<TrackParcel xmlns="urn:ParcelPost"><number>1</number></TrackParcel>';
  for (const [args, input, said] of [
    [['check', openapi], '', /^ParcelPost: /],
    [['wsdl', openapi], '', /targetNamespace="urn:ParcelPost"/],
    [['names', own], '', /names\.lock/],
    [['init', own], '', /^wrote .*soap\.yaml; review it/],
    [['translate', openapi], request, /^GET \/parcels\/1/],
    [['check', openapi, '--overlay', overlay], '', /urn:example:parcels/],
    [['check', folder], '', /urn:example:parcels/],
  ] as const) {
    const { code, out, err } = await run(t, args, {}, input).ended;
    t.deepEqual([code, err], [0, ''], args.join(' '));
    t.regex(out, said);
  }
});

test('serve reads a document given by position, whatever the environment names', async (t) => {
  const own = file(t, document);
  const environment = { SOAPBRIDGE_CONTRACT: folder };
  const { port } = await start(t, [own, '--upstream', 'http://127.0.0.1:9'], environment);
  t.regex((await send(port, 'GET', '/soap11?wsdl')).text, /targetNamespace="urn:Fetched"/);
});

for (const [what, args, said] of [
  [
    'and as a flag',
    ['check', openapi, '--contract', folder],
    /openapi\.yaml: expected a contract as argument or --contract, got an argument and --contract/,
  ],
  [
    'that is a WSDL',
    ['check', 'service.wsdl'],
    /service\.wsdl: expected an OpenAPI document or a folder, got a WSDL\. Make a contract folder of it with soapbridge adopt/,
  ],
  ['that is not there', ['check', 'none.yaml'], /none\.yaml#: no such file/],
  ['that are two', ['check', openapi, openapi], /too many arguments/],
  [
    'that is a URL, without --fetch',
    ['check', 'http://127.0.0.1:9/o.yaml'],
    /http:\/\/127\.0\.0\.1:9\/o\.yaml#: is a URL\. Expected a file, or --fetch/,
  ],
] as const) {
  test(`a contract ${what} given by position exits with 2 and a sentence`, async (t) => {
    const { code, out, err } = await run(t, args).ended;
    t.deepEqual([code, out], [2, '']);
    t.regex(err, said);
  });
}

test('--fetch stores a document once, reports the path, and later reads the stored file', async (t) => {
  let requests = 0;
  const address = await serverOf(t, (request, response) => {
    requests++;
    if (request.url?.startsWith('/v1') === true)
      response.writeHead(302, { location: '/v2/openapi.yaml' }).end();
    else response.end(document);
  });
  const cwd = workingDirectory(t);
  const args = ['check', `${address}/v1/openapi.yaml?key=secret`, '--fetch'];
  const first = await run(t, args, {}, '', cwd).ended;
  t.is(first.code, 0, first.err);
  t.regex(first.out, /^Fetched: 1 operations/);
  const [stored = ''] = readdirSync(cwd);
  t.regex(stored, /^127\.0\.0\.1_\d+_v1_openapi_[0-9a-f]{8}\.yaml$/);
  t.is(first.err, `${address}/v1/openapi.yaml stored as ${stored}, ${document.length} bytes\n`);
  t.is(requests, 2);
  const second = await run(t, ['check', '--openapi', args[1] ?? ''], { SOAPBRIDGE_FETCH: '1' }, '', cwd)
    .ended;
  t.is(second.code, 0);
  t.is(requests, 2);
  t.is(
    second.err,
    `${address}/v1/openapi.yaml not downloaded: ${stored} exists. Delete the file to download it again\n`,
  );
  t.deepEqual(readdirSync(cwd), [stored]);
});

for (const [what, listener, environment, said] of [
  ['is not found', (_, response) => response.writeHead(404).end('none'), '', /expected status 200, got 404/],
  [
    'is a page',
    (_, response) => response.end('<html></html>'),
    '',
    /expected an OpenAPI document, an object with openapi or swagger, got an unknown format/,
  ],
  [
    'is no YAML',
    (_, response) => response.end('{"openapi": '),
    '',
    /expected an OpenAPI document, .*, got line 1/,
  ],
  [
    'is too large',
    (_, response) => response.end(`${document}#`),
    withConstants({ contractBytes: document.length }),
    /expected at most \d+ bytes, got more bytes/,
  ],
  [
    'never ends',
    (_, response) => void response.write(document),
    { SOAPBRIDGE_LIMITS: 'contractMs=300' },
    /expected the document within 300 ms \(contractMs\), got a timeout/,
  ],
  [
    'breaks off',
    (_, response) => void response.write(document, () => response.destroy()),
    {},
    /download failed/,
  ],
] as readonly (readonly [string, RequestListener, Record<string, string>, RegExp])[]) {
  test(`a fetched document that ${what} exits with 2, and is not stored`, async (t) => {
    const address = await serverOf(t, listener);
    const cwd = workingDirectory(t);
    const { code, out, err } = await run(t, ['check', `${address}/o.yaml`, '--fetch'], environment, '', cwd)
      .ended;
    t.deepEqual([code, out], [2, '']);
    t.true(err.startsWith(`${address}/o.yaml: `), err);
    t.regex(err, said);
    t.deepEqual(readdirSync(cwd), []);
  });
}

test('--fetch follows no redirect to a private address of another host', async (t) => {
  let requests = 0;
  const inner = await serverOf(t, (_, response) => {
    requests++;
    response.end(document);
  });
  const { port } = new URL(inner);
  for (const [target, host] of [
    [inner, '127.0.0.1'],
    [`http://localhost:${port}`, 'localhost'],
    [`http://[::ffff:127.0.0.1]:${port}`, '::ffff:7f00:1'],
    ['http://169.254.169.254/latest', '169.254.169.254'],
  ]) {
    const address = await serverOf(t, (request, response) => {
      // Start with a redirect to the same host, which is allowed because the user named that host.
      const location = request.url === '/o.yaml' ? '/next' : target;
      response.writeHead(307, { location }).end();
    });
    const cwd = workingDirectory(t);
    const { code, err } = await run(t, ['check', `${address}/o.yaml`, '--fetch'], {}, '', cwd).ended;
    t.is(code, 2);
    t.is(
      err,
      `--fetch: expected redirects to public addresses, got a private address of ${host}. If you trust it, use the URL of the document itself\n`,
    );
    t.deepEqual(readdirSync(cwd), []);
  }
  t.is(requests, 0);
});

test('--fetch follows five redirects, and none to a URL with credentials or of another scheme', async (t) => {
  const address = await serverOf(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end(document);
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  const fetched = (path: string) =>
    run(t, ['check', address + path, '--fetch'], {}, '', workingDirectory(t)).ended;
  t.is((await fetched('/5')).code, 0);
  const sixth = await fetched('/6');
  t.deepEqual(
    [sixth.code, sixth.err],
    [2, `${address}/6: expected at most 5 redirects, got more redirects\n`],
  );
  for (const location of ['http://u:secret@127.0.0.1:9/o', 'file:///etc/passwd', 'http://[']) {
    const from = await serverOf(t, (_, response) => response.writeHead(301, { location }).end());
    const { code, err } = await run(t, ['check', `${from}/o`, '--fetch'], {}, '', workingDirectory(t)).ended;
    t.is(code, 2);
    t.is(
      err,
      `${from}/o: expected a redirect to an http or https URL without credentials, got another target\n`,
    );
  }
});

test('--fetch takes at most 30 s in total', (t) => {
  t.is(fetchDeadline({ contractMs: 120_000 }), 30_000);
  t.is(fetchDeadline({ contractMs: 29_999 }), 29_999);
});

for (const [said, message] of [
  ['0', /#: is a URL\. Expected a file, or --fetch/],
  ['', /^SOAPBRIDGE_FETCH: expected 1 or 0, got ""\n$/],
  ['no', /^SOAPBRIDGE_FETCH: expected 1 or 0, got "no"\n$/],
] as const) {
  test(`SOAPBRIDGE_FETCH="${said}" fetches nothing`, async (t) => {
    const { code, err } = await run(t, ['check', 'http://127.0.0.1:9/o.yaml'], { SOAPBRIDGE_FETCH: said })
      .ended;
    t.is(code, 2);
    t.regex(err, message);
  });
}

test('a fetched document of exactly contractBytes bytes is read', async (t) => {
  const address = await serverOf(t, (_, response) => response.end(document));
  const cwd = workingDirectory(t);
  const environment = withConstants({ contractBytes: document.length });
  const { code } = await run(t, ['check', `${address}/o.yaml`, '--fetch'], environment, '', cwd).ended;
  t.is(code, 0);
});

test('--fetch refuses a URL with a password and an unreachable server', async (t) => {
  const cwd = workingDirectory(t);
  const secret = await run(t, ['check', 'http://u:secret@127.0.0.1:9/o', '--fetch'], {}, '', cwd).ended;
  t.is(secret.code, 2);
  t.regex(secret.err, /expected a URL without user and password/);
  t.false(secret.err.includes('secret'));
  const none = await run(t, ['check', 'http://127.0.0.1:9/o', '--fetch'], {}, '', cwd).ended;
  t.deepEqual([none.code, none.out], [2, '']);
  t.regex(none.err, /^http:\/\/127\.0\.0\.1:9\/o: download failed \(/);
  t.false(existsSync(join(cwd, '127.0.0.1_9_o.yaml')));
});
