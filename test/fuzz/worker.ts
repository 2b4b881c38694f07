import { parentPort, workerData } from 'node:worker_threads';
import { readCorpus } from './corpus.ts';
import { type FuzzOptions, fuzz } from './fuzz.ts';
import { fuzzLive } from './live.ts';
import { targetNamed } from './targets.ts';
import { type Finding, type Job, type Report, Watched } from './watched.ts';

// enough to identify a crash; most inputs cause an error, and deep stack traces would take most of the time
Error.stackTraceLimit = 3;

/** A thread that fuzzes one target until its time is over, and reports to its parent. */
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
