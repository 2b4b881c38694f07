import { cpus } from 'node:os';
import { type CodecRow, measureCodecs } from './codecs.ts';
import { canPin } from './process.ts';
import { measureSmallCall, type SmallCallRow } from './small-call.ts';
import { measureStart } from './start.ts';
import { measureWorkers } from './workers.ts';

/** `npm run bench [-- rounds seconds]`: every figure of bench/README.md in one run, each with a verdict. */
const rounds = Number(process.argv[2] ?? 5);
const seconds = Number(process.argv[3] ?? 4);

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

function smallCallRows(rows: readonly SmallCallRow[]): Record<string, string>[] {
  const costOf = (name: string): number =>
    rows.find((row) => row.name.startsWith(name))?.cpuPerRequest ?? Number.NaN;
  const proxy = costOf('Node');
  const nodeSoap = costOf('node-soap');
  return rows.map(({ name, cpuPerRequest, p50, p99 }) => ({
    server: name,
    'CPU µs/request': cpuPerRequest.toFixed(1),
    '× pass-through': (cpuPerRequest / proxy).toFixed(2),
    '× node-soap': (cpuPerRequest / nodeSoap).toFixed(2),
    'p50 ms': p50.toFixed(2),
    'p99 ms': p99.toFixed(2),
    verdict: name === 'soapbridge' ? verdict(cpuPerRequest / proxy, 2, 'less') : '',
  }));
}

function codecRows(rows: readonly CodecRow[]): Record<string, string>[] {
  return rows.map(({ name, megabytesPerSecond, ofJsonParse }) => ({
    codec: name,
    'MB/s': megabytesPerSecond.toFixed(0),
    '× JSON.parse': ofJsonParse.toFixed(2),
    verdict: name.startsWith('soapbridge') ? verdict(ofJsonParse, 0.2, 'more') : '',
  }));
}

const [cpu] = cpus();
console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpu?.model ?? 'unknown CPU'} × ${cpus().length}, ${canPin ? 'server on core 0, client and upstream on core 1' : 'not pinned: taskset is missing'}\n`,
);
console.log(
  `Small call (UpdateSubUser, SOAP 1.1, 32 connections, ${rounds} rounds of ${seconds} s in turn, medians)\n`,
);
print(smallCallRows(await measureSmallCall(rounds, seconds)));
console.log('Codecs, bytes to bytes, 2 MB, medians of 25 rounds in turn\n');
print(codecRows(measureCodecs(2, 25)));
const { firstAnswerMs, idleMegabytes } = await measureStart(5);
console.log('Start\n');
print([
  {
    figure: 'start to first answer, ms',
    value: firstAnswerMs.toFixed(0),
    verdict: verdict(firstAnswerMs, 1000, 'less'),
  },
  { figure: 'resident memory idle, MB', value: idleMegabytes.toFixed(0), verdict: '' },
]);
console.log(
  'Workers, all cores: client and upstream share them, so CPU per request is what says what a worker more costs\n',
);
print(
  (await measureWorkers([1, 2], seconds)).map(({ workers, requestsPerSecond, cpuPerRequest, busiest }) => ({
    workers: String(workers),
    'requests/s': requestsPerSecond.toFixed(0),
    'CPU µs/request': cpuPerRequest.toFixed(1),
    'busiest worker’s share': busiest.toFixed(2),
    verdict: '',
  })),
);
