import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { screeningContract } from '../mappings/loader/load.ts';
import { scriptArguments } from '../test/script-arguments.ts';
import { screeningCodecs } from './codecs.ts';
import { writePlainDocument } from './contracts.ts';
import { searchReply, subUserRequest } from './messages.ts';
import {
  cpuMicroseconds,
  freePort,
  median,
  residentMegabytes,
  type Started,
  start,
  stop,
} from './process.ts';

const help = `npm run bench:scale [-- --help]

Measures contracts per process, memory during a reload, and the cost per byte of a call through a gateway. Prints the
tables of docs/scale.md. Takes about one minute.

  --help        print this help`;

const contractCounts = [1, 20, 100] as const;
const operationsPerContract = 50;
const megabytes = [0.1, 0.5, 2] as const;
/** Time until a process has released the memory that only its start or reload needed. */
const idleMs = 6_000;

/** Starts a gateway with a configuration file in a folder. */
async function startWith(folder: string, config: object): Promise<Started & { readonly port: number }> {
  const port = await freePort();
  const file = join(folder, 'soapbridge.yaml');
  writeFileSync(file, JSON.stringify(config));
  const command = [join(import.meta.dirname, '../bin/soapbridge.js'), 'serve', '--config', file];
  return {
    ...(await start('0-1', command, 'listens', {
      PORT: String(port),
      SOAPBRIDGE_LIMITS: 'bodyBytes=4194304',
    })),
    port,
  };
}

/** Returns the peak of resident memory since the last reset, in MB. */
function peakMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Reloads all contracts of a gateway. Returns the duration in ms. */
async function reload({ child }: Started): Promise<number> {
  const started = performance.now();
  child.kill('SIGHUP');
  for (;;) {
    const [chunk] = await once(child.stdout ?? child, 'data');
    if (String(chunk).includes('"msg":"reloaded"')) return performance.now() - started;
  }
}

/** Measures the start, the idle memory and a reload of a process with a number of contracts. */
async function measureContracts(count: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'scale-'));
  const contracts: Record<string, object> = {};
  for (let index = 0; index < count; index++) {
    const openapi = join(folder, `openapi-${index}.json`);
    writePlainDocument(openapi, operationsPerContract);
    contracts[`/orders${index}`] = { openapi, upstream: 'http://127.0.0.1:9' };
  }
  const gateway = await startWith(folder, { contracts });
  await pause(idleMs);
  const idle = residentMegabytes(gateway.pid);
  writeFileSync(`/proc/${gateway.pid}/clear_refs`, '5'); // resets the peak
  const ms = await reload(gateway);
  await pause(idleMs);
  const cells = [idle, ms, peakMegabytes(gateway.pid), residentMegabytes(gateway.pid)];
  await stop(gateway);
  rmSync(folder, { recursive: true });
  const start = gateway.startMs.toFixed(0);
  return `| ${count} | ${start} | ${cells.map((cell) => cell.toFixed(0)).join(' | ')} |`;
}

/** Returns the CPU time of a gateway per byte of a message, in ns: median of several calls. */
async function costOf(
  { pid, port }: { readonly pid: number; readonly port: number },
  path: string,
  body: string,
  bytes: number,
): Promise<number> {
  const times = Math.max(20, Math.round(4e7 / bytes)); // each size is equally warm
  const figures: number[] = [];
  for (let time = 0; time < times; time++) {
    const before = cpuMicroseconds(pid);
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body });
    if (reply.status !== 200)
      throw new Error(`${path}: expected 200, got ${reply.status} ${await reply.text()}`);
    await reply.arrayBuffer();
    figures.push(((cpuMicroseconds(pid) - before) * 1_000) / bytes);
  }
  return median(figures.slice(times / 2)); // the first calls warm up V8
}

/** Measures calls with large requests and with large replies. */
async function measureBytes(): Promise<readonly string[]> {
  let reply = '';
  const upstream = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(reply));
  });
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'scale-'));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const gateway = await startWith(folder, {
    contracts: { '/v2': { contract: screeningContract, upstream: url } },
  });
  const { namespaces } = screeningCodecs();
  const search = `<GetSearch xmlns="${namespaces.types}"><Authentication><ApiUserId>demo</ApiUserId><ApiUserKey>demo-key</ApiUserKey></Authentication><Request><Id>1</Id></Request></GetSearch>`;
  const rows: string[] = [];
  try {
    for (const size of megabytes) {
      reply = '{"data":{"responseStatus":{}}}';
      const request = subUserRequest(size, namespaces.types, namespaces.arrays);
      const read = await costOf(gateway, '/v2/xml/reply/UpdateSubUser', request, Buffer.byteLength(request));
      reply = searchReply(size);
      const written = await costOf(gateway, '/v2/xml/reply/GetSearch', search, Buffer.byteLength(reply));
      rows.push(`| ${size} | ${read.toFixed(1)} | ${written.toFixed(1)} |`);
    }
  } finally {
    await stop(gateway);
    upstream.closeAllConnections();
    upstream.close();
    rmSync(folder, { recursive: true });
  }
  return rows;
}

scriptArguments(help, {});
console.log(`Contracts with ${operationsPerContract} operations each\n
| contracts | start, ms | idle, MB | reload, ms | peak of a reload, MB | idle after it, MB |
|---|---|---|---|---|---|`);
for (const count of contractCounts) console.log(await measureContracts(count));
console.log(`\nCPU per byte of one call through a gateway, ns\n
| MB | request, XML → JSON | reply, JSON → XML |
|---|---|---|`);
for (const row of await measureBytes()) console.log(row);
