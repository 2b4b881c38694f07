import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { screeningContract } from '../mappings/loader/load.ts';
import { numberOf, scriptArguments } from '../test/script-arguments.ts';
import type { Requests } from './load.ts';
import { freePort, median, runOn, start, stop } from './process.ts';
import { digestRequests, textRequests, user } from './security-requests.ts';
import { againSeconds, callFor, otherCore, serverCore, usualRequests, warmSeconds } from './small-call.ts';

/** Cost of a small call with a UsernameToken. */
export interface TokenRow {
  readonly token: string;
  /**
   * Cost relative to a call with credentials in the body. Median of the ratios within each round, since the machine's
   * speed varies.
   */
  readonly ratio: number;
  /** Maximum allowed ratio. */
  readonly bound: number;
  /** CPU µs per request, with the token and with credentials in the body. */
  readonly cpu: number;
  readonly withoutCpu: number;
}

const kinds: readonly {
  readonly token: string;
  readonly bound: number;
  readonly requests: (port: number) => Requests;
}[] = [
  { token: 'UsernameToken, text', bound: 1.1, requests: textRequests },
  { token: 'UsernameToken, digest', bound: 1.25, requests: digestRequests },
];

/**
 * Measures a small call with credentials in the body, with a text UsernameToken and with a digest, alternately. One
 * process serves all calls, because V8's compilation of the same code varies between processes.
 */
export async function measureTokens(rounds: number, seconds: number): Promise<readonly TokenRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
  const upstreamPort = await freePort();
  const upstream = await start(
    otherCore,
    [join(import.meta.dirname, 'servers/upstream.ts'), String(upstreamPort)],
    'ready',
  );
  const port = await freePort();
  const bin = join(import.meta.dirname, '../bin/soapbridge.js');
  const started = await start(
    serverCore,
    ['--conditions=soapbridge-source', bin, 'serve', writeCheckingContract(folder)],
    'listens',
    {
      PORT: String(port),
      SOAPBRIDGE_UPSTREAM_URL: `http://127.0.0.1:${upstreamPort}`,
      SOAPBRIDGE_LOG_LEVEL: 'silent',
      SOAPBRIDGE_WSSE_SECRETS: join(folder, 'secrets.yaml'),
      SOAPBRIDGE_LIMITS: 'wsseFreshMs=4000,wsseSkewMs=1000,wsseNonces=1000000', // about 100,000 live nonces, as many as with the defaults
    },
  );
  const costsOf = async (requests: Requests, duration: number): Promise<number> =>
    (await callFor({ port, requests, started }, duration)).cpuPerRequest;
  const without = usualRequests(port);
  const contenders = kinds.map(({ token, bound, requests }) => ({ token, bound, requests: requests(port) }));
  const all = [without, ...contenders.map(({ requests }) => requests)];
  const costs = all.map((): number[] => []);
  runOn(otherCore);
  try {
    for (const requests of all) await costsOf(requests, warmSeconds);
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < all.length; turn++) {
        const index = (round + turn) % all.length;
        const requests = all[index] ?? without;
        await costsOf(requests, againSeconds);
        costs[index]?.push(await costsOf(requests, seconds));
      }
    }
  } finally {
    runOn('all');
    await stop(started);
    await stop(upstream);
    rmSync(folder, { recursive: true });
  }
  const [own = [], ...others] = costs;
  return contenders.map(({ token, bound }, index) => ({
    token,
    bound,
    ratio: median(others[index]?.map((cost, round) => cost / (own[round] ?? Number.NaN)) ?? []),
    cpu: median(others[index] ?? []),
    withoutCpu: median(own),
  }));
}

/** Writes a contract that checks digests against a file of secrets. */
function writeCheckingContract(folder: string): string {
  const contract = join(folder, 'digests');
  cpSync(screeningContract, contract, { recursive: true });
  const overlay = join(contract, 'soap.yaml');
  const refusing = readFileSync(overlay, 'utf8');
  const checking = refusing.replace('password: apiUserKey }', 'password: apiUserKey, digest: secrets }');
  if (checking === refusing) throw new Error(`${overlay}: expected wsse with password: apiUserKey, got none`);
  writeFileSync(overlay, checking);
  writeFileSync(join(folder, 'secrets.yaml'), `${user.name}: ${user.secret}\n`, { mode: 0o600 });
  return contract;
}

/** Formats a row for printing. */
export function tokenLine({ token, ratio, bound, cpu, withoutCpu }: TokenRow): string {
  const verdict = ratio <= bound ? 'holds' : 'MISSED';
  return `${token}: ${ratio.toFixed(2)} of a plain small call (${cpu.toFixed(1)} and ${withoutCpu.toFixed(1)} µs of CPU), ${verdict} (≤ ${bound})`;
}

const help = `npm run bench:tokens [-- ROUNDS SECONDS --help]

Measures the cost that a UsernameToken adds to a small call.

  ROUNDS   rounds of calls with each token (default: 20)
  SECONDS  duration of a round (default: 0.6)
  --help   print this help`;

if (import.meta.main) {
  const { positionals } = scriptArguments(help, { allowPositionals: true });
  const rounds = numberOf('ROUNDS', positionals[0] ?? '20');
  const rows = await measureTokens(rounds, numberOf('SECONDS', positionals[1] ?? '0.6'));
  for (const row of rows) console.log(tokenLine(row));
}
