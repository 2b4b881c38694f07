import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Logger, pino } from 'pino';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import type { ContractPlace } from '../../mappings/loader/load.ts';
import { type Core, createCore, shownPath } from '../core.ts';
import type { Load } from '../http/admission.ts';
import { createApp } from '../http/app.ts';
import { type Connections, createConnections, isLoopback } from '../http/connections.ts';
import { isListed, proxyList } from '../http/documents.ts';
import { hostList } from '../http/framing.ts';
import type { RequestRecord } from '../http/request-context.ts';
import { createUnparsed } from '../http/unparsed.ts';
import { type Audit, auditApart, auditInLog } from '../telemetry/audit.ts';
import { AuditFile } from '../telemetry/audit-file.ts';
import { LineBuffer } from '../telemetry/line-buffer.ts';
import { describeError } from '../telemetry/log.ts';
import { type StandardOutput, standardOutput } from '../telemetry/log-writer.ts';
import { type Sheet, writeSheet } from '../telemetry/metrics.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { createLocalUpstream, type Upstream } from '../upstream/upstream.ts';
import { readConfig } from './config.ts';
import { openSites, type SitePlan, type Sites } from './sites.ts';

/** How a process serves; the command line and the environment fill it in. */
export interface ServeOptions {
  /** The file that says what is served, read again at each reload; undefined: `contract` and `upstreamUrl` do. */
  readonly config?: string | undefined;
  /** Where the contract's documents lie. */
  readonly contract: ContractPlace;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The JSON service behind; undefined runs the reference upstream in this process. */
  readonly upstreamUrl: string | undefined;
  /** True for a trial: what goes to other servers goes to the upstream too. */
  readonly upstreamOnly?: boolean;
  /** Database file of the embedded reference upstream; undefined keeps it in memory. */
  readonly upstreamDatabase: string | undefined;
  /** Where callers reach this process, for the WSDL; undefined takes the listening address (W34). */
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  /** Names that a request's Host may say, without ports; undefined: any. */
  readonly allowedHosts?: readonly string[];
  readonly logLevel: string;
  /** Whether messages are logged too, whatever the level, without credentials and personal members. */
  readonly logMessages?: boolean;
  /** How long, in ms, a stopping process still takes requests, so that a balancer sees it isn't ready. */
  readonly drainDelayMs: number;
  readonly limits?: Limits;
  /** File that audit lines are appended to, each before the call it is about goes out; undefined: they go to the log. */
  readonly auditLog?: string;
  /** Where the log goes; standard output by default. */
  readonly logTo?: NodeJS.WritableStream;
  /** What /metrics tells in place of this process's own, where it is one of several. */
  readonly metricsOfAll?: (() => Promise<Sheet | undefined>) | undefined;
}

/** A process that serves. */
export interface Running {
  /** The address it listens on, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Where the first contract's endpoints are, as the WSDL says: public URL and base path. */
  readonly address: string;
  /** The same of all contracts. */
  readonly addresses: readonly string[];
  readonly log: Logger;
  readonly load: () => Load;
  /** What this process counted, and how it is. */
  readonly metrics: () => Sheet;
  /**
   * Loads all files again and serves what they say; when that can't be, logs why and goes on as before. The file of audit
   * lines is opened anew too.
   */
  readonly reload: () => Promise<void>;
  /** Opens the file of audit lines anew, for who moved it away. */
  readonly reopen: () => void;
  /** Stops taking requests and ends when what is in flight has ended; true when nothing was cut. Once is enough. */
  readonly stop: (delayMs: number) => Promise<boolean>;
}

/** Loads the contract, compiles it, listens. Throws ContractError or RangeError before anything listens. */
export async function serve(options: ServeOptions): Promise<Running> {
  const limits = options.limits ?? defaultLimits;
  const trustedProxies = proxyList(options.trustedProxies);
  const { lines, dropped } =
    options.logTo === undefined ? standardOutput(limits.logBytes) : linesTo(options.logTo);
  const log = pino({ level: options.logLevel, base: null }, lines);
  const logsRequests = log.isLevelEnabled('info');
  let stopping = false;
  let stopped: Promise<boolean> | undefined;
  let publicUrl = options.publicUrl ?? '';
  const auditFile = options.auditLog === undefined ? undefined : openAuditFile(options.auditLog);
  let audit: Audit | undefined = logsRequests ? auditInLog(lines) : undefined;
  if (auditFile !== undefined)
    audit = auditApart(new LineBuffer(auditFile, 1), (error, requestId) =>
      log.error({ requestId, ...describeError(error) }, 'the outcome of a write is not in the audit log'),
    );
  const core = createCore({
    limits,
    log,
    lines,
    logsRequests,
    logsProbes: log.isLevelEnabled('debug'),
    logMessages: options.logMessages === true,
    audit,
    trustedProxies,
    isOwnHost: options.allowedHosts === undefined ? undefined : hostList(options.allowedHosts),
    publicUrl: () => publicUrl,
    isPublicUrlSet: options.publicUrl !== undefined,
    isReady: () => !stopping,
    metricsPage: async () => {
      const sheet = await (options.metricsOfAll ?? readMetrics)();
      return sheet === undefined ? undefined : writeSheet(sheet);
    },
  });
  const upstreams = new Map<string | undefined, Promise<Upstream>>();
  const sites = await openSites(() => plansOf(options), {
    limits,
    onLoad: (loaded) => tellLoaded(loaded, log),
    // one that no contract needs any more is kept: it holds no connection, and its last calls may still be on their way
    upstreamAt: (url) => {
      const known = upstreams.get(url);
      if (known !== undefined) return known;
      const upstream = createUpstream(url, options, core.upstreamOptions);
      upstreams.set(url, upstream);
      return upstream;
    },
    handlerOf: (contract, upstream) => createApp(core.appOf(contract, upstream)),
  });
  const isProxy = (address: string): boolean =>
    trustedProxies !== undefined && isListed(address, trustedProxies);
  const { server, connections } = createListener(core, sites, limits, isProxy);
  const everySecond = setInterval(connections.sweep, 1_000).unref();
  core.start();
  const url = await listen(server, options.host, options.port);
  // too many open files, say: told, and over when some of them are closed
  server.on('error', (error) => log.error(describeError(error), 'a connection was not accepted'));
  publicUrl = options.publicUrl ?? url;
  if (options.publicUrl === undefined && isAnyAddress(options.host)) {
    log.warn('PUBLIC_URL is not set: the WSDL names http://localhost, which callers elsewhere can’t reach');
  }

  if (options.logMessages === true) {
    log.warn('LOG_MESSAGES is on: values that the overlay does not call personal stand in the log');
  }
  const addresses = sites.basePaths().map((basePath) => withoutEndSlashes(publicUrl) + basePath);
  let reloading = Promise.resolve();

  return {
    url,
    address: addresses[0] ?? publicUrl,
    addresses,
    log,
    load: core.admission.load,
    metrics: readMetrics,
    reload: () => {
      reopen();
      reloading = reloading.then(reload);
      return reloading;
    },
    reopen,
    stop: (delayMs) => {
      stopped ??= stop(delayMs);
      return stopped;
    },
  };

  function readMetrics(): Sheet {
    const own = { connections: connections.count(), droppedLines: dropped() };
    return core.readMetrics(sites.basePaths().map(shownPath), own);
  }

  function reopen(): void {
    try {
      auditFile?.reopen();
    } catch (error) {
      log.error(
        describeError(error),
        'the audit log was not opened anew: its lines go on to the former file',
      );
    }
  }

  async function reload(): Promise<void> {
    try {
      await sites.reload();
      core.renew();
      log.info({ basePaths: sites.basePaths() }, 'reloaded');
    } catch (error) {
      const why = error instanceof ContractError ? { problems: error.problems } : describeError(error);
      log.error(why, 'not reloaded: what was served before goes on');
    }
  }

  async function stop(delayMs: number): Promise<boolean> {
    stopping = true;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const cut = await connections.close(server, limits.drainMs);
    if (cut > 0) log.error({ connections: cut }, 'stopped with requests or replies under way: they were cut');
    clearInterval(everySecond);
    await core.close();
    for (const upstream of upstreams.values()) await (await upstream).close();
    await new Promise<void>((resolve) => log.flush(() => resolve()));
    return cut === 0;
  }
}

/** The HTTP server that gives requests to what is served, and its connections; it doesn't listen yet. */
function createListener(
  core: Core,
  { handle, basePaths }: Sites,
  limits: Limits,
  isProxy: (address: string) => boolean,
): { readonly server: Server; readonly connections: Connections } {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes + 1, // Node refuses from its maximum on
      headersTimeout: limits.headersMs,
      requestTimeout: limits.headersMs + limits.bodyMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: 100, // ms: a thousand that came together are cut a few at a time
      requireHostHeader: false, // the app does, and tells
    },
    (request, response) => connections.begin(request, response, handle),
  );
  server.maxHeadersCount = 0; // counted by the app, which refuses where Node would drop
  const connections = createConnections(limits, (address) => isLoopback(address) || isProxy(address));
  /** The path that stands for none, and what tells of its requests; another one after a reload. */
  let nowhere: { readonly path: string; readonly tell: (record: RequestRecord) => void } | undefined;
  const { answer, refuseConnect, refuseExpectation } = createUnparsed(connections, (record) => {
    const path = shownPath(basePaths()[0] ?? '');
    if (nowhere?.path !== path) nowhere = { path, tell: core.tellOf(path) };
    nowhere.tell(record);
  });
  server
    .on('connection', connections.add)
    .on('clientError', answer)
    .on('connect', refuseConnect)
    // the body is asked for once nothing speaks against it
    .on('checkContinue', (request, response) => connections.begin(request, response, handle))
    .on('checkExpectation', (request, response) => connections.begin(request, response, refuseExpectation));
  return { server, connections };
}

/** Tells what a contract's author may want to know of what was loaded. */
function tellLoaded(loaded: LoadedContract, log: Logger): void {
  const { contract, notes, notServed, contradictions, unchecked, assumedServers } = loaded;
  for (const { pointer, why } of notes)
    log.warn({ pointer, why }, `travels as JSON ${contract.settings.json}`);
  for (const operation of notServed) log.warn(operation, 'an operation of the document is not served');
  for (const { pointer, why } of contradictions)
    log.warn({ pointer, why }, 'described twice, and no value can be both; the first counts');
  for (const { pointer, why } of unchecked) log.warn({ pointer, why }, 'not checked');
  for (const { pointer, why } of assumedServers)
    log.warn({ pointer, why }, 'the upstream is called in the place of another server');
}

/** A stream keeps what it is given until it is written. */
function linesTo(stream: NodeJS.WritableStream): StandardOutput {
  const lines = new LineBuffer({ write: (bytes) => stream.write(Buffer.from(bytes)) }, 1);
  return { lines, dropped: () => 0 };
}

function plansOf({ config, contract, upstreamUrl }: ServeOptions): readonly SitePlan[] {
  return config === undefined ? [{ contract, basePath: undefined, upstreamUrl }] : readConfig(config);
}

/** The file of audit lines. Throws RangeError. */
function openAuditFile(path: string): AuditFile {
  try {
    return new AuditFile(path);
  } catch (error) {
    throw new RangeError(
      `--audit-log: expected a file that can be written, got ${describeError(error).code ?? error}`,
    );
  }
}

async function createUpstream(
  url: string | undefined,
  { upstreamDatabase: database, upstreamOnly }: ServeOptions,
  upstreamOptions: UpstreamOptions,
): Promise<Upstream> {
  if (url !== undefined) {
    const { createServers } = await import('../upstream/servers.ts'); // undici, which takes a while to load
    return createServers(url, upstreamOptions, upstreamOnly);
  }
  const { createReferenceUpstream } = await import('../../upstream/service.ts');
  return createLocalUpstream(createReferenceUpstream(database === undefined ? {} : { database }));
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(addressOf(server.address() as AddressInfo));
    });
  });
}

/** `0.0.0.0` and `::` are no address to call; `localhost` is (W34). */
function addressOf({ address, family, port }: AddressInfo): string {
  if (isAnyAddress(address)) return `http://localhost:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '';
}
