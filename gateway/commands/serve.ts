import { flushCompileCache } from 'node:module';
import type { Command } from 'commander';
import type { AdminListener, AdminOptions } from '../process/admin.ts';
import type { LoadReport } from '../process/load-report.ts';
import { collectLessForLarge, countBuffersAsMemory, giveBackWhenIdle } from '../process/memory.ts';
import type { Running } from '../process/running.ts';
import type { ServeOptions } from '../process/serve-options.ts';
import { isTracingRequested } from '../process/traces.ts';
import { proxiesOf } from '../upstream/proxy.ts';
import { helpersYield } from '../workers/priority.ts';
import { listOf, tlsOf } from './file-options.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { contractAction, contractCommand, placeOf } from './options.ts';
import { printLine } from './output.ts';
import { optionGroups, type ServeFlags, settingsOf, settleHost } from './serve-flags.ts';
import type { WorkerOptions } from './serve-workers.ts';
import { delayOf, keepEarlyReload, type ListenForFiles, stopOnSignals } from './signals.ts';
import { startLine } from './start-line.ts';

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

async function runServe(given: ServeFlags, command: Command): Promise<void> {
  process.on('SIGUSR1', () => {}); // ignored until a handler is added, because Node's default opens the debugger
  const listenForFiles = keepEarlyReload();
  const flags = await withUpstream(given);
  const settings = settingsOf(command, flags);
  // a closed standard output must not stop the process
  process.stdout.removeAllListeners('error').on('error', () => {});
  if (flags.workers === 1) {
    await serveAlone(flags, settings, listenForFiles);
    return;
  }
  const { serveWithWorkers } = await import('./serve-workers.ts');
  await serveWithWorkers(flags, listenForFiles, (own) => serveHere(flags, { settings, ...own }));
}

/** Serves in the only process of a gateway. */
async function serveAlone(
  flags: ServeFlags,
  settings: ServeOptions['settings'],
  listenForFiles: ListenForFiles,
): Promise<void> {
  const printer = process.stdout.isTTY ? new LoadPrinter() : undefined;
  const running = await serveHere(flags, { settings, onLoaded: printer?.add });
  listenForFiles(running);
  await printer?.print();
  printLine(startLine(running, flags, process.stdout.isTTY));
  stopOnSignals((signal) => running.stop(delayOf(signal, flags)));
}

/** Serves in this process until a signal arrives. An uncaught exception stops it with exit code 1. */
async function serveHere(
  flags: ServeFlags,
  { memory, ...own }: Partial<WorkerOptions> & Pick<ServeOptions, 'settings'>,
): Promise<Running> {
  // Loaded on demand: other commands and wrong flags do not need these modules and respond at once.
  const [{ serve }, { isLocalHost }, { describeError }] = await Promise.all([
    import('../process/serve.ts'),
    import('../process/listener.ts'),
    import('../telemetry/log.ts'),
  ]);
  const running = await serve({
    ...optionsOf(flags),
    allowedHosts: flags.allowedHosts ?? (isLocalHost(flags.host) ? hostsOnLoopback(flags) : undefined),
    pages:
      flags.pages === 'on' ? (await import('../../console/server/pages-on-visit.ts')).createPages : undefined,
    openAdmin: (of) => openAdmin({ ...of, memory }),
    ...own,
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

/** Returns the options of the process that the flags and the environment set. */
function optionsOf(flags: ServeFlags): ServeOptions {
  const { config, host, port, publicUrl, logLevel, auditLog, limits, tryIt } = flags;
  const { wsseSecrets, callerLimits, limitStore, callers, callerKey } = flags;
  return {
    config,
    contract: placeOf(flags),
    host,
    port,
    upstreamUrl: flags.upstream,
    upstreamDatabase: flags.upstreamDb,
    publicUrl,
    trustedProxies: listOf(flags.trustedProxies),
    logLevel,
    logMessages: flags.logMessages === 'on',
    drainDelayMs: flags.drainDelay,
    auditLog,
    limits,
    tryIt,
    wsseSecrets,
    traces: isTracingRequested(process.env),
    callerLimits,
    limitStore,
    callerFiles: { callers, callerKey },
    probesUpstream: true,
    tls: tlsOf(flags),
    proxies: proxiesOf(process.env),
  };
}

async function openAdmin(options: AdminOptions): Promise<AdminListener> {
  const [{ openAdmin: open }, { createOperatorPages }] = await Promise.all([
    import('../admin/listener.ts'),
    import('../../console/operators/pages.ts'),
  ]);
  return open({ ...options, pages: createOperatorPages() });
}

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
