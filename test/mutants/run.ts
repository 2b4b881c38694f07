import { type ChildProcess, fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { numberOf, scriptArguments } from '../script-arguments.ts';
import { testsOf } from './map.ts';
import { type Mutant, mutantsOf, root } from './mutate.ts';
import type { Answer, Begun, Question, Reaching, Survey } from './worker.ts';

/**
 * Makes one change at a time in critical files and runs their tests (docs/mutants.md). The exit status is 1 if too few
 * changes are detected, or if a listed survivor is not a mutant.
 */

const help = `npm run mutants [-- --sample N --seed S --files TEXT --except TEXT --jobs J --seconds T --control --least P --help]

Changes one expression at a time in the most important files, and runs their tests. Exits with 1 if the tests detect
less than the required share, or if a listed survivor does not exist. See docs/mutants.md.

  --sample N    number of mutants, chosen by the seed (default: all)
  --seed S      seed of the choice (default: 1)
  --files TEXT  only files whose path contains the text, such as json/
  --except TEXT only files whose path does not contain the text
  --jobs J      number of processes (default: one per core: ${availableParallelism()})
  --seconds T   start no mutant after this time; fail if fewer than half were judged by then
  --control     change nothing; fail if a test fails
  --least P     required share of detected mutants in percent (default: 95)
  --help        print this help`;

const { values: given } = scriptArguments(help, {
  options: {
    sample: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: `${availableParallelism()}` },
    least: { type: 'string', default: '95' },
    files: { type: 'string', default: '' },
    except: { type: 'string' },
    seconds: { type: 'string', default: 'Infinity' },
    control: { type: 'boolean', default: false },
  },
});
const size = numberOf('--sample', given.sample);
const seed = numberOf('--seed', given.seed);
const jobs = numberOf('--jobs', given.jobs, 1);
const least = numberOf('--least', given.least);
const mostSeconds = numberOf('--seconds', given.seconds);

/**
 * Time limit of a mutant: a multiple of the time that its tests take without it, plus milliseconds for loading modules.
 */
const mostTimes = 4;
const moreTime = 10_000;
/** Time limit in milliseconds of a test file whose time is unknown. */
const longestTime = 600_000;
/** Number of mutants per worker process, since each mutant leaves its modules in memory. */
const mutantsOfWorker = 60;

/** Returns true if a file has the path that the options name. */
const isGiven = (file: string): boolean =>
  file.includes(given.files) && (given.except === undefined || !file.includes(given.except));

const places = Object.keys(testsOf);
const files = places
  .flatMap((place) => (place.endsWith('/') ? globSync(`${place}**/*.ts`, { cwd: root }) : [place]))
  .filter((file, index, all) => all.indexOf(file) === index && isGiven(file))
  .toSorted();

/** Returns the tests of the most specific path that contains the file. */
function testsFor(file: string): readonly string[] {
  const [place = ''] = places
    .filter((start) => file.startsWith(start))
    .toSorted((a, b) => b.length - a.length);
  return testsOf[place] ?? [];
}

/** Chooses mutants by a hash. A change of one mutant, or a listed survivor, does not change the choice of others. */
function sampleOf(all: readonly Mutant[], count: number): readonly Mutant[] {
  const seen = new Map<string, number>();
  return all
    .map((mutant) => {
      const name = `${mutant.file} ${mutant.name}`;
      const index = seen.get(name) ?? 0;
      seen.set(name, index + 1);
      return { mutant, order: hash('sha256', `${seed} ${index} ${name}`) };
    })
    .toSorted((a, b) => (a.order < b.order ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

/** A process that tests mutants one at a time. It is restarted after a time-out or a number of mutants. */
class Worker {
  #child: Promise<ChildProcess> | undefined;
  #judged = 0;
  readonly #flags: readonly string[];

  /** @param flags options of Node */
  constructor(flags: readonly string[] = []) {
    this.#flags = flags;
  }

  async ask(question: Question | Survey): Promise<Answer> {
    if (this.#judged++ >= mutantsOfWorker) this.end();
    this.#child ??= begin(this.#flags);
    const child = await this.#child;
    return new Promise((resolve) => {
      const settle = (answer: Answer): void => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(answer);
      };
      const fail = (failed: string): void => {
        this.end();
        settle({ failed });
      };
      let timer = setTimeout(() => fail('took too long'), longestTime);
      child.on('message', (message: Answer | Begun) => {
        if (!('begun' in message)) return settle(message);
        clearTimeout(timer);
        const usual = times.get(message.begun) ?? longestTime;
        timer = setTimeout(() => fail('took too long'), usual * mostTimes + moreTime);
      });
      child.once('exit', (status) => fail(`the process ended with ${status}`));
      child.send(question);
    });
  }

  end(): void {
    this.#child?.then((child) => child.kill('SIGKILL'));
    this.#child = undefined;
    this.#judged = 0;
  }
}

function begin(flags: readonly string[]): Promise<ChildProcess> {
  const child = fork(new URL('./worker.ts', import.meta.url), {
    cwd: root,
    env: { ...process.env, MUTANTS: '1' },
    execArgv: ['--max-old-space-size=1500', '--no-warnings', ...flags],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child));
    child.once('exit', () => reject(new Error('expected a worker, got none')));
  });
}

/** Mutants that are known to survive, by file, with the reason. */
const listed = JSON.parse(readFileSync(new URL('./survivors.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, string>>>
>;

const all = mutantsOf(files);
const stale = Object.entries(listed).flatMap(([file, names]) =>
  Object.keys(names).filter(
    (name) => files.includes(file) && !all.some((mutant) => mutant.file === file && mutant.name === name),
  ),
);
const candidates = all.filter(({ file, name }) => listed[file]?.[name] === undefined);
const sample = sampleOf(candidates, size);
/** In a control run each mutant is the original code, which no test may detect. */
const chosen = given.control
  ? sample.map((mutant) => ({
      ...mutant,
      text: readFileSync(root + mutant.file, 'utf8').slice(mutant.start, mutant.end),
    }))
  : sample;
console.log(`${chosen.length} of ${all.length} mutants of ${files.length} files, seed ${seed}`);

const counts = new Map<string, { killed: number; survived: number }>();
const queue = [...chosen];
const started = Date.now();
const isInTime = (): boolean => Date.now() - started < mostSeconds * 1000;

/** Number of mutants of a file that each test file detected. The most successful test files run first. */
const noticed = new Map<string, number>();
const noticedBy = (file: string, test: string): number => noticed.get(`${file} ${test}`) ?? 0;

async function work(): Promise<void> {
  const worker = new Worker();
  for (let mutant = queue.pop(); mutant !== undefined && isInTime(); mutant = queue.pop()) {
    const { file } = mutant;
    const tests = (reaching.get(mutant) ?? []).toSorted(
      (a, b) => noticedBy(file, b.file) - noticedBy(file, a.file),
    );
    const answer: Answer = tests.length === 0 ? { failed: undefined } : await worker.ask({ mutant, tests });
    const { failed, by = '' } = answer;
    noticed.set(`${file} ${by}`, noticedBy(file, by) + 1);
    const count = counts.get(file) ?? { killed: 0, survived: 0 };
    counts.set(file, count);
    if (failed !== undefined) count.killed++;
    else {
      count.survived++;
      console.log(
        `${file}:${mutant.line}: ${mutant.name}${tests.length === 0 ? ' (no test comes here)' : ''}`,
      );
    }
  }
  worker.end();
}

/** Time of each test file on this machine in milliseconds. */
const times = new Map<string, number>();
/** Tests that execute a mutant, in the order of the map. */
const reaching = new Map<Mutant, readonly Reaching[]>();

/** V8 does not count executions of optimized functions. */
const uncompiled = ['--no-opt', '--no-maglev'];

/**
 * Runs the tests without a mutant, because a failing test would detect every mutant. Records which mutants they
 * execute.
 */
async function checkTests(
  tests: string[],
  reached: Map<string, ReadonlyMap<Mutant, Reaching['places']>>,
): Promise<void> {
  const worker = new Worker(uncompiled);
  for (let test = tests.pop(); test !== undefined; test = tests.pop()) {
    const file = test;
    const from = Date.now();
    const mutants = chosen.filter((mutant) => testsFor(mutant.file).includes(file));
    const answer = await worker.ask({ test: file, mutants });
    times.set(file, Date.now() - from);
    if (answer.failed !== undefined)
      throw new Error(`${file}: expected tests that hold, got ${answer.failed}`);
    const into = new Map<Mutant, Reaching['places']>();
    for (const [index, mutant] of mutants.entries()) {
      const places = answer.reached?.[index];
      if (places !== undefined) into.set(mutant, places);
    }
    reached.set(file, into);
  }
  worker.end();
}

/** Runs as many instances as there are jobs. */
async function inParallel(run: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: jobs }, run));
}

const needed = [...new Set(chosen.flatMap(({ file }) => testsFor(file)))];
const reached = new Map<string, ReadonlyMap<Mutant, Reaching['places']>>();
await inParallel(() => checkTests(needed, reached));
for (const mutant of chosen)
  reaching.set(
    mutant,
    testsFor(mutant.file).flatMap((file) => {
      const places = reached.get(file)?.get(mutant);
      return places === undefined ? [] : [{ file, places }];
    }),
  );
console.log(`${reached.size} files of tests hold, after ${((Date.now() - started) / 1000).toFixed(0)} s`);
await inParallel(work);

let killed = 0;
let judged = 0;
for (const [file, count] of [...counts].toSorted()) {
  killed += count.killed;
  const total = count.killed + count.survived;
  judged += total;
  console.log(
    `${((100 * count.killed) / total).toFixed(0).padStart(4)} %  ${count.killed} of ${total}  ${file}`,
  );
}
const share = judged === 0 ? 100 : (100 * killed) / judged;
const seconds = ((Date.now() - started) / 1000).toFixed(0);
console.log(
  `${share.toFixed(1)} % of ${judged} noticed, ${given.control ? 'none' : `at least ${least} %`} asked, in ${seconds} s`,
);
for (const name of stale) console.log(`listed as a survivor, and no mutant: ${name}`);
const tooFew = judged * 2 < chosen.length;
if (tooFew)
  console.log(`expected at least half of ${chosen.length} mutants to be judged in time, got ${judged}`);
const isGood = given.control ? share === 0 : share >= least;
process.exitCode = tooFew || !isGood || stale.length > 0 ? 1 : 0;
