import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import test, { type ExecutionContext } from 'ava';
import { sendRaw } from '../../../send-raw.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import { type Case, cases, folder } from './wsse-cases.ts';

// Requests with WS-Security from sixteen client stacks, byte for byte, each replayed with the clock at its recorded
// time.

const secrets = { demo: 'demo-key', zoë: 'p<&>é漢 x', alice: 'demo-key' };
const home = mkdtempSync(join(tmpdir(), 'wsse-secrets-'));
const secretsFile = join(home, 'secrets.yaml');
writeFileSync(secretsFile, JSON.stringify(secrets));
chmodSync(secretsFile, 0o600);

/** Gateways that reject digests, and that check them. They start before the first test. */
export const gateways = {} as { refusing: Gateway; checking: Gateway };
const ends: (() => unknown)[] = [() => rmSync(home, { recursive: true, force: true })];

test.before(async () => {
  const teardown = (end: () => unknown): unknown => ends.push(end);
  // some captures have more bytes than a body may have chunks
  gateways.refusing = await startGateway({ teardown }, { limits: { bodyPieces: 8_192 } });
  gateways.checking = await startGateway(
    { teardown },
    {
      overlay: 'wsse: { username: apiUserId, password: apiUserKey, digest: secrets }',
      serve: { wsseSecrets: secretsFile },
    },
  );
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

/** The result of a request: a fault code, or the credentials that are sent upstream. */
type Outcome = string | { readonly apiUserId: string; readonly apiUserKey: string };

const supported = new Set(['UsernameToken', 'Timestamp']);

function given({ username = '', text = '' }: Case, key = text): Outcome {
  return { apiUserId: username, apiUserKey: key };
}

/** The expected result of a request at its recorded time. */
export function expectedOf(file: string, one: Case, withSecrets: boolean): Outcome {
  if (one.wellFormed === false) return 's:Sender';
  if (file === 'wcf-shaped-ws-twmc-rst-soap12.http') return 's:Sender';
  if (one.role === 'urn:example:other' || one.children.length === 0) return 'Unauthorized';
  if (one.children.some((name) => !supported.has(name)) || file === 'cxf3-utsig-soap11.http')
    return 'w:UnsupportedSecurityToken';
  if (one.password === 'PasswordDigest') {
    if (!withSecrets) return 'w:UnsupportedSecurityToken';
    if (one.nonce !== true) return 'w:InvalidSecurityToken';
    // zeep's token was created with a fixed time, sixteen minutes earlier
    if (Date.parse(one.receivedAt) - Date.parse(one.created ?? '') > 600_000) return 'w:MessageExpired';
    if (file.includes('hexout')) return 'w:InvalidSecurityToken|FailedAuthentication';
    if (one.digestMatches !== true) return 'FailedAuthentication';
    return given(one, secrets[one.username as keyof typeof secrets]);
  }
  if (one.password === 'PasswordText' || one.password === 'no Type attribute') return given(one);
  return 'Unauthorized';
}

/** Sends a request. Returns its result and the reply's body. */
export async function outcomeOf(gateway: Gateway, request: Buffer, slow = false): Promise<[Outcome, string]> {
  const before = gateway.hits.length;
  const body = slow
    ? await byteByByte(gateway.port, request)
    : (await sendRaw(gateway.running.url, request)).body;
  const [hit] = gateway.hits.slice(before);
  if (hit !== undefined) {
    const { authentication } = JSON.parse(hit.body) as {
      authentication: { apiUserId: string; apiUserKey: string };
    };
    const { apiUserId, apiUserKey } = authentication;
    return [{ apiUserId, apiUserKey }, body];
  }
  const code =
    /<faultcode[^>]*>([^<]*)</.exec(body)?.[1] ??
    /<s:Subcode><s:Value[^>]*>([^<]*)</.exec(body)?.[1] ??
    /<s:Code><s:Value>([^<]*)</.exec(body)?.[1] ??
    /<ErrorCode>([^<]*)</.exec(body)?.[1];
  return [code ?? body, body];
}

/** Sends each byte as a packet of its own. */
function byteByByte(port: number, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    let reply = '';
    socket.on('error', reject);
    socket.on('data', (bytes) => {
      reply += bytes.toString('utf8');
      const [head = '', body] = reply.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      resolve(body);
      socket.destroy();
    });
    let at = 0;
    const next = (): void => {
      if (at < request.length && !socket.destroyed)
        socket.write(request.subarray(at, ++at), () => setImmediate(next));
    };
    socket.on('connect', next);
  });
}

function assertOutcome(t: ExecutionContext, file: string, got: Outcome, wanted: Outcome): void {
  if (typeof wanted === 'string' && wanted.includes('|'))
    t.true(wanted.split('|').includes(String(got)), file);
  else t.deepEqual(got, wanted, file);
}

/** Replays all requests at their recorded times, and compares the results. */
export async function replayAll(t: ExecutionContext, withSecrets: boolean, slow = false): Promise<void> {
  const gateway = withSecrets ? gateways.checking : gateways.refusing;
  mock.timers.enable({ apis: ['Date'], now: 0 });
  try {
    for (const [file, one] of Object.entries(cases)) {
      mock.timers.setTime(Date.parse(one.receivedAt));
      const [outcome, reply] = await outcomeOf(gateway, readFileSync(join(folder, file)), slow);
      assertOutcome(t, file, outcome, expectedOf(file, one, withSecrets));
      const isRead = one.wellFormed !== false && one.role !== 'urn:example:other';
      t.is(
        reply.includes('<u:Timestamp'),
        isRead && one.timestamp !== null,
        `${file}: the reply's Timestamp`,
      );
      for (const secret of [one.text, ...Object.values(secrets)])
        if (secret) t.false(reply.includes(secret), `${file}: no secret in the reply`);
    }
  } finally {
    mock.timers.reset();
  }
}
