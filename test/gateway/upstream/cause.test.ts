import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { createAuthority } from '../certificates.ts';
import { emptyReply, type GatewayOptions, keyHeaders, startGateway } from '../gateway.ts';
import { startSockets } from '../sockets.ts';

interface Line {
  readonly upstream?: string;
  readonly failures?: readonly {
    readonly attempt: number;
    readonly cause: string;
    readonly reason?: string;
  }[];
}

/** Returns the log line of the last request. */
function lastLine(log: string): Line {
  return JSON.parse(log.split('\n').findLast((line) => line.includes('"bytesOut":')) ?? '{}');
}

/** Returns the log line of a call to an upstream. */
async function lineOf(
  t: ExecutionContext,
  upstreamUrl: string | undefined,
  { kind = 'write', ...options }: GatewayOptions & { readonly kind?: 'read' | 'write' } = {},
): Promise<Line> {
  const gateway = await startGateway(t, {
    ...options,
    ...(upstreamUrl === undefined ? {} : { serve: { upstreamUrl, ...options.serve } }),
  });
  if (kind === 'read') await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  else await gateway.send('PUT', '/subusers/update', keyHeaders, '{"request":{"subUserName":"canary"}}');
  t.false(gateway.log().includes('canary'));
  return lastLine(gateway.log());
}

function portOf(server: Server | HttpServer): number {
  return (server.address() as AddressInfo).port;
}

/** Starts a TLS server that answers every call. */
async function startTls(t: ExecutionContext, options: TlsOptions): Promise<string> {
  const server = createTlsServer(options, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${emptyReply.length}\r\n\r\n${emptyReply}`),
    );
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `https://127.0.0.1:${portOf(server)}`;
}

test('a closed port is a refused connection, logged with upstream and attempt', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOf(server)}`;
  await new Promise((resolve) => server.close(resolve));
  const { upstream, failures } = await lineOf(t, `${url}/api`);
  t.is(upstream, url);
  t.deepEqual(failures, [
    { attempt: 1, cause: 'refused', reason: 'no process listens at its port', code: 'ECONNREFUSED' },
  ]);
});

test('a read sent twice has a failure for each attempt', async (t) => {
  const { url } = await startSockets(t, (socket) => socket.resetAndDestroy());
  const { failures } = await lineOf(t, url, { kind: 'read' });
  t.deepEqual(
    failures?.map(({ attempt, cause }) => [attempt, cause]),
    [
      [1, 'reset'],
      [2, 'reset'],
    ],
  );
});

test('an unknown host name has its own cause', async (t) => {
  const { failures } = await lineOf(t, 'http://nobody.invalid');
  t.is(failures?.[0]?.cause, 'dns');
});

test('a silent upstream is reported as too slow, with the time waited', async (t) => {
  const { url } = await startSockets(t, () => {});
  const { failures } = await lineOf(t, url, { limits: { upstreamFirstByteMs: 100 } });
  t.deepEqual(failures, [{ attempt: 1, cause: 'timeout', reason: 'no response arrived within 100 ms' }]);
});

test('a response that is not HTTP is invalid', async (t) => {
  const { url } = await startSockets(t, (socket) => socket.end('SSH-2.0-OpenSSH canary\r\n\r\n'));
  const { failures } = await lineOf(t, url);
  t.deepEqual(failures, [{ attempt: 1, cause: 'invalid', reason: 'its response is not HTTP' }]);
});

for (const [what, names, days, reason] of [
  [
    'of an unknown CA',
    'IP:127.0.0.1',
    1,
    /^its certificate has an untrusted CA, or an intermediate certificate is missing/,
  ],
  ['that has expired', 'IP:127.0.0.1', -1, /certificate has expired/],
  ['for another host', 'DNS:canary.example', 1, /its certificate has other names/],
] as const)
  test(`a certificate ${what} is reported as such`, async (t) => {
    const authority = createAuthority(t);
    const { cert, key } = authority.issue({ names, days });
    const url = await startTls(t, { cert, key });
    const ca = what === 'of an unknown CA' ? undefined : authority.cert;
    const { failures } = await lineOf(t, url, {
      serve: { upstreamUrl: url, way: ca === undefined ? undefined : { tls: { ca } } },
    });
    t.is(failures?.[0]?.cause, 'tls');
    t.regex(failures?.[0]?.reason ?? '', reason);
  });

test('a port without TLS is reported as such', async (t) => {
  const plain = await startSockets(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const { failures } = await lineOf(t, plain.url.replace('http:', 'https:'));
  t.is(failures?.[0]?.cause, 'tls');
  t.regex(failures?.[0]?.reason ?? '', /it does not use TLS at this port/);
});

test('a missing client certificate is reported as such', async (t) => {
  const authority = createAuthority(t);
  const { cert, key } = authority.issue();
  // With TLS 1.3 a server may close the connection after the client has finished its handshake.
  const options = { cert, key, ca: authority.cert, requestCert: true, maxVersion: 'TLSv1.2' } as const;
  const url = await startTls(t, options);
  const { failures } = await lineOf(t, url, {
    serve: { upstreamUrl: url, way: { tls: { ca: authority.cert } } },
  });
  t.is(failures?.[0]?.cause, 'tls');
  t.regex(failures?.[0]?.reason ?? '', /client certificate/);
});

test('a failure status of the upstream is reported with the status', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer({ status: 500, body: 'canary' });
  await gateway.send('PUT', '/subusers/update', keyHeaders, '{"request":{"subUserName":"a"}}');
  t.deepEqual(lastLine(gateway.log()).failures, [{ attempt: 1, cause: 'status', status: 500 }]);
  t.false(gateway.log().includes('canary'));
});

for (const [what, body, reason] of [
  ['of another type', '{"data":{"subUser":"canary"}}', 'data.subUser: expected an object, got a string'],
  ['that is no JSON', 'canary', 'expected JSON, got text that is not one JSON object'],
  [
    'too long to be read on the event loop',
    `{"data":{"subUser":{"isAdmin":["canary${'x'.repeat(70_000)}"]}}}`,
    'data.subUser.isAdmin: expected a boolean, got an array',
  ],
] as const)
  test(`a reply ${what} is reported with path and expectation, without a value`, async (t) => {
    const gateway = await startGateway(t, { limits: { replyAsideBytes: 65_536 } });
    gateway.answer({ body });
    const headers = { ...keyHeaders, 'Content-Type': 'application/xml' };
    const request =
      '<UpdateSubUser xmlns="http://schemas.servicestack.net/types"><Request><SubUserName>a</SubUserName></Request></UpdateSubUser>';
    const reply = await gateway.send('POST', '/xml/reply/UpdateSubUser', headers, request);
    t.is(reply.status, 502);
    t.deepEqual(lastLine(gateway.log()).failures, [{ attempt: 1, cause: 'invalid', reason }]);
    t.false(gateway.log().includes('canary'));
  });
