import { createPublicKey, sign, verify } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namespaces } from '../mappings/contract/model.ts';
import { screeningContract } from '../mappings/loader/load.ts';
import { numberOf, scriptArguments } from '../test/script-arguments.ts';
import { folder as fixtures } from '../test/security/captures.ts';
import { keyOf, signed } from '../test/security/sign.ts';
import { freePort, median, runOn, start, stop } from './process.ts';
import { user } from './security-requests.ts';
import { againSeconds, callFor, otherCore, serverCore, warmSeconds } from './small-call.ts';

/** CPU that a signature adds to a call of 5 KB with a UsernameToken. */
export interface SignatureRow {
  readonly what: string;
  /** CPU ms per call without the RSA operation; the goal is its maximum. */
  readonly added: number;
  readonly goal: number;
  /** CPU ms of the RSA operation alone. */
  readonly rsa: number;
}

const rsaCalls = 300;

/** Returns the CPU ms of one call of a function. */
function cpuOf(run: () => void): number {
  for (let count = 0; count < rsaCalls; count++) run();
  const before = process.cpuUsage();
  for (let count = 0; count < rsaCalls; count++) run();
  const { user: own, system } = process.cpuUsage(before);
  return (own + system) / 1_000 / rsaCalls;
}

/** Returns calls of 5 KB with a UsernameToken, with or without a signature over Body and Timestamp. */
function requestsOf(port: number, path: string, isSigned: boolean): readonly Buffer[] {
  const created = new Date().toISOString();
  const expires = new Date(Date.now() + 86_400_000).toISOString();
  return Array.from({ length: 64 }, (_, index) => {
    const names = Array.from(
      { length: 90 },
      (__, item) => `<a:string>name ${index} of item ${item}</a:string>`,
    );
    const payload = `<UpdateSubUser xmlns="http://schemas.servicestack.net/types" xmlns:a="http://schemas.microsoft.com/2003/10/Serialization/Arrays"><Request><Permissions>${names.join('')}</Permissions><SubUserName>jane</SubUserName></Request></UpdateSubUser>`;
    const token = `<o:UsernameToken xmlns:o="${namespaces.wsse}"><o:Username>${user.name}</o:Username><o:Password>key</o:Password></o:UsernameToken>`;
    const message = signed({
      payload,
      created,
      expires,
      block: token,
      ...(isSigned ? {} : { signatures: [] }),
    });
    const [start = '', rest = ''] = message.split('<o:BinarySecurityToken');
    const end = '</o:BinarySecurityToken>';
    const body = Buffer.from(isSigned ? message : start + rest.slice(rest.indexOf(end) + end.length));
    const head = `POST ${path}/soap11 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: ""\r\nContent-Length: ${body.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), body]);
  });
}

/** Writes a configuration with a contract for each row. */
function writeConfig(folder: string, upstream: string): string {
  cpSync(join(fixtures, 'keys'), join(folder, 'keys'), { recursive: true });
  chmodSync(join(folder, 'keys/gateway.key'), 0o600);
  const token = { username: 'apiUserId', password: 'apiUserKey' };
  const x509 = { certificates: 'keys/alice.crt', replay: 'allow' };
  const pair = { key: 'keys/gateway.key', certificate: 'keys/gateway.crt' };
  const settings = {
    '/plain': token,
    '/verify': { ...token, x509 },
    '/sign': { ...token, x509, sign: pair },
  };
  const contracts = Object.fromEntries(
    Object.entries(settings).map(([path, wsse]) => [path, { contract: screeningContract, upstream, wsse }]),
  );
  const config = join(folder, 'soapbridge.yaml');
  writeFileSync(config, JSON.stringify({ contracts }));
  return config;
}

/** Measures calls without a signature, with one, and with signed replies, alternately in one process. */
export async function measureSignatures(rounds: number, seconds: number): Promise<readonly SignatureRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
  const upstreamPort = await freePort();
  const script = join(import.meta.dirname, 'servers/upstream.ts');
  const upstream = await start(otherCore, [script, String(upstreamPort)], 'ready');
  const port = await freePort();
  const bin = join(import.meta.dirname, '../bin/soapbridge.js');
  const config = writeConfig(folder, `http://127.0.0.1:${upstreamPort}`);
  const flags = ['--conditions=soapbridge-source', bin, 'serve', '--config', config];
  const environment = { PORT: String(port), SOAPBRIDGE_LOG_LEVEL: 'silent' };
  const started = await start(serverCore, flags, 'listens', environment);
  const all = ['/plain', '/verify', '/sign'].map((path) => requestsOf(port, path, path !== '/plain'));
  const costs = all.map((): number[] => []);
  const key = keyOf('alice');
  const publicKey = createPublicKey(key);
  const text = Buffer.alloc(1_000, 'a');
  const value = sign('sha256', text, key);
  const rsa = {
    verify: cpuOf(() => void verify('sha256', text, publicKey, value)),
    sign: cpuOf(() => void sign('sha256', text, key)),
  };
  runOn(otherCore);
  try {
    for (const requests of all) await callFor({ port, requests, started }, warmSeconds);
    for (let round = 0; round < rounds; round++)
      for (let turn = 0; turn < all.length; turn++) {
        const index = (round + turn) % all.length;
        const requests = all[index] ?? [];
        await callFor({ port, requests, started }, againSeconds);
        const { cpuPerRequest } = await callFor({ port, requests, started }, seconds);
        costs[index]?.push(cpuPerRequest / 1_000);
      }
  } finally {
    runOn('all');
    await stop(started);
    await stop(upstream);
    rmSync(folder, { recursive: true });
  }
  const [plain = [], verified = [], replied = []] = costs;
  // differences within a round, because the speed of the machine varies
  const addedTo = (less: readonly number[], more: readonly number[]): number =>
    median(more.map((cost, round) => cost - (less[round] ?? Number.NaN)));
  return [
    {
      what: 'verify a signed call',
      added: addedTo(plain, verified) - rsa.verify,
      goal: 0.35,
      rsa: rsa.verify,
    },
    { what: 'sign its reply', added: addedTo(verified, replied) - rsa.sign, goal: 0.2, rsa: rsa.sign },
  ];
}

/** Formats a row for printing. */
export function signatureLine({ what, added, goal, rsa }: SignatureRow): string {
  const verdict = added <= goal ? 'holds' : 'MISSED';
  return `${what}: ${added.toFixed(2)} ms of CPU and one RSA operation (${rsa.toFixed(2)} ms), ${verdict} (≤ ${goal} ms)`;
}

const help = `npm run bench:signatures [-- ROUNDS SECONDS --help]

Measures the CPU that a signature adds to a call of 5 KB, and a signed reply.

  ROUNDS   rounds of calls (default: 10)
  SECONDS  duration of a round (default: 0.6)
  --help   print this help`;

if (import.meta.main) {
  const { positionals } = scriptArguments(help, { allowPositionals: true });
  const rounds = numberOf('ROUNDS', positionals[0] ?? '10');
  const rows = await measureSignatures(rounds, numberOf('SECONDS', positionals[1] ?? '0.6'));
  for (const row of rows) console.log(signatureLine(row));
}
