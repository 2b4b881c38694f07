import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { signingFiles } from '../../../wsdl/kits/signing.ts';
import { startSigned } from '../../security/signed.ts';

// Real client stacks sign calls and verify the signed replies. A stack that is not installed is skipped with the reason.

const run = promisify(execFile);

/**
 * Client stacks. `probe` fails if the stack is not installed. `command` gets the URL of the WSDL and the folder of the keys,
 * and prints lines of JSON with `title`, `ok` and `got`.
 */
const clients = [
  {
    title: 'zeep',
    // pip install zeep xmlsec; PYTHON names another interpreter
    probe: '"$' + '{PYTHON:-python3}" -c "import zeep, xmlsec"',
    command: '"$' + '{PYTHON:-python3}" zeep_client.py "$@"',
  },
  {
    title: 'CXF',
    // `npm run interop -- --install` installs it
    probe: 'javac -version && openssl version && ls "$' + '{CXF_LIB:-../cxf/lib}"/cxf-rt-ws-security-*.jar',
    command: 'sh cxf.sh "$@"',
  },
] as const;

const pair = '{ key: gateway.key, certificate: gateway.crt }';

/** Settings of the gateway. The policy of the WSDL asks for what they require. */
const settings = [
  { title: 'X31', what: 'signed', variant: 'signerOnlySha1', more: `sign: ${pair}`, stacks: ['zeep', 'CXF'] },
  {
    title: 'X32',
    what: 'encrypted',
    // the suites of WS-SecurityPolicy up to 1.3 use RSA-SHA1 and AES-CBC
    variant: 'signerOnlyEncrypted',
    more: `sign: ${pair}, decrypt: { cbc: true }`,
    stacks: ['CXF'],
  },
] as const;

const cases = clients.flatMap((client) =>
  settings
    .filter(({ stacks }) => stacks.some((stack) => stack === client.title))
    .map((setting) => ({ client, setting })),
);

for (const { client, setting } of cases)
  test(`${setting.title}: ${client.title} accepts ${setting.what} replies and faults in both versions of SOAP`, async (t) => {
    const { title, probe, command } = client;
    const cwd = import.meta.dirname;
    const missing = await run('sh', ['-c', probe], { cwd }).catch((error: Error) =>
      error.message.trim().split('\n').at(-1),
    );
    if (typeof missing === 'string') {
      t.log(`skipped: ${title} is not installed (${missing})`);
      t.pass();
      return;
    }
    const keys = mkdtempSync(join(tmpdir(), 'signed-'));
    const gateway = await startSigned(t, setting.variant, keys, {}, {}, setting.more);
    gateway.answer({ body: '{"data":{"agreeToTerms":true}}' });
    const url = `${gateway.running.url}/v2/soap11?wsdl`;
    const { stdout } = await run('sh', ['-c', command, 'sh', url, keys], { cwd });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line): { title: string; ok: boolean; got: string } => JSON.parse(line));
    t.true(lines.length > 0);
    for (const line of lines) t.true(line.ok, `${line.title}: ${line.got}`);
  });

test('X38: the program of the kit for zeep makes a call that the gateway accepts, and verifies the reply', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'signed-'));
  const python = process.env.PYTHON ?? 'python3';
  const missing = await run(python, ['-c', 'import zeep, xmlsec']).catch((error: Error) => error.message);
  if (typeof missing === 'string') {
    t.log(`skipped: zeep is not installed (${missing})`);
    t.pass();
    return;
  }
  const pair = 'sign: { key: gateway.key, certificate: gateway.crt }';
  const gateway = await startSigned(t, 'default', cwd, {}, {}, pair);
  gateway.answer({ body: '{"data":{"agreeToTerms":true}}' });
  for (const kind of ['key', 'crt']) copyFileSync(join(cwd, `alice.${kind}`), join(cwd, `caller.${kind}`));
  const lists = { cas: [], certificates: [], crls: [], files: [] };
  const x509 = {
    ...lists,
    require: ['body', 'timestamp'],
    credential: undefined,
    sha1: false,
    replay: 'allow',
  } as const;
  const keys = { key: '', certificates: [''], files: [], confirmation: false } as const;
  const wsse = {
    username: undefined,
    password: undefined,
    digest: 'refuse',
    timestamp: 'required',
    unverified: [],
  } as const;
  const files = signingFiles({ ...wsse, x509, sign: keys }, `${gateway.running.url}/v2/soap11?wsdl`);
  const call = `${files.get('signing/zeep_signing.py')}print(client.service.GetEulaStatus(Request={"SubUserName": "jane"}))\n`;
  writeFileSync(join(cwd, 'call.py'), call);
  const { stdout } = await run(python, ['call.py'], { cwd });
  t.regex(stdout, /'AgreeToTerms': True/);
});
