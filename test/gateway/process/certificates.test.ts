import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Certificates, certificatesOfPlans } from '../../../gateway/process/certificates.ts';
import { screeningContract } from '../../../mappings/loader/load.ts';
import { createAuthority } from '../certificates.ts';
import { type Gateway, startGateway } from '../gateway.ts';

type Authority = ReturnType<typeof createAuthority>;

interface Served {
  readonly gateway: Gateway;
  readonly authority: Authority;
  readonly write: (name: string, text: string) => void;
}

/** Serves with TLS towards callers and the upstream. All certificates are valid for a day. */
async function start(t: ExecutionContext, days = 1): Promise<Served> {
  const authority = createAuthority(t);
  const own = authority.issue({ days });
  const client = authority.issue();
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('own.pem', own.cert);
  write('own.key', own.key);
  write('client.pem', client.cert);
  write('client.key', client.key);
  write('ca.pem', authority.cert);
  const upstream = {
    url: 'https://127.0.0.1:1',
    tls: { ca: 'ca.pem', certificate: 'client.pem', key: 'client.key' },
  };
  write(
    'soapbridge.yaml',
    JSON.stringify({
      tls: { certificate: 'own.pem', key: 'own.key', ca: 'ca.pem', clientCertificates: 'ask' },
      contracts: { '/v2': { contract: screeningContract, upstream } },
    }),
  );
  const serve = { config: join(folder, 'soapbridge.yaml'), watchMs: 60_000 };
  return { gateway: await startGateway(t, { serve }), authority, write };
}

function notAfter({ running }: Gateway): ReadonlyMap<string, number> {
  const family = running.metrics().find(({ name }) => name === 'certificate_not_after_seconds');
  return new Map(family?.samples.map(({ labels, value }) => [labels, value]));
}

test('a gauge has the end of validity of each certificate file', async (t) => {
  const { gateway } = await start(t);
  const values = notAfter(gateway);
  t.deepEqual(
    [...values.keys()],
    ['use="server"', 'use="ca"', 'use="client",contract="/v2"', 'use="upstream",contract="/v2"'],
  );
  const days = (labels: string): number =>
    Math.round(((values.get(labels) ?? 0) - Date.now() / 1_000) / 86_400);
  t.is(days('use="server"'), 1);
  t.is(days('use="ca"'), 2);
  t.is(days('use="client",contract="/v2"'), 1);
});

test('a certificate with less than 30 days is logged at start, one with more is not', async (t) => {
  const { gateway } = await start(t, 40);
  const lines = gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('certificate expires'));
  t.deepEqual(
    lines.map((line) => JSON.parse(line).certificate.use),
    ['ca', 'client', 'upstream'],
  );
  t.like(JSON.parse(lines[0] ?? '{}'), { level: 40, certificate: { subject: 'CN=test CA' } });
});

test('an expired certificate replaces no valid one towards callers', async (t) => {
  const { gateway, authority, write } = await start(t);
  const before = notAfter(gateway);
  const old = authority.issue({ days: -1 });
  write('own.pem', old.cert);
  write('own.key', old.key);
  await gateway.running.reload();
  t.regex(gateway.log(), /not reloaded/);
  t.regex(gateway.log(), /expected a certificate that is valid now, got a certificate that expired at/);
  t.deepEqual(notAfter(gateway), before);
  const next = authority.issue({ days: 90 });
  write('own.pem', next.cert);
  await gateway.running.reload();
  t.regex(gateway.log(), /expected the key of the certificate/);
  t.deepEqual(notAfter(gateway), before);
  write('own.key', next.key);
  await gateway.running.reload();
  t.true((notAfter(gateway).get('use="server"') ?? 0) > (before.get('use="server"') ?? 0));
});

test('an expired client certificate replaces no valid one towards the upstream', async (t) => {
  const { gateway, authority, write } = await start(t);
  const before = notAfter(gateway);
  const old = authority.issue({ days: -1 });
  write('client.pem', old.cert);
  write('client.key', old.key);
  await gateway.running.reload();
  t.regex(gateway.log(), /"pointer":"\/contracts\/~1v2\/upstream\/tls\/certificate"/);
  t.deepEqual(notAfter(gateway), before);
});

test('a valid certificate replaces an expired one', async (t) => {
  const { gateway, authority, write } = await start(t, -1);
  t.regex(gateway.log(), /"use":"server".*certificate expired/);
  const next = authority.issue();
  write('own.pem', next.cert);
  write('own.key', next.key);
  await gateway.running.reload();
  t.notRegex(gateway.log(), /not reloaded/);
  t.true((notAfter(gateway).get('use="server"') ?? 0) > Date.now() / 1_000);
});

test('the certificates towards a legacy service are checked and have metrics', (t) => {
  const authority = createAuthority(t);
  const at = (days: number) => {
    const { cert, key } = authority.issue({ days });
    const service = { tls: { cert, key, ca: authority.cert } };
    const plans = [{ basePath: '/v2', legacy: { service } }] as unknown as Parameters<
      typeof certificatesOfPlans
    >[1];
    return certificatesOfPlans('soapbridge.yaml', plans);
  };
  const certificates = new Certificates();
  certificates.use('upstreams', at(1));
  t.deepEqual(
    certificates.read().flatMap(({ samples }) => samples.map(({ labels }) => labels)),
    ['use="legacy_client",contract="/v2"', 'use="legacy_ca",contract="/v2"'],
  );
  t.throws(() => certificates.check('upstreams', at(-1)), { message: /certificate that is valid now/ });
});
