import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readTokens } from '../../../gateway/admin/tokens.ts';
import { type CheckedFiles, checkFiles } from '../../../gateway/process/check-files.ts';
import { type ConfigFile, openConfig, readConfig } from '../../../gateway/process/config.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { createAuthority } from '../certificates.ts';
import { run } from './run.ts';

const { contract } = readContract(screeningContract);

interface Files {
  readonly write: (name: string, text: string, mode?: number) => string;
  readonly check: (options?: Partial<CheckedFiles>) => ReturnType<typeof checkFiles>;
  readonly authority: ReturnType<typeof createAuthority>;
}

const none: CheckedFiles = {
  config: undefined,
  tls: undefined,
  wsseSecrets: undefined,
  callerLimits: undefined,
  limitStore: undefined,
  trustedProxies: [],
  callerFiles: {},
  readTokens,
};

/** Creates a folder with valid certificates: `own` of the gateway, `client` towards the upstream, and their CA. */
function filesOf(t: ExecutionContext): Files {
  const folder = mkdtempSync(join(tmpdir(), 'check-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const authority = createAuthority(t);
  const write = (name: string, text: string, mode = 0o644): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode });
    return path;
  };
  for (const name of ['own', 'client']) {
    const { cert, key } = authority.issue({ days: 90 });
    write(`${name}.pem`, cert);
    write(`${name}.key`, key);
  }
  write('ca.pem', authority.cert);
  const check: Files['check'] = (options) => checkFiles({ ...none, ...options }, [contract]);
  return { write, check, authority };
}

const tls = { certificate: 'own.pem', key: 'own.key' };
const upstream = {
  url: 'https://127.0.0.1:1',
  tls: { ca: 'ca.pem', certificate: 'client.pem', key: 'client.key' },
};

/** Writes a configuration file with these settings. */
function configOf({ write }: Files, settings: object): ConfigFile {
  const contracts = { '/v2': { contract: screeningContract, upstream } };
  return openConfig(write('soapbridge.yaml', JSON.stringify({ contracts, ...settings })));
}

type Shown = readonly (readonly [pointer: string, message: RegExp])[];

function pointersAre(t: ExecutionContext, { problems }: ReturnType<typeof checkFiles>, shown: Shown): void {
  t.deepEqual(
    problems.map(({ pointer }) => pointer),
    shown.map(([pointer]) => pointer),
    JSON.stringify(problems),
  );
  for (const [index, [, message]] of shown.entries()) t.regex(problems[index]?.message ?? '', message);
}

for (const [listener, at] of [
  ['tls', '/tls'],
  ['admin', '/admin/tls'],
] as const) {
  const settings = (own: object): object =>
    listener === 'tls' ? { tls: own } : { admin: { listen: '127.0.0.1:9', tls: own, tokens: 'tokens.yaml' } };
  for (const [title, change, shown] of [
    [
      'a missing key',
      (files: Files) => ({ of: files, own: { ...tls, key: 'none.key' } }),
      [[`${at}/key`, /none/]],
    ],
    [
      'the key of another certificate',
      (files: Files) => ({ of: files, own: { ...tls, key: 'client.key' } }),
      [[`${at}/key`, /the key of the certificate/]],
    ],
    [
      'an expired certificate',
      (files: Files) => {
        const old = files.authority.issue({ days: -1 });
        files.write('old.pem', old.cert);
        files.write('old.key', old.key);
        return { of: files, own: { certificate: 'old.pem', key: 'old.key' } };
      },
      [[`${at}/certificate`, /valid now, got a certificate that expired/]],
    ],
    ['valid files', (files: Files) => ({ of: files, own: tls }), []],
  ] as const)
    test(`${at}: ${title} is reported ${shown.length} times`, (t) => {
      const files = filesOf(t);
      files.write('tokens.yaml', `- { name: a, role: read, sha256: "${'a'.repeat(64)}" }`, 0o600);
      const { own } = change(files);
      const found = files.check({ config: configOf(files, settings(own)) });
      pointersAre(t, found, shown as Shown);
    });
}

test('an expired client certificate towards the upstream is reported', (t) => {
  const files = filesOf(t);
  const old = files.authority.issue({ days: -1 });
  files.write('client.pem', old.cert);
  files.write('client.key', old.key);
  const found = files.check({ config: configOf(files, {}) });
  pointersAre(t, found, [['/contracts/~1v2/upstream/tls/certificate', /expired/]]);
});

test('a certificate with less than 30 days is a warning', (t) => {
  const files = filesOf(t);
  const { problems, warnings } = files.check({ config: configOf(files, { tls }) });
  t.deepEqual(problems, []);
  t.regex(
    warnings.join('\n'),
    /^certificate expires in less than 30 days: CN=test CA \(upstream of \/v2\), valid until 20/,
  );
});

test('X17: a memory of messages that replicas do not share is a warning', (t) => {
  const x509 = {
    cas: [],
    certificates: [],
    crls: [],
    require: ['body', 'timestamp'],
    credential: undefined,
  } as const;
  const wsse = {
    username: undefined,
    password: undefined,
    digest: 'refuse',
    timestamp: 'required',
    unverified: [],
    x509: { ...x509, sha1: false, replay: 'refuse', files: [] },
  } as const;
  const signed = { ...contract, wsse };
  t.regex(
    checkFiles(none, [signed]).warnings.join(),
    /^\/v2: each process remembers .*with several replicas, set SOAPBRIDGE_LIMIT_STORE$/,
  );
  t.deepEqual(checkFiles({ ...none, limitStore: 'redis://a' }, [signed]).warnings, []);
  t.deepEqual(checkFiles(none, [contract]).warnings, []);
  t.is(checkFiles({ ...none, limitStore: 'redis://a' }, [contract]).problems.length, 1);
});

test('limits, callers, secrets and their options are checked', (t) => {
  const files = filesOf(t);
  const limits = files.write('limits.yaml', 'each: { rate: 100/sec }');
  pointersAre(t, files.check({ callerLimits: limits }), [['/each/rate', /calls per time window/]]);
  const operations = files.write('operations.yaml', 'operations: { GetSerch: { rate: 1/s } }');
  pointersAre(t, files.check({ callerLimits: operations }), [['/operations/GetSerch', /GetSearch/]]);
  pointersAre(t, files.check({ limitStore: 'redis://a' }), [['', /expected SOAPBRIDGE_CALLER_LIMITS/]]);
  const callers = files.write('callers.yaml', 'acme: [1]');
  pointersAre(t, files.check({ callerFiles: { callers } }), [['/acme/0', /expected/]]);
  const open = files.write('secrets.yaml', 'ann: "s"', 0o644);
  pointersAre(t, files.check({ wsseSecrets: open }), [['', /chmod 600/]]);
  pointersAre(t, files.check({ trustedProxies: ['x'] }), [['', /IP address/]]);
});

test('problems of several files are reported together, and each once', (t) => {
  const files = filesOf(t);
  const config = configOf(files, { tls: { ...tls, key: 'none.key' }, unknown: 1 });
  const callerLimits = files.write('limits.yaml', 'each: { rate: 100/sec }');
  const { problems } = files.check({ config, callerLimits });
  const pointers = problems.map(({ pointer }) => pointer);
  t.deepEqual(pointers.toSorted(), ['/each/rate', '/unknown']);
});

test('check ends with 2 for a wrong file that serve reads, and prints the problem once', async (t) => {
  const files = filesOf(t);
  const config = configOf(files, { tls: { ...tls, key: 'none.key' } });
  const { code, err } = await run(t, ['check', '--config', config.path]).ended;
  t.is(code, 2);
  t.is(err.match(/#\/tls\/key: /g)?.length, 1, err);
  const limits = files.write('limits.yaml', 'each: { rate: 100/sec }');
  const of = await run(t, ['check', '--contract', screeningContract, '--json'], {
    SOAPBRIDGE_CALLER_LIMITS: limits,
  }).ended;
  t.is(of.code, 2);
  t.deepEqual(
    JSON.parse(of.out).problems.map(({ pointer }: { pointer: string }) => pointer),
    ['/each/rate'],
  );
});

test('soapbridge.yaml is read once: a change after it was opened has no effect', (t) => {
  const files = filesOf(t);
  const config = configOf(files, { tls });
  files.write('soapbridge.yaml', '{ unknown: 1 }');
  t.deepEqual(files.check({ config }).problems, []);
  for (let times = 0; times < 2; times++) t.is(readConfig(config).length, 1);
});

test('each use of an opened soapbridge.yaml reports its problems once', (t) => {
  const config = configOf(filesOf(t), { unknown: 1, clientCertificate: {} });
  for (let times = 0; times < 2; times++) {
    const { problems } = t.throws(() => readConfig(config), { instanceOf: ContractError }) ?? {};
    t.deepEqual(
      problems?.map(({ pointer }) => pointer),
      ['/unknown'],
    );
  }
});
