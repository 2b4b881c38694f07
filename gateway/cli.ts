import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ContractError } from '../mappings/load/error.ts';
import { loadContract, screeningContract } from '../mappings/load.ts';
import { writeWsdl } from '../wsdl/wsdl.ts';
import type { Running } from './serve.ts';
import type { Serving } from './workers.ts';

/** Exit code for what the author of a contract or a command line can mend. */
const wrongInput = 2;

const signals = ['SIGTERM', 'SIGINT'] as const;

const contractOption = (): Option =>
  new Option('-c, --contract <dir>', 'folder with openapi.yaml and soap.yaml')
    .env('CONTRACT')
    .default(screeningContract, 'the screening contract that ships');

interface ServeFlags {
  readonly contract: string;
  readonly host: string;
  readonly port: number;
  readonly upstream?: string;
  readonly upstreamDb?: string;
  readonly publicUrl?: string;
  readonly trustedProxies?: string;
  readonly logLevel: string;
  readonly drainDelay: number;
  readonly workers: number;
}

const program = new Command('soapbridge')
  .description('Gives a JSON API a SOAP face: SOAP 1.1, SOAP 1.2 and plain XML in front, JSON behind.')
  .version(readVersion())
  .showHelpAfterError('(add --help for what there is)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : wrongInput));

program
  .command('serve')
  .description('serve a contract in front of a JSON service')
  .addOption(contractOption())
  .addOption(new Option('--host <address>', 'address to listen on').env('HOST').default('127.0.0.1'))
  .addOption(
    new Option('-p, --port <number>', 'port to listen on, 0 for a free one')
      .env('PORT')
      .default(8080)
      .argParser(toPort),
  )
  .addOption(
    new Option(
      '-u, --upstream <url>',
      'the JSON service behind; without it the reference upstream runs embedded',
    )
      .env('UPSTREAM_URL')
      .argParser(toHttpUrl),
  )
  .addOption(
    new Option('--upstream-db <file>', 'keep the embedded reference upstream in this file').env(
      'UPSTREAM_DB',
    ),
  )
  .addOption(
    new Option('--public-url <url>', 'where callers reach this process, for the WSDL')
      .env('PUBLIC_URL')
      .argParser(toHttpUrl),
  )
  .addOption(
    new Option(
      '--trusted-proxies <list>',
      'addresses or ranges, by commas, whose X-Forwarded-* headers count',
    ).env('TRUSTED_PROXIES'),
  )
  .addOption(
    new Option('--log-level <level>', 'least level that is logged')
      .env('LOG_LEVEL')
      .default('info')
      .choices(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  )
  .addOption(
    new Option('--drain-delay <ms>', 'how long to serve on after SIGTERM while /readyz says 503')
      .env('DRAIN_DELAY')
      .default(1000)
      .argParser(toMilliseconds),
  )
  .addOption(
    new Option('-w, --workers <number>', 'processes behind the port, auto for one per core')
      .env('WORKERS')
      .default(1)
      .argParser(toWorkers),
  )
  .addHelpText('after', '\nEach option can be set by the environment variable beside it; a flag wins.')
  .action(runServe);

program
  .command('wsdl')
  .description('print the WSDL of a contract')
  .addOption(contractOption())
  .addOption(
    new Option('--public-url <url>', 'address that the WSDL names')
      .env('PUBLIC_URL')
      .default('http://127.0.0.1:8080')
      .argParser(toHttpUrl),
  )
  .action((flags: { contract: string; publicUrl: string }) => {
    const { contract } = loadContract(flags.contract);
    process.stdout.write(
      writeWsdl(contract, { address: flags.publicUrl.replace(/\/+$/, '') + contract.basePath }),
    );
  });

program
  .command('check')
  .description('load a contract; say what is wrong, or what it holds')
  .addOption(contractOption())
  .action(runCheck);

async function runServe(flags: ServeFlags): Promise<void> {
  if (flags.workers === 1) {
    const running = await serveHere(flags);
    console.log(startLine(running, flags));
    stopOnSignals((signal) => running.stop(delayOf(signal, flags)));
    return;
  }
  const { isPrimary, joinPrimary, startWorkers, WorkerError } = await import('./workers.ts');
  if (isPrimary) {
    checkShared(flags);
    loadContract(flags.contract); // what is wrong with it is said before anything is forked
    const workers = await startWorkers({ ...flags, count: flags.workers }).catch((error: unknown) => {
      if (!(error instanceof WorkerError)) throw error;
      if (error.signal !== null) console.error(error.message); // else the worker has said what is wrong
      process.exit(error.exitCode);
    });
    console.log(startLine(workers, flags));
    stopOnSignals(workers.stop, workers.kill);
    return;
  }
  const running = await serveHere(flags);
  const stop = (delayMs: number): void => {
    running.stop(delayMs).then((clean) => process.exit(clean ? 0 : 1), fail);
  };
  // a signal to the whole group comes here twice, from outside and from the primary: once is meant
  for (const signal of signals) process.on(signal, () => stop(delayOf(signal, flags)));
  joinPrimary(running, () => stop(0));
}

/** Serves in this process until it is told to stop; an exception that nobody caught stops it with 1. */
async function serveHere(flags: ServeFlags): Promise<Running> {
  // loaded here: the other commands, and a wrong flag, need none of it and answer at once
  const { describeError, serve } = await import('./serve.ts');
  const running = await serve({
    contract: flags.contract,
    host: flags.host,
    port: flags.port,
    upstreamUrl: flags.upstream,
    upstreamDatabase: flags.upstreamDb,
    publicUrl: flags.publicUrl,
    trustedProxies: (flags.trustedProxies ?? '').split(',').filter((entry) => entry !== ''),
    logLevel: flags.logLevel,
    drainDelayMs: flags.drainDelay,
  });
  // a process that is killed later would not leave it to the next start
  setTimeout(flushCompileCache, 2_000).unref();
  process.on('uncaughtException', (error) => {
    running.log.fatal(describeError(error), 'uncaught exception: stopping');
    running.stop(0).finally(() => process.exit(1));
  });
  return running;
}

function startLine({ url, address }: Serving, { upstream, workers }: ServeFlags): string {
  const behind = upstream ?? 'the embedded reference upstream';
  const by = workers === 1 ? '' : ` with ${workers} workers`;
  return `soapbridge listens on ${url}${by} in front of ${behind}: WSDL ${address}/soap11?wsdl · SOAP ${address}/soap11 and /soap12 · try: curl '${address}/soap11?wsdl'`;
}

/** Ends this process by the first signal's `stop`, 0 when that was clean; by the second one at once, with 1. */
function stopOnSignals(stop: (signal: NodeJS.Signals) => Promise<boolean>, kill?: () => void): void {
  let asked = 0;
  for (const signal of signals) {
    process.on(signal, () => {
      asked++;
      if (asked > 1) {
        kill?.();
        process.exit(1);
      }
      stop(signal).then((clean) => process.exit(clean ? 0 : 1), fail);
    });
  }
}

/** Ctrl-C is a person at the terminal: no balancer to wait for. */
function delayOf(signal: NodeJS.Signals, { drainDelay }: ServeFlags): number {
  return signal === 'SIGTERM' ? drainDelay : 0;
}

/** Workers share no memory: a reference upstream kept there would be another one in each. */
function checkShared({ upstream, upstreamDb, workers }: ServeFlags): void {
  if (upstream !== undefined) return;
  if (upstreamDb !== undefined && upstreamDb !== '' && upstreamDb !== ':memory:') return;
  throw new RangeError(
    `--workers: expected an --upstream, or a file that all workers share as --upstream-db, got ${workers} workers and the reference upstream in memory`,
  );
}

function runCheck(flags: { contract: string }): void {
  const { contract, notes } = loadContract(flags.contract);
  const records = contract.types.filter(({ kind }) => kind === 'record').length;
  console.log(
    `${contract.service}: ${contract.operations.length} operations, ${contract.types.length} types (${records} records), ${contract.routes.length} routes under ${contract.basePath || '/'}`,
  );
  console.log(`namespaces: ${contract.namespaces.types}, ${contract.namespaces.arrays}`);
  for (const { name, input, output, readOnly, upstream } of contract.operations) {
    const inputs = input.fields.map(({ xml }) => xml).join(', ');
    console.log(
      `  ${name}(${inputs}) -> ${output.fields.map(({ xml }) => xml).join(', ')}; ${upstream.method} ${upstream.path}${readOnly ? ', read only' : ''}`,
    );
  }
  for (const { pointer, why } of notes) console.log(`travels as JSON text: ${pointer} (${why})`);
}

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535)
    throw new InvalidArgumentError('expected a number from 0 to 65535.');
  return port;
}

function toMilliseconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('expected a number of milliseconds.');
  return Number(text);
}

function toWorkers(text: string): number {
  if (text === 'auto') return availableParallelism();
  if (!/^[1-9]\d{0,2}$/.test(text))
    throw new InvalidArgumentError('expected a number from 1 to 999, or auto.');
  return Number(text);
}

function toHttpUrl(text: string): string {
  const url = URL.parse(text);
  if (
    url === null ||
    (url.protocol !== 'http:' && url.protocol !== 'https:') ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== ''
  ) {
    throw new InvalidArgumentError(
      'expected an http or https URL without query, such as https://api.example.com/edge.',
    );
  }
  return text;
}

function readVersion(): string {
  const here = import.meta.dirname;
  const root = here.endsWith('/dist/gateway') ? '../..' : '..';
  const manifest: { version: string } = JSON.parse(readFileSync(`${here}/${root}/package.json`, 'utf8'));
  return manifest.version;
}

/** The end of a command that can't go on: a sentence where we know what is wrong, never a stack. */
function fail(error: unknown): never {
  if (error instanceof ContractError) {
    console.error(`the contract can't be served:\n${error.message}`);
    process.exit(wrongInput);
  }
  if (error instanceof RangeError) {
    console.error(error.message);
    process.exit(wrongInput);
  }
  const hint = error instanceof Error && 'code' in error ? startHints.get(error.code) : undefined;
  if (error instanceof Error && hint !== undefined) {
    console.error(`${error.message}; ${hint}`);
    process.exit(wrongInput);
  }
  console.error(error);
  process.exit(1);
}

const otherHost = '--host takes an address of this machine';

/** What to do about a start that the machine refuses, by the error's code. */
const startHints: ReadonlyMap<unknown, string> = new Map([
  ['EADDRINUSE', 'take another port with --port, 0 for a free one'],
  ['EACCES', 'take another port with --port'],
  ['EADDRNOTAVAIL', otherHost],
  ['ENOTFOUND', otherHost],
  ['ERR_SQLITE_ERROR', '--upstream-db takes a database file that can be written'],
]);

export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(argv);
  } catch (error) {
    fail(error);
  }
}
