import { flushCompileCache } from 'node:module';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultLimits, type LimitName } from '../../mappings/contract/limits.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import type { AdminOptions } from '../process/admin.ts';
import { helpersYield } from '../process/helper-threads.ts';
import type { LoadReport } from '../process/load-report.ts';
import { collectLessForLarge, countBuffersAsMemory, giveBackWhenIdle } from '../process/memory.ts';
import { logLevels } from '../process/process-log.ts';
import type { Running } from '../process/serve.ts';
import type { ServeOptions } from '../process/serve-options.ts';
import { type ShownSetting, withoutUserinfo } from '../process/shown-settings.ts';
import { isTracingRequested } from '../process/traces.ts';
import { proxiesOf } from '../upstream/proxy.ts';
import { fail } from './failure.ts';
import { type FileFlags, fileOptionGroups, listOf, tlsOf, trustedProxiesOption } from './file-options.ts';
import { helpEnd, wrongInputText } from './help.ts';
import {
  type ContractFlags,
  configOption,
  contractAction,
  contractCommand,
  httpUrl,
  placeOf,
  placesOf,
  publicUrlOption,
  toFile,
} from './options.ts';
import { printError, printLine } from './output.ts';
import { startLine } from './start-line.ts';

const signals = ['SIGTERM', 'SIGINT'] as const;

interface ServeFlags
  extends ContractFlags,
    FileFlags,
    Pick<ServeOptions, 'host' | 'port' | 'logLevel' | 'auditLog' | 'tryIt'> {
  readonly config?: string;
  readonly upstream?: string;
  readonly demo?: true;
  readonly upstreamDb?: string;
  readonly publicUrl?: string;
  readonly allowedHosts?: readonly string[];
  readonly logMessages: 'on' | 'off';
  readonly drainDelay: number;
  readonly workers: number;
  readonly pages: 'on' | 'off';
}

const defaultHost = '127.0.0.1';

const onOff = ['on', 'off'];

/** Options of `soapbridge serve` by help group, each with its variable and default. Groups are ordered by use. */
const optionGroups: Readonly<Record<string, readonly Option[]>> = {
  'Contract and limits:': [configOption()],
  'Upstream:': [
    new Option(
      '-u, --upstream <url>',
      'URL of the JSON service (default: the first server of the OpenAPI document)',
    )
      .env('SOAPBRIDGE_UPSTREAM_URL')
      .argParser(httpUrl('--upstream')),
    new Option('--demo', 'serve the screening contract with the embedded reference upstream').conflicts([
      'openapi',
      'config',
      'upstream',
    ]),
    new Option('--upstream-db <file>', 'database file of the reference upstream, with --demo').env(
      'SOAPBRIDGE_UPSTREAM_DB',
    ),
  ],
  'Network:': [
    new Option('-p, --port <number>', 'port to listen on, 0 for a free port')
      .env('PORT')
      .default(8080)
      .argParser(toPort),
    new Option('--host <address>', 'address to listen on; HOST must be an IP address or localhost')
      .env('HOST')
      .default(defaultHost),
    publicUrlOption(),
    trustedProxiesOption(),
    new Option(
      '--allowed-hosts <list>',
      'accepted names in the Host header; others get 421 (default: loopback names on loopback without proxies, else all)',
    )
      .env('SOAPBRIDGE_ALLOWED_HOSTS')
      .argParser(toHosts),
  ],
  ...fileOptionGroups(),
  'Documentation pages:': [
    new Option('--pages <switch>', 'documentation pages with samples and a form for test calls')
      .env('SOAPBRIDGE_PAGES')
      .default('on')
      .choices(onOff),
    new Option(
      '--try-it <switch>',
      'test calls from the pages, or also the upstream calls they cause (default: on if HOST is loopback)',
    )
      .env('SOAPBRIDGE_TRY_IT')
      .choices([...onOff, 'show-upstream']),
  ],
  'Log:': [
    new Option('--log-level <level>', 'lowest level to log')
      .env('SOAPBRIDGE_LOG_LEVEL')
      .default('info')
      .choices(logLevels),
    new Option('--audit-log <file>', 'file for the audit lines of writes (default: the log)')
      .env('SOAPBRIDGE_AUDIT_LOG')
      .argParser(toFile),
    new Option(
      '--log-messages <switch>',
      'log message content without credentials and personal members, for development',
    )
      .env('SOAPBRIDGE_LOG_MESSAGES')
      .default('off')
      .choices(onOff),
  ],
  'Processes:': [
    new Option('-w, --workers <number>', 'number of processes, auto for one per core')
      .env('SOAPBRIDGE_WORKERS')
      .default(1)
      .argParser(toWorkers),
    new Option('--drain-delay <ms>', 'time to serve after SIGTERM while /readyz responds with 503')
      .env('SOAPBRIDGE_DRAIN_DELAY')
      .default(1000)
      .argParser(toMilliseconds),
  ],
};

const notes = `Each option can also be set by its environment variable. The option takes precedence.

Signals:
  TERM  drain and stop
  INT   stop without the drain delay; a second TERM or INT stops at once
  HUP   reload all files and reopen the audit log
  USR1  reopen the audit log`;

/** Creates the command `soapbridge serve`. */
export function serveCommand(): Command {
  const command = contractCommand('serve')
    .description('serve a contract in front of a JSON service')
    .addHelpText(
      'after',
      helpEnd(
        'soapbridge serve parcels.yaml --upstream https://parcels.internal.example',
        {
          0: 'stopped, all calls finished',
          1: 'stopped with aborted calls, or by an internal error',
          2: wrongInputText,
        },
        notes,
      ),
    )
    .hook('preAction', settleHost)
    .action(contractAction(runServe));
  for (const [group, options] of Object.entries(optionGroups)) {
    for (const option of options) command.addOption(option.helpGroup(group));
  }
  return command;
}

/**
 * Ignores `HOST` if it is a machine's name: shells and CI systems set it for their own use. Throws RangeError for an
 * empty `--host`, because Node would listen on all addresses.
 */
function settleHost(command: Command): void {
  const host: string = command.getOptionValue('host');
  if (command.getOptionValueSource('host') !== 'env') {
    if (host.trim() === '') throw new RangeError('--host: expected an address such as 127.0.0.1, got none');
  } else if (isIP(host) === 0 && host !== 'localhost')
    command.setOptionValueWithSource('host', defaultHost, 'default');
}

async function runServe(given: ServeFlags, command: Command): Promise<void> {
  process.on('SIGUSR1', () => {}); // ignored until a handler is added, because Node's default opens the debugger
  const listenForFiles = keepEarlyReload();
  const flags = await withUpstream(given);
  const settings = settingsOf(command, flags);
  // a closed standard output must not stop the process
  process.stdout.removeAllListeners('error').on('error', () => {});
  if (flags.workers === 1) {
    const printer = process.stdout.isTTY ? new LoadPrinter() : undefined;
    const running = await serveHere(flags, { settings, onLoaded: printer?.add });
    listenForFiles(running);
    await printer?.print();
    printLine(startLine(running, flags, process.stdout.isTTY));
    stopOnSignals((signal) => running.stop(delayOf(signal, flags)));
    return;
  }
  const [
    { isFirstWorker, isPrimary, joinPrimary, startWorkers, WorkerError },
    { sharedReports, shareReports },
    { shareEvidence },
    { callOver, ownChannel },
  ] = await Promise.all([
    import('../process/workers.ts'),
    import('../process/worker-metrics.ts'),
    import('../process/worker-evidence.ts'),
    import('../process/worker-calls.ts'),
  ]);
  if (isPrimary) {
    checkShared(flags);
    // report problems before workers are forked
    const { readContract } = await import('../../mappings/loader/load.ts');
    if (flags.limitStore === undefined)
      for (const { place, own } of placesOf(flags)) checkDigest(readContract(place, flags.limits, own));
    const passEarlySignal = keepEarlySignal();
    const workers = await startWorkers({ ...flags, count: flags.workers }).catch((error: unknown) => {
      if (!(error instanceof WorkerError)) throw error;
      if (error.signal !== null) printError(error.message); // otherwise the worker has reported the problem
      process.exit(error.exitCode);
    });
    listenForFiles(workers);
    printLine(startLine(workers, flags, process.stdout.isTTY));
    stopOnSignals(workers.stop, workers.kill);
    passEarlySignal();
    return;
  }
  const reloadOthers = callOver<object, unknown>(ownChannel(), 'reload');
  const running = await serveHere(flags, {
    settings,
    ...sharedReports(),
    reloadOthers: () => reloadOthers({}),
    memory: callOver(ownChannel(), 'admin'),
    ...(isFirstWorker() ? {} : quiet),
  });
  const sendEvidence = shareEvidence(running.takeEvidence);
  const stop = (delayMs: number): void => {
    running
      .stop(delayMs)
      .then((clean) => sendEvidence().then(() => process.exit(clean ? 0 : 1)))
      .catch(fail);
  };
  // A signal to the process group arrives twice, directly and from the primary. The second one must not stop the
  // process at once.
  for (const signal of signals) process.on(signal, () => stop(delayOf(signal, flags)));
  listenForFiles(running);
  shareReports(() => ({ snapshot: running.metrics(), upstreams: running.upstreams() }));
  joinPrimary(running, () => stop(0));
}

/** Serves in this process until a signal arrives. An uncaught exception stops it with exit code 1. */
async function serveHere(
  flags: ServeFlags,
  {
    settings,
    metricsOfAll,
    upstreamsOfAll,
    reloadOthers,
    memory,
    onLoaded,
  }: Pick<ServeOptions, 'settings' | 'metricsOfAll' | 'upstreamsOfAll' | 'reloadOthers' | 'onLoaded'> &
    Pick<AdminOptions, 'memory'>,
): Promise<Running> {
  // Loaded on demand: other commands and wrong flags do not need these modules and respond at once.
  const [{ serve }, { isLocalHost }, { describeError }] = await Promise.all([
    import('../process/serve.ts'),
    import('../process/listener.ts'),
    import('../telemetry/log.ts'),
  ]);
  const running = await serve({
    config: flags.config,
    contract: placeOf(flags),
    host: flags.host,
    port: flags.port,
    upstreamUrl: flags.upstream,
    upstreamDatabase: flags.upstreamDb,
    publicUrl: flags.publicUrl,
    trustedProxies: listOf(flags.trustedProxies),
    allowedHosts: flags.allowedHosts ?? (isLocalHost(flags.host) ? hostsOnLoopback(flags) : undefined),
    logLevel: flags.logLevel,
    logMessages: flags.logMessages === 'on',
    drainDelayMs: flags.drainDelay,
    ...(flags.auditLog === undefined ? {} : { auditLog: flags.auditLog }),
    ...(flags.limits === undefined ? {} : { limits: flags.limits }),
    ...(flags.pages === 'on'
      ? { pages: (await import('../../console/server/pages-on-visit.ts')).createPages }
      : {}),
    ...(flags.tryIt === undefined ? {} : { tryIt: flags.tryIt }),
    // without a limit store, nonces are stored in the memory of one process
    wsseSecrets: metricsOfAll === undefined || flags.limitStore !== undefined ? flags.wsseSecrets : undefined,
    traces: isTracingRequested(process.env),
    callerLimits: flags.callerLimits,
    limitStore: flags.limitStore,
    callerFiles: { callers: flags.callers, callerKey: flags.callerKey },
    metricsOfAll,
    upstreamsOfAll,
    reloadOthers,
    openAdmin: async (of) => {
      const [{ openAdmin }, { createOperatorPages }] = await Promise.all([
        import('../admin/listener.ts'),
        import('../../console/operators/pages.ts'),
      ]);
      return openAdmin({ ...of, memory, pages: createOperatorPages() });
    },
    ...(settings === undefined ? {} : { settings }),
    probesUpstream: true,
    tls: tlsOf(flags),
    onLoaded,
    proxies: proxiesOf(process.env),
  });
  countBuffersAsMemory();
  collectLessForLarge();
  giveBackWhenIdle();
  // Writes the compile cache early, because a killed process would not write it for the next start.
  setTimeout(flushCompileCache, 2_000).unref();
  process.on('uncaughtException', (error) => {
    running.log.fatal(describeError(error), 'uncaught exception: stopping');
    running.stop(0).finally(() => process.exit(1));
  });
  await helpersYield();
  return running;
}

/** Returns the options and limits with their values and sources, without secrets. */
function settingsOf(command: Command, flags: ServeFlags): readonly ShownSetting[] {
  const values: Readonly<Record<string, unknown>> = { ...flags };
  const sources: Readonly<Record<string, string>> = {
    env: 'environment',
    cli: 'flag',
    default: 'default',
  };
  const sourceOf = (name: string): string =>
    sources[command.getOptionValueSource(name) ?? ''] ?? (name === 'upstream' ? 'contract' : 'argument');
  const options = command.options.flatMap((option) => {
    const name = option.attributeName();
    const value = values[name];
    if (value === undefined || name === 'limits') return [];
    return [{ name: option.name(), value: withoutUserinfo(value), source: sourceOf(name) }];
  });
  const limits = Object.entries(defaultLimits).map(([name, usual]) => {
    const value = flags.limits?.[name as LimitName] ?? usual;
    return { name: `limits.${name}`, value, source: value === usual ? 'default' : sourceOf('limits') };
  });
  return [...options, ...limits];
}

/** Options of workers other than the first, which report no loaded contracts: all load the same ones. */
const quiet = { onLoaded: () => {} } as const;

/**
 * Prints loaded contracts to a terminal. Those loaded during the start are printed together, later ones immediately.
 */
class LoadPrinter {
  #early: LoadReport[] | undefined = [];

  readonly add = (report: LoadReport): void => {
    if (this.#early === undefined) void printLoads([report]);
    else this.#early.push(report);
  };

  /** Prints the contracts loaded so far. */
  async print(): Promise<void> {
    const reports = this.#early ?? [];
    this.#early = undefined;
    await printLoads(reports);
  }
}

async function printLoads(reports: readonly LoadReport[]): Promise<void> {
  const { linesOf } = await import('../process/load-report.ts');
  for (const line of linesOf(reports)) printLine(line);
}

/**
 * Returns the allowed hosts for a loopback address. With trusted proxies any host is allowed, because a proxy may pass
 * on the Host of its own clients.
 */
function hostsOnLoopback({ trustedProxies }: ServeFlags): 'loopback' | undefined {
  return listOf(trustedProxies).length === 0 ? 'loopback' : undefined;
}

/** Parses host names. An empty list would reject all requests, so at least one name is required. */
function toHosts(text: string): readonly string[] {
  const names = listOf(text);
  if (names.length === 0) throw new InvalidArgumentError('expected names, such as api.example.com.');
  return names;
}

/** Handlers of SIGHUP and SIGUSR1. */
type Files = Pick<Running, 'reopen'> & { readonly reload: () => unknown };

/**
 * Handles SIGHUP (files changed) and SIGUSR1 (log files were moved). By default a SIGHUP during the start would end the
 * process. Returns a function that installs the handlers and loads the files again if a SIGHUP arrived earlier.
 */
function keepEarlyReload(): (files: Files) => void {
  let isRequested = false;
  const keep = (): void => {
    isRequested = true;
  };
  process.on('SIGHUP', keep);
  return ({ reload, reopen }) => {
    process.on('SIGHUP', reload).off('SIGHUP', keep);
    process.on('SIGUSR1', reopen);
    if (isRequested) reload();
  };
}

/**
 * Stops this process at the first signal, with exit code 0 if nothing was aborted. The second signal ends it at once
 * with exit code 1.
 */
function stopOnSignals(stop: (signal: NodeJS.Signals) => Promise<boolean>, kill?: () => void): void {
  let signalCount = 0;
  for (const signal of signals) {
    process.on(signal, () => {
      signalCount++;
      if (signalCount > 1) {
        kill?.();
        process.exit(1);
      }
      stop(signal).then((clean) => process.exit(clean ? 0 : 1), fail);
    });
  }
}

/**
 * Holds the first signal that arrives while workers start. By default it would end this process and abort the requests
 * of workers that already serve. Returns a function that acts on the signal once the process can be stopped.
 */
function keepEarlySignal(): () => void {
  let first: NodeJS.Signals | undefined;
  const keep = (signal: NodeJS.Signals): void => {
    // the second signal ends it at once; workers stop when their primary is gone
    if (first !== undefined) process.exit(1);
    first = signal;
  };
  for (const signal of signals) process.on(signal, keep);
  return () => {
    for (const signal of signals) process.off(signal, keep);
    if (first !== undefined) process.emit(first, first);
  };
}

/**
 * Returns the drain delay for a signal. Ctrl-C needs none, because it is sent by a person and not by an orchestrator
 * with a load balancer.
 */
function delayOf(signal: NodeJS.Signals, { drainDelay }: ServeFlags): number {
  return signal === 'SIGTERM' ? drainDelay : 0;
}

/**
 * Adds the upstream to the flags. Without a flag, it is the first server of the document. If there is neither, only the
 * demo may start: a misspelt variable must not put the reference upstream in production. Throws RangeError.
 */
async function withUpstream(flags: ServeFlags): Promise<ServeFlags> {
  const { config, upstream, demo, openapi } = flags;
  if (demo && openapi !== undefined)
    throw new RangeError(
      `--demo: expected the screening contract, got ${openapi}. Set its upstream with --upstream`,
    );
  if (config !== undefined || upstream !== undefined || demo !== undefined) return flags;
  const isNamed = flags.contract !== undefined || flags.openapi !== undefined;
  const server = isNamed ? await serverOf(flags) : undefined;
  if (server !== undefined) return { ...flags, upstream: server };
  const what = isNamed ? 'none, and the document has no server with an http or https URL' : 'none';
  throw new RangeError(
    `--upstream: expected the URL of the JSON service, got ${what}. Set --upstream or SOAPBRIDGE_UPSTREAM_URL, or serve the demo with --demo`,
  );
}

/** Returns the URL of the first server of the flags' contract. Throws ContractError. */
async function serverOf(flags: ServeFlags): Promise<string | undefined> {
  const { readContract } = await import('../../mappings/loader/load.ts');
  return readContract(placeOf(flags), flags.limits).server;
}

/**
 * Rejects several workers for digests and for replay detection. A message that one worker has stored is unknown to the
 * others (W49, X17).
 */
function checkDigest({ contract }: LoadedContract): void {
  if (contract.wsse?.x509?.replay === 'refuse')
    throw new RangeError(
      '--workers: expected 1 for a contract with wsse: x509: replay: refuse, or SOAPBRIDGE_LIMIT_STORE, got several workers',
    );
  if (contract.wsse?.decrypt?.cbc === true)
    throw new RangeError(
      '--workers: expected 1 for a contract with wsse: decrypt: cbc: true, or SOAPBRIDGE_LIMIT_STORE, got several workers',
    );
  if (contract.wsse?.digest === 'secrets')
    throw new RangeError(
      '--workers: expected 1 for a contract with wsse: digest: secrets, or SOAPBRIDGE_LIMIT_STORE, got several workers',
    );
}

/** Rejects several workers with a reference upstream in memory, because each worker would have its own. */
function checkShared({ config, upstream, upstreamDb, workers }: ServeFlags): void {
  if (config !== undefined || upstream !== undefined) return;
  if (upstreamDb !== undefined && upstreamDb !== '' && upstreamDb !== ':memory:') return;
  throw new RangeError(
    `--workers: expected --upstream or --upstream-db, got ${workers} workers and a reference upstream in memory`,
  );
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
