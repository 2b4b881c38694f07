import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptArguments } from '../script-arguments.ts';
import { importDocuments, importLines } from './documents.ts';
import { makeExchanges } from './exchanges.ts';
import { installStacks } from './install.ts';
import { runStack, type StackRun } from './interop.ts';
import { unseenLosses } from './judge-exchange.ts';
import {
  exchangeLines,
  exchangeTable,
  interopPage,
  matrix,
  noticed,
  resultLines,
  type StackState,
  serviceLines,
  serviceTable,
  variantTable,
} from './report.ts';
import { callServices } from './services/call.ts';
import { callThroughMigration } from './services/migration.ts';
import { installedVersion, loadStacks, type Stack } from './stacks.ts';
import { type Break, breaks } from './upstream.ts';
import { writeRequests } from './wire.ts';

const help = `Run real SOAP client stacks against the gateway: import the WSDL, send calls, read replies.

usage: npm run interop -- [options]

  --only NAMES    run only these stacks: folders of test/interop, separated by commas
  --require-all   fail if a stack is not installed; by default it is skipped
  --install       install the stacks (Debian packages, as root) and exit
  --table         make only the calls of checks.json, without documents and adopted services
  --services      call only the other services, without the calls of checks.json and the documents
  --migration     call the adopted services through a gateway with a legacy service, in the modes of a migration
  --break WHAT    inject a fault: null-replies removes the nulls from replies, null-requests from upstream requests.
                  The matrix shows which checks detect it.
  --write         write docs/interop.md
  --record        write the requests of the clients to test/recordings
  --help          print this help`;

const root = join(import.meta.dirname, '../..');

async function main(): Promise<void> {
  const { values: options } = scriptArguments(help, {
    options: {
      only: { type: 'string' },
      'require-all': { type: 'boolean', default: false },
      table: { type: 'boolean', default: false },
      services: { type: 'boolean', default: false },
      migration: { type: 'boolean', default: false },
      break: { type: 'string' },
      install: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
    },
  });
  const stacks = chosen(loadStacks(), options.only);
  if (options.install) return installStacks(stacks);
  const states = await Promise.all(
    stacks.map(async (stack) => ({ stack, installed: await installedVersion(stack) })),
  );
  const missing = states.filter(({ installed }) => installed === undefined);
  const ready = states.filter(({ installed }) => installed !== undefined);
  if (options.services || options.migration) {
    const call = options.migration ? callThroughMigration : callServices;
    const called = await call(ready.map(({ stack }) => stack));
    process.stdout.write(serviceLines(called));
    if (called.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1;
    return;
  }
  const broken = brokenBy(options.break);
  const runs = await runStacks(ready, broken);
  const results = runs.flatMap((run) => run.results);
  if (options.record) for (const run of runs) await writeRequests(run);
  if (options.table || broken !== undefined) {
    console.log(
      `${matrix(results)}\n${variantTable(results)}\n${broken === undefined ? resultLines(results) : noticed(results)}`,
    );
    if (broken === undefined && results.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1;
    return;
  }
  const imports = await importDocuments(ready.map(({ stack }) => stack));
  const made = await makeExchanges(ready.map(({ stack }) => stack));
  const unseen = unseenLosses(made);
  const adopted = await callServices(ready.map(({ stack }) => stack));
  if (options.write) {
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync(join(root, 'docs/interop.md'), interopPage(states, results, made, adopted, date));
  }
  console.log(
    `${matrix(results)}\n${variantTable(results)}\n${exchangeTable(made)}\n${serviceTable(
      ready.map(({ stack }) => stack),
      results,
      adopted,
    )}`,
  );
  for (const { stack } of missing) {
    const mark = options['require-all'] ? '✘' : '-';
    console.log(`  ${mark} interop › ${stack.title}: not installed (${stack.probe})`);
  }
  process.stdout.write(
    resultLines(results) + importLines(imports) + exchangeLines(made) + serviceLines(adopted),
  );
  for (const loss of unseen) console.log(`  ✘ interop › ${loss}`);
  const failed =
    [...results, ...made, ...adopted].some(({ outcome }) => outcome === 'failed') ||
    imports.some(({ why }) => why !== undefined) ||
    unseen.length > 0;
  if (failed || (options['require-all'] && missing.length > 0)) process.exitCode = 1;
}

function chosen(stacks: readonly Stack[], only: string | undefined): readonly Stack[] {
  if (only === undefined) return stacks;
  return only.split(',').map((name) => {
    const stack = stacks.find((known) => known.name === name);
    if (stack !== undefined) return stack;
    throw new Error(`--only: expected one of ${stacks.map((known) => known.name).join(', ')}, got ${name}`);
  });
}

function brokenBy(name: string | undefined): Break | undefined {
  const known = breaks.find((broken) => broken === name);
  if (name === undefined || known !== undefined) return known;
  throw new Error(`--break: expected ${breaks.join(' or ')}, got ${name}`);
}

/** Runs two stacks at a time, so that one uses the CPU while the other waits. */
async function runStacks(states: readonly StackState[], broken?: Break): Promise<readonly StackRun[]> {
  const runs: StackRun[] = [];
  const waiting = states.values();
  const work = async (): Promise<void> => {
    for (const { stack } of waiting) runs.push(await runStack(stack, broken));
  };
  await Promise.all([work(), work()]);
  const names = states.map(({ stack }) => stack.name);
  return runs.toSorted((a, b) => names.indexOf(a.stack.name) - names.indexOf(b.stack.name));
}

try {
  await main();
} catch (error) {
  console.error(`interop: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
