import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
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
