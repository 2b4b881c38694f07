import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import test from 'ava';
import { probeSentence, probeUpstream } from '../../../gateway/upstream/probe.ts';
import { until } from '../../until.ts';
import { createAuthority } from '../certificates.ts';
import { startGateway } from '../gateway.ts';

const timeout = 5_000;

test('an upstream with any response counts as reachable', async (t) => {
  const seen: string[] = [];
  const server = createServer(({ method, url }, response) => {
    seen.push(`${method} ${url}`);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
  const probed = await probeUpstream(address, {}, timeout, true);
  t.regex(probeSentence(address, probed), /\/api\/ is reachable \(\d+ ms\), HEAD returns status 404$/);
  t.like(await probeUpstream(address, {}, timeout, false), { reached: true, status: undefined });
  await probeUpstream(`${address}a|b[c]`, {}, timeout, true);
  t.deepEqual(seen, ['HEAD /api', 'HEAD /api/a%7Cb%5Bc%5D']); // RFC 3986 §3.3 allows neither character
});

test('the probe of a TLS upstream reports its version, or why the handshake failed', async (t) => {
  const authority = createAuthority(t);
  const server = createTlsServer(authority.issue(), (_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const way = { tls: { ca: authority.cert } };
  t.regex(
    probeSentence(address, await probeUpstream(address, way, timeout, true)),
    /is reachable \(\d+ ms, TLSv1\.3, certificate until .*\), HEAD returns status 200$/,
  );
  t.regex(
    probeSentence(address, await probeUpstream(address, {}, timeout, true)),
    /is unreachable: TLS failed: its certificate has an untrusted CA, or an intermediate certificate is missing/,
  );
});

test('the start reports an unreachable upstream, and the end the aborted calls', async (t) => {
  let told = '';
  const logTo = new Writable({
    write(chunk, _encoding, done) {
      told += chunk;
      done();
    },
  });
  const { running } = await startGateway(t, {
    serve: { upstreamUrl: 'http://127.0.0.1:9', probesUpstream: true, logTo },
  });
  await until(() => told.includes('is unreachable'));
  t.true(await running.stop(0));
  const lines = told
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.like(
    lines.find(({ msg }) => /is unreachable/.test(msg)),
    { level: 40, upstream: 'http://127.0.0.1:9', reached: false, cause: 'refused' },
  );
  t.like(lines.at(-1), { level: 30, msg: 'stopped: all calls finished' });
});
