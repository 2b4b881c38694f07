import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Logger, pino } from 'pino';
import type { CredentialValues } from '../mappings/codec/call.ts';
import { compileContract } from '../mappings/codec/operation.ts';
import { defaultLimits, type Limits } from '../mappings/limits.ts';
import { ContractError } from '../mappings/load/error.ts';
import type { ContractPlace } from '../mappings/load.ts';
import type { Contract } from '../mappings/model.ts';
import { type Admission, createAdmission, type Load } from './admission.ts';
import { createApp } from './app.ts';
import { type Audit, auditApart, auditInLog } from './audit.ts';
import { readConfig } from './config.ts';
import { createConnections, isLoopback } from './connections.ts';
import { compileCredentials } from './credentials.ts';
import { createDocuments, isListed, proxyList } from './documents.ts';
import { hostList } from './framing.ts';
import { LineBuffer, type LineWriter } from './line-buffer.ts';
import { compileRequestLine, createPseudonyms, describeError } from './log.ts';
import { LoopDelay } from './loop-delay.ts';
import { createMessageLog } from './messages.ts';
import { createMetrics, type Sheet, writeSheet } from './metrics.ts';
import type { Service } from './service.ts';
import { openSites, type SitePlan } from './sites.ts';
import { createSoapReader } from './soap.ts';
import { answerUnparsed, refuseConnect } from './unparsed.ts';
import { createLocalUpstream, type Upstream } from './upstream.ts';

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
  const isOwnHost = options.allowedHosts === undefined ? undefined : hostList(options.allowedHosts);
  const lines = options.logTo === undefined ? standardOutput() : linesTo(options.logTo);
  const log = pino({ level: options.logLevel, base: null }, lines);
  const logsRequests = log.isLevelEnabled('info');
  let stopping = false;
  let stopped: Promise<boolean> | undefined;
  let publicUrl = options.publicUrl ?? '';
  const auditFile = options.auditLog === undefined ? undefined : openAuditFile(options.auditLog);
  let audit: Audit | undefined = logsRequests ? auditInLog(lines) : undefined;
  if (auditFile !== undefined) audit = auditApart(new LineBuffer(auditFile, 1));
  const pseudonyms = audit === undefined ? undefined : createPseudonyms();
  const admission = createAdmission(limits);
  const metrics = createMetrics();
  let loopDelayMs = 0;
  /** By the path that the contract is under. */
  const behind = new Map<string, Upstream>();
  const upstreams = new Map<string | undefined, Promise<Upstream>>();
  const sites = await openSites(() => plansOf(options), {
    onLoad: ({ contract, notes, notServed, contradictions, unchecked, assumedServers }) => {
      for (const { pointer, why } of notes)
        log.warn({ pointer, why }, `travels as JSON ${contract.settings.json}`);
      for (const operation of notServed) log.warn(operation, 'an operation of the document is not served');
      for (const { pointer, why } of contradictions)
        log.warn({ pointer, why }, 'described twice, and no value can be both; the first counts');
      for (const { pointer, why } of unchecked) log.warn({ pointer, why }, 'not checked');
      for (const { pointer, why } of assumedServers)
        log.warn({ pointer, why }, 'the upstream is called in the place of another server');
    },
    // one that no contract needs any more is kept: it holds no connection, and its last calls may still be on their way
    upstreamAt: (url) => {
      const known = upstreams.get(url);
      if (known !== undefined) return known;
      const upstream = createUpstream(url, options, limits, admission);
      upstreams.set(url, upstream);
      return upstream;
    },
    handlerOf: (contract, upstream) => {
      const path = shownPath(contract.basePath);
      behind.set(path, upstream);
      const count = metrics.counterOf(path);
      const tellRequest = compileRequestLine(path);
      const compiled = compileContract(contract, limits);
      const binary = contract.operations.some((operation) => operation.binaryInput);
      const service: Service = {
        compiled,
        readSoap: createSoapReader(compiled),
        readCredentials: compileCredentials(contract.credentials, limits),
        upstream,
        admission,
        audit,
        messages: options.logMessages === true ? createMessageLog(lines, compiled, path) : undefined,
        pseudonymOf: pseudonyms === undefined ? undefined : callerPseudonyms(contract, pseudonyms),
        bodyLimit: binary ? limits.bodyBytesWithBinary : limits.bodyBytes,
        onError: (error, requestId) => log.error({ requestId, ...describeError(error) }, 'internal error'),
      };
      return createApp({
        service,
        documents: createDocuments(contract, {
          publicUrl: () => publicUrl,
          configured: options.publicUrl !== undefined,
          trustedProxies,
          limits,
        }),
        isOwnHost,
        isReady: () => !stopping,
        metrics: async () => {
          const sheet = await (options.metricsOfAll ?? readMetrics)();
          return sheet === undefined ? undefined : writeSheet(sheet);
        },
        onRequest: (record) => {
          count(record);
          if (logsRequests) tellRequest(record, lines);
        },
      });
    },
  });
  const { handle } = sites;
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes + 1, // Node refuses from its maximum on
      headersTimeout: limits.headersMs,
      requestTimeout: limits.headersMs + limits.bodyMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: 100, // ms: a thousand that came together are cut a few at a time
    },
    handle,
  );
  server.maxHeadersCount = 0; // counted by the app, which refuses where Node would drop
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = limits.requestsPerSocket;
  server.on('checkContinue', handle); // the body is asked for once nothing speaks against it
  server.on('connect', refuseConnect).on('clientError', answerUnparsed);
  const connections = createConnections(
    limits,
    (address) => isLoopback(address) || (trustedProxies !== undefined && isListed(address, trustedProxies)),
  );
  server.on('connection', connections.add);
  const loopDelay = new LoopDelay();
  const everySecond = setInterval(() => {
    connections.sweep();
    loopDelayMs = loopDelay.take();
    admission.observeDelay(loopDelayMs);
  }, 1_000).unref();

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
  const addresses = sites.basePaths().map((basePath) => publicUrl.replace(/\/+$/, '') + basePath);
  let reloading = Promise.resolve();

  return {
    url,
    address: addresses[0] ?? publicUrl,
    addresses,
    log,
    load: admission.load,
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
    const paths = sites.basePaths().map(shownPath);
    const breakersOpen = new Map(paths.map((path) => [path, behind.get(path)?.isOpen() ?? false]));
    return metrics.read({
      ...admission.load(),
      connections: connections.count(),
      breakersOpen,
      loopDelayMs,
    });
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
      log.info({ basePaths: sites.basePaths() }, 'reloaded');
    } catch (error) {
      const why = error instanceof ContractError ? { problems: error.problems } : describeError(error);
      log.error(why, 'not reloaded: what was served before goes on');
    }
  }

  async function stop(delayMs: number): Promise<boolean> {
    stopping = true;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const clean = await connections.close(server, limits.drainMs);
    clearInterval(everySecond);
    loopDelay.stop();
    for (const upstream of upstreams.values()) await (await upstream).close();
    await new Promise<void>((resolve) => log.flush(() => resolve()));
    return clean;
  }
}

/** Standard output, a few lines at a time; what still waits when the process ends goes out then. */
function standardOutput(): LineBuffer {
  const lines = new LineBuffer(byteDestination(1));
  process.once('exit', () => lines.flush());
  return lines;
}

/** A stream keeps what it is given until it is written. */
function linesTo(stream: NodeJS.WritableStream): LineBuffer {
  return new LineBuffer({ write: (lines) => stream.write(Buffer.from(lines)) }, 1);
}

function plansOf({ config, contract, upstreamUrl }: ServeOptions): readonly SitePlan[] {
  return config === undefined ? [{ contract, basePath: undefined, upstreamUrl }] : readConfig(config);
}

/** A contract's base path as log and metrics show it. */
function shownPath(basePath: string): string {
  return basePath === '' ? '/' : basePath;
}

type ByteDestination = LineWriter & { readonly reopen: () => void };

/** A file or its descriptor, to whose end each write goes before the next thing is done. */
function byteDestination(dest: string | number): ByteDestination {
  const destination = pino.destination({ dest, append: true, sync: true, contentMode: 'buffer' });
  return destination as unknown as ByteDestination; // its types know of strings alone
}

/** The file of audit lines. Throws RangeError. */
function openAuditFile(path: string): ByteDestination {
  try {
    return byteDestination(path);
  } catch (error) {
    throw new RangeError(
      `--audit-log: expected a file that can be written, got ${describeError(error).code ?? error}`,
    );
  }
}

/** Callers are told apart by the first of their credentials that isn't secret. */
function callerPseudonyms(
  { credentials }: Contract,
  pseudonymOf: (id: string) => string,
): (values: CredentialValues) => string | undefined {
  const name = credentials?.parts.find(({ secret }) => !secret)?.name;
  return ({ all }) => {
    const id = name === undefined ? undefined : all.get(name);
    return id === undefined ? undefined : pseudonymOf(id);
  };
}

async function createUpstream(
  url: string | undefined,
  { upstreamDatabase: database, upstreamOnly }: ServeOptions,
  limits: Limits,
  admission: Admission,
): Promise<Upstream> {
  if (url !== undefined) {
    const { createServers } = await import('./servers.ts'); // undici, which takes a while to load
    return createServers(url, limits, admission, upstreamOnly);
  }
  const { createReferenceUpstream } = await import('../upstream/service.ts');
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
