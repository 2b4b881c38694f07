import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '../../gateway/process/config.ts';
import { loadInWorker } from '../../gateway/process/load-in-worker.ts';
import { loadContract } from '../../gateway/process/load-place.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { screeningContract } from '../../mappings/loader/load.ts';
import { run } from '../gateway/commands/run.ts';
import { contractWith, startGateway } from '../gateway/gateway.ts';
import { folder } from './captures.ts';
import { signed } from './sign.ts';
import { requestOf, sendAt } from './signed.ts';

const time = '2026-11-27T18:00:00Z';
const token = { username: 'apiUserId', password: 'apiUserKey' };
const x509 = { certificates: ['keys/alice.crt'], replay: 'allow' };
const sign = { key: 'keys/gateway.key', certificate: 'keys/gateway.crt' };

/** Creates a contract of a WSDL with an overlay. */
function adoptedWith(t: ExecutionContext, overlay: string): string {
  const contract = mkdtempSync(join(tmpdir(), 'adopted-'));
  t.teardown(() => rmSync(contract, { recursive: true }));
  cpSync('test/fixtures/x509/policies/p-asym-sign.wsdl', join(contract, 'service.wsdl'));
  writeFileSync(join(contract, 'soap.yaml'), overlay);
  return contract;
}

/** A folder with `soapbridge.yaml` and the files of keys, which is not the folder of the contract. */
function configOf(t: ExecutionContext) {
  const own = mkdtempSync(join(tmpdir(), 'own-'));
  t.teardown(() => rmSync(own, { recursive: true }));
  cpSync(join(folder, 'keys'), join(own, 'keys'), { recursive: true });
  chmodSync(join(own, 'keys/gateway.key'), 0o600);
  const file = join(own, 'soapbridge.yaml');
  const write = (contract: string, wsse: unknown, upstream = 'http://127.0.0.1:1'): void =>
    writeFileSync(file, JSON.stringify({ contracts: { '/v2': { contract, upstream, wsse } } }, null, 1));
  return { file, write };
}

/** Loads the contract of a configuration. */
function load(file: string) {
  const [plan] = readConfig(file);
  return loadContract(plan?.contract ?? '', defaultLimits, false, plan?.wsse).contract;
}

function problemsOf(
  t: ExecutionContext,
  file: string,
): readonly (readonly [string, string, string, boolean])[] {
  const { problems = [] } = t.throws(() => load(file), { instanceOf: ContractError }) ?? {};
  return problems.map(({ file: of, pointer, message, line }) => [of, pointer, message, line !== undefined]);
}

test('X1: wsse of soapbridge.yaml replaces that of the overlay, and a reload reads it again', async (t) => {
  const { file, write } = configOf(t);
  // its files are missing, so the key must not be read
  const contract = contractWith(t, 'wsse: { x509: { ca: none.pem }, unverified: [Assertion] }');
  write(contract, { ...token, x509, sign });
  const gateway = await startGateway(t, { serve: { config: file, watchMs: 60_000 } });
  const send = () => sendAt(gateway, requestOf(signed(), 'text/xml; charset=utf-8'), time);
  const first = await send();
  // the message was verified, and has no credentials
  t.is(first.code, 'Unauthorized');
  t.regex(first.reply, /<SignatureValue>/);
  write(contract, { ...token, x509: { ...x509, certificates: ['keys/bob.crt'] }, sign });
  await gateway.running.reload();
  t.is((await send()).code, 'wsse:FailedAuthentication');
  write(contract, { ...token });
  await gateway.running.reload();
  t.is((await send()).code, 'wsse:UnsupportedSecurityToken');
});

test('X1: the demo is not read from its compiled form if soapbridge.yaml has wsse', async (t) => {
  const { file, write } = configOf(t);
  write(screeningContract, { ...token, x509 });
  const gateway = await startGateway(t, { serve: { config: file } });
  const outcome = await sendAt(
    gateway,
    requestOf(signed({ signer: 'bob' }), 'text/xml; charset=utf-8'),
    time,
  );
  t.is(outcome.code, 'wsse:FailedAuthentication');
});

test('X1: a worker thread loads the same settings', async (t) => {
  const { file, write } = configOf(t);
  write(contractWith(t, 'wsse:'), { ...token, x509, sign });
  const [plan] = readConfig(file);
  const [sent] = await loadInWorker(
    [{ place: plan?.contract ?? '', keepsUnmapped: false, own: plan?.wsse }],
    defaultLimits,
  );
  t.deepEqual(sent?.contract.wsse, load(file).wsse);
  t.is(sent?.contract.wsse?.x509?.certificates.length, 1);
});

test('X1: wsse of soapbridge.yaml applies to a contract of a WSDL', (t) => {
  const { file, write } = configOf(t);
  const contract = adoptedWith(t, 'wsse: { x509: { ca: none.pem } }');
  write(contract, { x509, sign });
  const { wsse } = load(file);
  t.is(wsse?.x509?.certificates.length, 1);
  t.is(wsse?.sign?.certificates.length, 1);
  write(contract, { ...token, x509 });
  const problems = problemsOf(t, file);
  t.deepEqual(
    problems.map(([of, pointer]) => [of, pointer]),
    ['username', 'password'].map((name) => [file, `/contracts/~1v2/wsse/${name}`]),
  );
});

for (const kind of ['an OpenAPI document', 'a WSDL'] as const)
  test(`X1, X2: an error of wsse in soapbridge.yaml names its place for the contract of ${kind}`, (t) => {
    const { file, write } = configOf(t);
    const contract = kind === 'a WSDL' ? adoptedWith(t, '') : contractWith(t, 'wsse:');
    const tokens = kind === 'a WSDL' ? {} : token;
    write(contract, { ...tokens, x509: { ca: ['none.pem'] } });
    t.deepEqual(problemsOf(t, file), [
      [
        file,
        '/contracts/~1v2/wsse/x509/ca/0',
        'expected a readable file, got none (ENOENT): "none.pem"',
        true,
      ],
    ]);
    write(contract, { ...tokens, x509: { ...x509, cert: 1 } });
    t.deepEqual(
      problemsOf(t, file).map(([of, pointer]) => [of, pointer]),
      [[file, '/contracts/~1v2/wsse/x509/cert']],
    );
  });

test('X1: an empty name of a file in soapbridge.yaml is a warning for a WSDL', async (t) => {
  const { file, write } = configOf(t);
  write(adoptedWith(t, ''), { x509: { ca: '' } });
  const { code, out } = await run(t, ['check', '--config', file]).ended;
  t.is(code, 0, out);
  t.regex(out, /soapbridge\.yaml(:\d+)?: expected the name of a file, got none/);
});

test('X1, X29: check reads wsse of soapbridge.yaml', async (t) => {
  const { file, write } = configOf(t);
  const contract = contractWith(t, 'wsse: { x509: { ca: none.pem } }');
  write(contract, { ...token, x509, sign });
  const { code, out, err } = await run(t, ['check', '--config', file]).ended;
  t.is(code, 0, err);
  t.regex(out, /^known certificate: CN=alice/m);
  write(contract, { ...token, x509: { ...x509, certificates: 'none.pem' } });
  const failed = await run(t, ['check', '--config', file]).ended;
  t.is(failed.code, 2);
  t.regex(failed.err, /soapbridge\.yaml:\d+#\/contracts\/~1v2\/wsse\/x509\/certificates: /);
});

test('X17: several workers are refused for wsse of soapbridge.yaml as for that of the overlay', async (t) => {
  const { file, write } = configOf(t);
  write(contractWith(t, 'wsse:'), { ...token, x509: { ...x509, replay: 'refuse' } });
  const { code, err } = await run(t, ['serve', '--config', file, '--workers', '2', '--port', '0']).ended;
  t.not(code, 0);
  t.regex(err, /--workers: expected 1 for a contract with wsse: x509: replay: refuse/);
});
