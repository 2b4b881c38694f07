import { parentPort, workerData } from 'node:worker_threads';
import { readCorpus } from './corpus.ts';
import { type FuzzOptions, fuzz } from './fuzz.ts';
import { fuzzLive } from './live.ts';
import { targetNamed } from './targets.ts';
import { type Finding, type Job, type Report, Watched } from './watched.ts';

// what a crash is told by; most inputs end as an error, and deep stacks take more time than reading them
Error.stackTraceLimit = 3;

/** A thread that fuzzes one target until its time is up, and reports to the one that started it. */
const { target, seconds, byKind, seed, memory } = workerData as Job;
const watched = new Watched(memory);
const started = performance.now();
const found: Finding[] = [];
const fuzzed = targetNamed(target);
const options: FuzzOptions = {
  seed,
  byKind,
  corpus: readCorpus(target),
  isOver: () => performance.now() - started > seconds * 1000,
  onInput: (input) => watched.begin(input),
  onFinding: (input, finding) => found.push({ input, finding }),
};
const result = 'probe' in fuzzed ? fuzz(fuzzed, options) : await fuzzLive(fuzzed, options);
const report: Report = { ...result, seconds: (performance.now() - started) / 1000, found };
parentPort?.postMessage(report);
