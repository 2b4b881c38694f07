import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import type { Running } from '../../gateway/process/running.ts';
import { serve } from '../../gateway/process/serve.ts';
import type { ServeOptions } from '../../gateway/process/serve-options.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';

/** A reply of a stub service, or the way in which it fails; null if it must not be called. */
export type StubReply =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer }
  | { readonly fails: 'connectionRefused' | 'timeout' | 'resetAfterRequest' }
  | null;

/** A request as a stub received it. */
export interface Hit {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A stub service. */
export interface Stub {
  readonly url: string;
  readonly hits: Hit[];
  answer: StubReply;
  /** Called with each request before it is answered. */
  onHit: (hit: Hit) => void;
  /** Refuses connections until `open` is called. */
  readonly refuse: () => Promise<void>;
  readonly open: () => Promise<void>;
}

export async function startStub(t: Pick<ExecutionContext, 'teardown'>): Promise<Stub> {
  const hits: Hit[] = [];
  let port = 0;
  const server = createServer(async (request, response) => {
    const { method = '', url = '', rawHeaders, headers } = request;
    const body = await buffer(request);
    const hit = { method, url, rawHeaders, headers, body };
    hits.push(hit);
    stub.onHit(hit);
    const { answer } = stub;
    if (answer === null) response.writeHead(500).end('must not be called');
    else if (!('fails' in answer)) response.writeHead(answer.status, answer.headers).end(answer.body);
    else if (answer.fails === 'resetAfterRequest') request.socket.resetAndDestroy();
  });
  const open = (): Promise<void> =>
    new Promise((resolve) => {
      if (server.listening) {
        resolve();
        return;
      }
      server.listen(port, '127.0.0.1', () => {
        ({ port } = server.address() as AddressInfo);
        resolve();
      });
    });
  const refuse = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await open();
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const stub: Stub = { url: `http://127.0.0.1:${port}`, hits, answer: null, onHit: () => {}, refuse, open };
  return stub;
}

/** A reply as the caller receives it. */
export interface CallerReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** A gateway between two stub services. */
export interface Site {
  readonly running: Running;
  readonly legacy: Stub;
  readonly upstream: Stub;
  readonly port: number;
  /** Path of soapbridge.yaml. */
  readonly config: string;
  /** Lines of the log so far. */
  readonly log: () => readonly Record<string, unknown>[];
  /** Lines of the audit file so far. */
  readonly audit: () => readonly Record<string, unknown>[];
  readonly send: (call: CallerRequest) => Promise<CallerReply>;
  /** Replaces the configuration and reloads it. */
  readonly reconfigure: (config: object) => Promise<void>;
}

export interface CallerRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string> | readonly string[];
  readonly body?: string | Buffer | undefined;
  /** A body in chunks, instead of `body`. */
  readonly chunks?: readonly string[];
  readonly caller?: string | undefined;
}

/** Options of `startSite`. */
export interface SiteOptions {
  /** Folder of the contract. */
  readonly contract: string;
  /** Other keys of the contract in soapbridge.yaml; `{legacy}` and `{new}` are the URLs of the stubs. */
  readonly config: object;
  /** Other keys of soapbridge.yaml, such as `store`. */
  readonly root?: object;
  /** Names of callers in callers.yaml. */
  readonly callers?: readonly string[];
  /** Path of the contract. Default: `/`. */
  readonly path?: string;
  readonly limits?: Partial<Limits>;
  readonly serve?: Partial<ServeOptions>;
  /** False for the outcome of writes in the log, without a separate audit. */
  readonly isAudited?: boolean;
}

/** Starts a gateway for one contract, mounted at `/`. */
export async function startSite(t: ExecutionContext, options: SiteOptions): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-migration-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [legacy, upstream] = await Promise.all([startStub(t), startStub(t)]);
  const write = (config: object): string => {
    const keys = JSON.stringify({ contract: options.contract, upstream: upstream.url, ...config });
    const text = keys.replaceAll('{legacy}', legacy.url).replaceAll('{new}', upstream.url);
    const clientCertificate = { header: 'X-Caller', from: 'commonName', sentIn: 'X-Test-Certificate' };
    const file = join(folder, 'soapbridge.yaml');
    writeFileSync(
      file,
      JSON.stringify({
        contracts: { [options.path ?? '/']: JSON.parse(text) },
        clientCertificate,
        ...options.root,
      }),
    );
    return file;
  };
  const names = options.callers ?? [];
  const callers = join(folder, 'callers.yaml');
  writeFileSync(callers, JSON.stringify(Object.fromEntries(names.map((name) => [name, [name]]))));
  const audit = join(folder, 'audit.log');
  let logged = '';
  const running = await serve({
    config: write(options.config),
    contract: '',
    host: '127.0.0.1',
    port: 0,
    upstreamUrl: undefined,
    upstreamDatabase: undefined,
    publicUrl: undefined,
    trustedProxies: ['127.0.0.1'],
    logLevel: 'info',
    drainDelayMs: 0,
    callerFiles: { callers },
    ...(options.isAudited === false ? {} : { auditLog: audit }),
    // the machine of a test may be slow
    limits: { ...defaultLimits, loopDelayMs: 60_000, ...options.limits } as Limits,
    logTo: new Writable({
      write(chunk, _encoding, done) {
        logged += chunk;
        done();
      },
    }),
    ...options.serve,
  });
  t.teardown(() => running.stop(0));
  const port = Number(new URL(running.url).port);
  return {
    running,
    legacy,
    upstream,
    port,
    config: join(folder, 'soapbridge.yaml'),
    log: () => linesOf(logged),
    audit: () => linesOf(readFileSync(audit, 'utf8')),
    send: (call) => send(port, call),
    reconfigure: async (config) => {
      write(config);
      await running.reload();
    },
  };
}

function linesOf(text: string): readonly Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Sends a request on a new connection. */
export function send(port: number, call: CallerRequest): Promise<CallerReply> {
  const { method = 'POST', path, headers = {}, body, caller } = call;
  const identity = caller === undefined ? [] : ['X-Test-Certificate', caller];
  const own = Array.isArray(headers) ? headers : Object.entries(headers).flat();
  const host = own.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
    ? []
    : ['Host', `127.0.0.1:${port}`];
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: [...host, ...own, ...identity, ...length],
        agent: false,
      },
      (response) => {
        buffer(response).then(
          (received) =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              rawHeaders: response.rawHeaders,
              body: received,
            }),
          reject,
        );
      },
    );
    request.on('error', reject);
    for (const chunk of call.chunks ?? []) request.write(chunk);
    request.end(body);
  });
}

/** Reads a file of a scenario. */
export function readScenario<Scenario>(name: string): Scenario {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'scenarios', `${name}.json`), 'utf8'));
}

/** Path of the folder of a scenario's contract. */
export function contractFolder(contract: string): string {
  return join(import.meta.dirname, contract);
}
