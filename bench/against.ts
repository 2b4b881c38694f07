import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { numberOf, scriptArguments } from '../test/script-arguments.ts';
import type { Ratios } from './codecs-alternately.ts';
import { freePort, median, runOn, type Started, start, stop } from './process.ts';
import type { Row } from './rows.ts';
import { type Callee, callFor, otherCore, passThrough, serverCore, usualRequests } from './small-call.ts';

const help = `npm run bench:against -- COMMIT [--set NAME=VALUE] [--starts 3] [--rounds 12] [--seconds 0.6]
npm run bench:against -- COMMIT --together [--starts 3] [--rounds 60] [--seconds 0.25]
npm run bench:against -- COMMIT --rows [--rounds 12]
npm run bench:against -- COMMIT --codecs [--rounds 12]

Compares the cost of the small call in this tree and in a commit, alternating, and with a pass-through. The commit is
checked out in a temporary folder.

  --together        run both trees in one process, each loaded first equally often. Other work on the machine affects
                    both, so it detects differences of a few percent.
  --rows            measure the rows that need no other server: codecs, growth, contracts, large documents, start. It
                    takes half a minute per tree and round.
  --codecs          measure only the codecs, of both trees in one process. It detects differences of a few percent on a
                    noisy machine too, and takes half a minute per round.
  --set NAME=VALUE  environment variable of this tree's gateway, such as SOAPBRIDGE_LIMITS=inFlight=256; repeatable
  --starts N        starts of each gateway (default: 3)
  --rounds N        rounds per start (default: 12; 60 with --together)
  --seconds N       duration of a round (default: 0.6; 0.25 with --together)
  --help            print this help`;

const { values, positionals } = scriptArguments(help, {
  options: {
    set: { type: 'string', multiple: true, default: [] },
    starts: { type: 'string', default: '3' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    together: { type: 'boolean', default: false },
    rows: { type: 'boolean', default: false },
    codecs: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const [commit] = positionals;
const starts = numberOf('--starts', values.starts);
const rounds = numberOf('--rounds', values.rounds ?? (values.together ? '60' : '12'));
const seconds = numberOf('--seconds', values.seconds ?? (values.together ? '0.25' : '0.6'));
if (commit === undefined) {
  console.error(help);
  process.exit(2);
}

const here = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'soapbridge-against-'));
const before = join(folder, 'before');
const git = (...args: string[]): void => {
  execFileSync('git', args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
};

/** Uses the packages of this tree if the commit has the same lock file, otherwise installs the commit's packages. */
function installPackages(): void {
  const lockOf = (tree: string): string => readFileSync(join(tree, 'package-lock.json'), 'utf8');
  if (lockOf(before) === lockOf(here)) symlinkSync(join(here, 'node_modules'), join(before, 'node_modules'));
  else
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: before,
      stdio: 'ignore',
    });
}

const costs = new Map<string, number[]>();

async function measureOnce(upstreamUrl: string): Promise<void> {
  const contenders: (Callee & { readonly name: string })[] = [];
  const add = async (
    name: string,
    args: (port: number) => readonly string[],
    ready: string,
    env: NodeJS.ProcessEnv,
  ) => {
    const port = await freePort();
    const started: Started = await start(serverCore, args(port), ready, { ...env, PORT: String(port) });
    contenders.push({ name, port, requests: usualRequests(port), started });
  };
  const gateway = (tree: string) => () => [join(tree, 'bin/soapbridge.js'), 'serve'];
  // older trees read environment variables without the prefix
  const isPrefixed = readFileSync(join(before, 'gateway/commands/serve.ts'), 'utf8').includes('SOAPBRIDGE_');
  const old = isPrefixed ? undefined : { UPSTREAM_URL: upstreamUrl, LOG_LEVEL: 'info' };
  const own = { SOAPBRIDGE_UPSTREAM_URL: upstreamUrl, SOAPBRIDGE_LOG_LEVEL: 'info' };
  const set = Object.fromEntries(
    values.set.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
  try {
    const proxy = join(import.meta.dirname, 'servers/pass-through.ts');
    await add(passThrough, (port) => [proxy, String(port), upstreamUrl], 'ready', {});
    await add(`at ${commit}`, gateway(before), 'listens', old ?? own);
    await add('this tree', gateway(here), 'listens', own);
    if (values.set.length > 0)
      await add(`this tree, ${values.set.join(' ')}`, gateway(here), 'listens', { ...own, ...set });
    for (const contender of contenders) await callFor(contender, 6);
    for (let round = 0; round < rounds; round++)
      for (let turn = 0; turn < contenders.length; turn++) {
        const contender = contenders[(round + turn) % contenders.length];
        if (contender === undefined) continue;
        await callFor(contender, 0.3);
        const { cpuPerRequest } = await callFor(contender, seconds);
        costs.set(contender.name, [...(costs.get(contender.name) ?? []), cpuPerRequest]);
      }
  } finally {
    for (const { started } of contenders) await stop(started);
  }
}

/** Runs a module of this folder in a separate process and returns its JSON output. */
async function printedBy(module: string, ...trees: readonly string[]): Promise<unknown> {
  const path = join(import.meta.dirname, module);
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...trees]);
  return JSON.parse(stdout);
}

/** Measures the rows of both trees alternately, and compares each with the commit's row of the same round. */
async function measureRows(): Promise<void> {
  const trees = { before, here };
  const figures = new Map<string, Record<keyof typeof trees, number[]>>();
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? (['before', 'here'] as const) : (['here', 'before'] as const)) {
      for (const [row, value] of (await printedBy('rows.ts', trees[name])) as readonly Row[]) {
        const known = figures.get(row) ?? { before: [], here: [] };
        known[name].push(value);
        figures.set(row, known);
      }
    }
  console.log(`| row | at ${commit} | this tree | × the commit |\n|---|---|---|---|`);
  for (const [row, { before: ofBefore, here: ofHere }] of figures) {
    const ratio = median(ofHere.map((value, round) => value / (ofBefore[round] ?? Number.NaN)));
    console.log(
      `| ${row} | ${median(ofBefore).toFixed(2)} | ${median(ofHere).toFixed(2)} | ${ratio.toFixed(2)} |`,
    );
  }
}

/** Measures the codecs of both trees in one process, in both orders of loading. */
async function measureCodecs(): Promise<void> {
  const logs = new Map<string, number[]>();
  const add = async (first: string, second: string, sign: number): Promise<void> => {
    const ratios = (await printedBy('codecs-alternately.ts', first, second)) as Ratios;
    for (const [message, ratio] of Object.entries(ratios))
      logs.set(message, [...(logs.get(message) ?? []), sign * Math.log(ratio)]);
  };
  for (let round = 0; round < rounds; round++) {
    await add(before, here, 1);
    await add(here, before, -1);
  }
  console.log('| codec | × the commit | standard error |\n|---|---|---|');
  for (const [message, each] of logs) {
    const { mean, error } = meanOf(each);
    console.log(`| ${message} | ${Math.exp(mean).toFixed(3)} | ${error.toFixed(3)} |`);
  }
}

/** Runs a measurement `starts` times with an upstream. */
async function withUpstream(measure: (upstreamUrl: string, turn: number) => Promise<void>): Promise<void> {
  runOn(otherCore);
  const upstreamPort = await freePort();
  const upstream = await start(
    otherCore,
    [join(import.meta.dirname, 'servers/upstream.ts'), String(upstreamPort)],
    'ready',
  );
  try {
    for (let turn = 0; turn < starts; turn++) await measure(`http://127.0.0.1:${upstreamPort}`, turn);
  } finally {
    await stop(upstream);
  }
}

/** Measures the small call through both trees in one process. */
async function measureTogether(): Promise<void> {
  const gateways = join(import.meta.dirname, 'servers/gateways.ts');
  const logs: number[] = [];
  await withUpstream(async (upstreamUrl, turn) => {
    for (const trees of [
      [before, here],
      [here, before],
    ]) {
      const ratios = await ratiosTogether([gateways, upstreamUrl, ...trees]);
      const ofStart = median(ratios.map(Math.log)) * (trees[0] === before ? 1 : -1);
      logs.push(ofStart);
      console.log(
        `start ${turn + 1}, ${trees[0] === before ? 'the commit' : 'this tree'} loaded first: × the commit ${Math.exp(ofStart).toFixed(3)}`,
      );
    }
  });
  const { mean, error } = meanOf(logs);
  console.log(`small call, × the commit: ${Math.exp(mean).toFixed(3)}, standard error ${error.toFixed(3)}`);
}

/**
 * Returns the CPU cost of a call through the second of two gateways in one process, relative to the first, per round.
 */
async function ratiosTogether(args: readonly string[]): Promise<number[]> {
  const started = await start(serverCore, args, 'ready');
  try {
    const [first, second] = [...started.output.matchAll(/\d+/g)].map(([port]): Callee => {
      return { port: Number(port), requests: usualRequests(Number(port)), started };
    }) as [Callee, Callee];
    for (let turn = 0; turn < 12; turn++) await callFor(turn % 2 === 0 ? first : second, 1);
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const isSwapped = round % 2 !== 0;
      const early = await callFor(isSwapped ? second : first, seconds);
      const late = await callFor(isSwapped ? first : second, seconds);
      ratios.push((isSwapped ? early : late).cpuPerRequest / (isSwapped ? late : early).cpuPerRequest);
    }
    return ratios;
  } finally {
    await stop(started);
  }
}

/** Returns the mean and its standard error. */
function meanOf(numbers: readonly number[]): { readonly mean: number; readonly error: number } {
  const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const squares = numbers.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (numbers.length - 1) / numbers.length) };
}

async function measureSmallCalls(): Promise<void> {
  await withUpstream(measureOnce);
  const ofProxy = costs.get(passThrough) ?? [];
  const ofBefore = costs.get(`at ${commit}`) ?? [];
  console.log('| server | CPU µs/request | × pass-through | × the commit |\n|---|---|---|---|');
  for (const [name, cost] of costs) {
    const ratio = (to: readonly number[]): string =>
      median(cost.map((each, index) => each / (to[index] ?? Number.NaN))).toFixed(3);
    console.log(`| ${name} | ${median(cost).toFixed(1)} | ${ratio(ofProxy)} | ${ratio(ofBefore)} |`);
  }
}

git('worktree', 'add', '--detach', before, commit);
try {
  installPackages();
  if (values.codecs) await measureCodecs();
  else if (values.rows) await measureRows();
  else await (values.together ? measureTogether() : measureSmallCalls());
} finally {
  git('worktree', 'remove', '--force', before);
  rmSync(folder, { recursive: true, force: true });
}
