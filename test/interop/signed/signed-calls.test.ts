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

for (const { title, probe, command } of clients)
  test(`X31: ${title} accepts signed replies and faults in both versions of SOAP`, async (t) => {
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
    const pair = 'sign: { key: gateway.key, certificate: gateway.crt }';
    const gateway = await startSigned(t, 'signerOnlySha1', keys, {}, {}, pair);
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
