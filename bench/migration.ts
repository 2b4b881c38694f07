import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { compileAdopted } from '../mappings/codec/adopted/compile.ts';
import { compileComparison } from '../mappings/compare/compare.ts';
import { decodeReply } from '../mappings/compare/reply.ts';
import { serviceOf } from '../mappings/contract/adopted.ts';
import { defaultLimits } from '../mappings/contract/limits.ts';
import { readContract } from '../mappings/loader/load.ts';
import { numberOf, scriptArguments } from '../test/script-arguments.ts';
import { type BigRow, documentOf, measureCalls } from './big.ts';
import {
  contract,
  filter,
  port11,
  requestOf,
  requestsTo,
  type Servers,
  startServers,
  submissions,
} from './migration-servers.ts';
import { cpuMicroseconds, loopMicroseconds, median, runOn } from './process.ts';
import { againSeconds, callFor, otherCore } from './small-call.ts';

/** A ratio, or a figure in the unit of its name, and its maximum. */
export interface MigrationRow {
  readonly name: string;
  readonly value: number;
  readonly bound: number;
}

const names = ['/new', '/rules', '/legacy', '/blend', '/list', 'proxy'] as const;
type Name = (typeof names)[number];
/** CPU µs per request of a round, by contract. */
type Round = Readonly<Record<Name, number>>;

async function measureRound(servers: Servers, seconds: number, turn: number): Promise<Round> {
  const found: Partial<Record<Name, number>> = {};
  const first = turn % names.length;
  for (const name of [...names.slice(first), ...names.slice(0, first)]) {
    const isProxy = name === 'proxy';
    const [started, port] = isProxy ? [servers.proxy, servers.proxyPort] : [servers.gateway, servers.port];
    const callee = { port, started, requests: requestsTo(isProxy ? '' : name) };
    await callFor(callee, againSeconds);
    found[name] = (await callFor(callee, seconds)).cpuPerRequest;
  }
  return found as Round;
}

/** Figures of calls at a fixed rate: 99th percentile in ms, and CPU in µs per request. */
interface Paced {
  readonly p99: number;
  readonly cpu: number;
  readonly loop: number;
}

/** Calls a contract at a fixed rate, whatever its replies take. */
async function callPaced(
  { port, gateway: { pid } }: Servers,
  path: string,
  rate: number,
  seconds: number,
): Promise<Paced> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const body = requestOf('GetSubmissionList', filter('x'.repeat(500)));
  const headers = { 'Content-Type': 'text/xml; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
  const calls: Promise<number>[] = [];
  const [cpu, loop] = [cpuMicroseconds(pid), loopMicroseconds(pid)];
  const started = performance.now();
  for (let due = 0; due < rate * seconds; due++) {
    const at = started + (due * 1000) / rate;
    if (at > performance.now()) await delay(at - performance.now());
    const options = { host: '127.0.0.1', port, path: `${path}${port11}`, method: 'POST', headers, agent };
    calls.push(
      new Promise((resolve, reject) => {
        const request = httpRequest(options, (response) => {
          response.resume().on('end', () => resolve(performance.now() - at));
        });
        request.on('error', reject).end(body);
      }),
    );
  }
  const times = (await Promise.all(calls)).toSorted((a, b) => a - b);
  await delay(100); // comparisons of these calls
  agent.destroy();
  return {
    p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
    cpu: (cpuMicroseconds(pid) - cpu) / calls.length,
    loop: (loopMicroseconds(pid) - loop) / calls.length,
  };
}

/** Returns the numbers of compared and skipped calls of mode `compare`. */
async function comparedCounts({
  port,
}: Servers): Promise<{ readonly compared: number; readonly skipped: number }> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const total = (pattern: RegExp): number =>
    [...text.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
  return {
    compared: total(/migration_compared_total\{.*contract="\/compare".*\} (\d+)/g),
    skipped: total(/migration_skipped_total\{.*contract="\/compare".*\} (\d+)/g),
  };
}

/** Measures mode `compare` at a rate that uses half of the server's core, so that no comparison is skipped. */
async function measureCompare(
  servers: Servers,
  rounds: number,
  seconds: number,
): Promise<readonly MigrationRow[]> {
  const few = await callPaced(servers, '/compare', 100, 4 * seconds);
  const rate = 0.5e6 / few.cpu;
  const before = await comparedCounts(servers);
  const found: Record<'fresh' | 'legacy' | 'compare' | 'record', Paced>[] = [];
  for (let turn = 0; turn < rounds; turn++)
    found.push({
      fresh: await callPaced(servers, '/new', rate, seconds),
      legacy: await callPaced(servers, '/legacy', rate, seconds),
      compare: await callPaced(servers, '/compare', rate, seconds),
      record: await callPaced(servers, '/record', rate, seconds),
    });
  const after = await comparedCounts(servers);
  const skipped = after.skipped - before.skipped;
  const ratio = (figure: 'cpu' | 'loop'): number =>
    median(found.map(({ fresh, compare }) => compare[figure] / fresh[figure]));
  const late = found.map(({ legacy, compare }) => compare.p99 - 1.05 * legacy.p99);
  const share = skipped / (skipped + after.compared - before.compared);
  return [
    { name: 'compare, CPU of the process × new', value: ratio('cpu'), bound: 4 },
    { name: 'compare, CPU of the event loop × new', value: ratio('loop'), bound: 2.2 },
    {
      name: 'record with compare, CPU of the process × compare',
      value: median(found.map(({ compare, record }) => record.cpu / compare.cpu)),
      bound: 1.25,
    },
    { name: 'compare at half load, p99 minus 1.05 × p99 of legacy, ms', value: median(late), bound: 1 },
    { name: 'compare at half load, share of calls that were not compared', value: share, bound: 0.01 },
  ];
}

/** Compares two replies of 1 MB with one different value, and returns the time relative to decoding one. */
function measureComparison(rounds: number): number {
  const { contract: agency } = readContract(contract);
  const [first, second] = [submissions(1, 2_400), submissions(1, 2_400, 1_200)].map(({ xml }) => ({
    status: 200,
    contentType: 'text/xml; charset=utf-8',
    body: Buffer.from(xml),
  })) as [ReplyOf, ReplyOf];
  const codecs = compileAdopted(serviceOf(agency), agency.settings).operations.get('GetSubmissionList');
  const comparer = compileComparison(agency);
  if (codecs === undefined) throw new Error('expected the operation GetSubmissionList');
  const timeOf = (work: () => unknown): number => {
    const started = performance.now();
    work();
    return performance.now() - started;
  };
  const ratios = Array.from({ length: rounds + 3 }, () => {
    const one = timeOf(() => decodeReply(codecs, first, defaultLimits));
    return timeOf(() => comparer.compare('GetSubmissionList', first, second)) / one;
  });
  return median(ratios.slice(3));
}
type ReplyOf = { readonly status: number; readonly contentType: string; readonly body: Buffer };

/** Forwards a package of 100 MB and a reply of 100 MB. */
async function measureForwarding(folder: string): Promise<BigRow | undefined> {
  const root = requestOf(
    'NotifyArrival',
    '<c:GrantsGovTrackingNumber>GRANT00000001</c:GrantsGovTrackingNumber>',
  );
  const head = `--b\r\nContent-ID: <r>\r\nContent-Type: application/xop+xml; type="text/xml"\r\n\r\n${root}\r\n--b\r\nContent-ID: <p>\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), documentOf(100), Buffer.from('\r\n--b--\r\n')]);
  const type =
    'multipart/related; type="application/xop+xml"; start="<r>"; start-info="text/xml"; boundary=b';
  const config = (legacy: string): string => {
    const file = join(folder, 'forwarding.yaml');
    writeFileSync(file, JSON.stringify({ contracts: { '/': { contract, upstream: legacy, legacy } } }));
    return file;
  };
  const call = { what: 'legacy', megabytes: 100, config, path: port11, headers: { 'content-type': type } };
  const [row] = await measureCalls([{ ...call, body, reply: body, least: body.length }], 3);
  return row;
}

/** Measures the modes of a migration, all through one process, alternately. */
export async function measureMigration(rounds: number, seconds: number): Promise<readonly MigrationRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
  runOn(otherCore);
  try {
    const forwarding = await measureForwarding(folder);
    const servers = await startServers(folder);
    try {
      await measureRound(servers, 4 * seconds, 0);
      const found: Round[] = [];
      for (let turn = 0; turn < rounds; turn++) found.push(await measureRound(servers, seconds, turn));
      const ratio = (name: Name, to: Name): number => median(found.map((round) => round[name] / round[to]));
      return [
        {
          name: 'new with 20 rules, three with values, CPU × new',
          value: ratio('/rules', '/new'),
          bound: 1.05,
        },
        {
          name: 'legacy, CPU × Node http + undici proxy',
          value: ratio('/legacy', 'proxy'),
          bound: 1.15,
        },
        {
          name: 'legacy with 100 MB, additional memory, MB',
          value: (forwarding?.memoryRatio ?? Number.NaN) * 100,
          bound: 32,
        },
        {
          name: 'legacy with 100 MB, longest block, CPU ms',
          value: forwarding?.heldCpuMs ?? Number.NaN,
          bound: 20,
        },
        ...(await measureCompare(servers, rounds, seconds)),
        {
          name: 'blend of 2 × 1,000 items, CPU × new with 2,000',
          value: ratio('/blend', '/list'),
          bound: 2.2,
        },
        { name: 'comparison of two replies of 1 MB × decoding one', value: measureComparison(7), bound: 3 },
      ];
    } finally {
      await servers.stop();
    }
  } finally {
    runOn('all');
    rmSync(folder, { recursive: true });
  }
}

const help = `node bench/migration.ts [ROUNDS SECONDS --help]

Measures the cost of the modes of a migration.

  ROUNDS   rounds of calls in each mode (default: 10)
  SECONDS  duration of a round (default: 0.6)
  --help   print this help`;

if (import.meta.main) {
  const { positionals } = scriptArguments(help, { allowPositionals: true });
  const rounds = numberOf('ROUNDS', positionals[0] ?? '10');
  for (const { name, value, bound } of await measureMigration(
    rounds,
    numberOf('SECONDS', positionals[1] ?? '0.6'),
  ))
    console.log(`${name}: ${value.toFixed(2)}, ${value <= bound ? 'holds' : 'MISSED'} (≤ ${bound})`);
}
