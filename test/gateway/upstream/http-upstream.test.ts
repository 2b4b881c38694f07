import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { addressOf } from '../../../gateway/upstream/upstream.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { type Gateway, send, startGateway } from '../gateway.ts';

const server = (basePath: string, root = basePath, address?: string) => ({
  address,
  basePath,
  root,
  credentials: true,
});

for (const [upstream, stated, expected] of [
  ['https://api.internal', server('/v1'), 'https://api.internal/v1'],
  ['https://api.internal:8443', server(''), 'https://api.internal:8443'],
  ['https://api.internal/', server('/v1'), 'https://api.internal'],
  ['https://api.internal/edge/v1/', server('/v1'), 'https://api.internal/edge/v1'],
  ['https://api.internal/edge/v1', server('/v2', '/v1'), 'https://api.internal/edge/v2'],
  ['https://api.internal', server('/v2', '/v1'), 'https://api.internal/v2'],
  ['https://api.internal/edge', server('/v2', '/v1'), 'https://api.internal/edge/v2'],
  ['https://api.internal', server('/v1', '', 'https://files.internal/x'), 'https://files.internal/x'],
] as const) {
  test(`calls of a server at ${stated.basePath || '/'} are sent to ${expected} with the upstream ${upstream}`, (t) => {
    t.is(addressOf(upstream, stated), expected);
  });
}

const reply = { 204: { description: 'done' } };
const paths = {
  '/own': { get: { operationId: 'own', responses: reply } },
  '/older': { servers: [{ url: '/v0' }], get: { operationId: 'older', responses: reply } },
  '/files': {
    get: {
      operationId: 'files',
      servers: [
        {
          url: 'https://{region}.files.example/f',
          variables: { region: { default: 'eu', enum: ['eu', 'us'] } },
        },
      ],
      responses: reply,
    },
  },
  '/trusted': {
    get: { operationId: 'trusted', servers: [{ url: 'https://trusted.example' }], responses: reply },
  },
  '/unknown': {
    get: { operationId: 'unknown', servers: [{ url: 'https://unknown.example' }], responses: reply },
  },
  '/either': {
    servers: [{ url: 'https://unknown.example' }, { url: 'https://api.example/v1/' }],
    get: { operationId: 'either', responses: reply },
  },
};

function contractWith(t: Pick<ExecutionContext, 'teardown'>, servers: object): string {
  const directory = mkdtempSync(join(tmpdir(), 'servers-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const document = { openapi: '3.1.0', info: {}, servers: [{ url: 'https://api.example/v1' }], paths };
  writeFileSync(join(directory, 'openapi.yaml'), JSON.stringify(document));
  const credentials = { headers: { key: 'X-Key' }, required: [] };
  writeFileSync(join(directory, 'soap.yaml'), JSON.stringify({ service: 'Servers', servers, credentials }));
  return directory;
}

/** Starts a service that records its calls and returns an empty response. */
async function startService(t: ExecutionContext): Promise<{ address: string; hits: string[] }> {
  const hits: string[] = [];
  const service = createServer((request, response) => {
    hits.push(`${request.url} ${request.headers['x-key']}`);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    service.closeAllConnections();
    service.close();
  });
  return { address: `http://127.0.0.1:${(service.address() as AddressInfo).port}`, hits };
}

async function call(gateway: Gateway, operation: string): Promise<number> {
  const path = `/json/reply/${operation}`;
  const { status } = await send(gateway.port, 'POST', path, { 'X-Key': 'k' }, '{}');
  return status;
}

test('each operation is called at its server; credentials are sent only to allowed servers', async (t) => {
  const files = await startService(t);
  const trusted = await startService(t);
  const contract = contractWith(t, {
    'https://eu.files.example/f': { upstream: `${files.address}/moved` },
    'https://trusted.example': { upstream: trusted.address, credentials: true },
  });
  const gateway = await startGateway(t, { serve: { contract } });
  gateway.answer({ status: 204 });
  for (const operation of ['own', 'older', 'either', 'files', 'trusted'])
    t.is(await call(gateway, operation), 204, operation);
  t.deepEqual(
    gateway.hits.map(({ path, headers }) => `${path} ${headers['x-key']}`),
    ['/v1/own k', '/v0/older k', '/v1/either k'],
  );
  t.deepEqual(files.hits, ['/moved/files undefined']);
  t.deepEqual(trusted.hits, ['/trusted k']);
});

test('an operation whose server has no address is called at the upstream, with a warning', async (t) => {
  const contract = contractWith(t, {});
  t.deepEqual(
    readContract(contract).assumedServers.map(({ pointer, why }) => `${pointer}: ${why}`),
    ['/paths/~1files/get', '/paths/~1trusted/get', '/paths/~1unknown/get'].map(
      (pointer, index) =>
        `${pointer}/servers: is at "${['https://eu.files.example/f', 'https://trusted.example', 'https://unknown.example'][index]}", which has no address in servers of the overlay`,
    ),
  );
  const gateway = await startGateway(t, { serve: { contract } });
  gateway.answer({ status: 204 });
  t.is(await call(gateway, 'files'), 204);
  t.is(await call(gateway, 'unknown'), 204);
  t.deepEqual(
    gateway.hits.map(({ path }) => path),
    ['/f/files', '/unknown'],
  );
});

test('a server in the overlay that no operation has is reported', (t) => {
  const directory = contractWith(t, { 'https://typo.example': { upstream: 'http://127.0.0.1' } });
  t.throws(() => readContract(directory), {
    message: /#\/servers\/https:~1~1typo\.example: expected the URL of a server of some operation/,
  });
});
