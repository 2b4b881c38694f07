import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { until } from '../until.ts';
import { certificateOf, type Message, signed } from './sign.ts';
import { requestOf, sendAt, startSigned } from './signed.ts';

const time = '2026-11-27T18:00:00Z';
const write = '<DeleteClient xmlns="http://schemas.servicestack.net/types"><Id>1</Id></DeleteClient>';

const names = ['signerFingerprint', 'signatureSha256', 'bodySha256'] as const;

/** The facts that the audit has to have, from the message as it was sent. */
function factsOf(message: string): Readonly<Record<(typeof names)[number], string | undefined>> {
  const bytesOf = (local: string): readonly Buffer[] =>
    message
      .split(`<${local}>`)
      .slice(1)
      .map((rest) => Buffer.from(rest.slice(0, rest.indexOf('<')), 'base64'));
  return {
    signerFingerprint: hash('sha256', Buffer.from(certificateOf('alice'), 'base64')),
    signatureSha256: bytesOf('SignatureValue')
      .map((value) => hash('sha256', value))
      .join(', '),
    bodySha256: bytesOf('DigestValue')[0]?.toString('hex'),
  };
}

function auditedIn(line: Record<string, unknown>): object {
  return Object.fromEntries(names.flatMap((name) => (name in line ? [[name, line[name]]] : [])));
}

function linesOf(text: string): readonly Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function start(t: ExecutionContext, variant = 'default') {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const auditLog = join(folder, 'audit.log');
  const gateway = await startSigned(
    t,
    variant,
    undefined,
    {},
    {
      auditLog,
      publicUrl: 'https://gateway.example',
    },
  );
  const send = async (message: string): Promise<string> =>
    (await sendAt(gateway, requestOf(message, 'text/xml; charset=utf-8'), time)).code;
  return { gateway, send, audited: () => linesOf(readFileSync(auditLog, 'utf8')) };
}

for (const [what, more] of [
  ['one Signature', {}],
  ['two Signatures', { signatures: [['body', 'time'], ['body']] }],
] satisfies readonly (readonly [string, Message])[])
  test(`X29: both audit lines of a write with ${what} have its signer and hashes`, async (t) => {
    const { send, audited } = await start(t);
    const message = signed({ payload: write, ...more });
    t.is(await send(message), 'accepted');
    await until(() => audited().length === 2);
    for (const line of audited()) {
      t.deepEqual(auditedIn(line), factsOf(message), String(line.audit));
      t.regex(String(line.signer), /^CN=alice/);
    }
  });

test('X29: the hashes of an audit line lack a Body that no Signature covers', async (t) => {
  const { send, audited } = await start(t, 'none');
  const message = signed({ payload: write, references: ['time'] });
  t.is(await send(message), 'accepted');
  await until(() => audited().length === 2);
  const { bodySha256: _, ...rest } = factsOf(message);
  t.deepEqual(auditedIn(audited()[0] ?? {}), rest);
});

test('X29: without an audit log, the line of the request has the hashes of a write', async (t) => {
  const gateway = await startSigned(t, 'default');
  const message = signed({ payload: write });
  t.is((await sendAt(gateway, requestOf(message, 'text/xml; charset=utf-8'), time)).code, 'accepted');
  await until(() => gateway.log().includes('"audit":"settled"'));
  const line = linesOf(gateway.log()).find(({ audit }) => audit === 'settled') ?? {};
  t.deepEqual(auditedIn(line), factsOf(message));
  t.is(String(line.signerCertificate).length, 16);
});

test('X29: the line of a read has no hashes', async (t) => {
  const gateway = await startSigned(t, 'default');
  t.is((await sendAt(gateway, requestOf(signed(), 'text/xml; charset=utf-8'), time)).code, 'accepted');
  await until(() => gateway.log().includes('"signature":'));
  const line = linesOf(gateway.log()).find(({ signature }) => signature !== undefined) ?? {};
  t.deepEqual(auditedIn(line), {});
});
