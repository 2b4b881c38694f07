import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { numberOf, scriptArguments } from '../test/script-arguments.ts';
import { measureAdoptedLoad } from './adopted.ts';
import { type BigRow, measureBig } from './big.ts';
import { type CodecRow, measureCodecs } from './codecs.ts';
import { measureContractLoad, writePlainDocument } from './contracts.ts';
import { measureFeatures, plain } from './features.ts';
import { growthSizes, measureGrowth } from './growth.ts';
import { measureMigration } from './migration.ts';
import { measureMtom } from './mtom.ts';
import { measurePause } from './pause.ts';
import { canPin, median } from './process.ts';
import { measureRequests } from './requests.ts';
import { measureSmallCall, passThrough, type SmallCallRow } from './small-call.ts';
import { measureStart } from './start.ts';
import { measureTokens, tokenLine } from './tokens.ts';
import { measureWorkers } from './workers.ts';

const help = `npm run bench [-- ROUNDS SECONDS --help]

Measures every figure of bench/README.md in one run, and prints a verdict for each.

  ROUNDS   rounds of calls to each server (default: 10)
  SECONDS  duration of a round (default: 0.6)
  --help   print this help`;

const starts = 5;
const { positionals } = scriptArguments(help, { allowPositionals: true });
const rounds = numberOf('ROUNDS', positionals[0] ?? '10');
const seconds = numberOf('SECONDS', positionals[1] ?? '0.6');

function verdict(value: number, bound: number, better: 'less' | 'more'): string {
  const holds = better === 'less' ? value <= bound : value >= bound;
  return `${holds ? 'holds' : 'MISSED'} (${better === 'less' ? '≤' : '≥'} ${bound})`;
}

function print(rows: readonly Record<string, string>[]): void {
  const [first = {}] = rows;
  const columns = Object.keys(first);
  console.log(`| ${columns.join(' | ')} |\n|${columns.map(() => '---').join('|')}|`);
  for (const row of rows) console.log(`| ${columns.map((column) => row[column] ?? '').join(' | ')} |`);
  console.log();
}

const nodeSoap = 'node-soap bridge';

function smallCallRows(rows: readonly SmallCallRow[]): Record<string, string>[] {
  /**
   * Returns the cost of a server relative to another server in the same round. Noise of the machine affects both
   * equally.
   */
  const ratio = ({ cpuPerRequest }: SmallCallRow, name: string): number => {
    const others = rows.find((row) => row.name === name)?.cpuPerRequest ?? [];
    return median(cpuPerRequest.map((cost, round) => cost / (others[round] ?? Number.NaN)));
  };
  const smallCallVerdict = (row: SmallCallRow): string => {
    if (row.name === 'soapbridge') {
      return `${verdict(ratio(row, passThrough), 1, 'less')} for the pass-through, ${verdict(ratio(row, nodeSoap), 0.33, 'less')} for node-soap`;
    }
    if (row.name === 'soapbridge, its WSDL imported')
      return `${verdict(ratio(row, 'soapbridge'), 1.1, 'less')} for the plain contract`;
    if (row.name !== 'soapbridge, 1,000 operations') return '';
    return `${verdict(ratio(row, 'soapbridge'), 1.05, 'less')} for 12 operations`;
  };
  return rows.map((row) => ({
    server: row.name,
    'CPU µs/request': median(row.cpuPerRequest).toFixed(1),
    '× pass-through': ratio(row, passThrough).toFixed(2),
    '× node-soap': ratio(row, nodeSoap).toFixed(2),
    'p50 ms': row.p50.toFixed(2),
    'p99 ms': row.p99.toFixed(2),
    verdict: smallCallVerdict(row),
  }));
}

function codecRows(rows: readonly CodecRow[]): Record<string, string>[] {
  return rows.map(({ name, megabytesPerSecond, ofJsonParse }) => ({
    codec: name,
    'MB/s': megabytesPerSecond.toFixed(0),
    '× JSON.parse': ofJsonParse.toFixed(2),
    verdict: codecVerdict(name, ofJsonParse),
  }));
}

function codecVerdict(name: string, ofJsonParse: number): string {
  if (name.startsWith('soapbridge JSON→XML')) return verdict(ofJsonParse, 0.3, 'more');
  return name.startsWith('soapbridge XML→JSON') ? verdict(ofJsonParse, 1.2, 'more') : '';
}

/** Measures loading a contract of many simple operations, and the cost of a call to it. */
function contractRows(): Record<string, string>[] {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
  try {
    return [
      { count: 1_000, bound: 1_000 },
      { count: 5_000, bound: 5_000 },
    ].map(({ count, bound }) => {
      const file = join(folder, `${count}.json`);
      writePlainDocument(file, count);
      const ms = measureContractLoad(file);
      return {
        'plain operations': String(count),
        'load and compile, ms': ms.toFixed(0),
        verdict: verdict(ms, bound, 'less'),
      };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const [cpu] = cpus();
console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpu?.model ?? 'unknown CPU'} × ${cpus().length}, ${canPin ? 'server on core 0, client and upstream on core 1' : 'not pinned: taskset is missing'}\n`,
);
console.log(
  `Small call (UpdateSubUser, SOAP 1.1, 32 connections, ${starts} starts, ${rounds} alternating rounds of ${seconds} s each, medians)\n`,
);
print(smallCallRows(await measureSmallCall(starts, rounds, seconds)));
console.log('The small call after a pause of 40 s, CPU µs/request in periods of 300 ms\n');
print(
  (await measurePause(40)).map(({ server, before, after }) => ({
    server,
    before: before.toFixed(1),
    after: after.map((cost) => cost.toFixed(1)).join(', '),
  })),
);
console.log('Codecs, bytes to bytes, 2 MB, medians of 25 alternating rounds\n');
print(codecRows(measureCodecs(2, 25)));
console.log('Requests that users send, XML to JSON, medians of 25 rounds\n');
print(
  measureRequests(25).map(({ name, ofJsonParse, bound }) => ({
    request: name,
    '× JSON.parse': ofJsonParse.toFixed(2),
    verdict: verdict(ofJsonParse, bound, 'more'),
  })),
);
console.log('What is switched on, and what a small call then costs\n');
const features = await measureFeatures(rounds, seconds);
const without = median(features.find(({ name }) => name === plain)?.cpuPerRequest ?? []);
print(
  features.map(({ name, cpuPerRequest, p50, p99, residentMegabytes }) => ({
    server: name,
    'CPU µs/request': median(cpuPerRequest).toFixed(1),
    'difference, µs': (median(cpuPerRequest) - without).toFixed(1),
    'p50 ms': p50.toFixed(2),
    'p99 ms': p99.toFixed(2),
    'memory, MB': residentMegabytes.toFixed(0),
  })),
);
console.log('UsernameTokens, alternating with credentials in the body\n');
for (const row of await measureTokens(2 * rounds, seconds)) console.log(`- ${tokenLine(row)}`);
console.log('\nGrowth, ns per byte by size in MB, and the exponent of size in time\n');
print(
  measureGrowth(5).map(({ direction, nanosecondsPerByte, slope }) => ({
    direction,
    ...Object.fromEntries(
      growthSizes.map((size, index) => [`${size} MB`, (nanosecondsPerByte[index] ?? 0).toFixed(2)]),
    ),
    slope: slope.toFixed(2),
    verdict: verdict(slope, 1.05, 'less'),
  })),
);
console.log('One large document: time that the event loop is blocked, and memory\n');
print(
  (await measureBig([10, 50], 5)).map(({ what, megabytes, heldMs, heldCpuMs, memoryRatio, totalMs }) => ({
    call: what,
    MB: String(megabytes),
    'blocked, ms': heldMs.toFixed(1),
    'blocked, CPU ms': heldCpuMs.toFixed(1),
    'memory ÷ document': memoryRatio.toFixed(2),
    'total, ms': totalMs.toFixed(0),
    verdict: `${verdict(heldCpuMs, 20, 'less')} for the event loop, ${verdict(memoryRatio, 3, 'less')} for memory`,
  })),
);
console.log(
  'A document in MTOM compared with base64: CPU of all threads, time that the event loop is blocked, memory\n',
);
const mtom = await measureMtom(5);
const [asText] = mtom;
const mtomVerdict = ({ what, cpuMs, memoryRatio, heldCpuMs }: BigRow): string => {
  if (what.startsWith('a reply')) return `${verdict(heldCpuMs, 20, 'less')} for the event loop`;
  if (asText === undefined || what === asText.what) return '';
  return `${verdict(cpuMs / asText.cpuMs, 1, 'less')} for CPU, ${verdict(memoryRatio / asText.memoryRatio, 1, 'less')} for memory`;
};
print(
  mtom.map((row) => ({
    message: row.what,
    MB: String(row.megabytes),
    'CPU, ms': row.cpuMs.toFixed(0),
    'blocked, CPU ms': row.heldCpuMs.toFixed(1),
    'memory ÷ document': row.memoryRatio.toFixed(2),
    'total, ms': row.totalMs.toFixed(0),
    verdict: mtomVerdict(row),
  })),
);
console.log('Contracts\n');
print(contractRows());
console.log('Imported WSDLs, from files to codecs\n');
print(
  measureAdoptedLoad(
    [
      { operations: 375, members: 2 },
      { operations: 1_500, members: 2 },
      { operations: 400, members: 60 },
      { operations: 1_600, members: 60 },
    ],
    3,
  ).map(({ operations, megabytes, ms, peakMegabytes }) => ({
    operations: String(operations),
    'WSDL, MB': megabytes.toFixed(1),
    'load and compile, ms': ms.toFixed(0),
    'ms/MB': (ms / megabytes).toFixed(0),
    'maximum memory, MB': peakMegabytes.toFixed(0),
    verdict:
      operations === 1_500
        ? verdict(ms, 5_000, 'less')
        : Math.round(megabytes) === 4
          ? `${verdict(ms, 3_000, 'less')} for time, ${verdict(peakMegabytes, 400, 'less')} for memory`
          : '',
  })),
);
console.log('Migration. `npm run bench:against` measures a contract without a legacy service.\n');
print(
  (await measureMigration(rounds, seconds)).map(({ name, value, bound }) => ({
    measurement: name,
    value: value.toFixed(2),
    verdict: verdict(value, bound, 'less'),
  })),
);
const { firstAnswerMs, idleMegabytes } = await measureStart(5);
console.log('Start\n');
print([
  {
    figure: 'start to first reply, ms',
    value: firstAnswerMs.toFixed(0),
    verdict: verdict(firstAnswerMs, 500, 'less'),
  },
  {
    figure: 'resident memory idle, MB',
    value: idleMegabytes.toFixed(0),
    verdict: verdict(idleMegabytes, 120, 'less'),
  },
]);
console.log(
  'Workers on all cores. Client and upstream share the cores, so CPU per request shows the cost of another worker.\n',
);
print(
  (await measureWorkers([1, 2], 2)).map(({ workers, requestsPerSecond, cpuPerRequest, busiest }) => ({
    workers: String(workers),
    'requests/s': requestsPerSecond.toFixed(0),
    'CPU µs/request': cpuPerRequest.toFixed(1),
    'busiest worker’s share': busiest.toFixed(2),
    verdict: '',
  })),
);
