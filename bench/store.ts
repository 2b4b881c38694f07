import { hash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest, type RequestOptions } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '../gateway/store/open-store.ts';
import type { Store } from '../gateway/store/store.ts';
import { insertExchange, type StoredExchange } from '../gateway/store/tables/record.ts';
import { addUsage, putCaller, startOfDay } from '../gateway/store/tables/usage.ts';
import { numberOf, scriptArguments } from '../test/script-arguments.ts';
import { contract, filter, port11, requestOf, submissions } from './migration-servers.ts';
import {
  cpuMicroseconds,
  freePort,
  loopMicroseconds,
  median,
  runOn,
  type Started,
  start,
  stop,
} from './process.ts';
import { otherCore, serverCore } from './small-call.ts';

const operations = ['GetSubmissionList', 'GetOpportunityList', 'GetApplicationZip'];
const token = 'token-of-bench';

/** Pages and lists that an operator opens. */
const pages: readonly (readonly [name: string, path: string])[] = [
  ['page of exchanges', '/%2F/exchanges'],
  ['page of the exchanges of a caller', '/%2F/exchanges?caller=caller-7'],
  ['list of 200 exchanges', '/api/v1/contracts/%2F/exchanges?limit=200'],
  ['page of an exchange', '/%2F/exchanges?id=e0050000'],
  ['page of callers', '/%2F/callers'],
  ['page of a contract', '/%2F'],
  ['page of an operation', '/%2F/operations/GetSubmissionList'],
];

/** Writes exchanges of 500 callers within 30 days, and their usage. */
async function fill(store: Store, count: number): Promise<void> {
  const now = Date.now();
  const body = Buffer.from(submissions(1, 3).xml);
  const exchangeOf = (index: number): StoredExchange => ({
    id: `e${String(index).padStart(7, '0')}`,
    contract: '/',
    at: now - Math.round(((count - index) / count) * 29 * 86_400_000),
    operation: operations[index % operations.length] ?? '',
    caller: `caller-${index % 500}`,
    ...{ mode: 'legacy', rule: 'otherwise', redaction: 'pseudonyms' as const },
    details: {
      ...{ requestId: `r${index}`, path: port11, version: '1.1' as const },
      request: { headers: { 'Content-Type': 'text/xml' }, size: 500 },
      legacy: { headers: { 'Content-Type': 'text/xml' }, size: body.length, status: 200, ms: 12 },
    },
    ...{ request: body.subarray(0, 500), requestJson: '{}', legacy: body, new: undefined },
  });
  const counts = { calls: 9, faults: 1, reordered: 0, ignored: 0, illegalReferences: 0, noAction: 0 };
  for (let from = 0; from < count; from += 1_000) {
    const part = Array.from({ length: Math.min(1_000, count - from) }, (_, index) =>
      exchangeOf(from + index),
    );
    await store.write([
      ...part.map(insertExchange),
      ...part.map(({ operation, caller = '', at }) =>
        addUsage('/', {
          ...{ operation, caller, day: startOfDay(at), binding: 'soap11', side: 'legacy', lastAt: at },
          ...counts,
        }),
      ),
      ...part.map(({ caller = '', at }) => {
        const unknown = { network: undefined, userAgent: undefined, subject: undefined, stack: 'unknown' };
        return putCaller('/', { caller, ...unknown, firstAt: at, lastAt: at }, 10_000);
      }),
    ]);
  }
}

interface Server {
  readonly gateway: Started;
  readonly port: number;
  readonly adminUrl: string;
  readonly legacy: Started;
}

async function startGateway(folder: string): Promise<Server> {
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    chmodSync(join(folder, name), 0o600);
    return join(folder, name);
  };
  const reply = write('reply', submissions(1, 3).xml);
  const [legacyPort, port, adminPort] = [await freePort(), await freePort(), await freePort()];
  const stub = join(import.meta.dirname, 'servers/upstream.ts');
  const legacyArgs = [stub, String(legacyPort), reply, 'text/xml; charset=utf-8'];
  const legacy = await start(otherCore, legacyArgs, 'ready');
  const url = `http://127.0.0.1:${legacyPort}`;
  write('tokens.yaml', JSON.stringify([{ name: 'bench', role: 'change', sha256: hash('sha256', token) }]));
  const config = {
    contracts: { '/': { contract, upstream: url, legacy: url } },
    store: 'sqlite:store.db',
    admin: { listen: `127.0.0.1:${adminPort}`, tokens: 'tokens.yaml' },
  };
  const bin = join(import.meta.dirname, '../bin/soapbridge.js');
  const file = write('soapbridge.yaml', JSON.stringify(config));
  const args = ['--conditions=soapbridge-source', bin, 'serve', '--config', file];
  const gateway = await start(serverCore, args, 'listens', {
    PORT: String(port),
    SOAPBRIDGE_LOG_LEVEL: 'silent',
    SOAPBRIDGE_CALLER_KEY: write('caller.key', '0123456789abcdef'),
  });
  return { gateway, port, adminUrl: `http://127.0.0.1:${adminPort}`, legacy };
}

/** Loads a page, and returns its duration in ms. */
async function load({ adminUrl }: Server, path: string): Promise<number> {
  const began = performance.now();
  const reply = await fetch(adminUrl + path, { headers: { authorization: `Bearer ${token}` } });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${path}: expected 200, got ${reply.status} ${text}`);
  return performance.now() - began;
}

/** Figures of calls at a fixed rate: 99th percentile in ms, and CPU in µs per call. */
interface Paced {
  readonly p99: number;
  readonly cpu: number;
}

/** Sends a call, and again if the gateway has closed the connection that was kept open. */
function callOnce(options: RequestOptions, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(options, (response) => response.resume().on('end', resolve));
    request
      .on('error', (error) =>
        request.reusedSocket ? callOnce(options, body).then(resolve, reject) : reject(error),
      )
      .end(body);
  });
}

async function callPaced({ port, gateway: { pid } }: Server, rate: number, seconds: number): Promise<Paced> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const body = requestOf('GetSubmissionList', filter('x'.repeat(500)));
  const headers = { 'Content-Type': 'text/xml; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
  const options = { host: '127.0.0.1', port, path: port11, method: 'POST', headers, agent };
  const calls: Promise<number>[] = [];
  const [cpu, started] = [cpuMicroseconds(pid), performance.now()];
  for (let due = 0; due < rate * seconds; due++) {
    const at = started + (due * 1_000) / rate;
    const waitMs = at - performance.now();
    if (waitMs > 0) await delay(waitMs);
    calls.push(callOnce(options, body).then(() => performance.now() - at));
  }
  const times = (await Promise.all(calls)).toSorted((a, b) => a - b);
  agent.destroy();
  const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN;
  return { p99, cpu: (cpuMicroseconds(pid) - cpu) / calls.length };
}

/** Measures the pages during calls at half of the server's core, alternately with calls without pages. */
async function measure(server: Server, rounds: number, seconds: number): Promise<void> {
  await callPaced(server, 200, 2 * seconds);
  const { cpu } = await callPaced(server, 200, seconds);
  const rate = 0.5e6 / cpu;
  const times = new Map(pages.map(([name]) => [name, [] as number[]]));
  const { pid } = server.gateway;
  for (const [name, path] of pages) {
    await load(server, path); // loads the modules
    const before = [loopMicroseconds(pid), cpuMicroseconds(pid)] as const;
    await load(server, path);
    const [loop, all] = [loopMicroseconds(pid) - before[0], cpuMicroseconds(pid) - before[1]];
    const ofLoop = (loop / 1_000).toFixed(0);
    console.log(`${name}: ${(all / 1_000).toFixed(0)} ms CPU, of which the event loop ${ofLoop} ms`);
  }
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const alone = await callPaced(server, rate, seconds);
    const during = callPaced(server, rate, seconds);
    for (const [name, path] of pages) times.get(name)?.push(await load(server, path));
    ratios.push((await during).p99 / alone.p99);
  }
  for (const [name, all] of times) print(`${name}, ms`, Math.max(...all), 1_000);
  print('p99 of calls during pages × without pages', median(ratios), 1.05);
}

function print(name: string, value: number, bound: number): void {
  console.log(`${name}: ${value.toFixed(2)}, ${value <= bound ? 'holds' : 'MISSED'} (≤ ${bound})`);
}

const help = `node bench/store.ts [EXCHANGES ROUNDS SECONDS --help]

Measures pages of the console and lists of the admin API over recorded exchanges in SQLite, during calls.

  EXCHANGES  recorded exchanges (default: 100000)
  ROUNDS     loads of each page (default: 5)
  SECONDS    duration of a round (default: 2)
  --help     print this help`;

const { positionals } = scriptArguments(help, { allowPositionals: true });
const [exchanges = '100000', rounds = '5', seconds = '2'] = positionals;
const folder = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
const started: Started[] = [];
try {
  const log = { info: () => {}, warn: () => {}, error: console.error };
  const store = await openStore({ url: `sqlite:${join(folder, 'store.db')}`, storeMs: 600_000, log });
  await fill(store, numberOf('EXCHANGES', exchanges));
  await store.close();
  runOn(otherCore);
  const server = await startGateway(folder);
  started.push(server.gateway, server.legacy);
  await measure(server, numberOf('ROUNDS', rounds, 1), numberOf('SECONDS', seconds));
} finally {
  for (const one of started) await stop(one);
  rmSync(folder, { recursive: true });
}
