import { Worker } from 'node:worker_threads';
import { deflateSync } from 'node:zlib';
import { numberOf, scriptArguments } from '../script-arguments.ts';
import { saveInput } from './corpus.ts';
import { distill } from './fuzz.ts';
import { targetNamed, targetNames } from './targets.ts';
import { type Finding, type Job, type Report, Watched } from './watched.ts';

const help = `npm run fuzz [-- --target NAME --seconds 60 --seed N --jobs 2 --by-kind --save --help]

Fuzzes all targets, several at a time. Exits with 1 if it finds a fault.

  --target NAME   fuzz only this target; repeatable: ${targetNames.join(', ')}
  --seconds N     duration per target
  --seed N        seed of the inputs; random by default
  --jobs N        number of targets fuzzed at a time
  --by-kind       keep an input only for a new kind of outcome. This runs many more inputs in the same time; use it after
                  a run that keeps inputs for new coverage.
  --save          add faults, and a minimal set of inputs with new coverage, to the corpus
  --help          print this help`;

const { values } = scriptArguments(help, {
  options: {
    target: { type: 'string', multiple: true },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    jobs: { type: 'string', default: '2' },
    'by-kind': { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
  },
});
const seconds = numberOf('--seconds', values.seconds);
const seed = numberOf('--seed', values.seed);
const jobs = numberOf('--jobs', values.jobs, 1);

/** Time after which an input counts as a hang, even on the slowest machine and with the slowest oracle. */
const hangMs = 60_000;

/** Runs a target in a worker thread, so that a hang becomes a finding. */
function runTarget(name: string): Promise<Report> {
  const memory = new SharedArrayBuffer(Watched.bytes);
  const watched = new Watched(memory);
  const workerData: Job = {
    target: name,
    seconds,
    byKind: values['by-kind'],
    seed,
    memory,
  };
  const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData });
  return new Promise((resolve, reject) => {
    let count = -1;
    let since = performance.now();
    const watch = setInterval(() => {
      if (watched.count !== count) {
        count = watched.count;
        since = performance.now();
      } else if (performance.now() - since > hangMs) {
        const found = [{ input: watched.input, finding: `hang: expected an end within ${hangMs} ms` }];
        finish({
          executions: count,
          judged: 0,
          slowest: Number.POSITIVE_INFINITY,
          covered: 0,
          kept: [],
          seconds: Number(values.seconds),
          found,
        });
      }
    }, 1_000);
    const finish = (report: Report): void => {
      clearInterval(watch);
      resolve(report);
      worker.terminate();
    };
    worker.on('message', finish);
    worker.on('error', (error) => {
      clearInterval(watch);
      reject(error);
    });
  });
}

/**
 * Prints the whole input, so that it can be reproduced from the log: `base64 -d | zlib-flate -uncompress` returns its
 * bytes.
 */
function show({ input, finding }: Finding): string {
  const lines =
    deflateSync(input, { level: 9 })
      .toString('base64')
      .match(/.{1,120}/g) ?? [];
  return `  ${finding.slice(0, 1_000)}\n  input of ${input.length} bytes, by zlib, in base64:\n    ${lines.join('\n    ')}`;
}

function tell(name: string, report: Report): void {
  const { executions, judged, covered, slowest, kept, seconds, found } = report;
  const mark = found.length === 0 ? '✔' : '✘';
  const rate = `${Math.round(executions / seconds)}/s`;
  console.log(
    `  ${mark} fuzz › ${name}: ${executions} inputs (${rate}), ${judged} judged by the oracle, ${kept.length} kept ${values['by-kind'] ? 'for their outcome' : `for what they ran (${covered} characters of source)`}, at most ${slowest.toFixed(1)} ms per 100 kB, ${found.length} findings`,
  );
  for (const finding of found) console.log(show(finding));
}

console.log(`seed ${seed}`);
const waiting = (values.target ?? targetNames).map((name) => targetNamed(name).name);
let found = 0;
async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const report = await runTarget(name);
    tell(name, report);
    found += report.found.length;
    if (!values.save) continue;
    const target = targetNamed(name);
    const inputs = report.kept.map((input) => Buffer.from(input));
    const kept = 'probe' in target ? distill(target, inputs) : inputs;
    for (const input of [...kept, ...report.found.map((finding) => Buffer.from(finding.input))])
      saveInput(name, input);
  }
}
await Promise.all(Array.from({ length: jobs }, work));
process.exitCode = found > 0 ? 1 : 0;
