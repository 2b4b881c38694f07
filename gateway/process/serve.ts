import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Logger, pino } from 'pino';
import { compileContract } from '../../mappings/compile.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import type { ContractPlace } from '../../mappings/loader/load.ts';
import type { Service } from '../call/call.ts';
import { type Admission, createAdmission, type Load } from '../http/admission.ts';
import { createApp } from '../http/app.ts';
import { callerNetwork } from '../http/caller-network.ts';
import { createConnections, isLoopback } from '../http/connections.ts';
import { createDocuments, isListed, proxyList } from '../http/documents.ts';
import { compileRefuseForeign } from '../http/foreign.ts';
import { hostList } from '../http/framing.ts';
import type { Passage } from '../http/passages.ts';
import type { WhenWaiting } from '../http/reply.ts';
import { createUnparsed } from '../http/unparsed.ts';
import { AsideReader } from '../protocols/read-aside.ts';
import { compileReaders } from '../protocols/read-call.ts';
import { type Audit, auditApart, auditInLog } from '../telemetry/audit.ts';
import { AuditFile } from '../telemetry/audit-file.ts';
import { LineBuffer } from '../telemetry/line-buffer.ts';
import { compileRequestLine, createPseudonyms, describeError } from '../telemetry/log.ts';
import { type StandardOutput, standardOutput } from '../telemetry/log-writer.ts';
import { createMessageLog } from '../telemetry/messages.ts';
import { createMetrics, type Sheet, writeSheet } from '../telemetry/metrics.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { createLocalUpstream, idleUpstream, type Upstream } from '../upstream/upstream.ts';
import { readConfig } from './config.ts';
import { LoopDelay } from './loop-delay.ts';
import { openSites, type SitePlan } from './sites.ts';

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
  const { lines, dropped } =
    options.logTo === undefined ? standardOutput(limits.logBytes) : linesTo(options.logTo);
  const log = pino({ level: options.logLevel, base: null }, lines);
  const logsRequests = log.isLevelEnabled('info');
  const logsProbes = log.isLevelEnabled('debug');
  let stopping = false;
  let stopped: Promise<boolean> | undefined;
  let publicUrl = options.publicUrl ?? '';
  const auditFile = options.auditLog === undefined ? undefined : openAuditFile(options.auditLog);
  let audit: Audit | undefined = logsRequests ? auditInLog(lines) : undefined;
  if (auditFile !== undefined)
    audit = auditApart(new LineBuffer(auditFile, 1), (error, requestId) =>
      log.error({ requestId, ...describeError(error) }, 'the outcome of a write is not in the audit log'),
    );
  const pseudonyms = createPseudonyms();
  const admission = createAdmission(limits);
  const metrics = createMetrics();
  const aside = new AsideReader(limits, (error) =>
    log.error(
      describeError(error),
      'the thread that reads large messages was lost; another one takes its place',
    ),
  );
  let loopDelayMs = 0;
  /** By the path that the contract is under. */
  const behind = new Map<string, Upstream>();
  const upstreams = new Map<string | undefined, Promise<Upstream>>();
  const sites = await openSites(() => plansOf(options), {
    limits,
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
      const upstream = createUpstream(url, options, {
        limits,
        admission,
        networkOf: (request) => callerNetwork(request, trustedProxies),
        onBreaker: (upstream, open, operation) =>
          log.warn({ upstream, operation, breaker: open ? 'open' : 'closed' }, sayBreaker(open, operation)),
      });
      upstreams.set(url, upstream);
      return upstream;
    },
    handlerOf: (contract, upstream) => {
      const path = shownPath(contract.basePath);
      behind.set(path, upstream);
      const count = metrics.counterOf(path);
      const tellRequest = compileRequestLine(path);
      const tellProbe = compileRequestLine(path, 'debug');
      const compiled = compileContract(contract, limits);
      const binary = contract.operations.some((operation) => operation.binaryInput);
      const service: Service = {
        ...compileReaders(compiled, limits.loopSteps),
        readAside: aside.readerOf(compiled, options.logMessages === true),
        refuseForeign: compileRefuseForeign(contract),
        upstream,
        admission,
        audit,
        messages: options.logMessages === true ? createMessageLog(lines, compiled, path) : undefined,
        pseudonymOf: callerPseudonyms(contract, pseudonyms),
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
        onProbe: (record) => {
          count(record);
          if (logsProbes) tellProbe(record, lines);
        },
        whenWaiting: watchReplies(admission, (requestId) => {
          metrics.countCut(path);
          log.info({ requestId, contract: path, cut: true }, 'the reply was not sent whole');
        }),
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
      requireHostHeader: false, // the app does, and tells
    },
    (request, response) => connections.begin(request, response, handle),
  );
  server.maxHeadersCount = 0; // counted by the app, which refuses where Node would drop
  const connections = createConnections(
    limits,
    (address) => isLoopback(address) || (trustedProxies !== undefined && isListed(address, trustedProxies)),
  );
  /** The path that stands for none, and what tells of its requests; another one after a reload. */
  let nowhere = { path: '', tellRequest: compileRequestLine('/') };
  const { answer, refuseConnect, refuseExpectation } = createUnparsed(connections, (record) => {
    const path = shownPath(sites.basePaths()[0] ?? '');
    if (nowhere.path !== path) nowhere = { path, tellRequest: compileRequestLine(path) };
    metrics.counterOf(path)(record);
    if (logsRequests) nowhere.tellRequest(record, lines);
  });
  server
    .on('connection', connections.add)
    .on('clientError', answer)
    .on('connect', refuseConnect)
    // the body is asked for once nothing speaks against it
    .on('checkContinue', (request, response) => connections.begin(request, response, handle))
    .on('checkExpectation', (request, response) => connections.begin(request, response, refuseExpectation));
  const loopDelay = new LoopDelay();
  const everySecond = setInterval(() => {
    connections.sweep();
    admission.sweep();
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
  const addresses = sites.basePaths().map((basePath) => withoutEndSlashes(publicUrl) + basePath);
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
    const upstreamStates = new Map(paths.map((path) => [path, behind.get(path)?.state() ?? idleUpstream]));
    return metrics.read({
      ...admission.load(),
      connections: connections.count(),
      upstreamStates,
      loopDelayMs,
      droppedLines: dropped(),
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
      aside.renew();
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
    loopDelay.stop();
    await aside.close();
    for (const upstream of upstreams.values()) await (await upstream).close();
    await new Promise<void>((resolve) => log.flush(() => resolve()));
    return cut === 0;
  }
}

/** What watches replies that wait for room in their connection: counts their bytes, and tells of those that are never sent whole. */
function watchReplies(admission: Admission, tellCut: (requestId: string) => void): WhenWaiting {
  return (response, requestId, bytes) => {
    if (response.destroyed) {
      tellCut(requestId);
      return;
    }
    const passage = passageOf(response, bytes, admission);
    admission.depart(passage);
    response.once('close', () => {
      admission.departed(passage);
      if (!response.writableFinished) tellCut(requestId);
    });
  };
}

/** A reply on its way out through its connection. */
function passageOf(response: ServerResponse, bytes: number | Buffer, admission: Admission): Passage {
  const { socket } = response.req;
  const taken = (): number => socket.bytesWritten - socket.writableLength;
  const takenBefore = taken();
  const passage: Passage = {
    place: -1,
    heldBytes: typeof bytes === 'number' ? bytes : bytes.length,
    shared: typeof bytes === 'number' ? undefined : bytes,
    began: performance.now(),
    moved: () => taken() - takenBefore,
    cut: () => {
      admission.departed(passage);
      socket.destroy();
    },
  };
  return passage;
}

/** What the log says of a breaker's change. */
function sayBreaker(open: boolean, operation: string | undefined): string {
  if (operation !== undefined)
    return open ? 'an operation is left alone: all its calls failed' : 'an operation is called again';
  return open ? 'the upstream is left alone: no connection was had' : 'the upstream is called again';
}

/** A stream keeps what it is given until it is written. */
function linesTo(stream: NodeJS.WritableStream): StandardOutput {
  const lines = new LineBuffer({ write: (bytes) => stream.write(Buffer.from(bytes)) }, 1);
  return { lines, dropped: () => 0 };
}

function plansOf({ config, contract, upstreamUrl }: ServeOptions): readonly SitePlan[] {
  return config === undefined ? [{ contract, basePath: undefined, upstreamUrl }] : readConfig(config);
}

/** A contract's base path as log and metrics show it. */
function shownPath(basePath: string): string {
  return basePath === '' ? '/' : basePath;
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
