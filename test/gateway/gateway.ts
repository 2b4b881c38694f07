import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import type { Running } from '../../gateway/process/running.ts';
import { serve } from '../../gateway/process/serve.ts';
import type { ServeOptions } from '../../gateway/process/serve-options.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { screeningContract } from '../../mappings/loader/load.ts';

export const typesNamespace = 'http://schemas.servicestack.net/types';
export const soap11Namespace = 'http://schemas.xmlsoap.org/soap/envelope/';
export const soap12Namespace = 'http://www.w3.org/2003/05/soap-envelope';

/** A request as the upstream received it. */
export interface Hit {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A reply of the scripted upstream, or a function that handles the response. */
export type Answer =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer }
  | ((hit: Hit, response: ServerResponse) => void);

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export type Body = string | Buffer | undefined;

/** A running gateway with its scripted upstream, and functions to call it. */
export interface Gateway {
  readonly running: Running;
  readonly port: number;
  readonly hits: readonly Hit[];
  /** Returns the requests with this X-User-Id, for tests that share a gateway. */
  readonly hitsOf: (userId: string) => readonly Hit[];
  /** Returns the log output so far. */
  readonly log: () => string;
  readonly answer: (answer: Answer) => void;
  /** Sends a request below the contract's base path on a new connection. */
  readonly send: (method: string, path: string, headers?: HeaderList, body?: Body) => Promise<Reply>;
  /** Sends the bytes unchanged and returns everything received until the connection is closed. */
  readonly raw: (...parts: readonly (string | Buffer)[]) => Promise<string>;
}

/** Headers as an object, or as alternating names and values if a name repeats. */
export type HeaderList = Record<string, string> | readonly string[];

export interface GatewayOptions {
  readonly limits?: Partial<Limits>;
  /** Lines before the screening contract's overlay, for example `soapErrors: fault`. */
  readonly overlay?: string;
  readonly serve?: Partial<ServeOptions>;
  /** True if no wait of the gateway or the upstream may time out, since the machine may be slow. */
  readonly isPatient?: boolean;
}

const patientMs = 1_800_000;

/** Time limits of a call, far above the time that any machine needs. */
const patientLimits: Partial<Limits> = {
  totalMs: patientMs,
  queueMs: patientMs,
  bodyIdleMs: patientMs,
  bodySlowMs: patientMs,
  writeSlowMs: patientMs,
  upstreamConnectMs: patientMs,
  upstreamQueueMs: patientMs,
  upstreamFirstByteMs: patientMs,
  upstreamIdleMs: patientMs,
};

/** An empty success. Every operation's reply may omit everything except the status. */
export const emptyReply = '{"data":{"responseStatus":{}}}';

export async function startGateway(
  t: Pick<ExecutionContext, 'teardown'>,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const hits: Hit[] = [];
  let answer: Answer = { body: options.serve?.contract === undefined ? emptyReply : '{}' };
  const upstream = createServer(async (request, response) => {
    const hit: Hit = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: await text(request),
    };
    hits.push(hit);
    if (typeof answer === 'function') answer(hit, response);
    else {
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
      response.end(answer.body);
    }
  });
  // a reply that the gateway has not read yet would be lost with its connection
  if (options.isPatient === true) upstream.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  let logged = '';
  const running = await serve({
    contract: options.overlay === undefined ? screeningContract : contractWith(t, options.overlay),
    host: '127.0.0.1',
    port: 0,
    upstreamUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    upstreamDatabase: undefined,
    publicUrl: undefined,
    trustedProxies: [],
    logLevel: 'info',
    drainDelayMs: 0,
    limits: {
      ...defaultLimits,
      ...(options.isPatient === true ? patientLimits : {}),
      ...options.limits,
    } as Limits,
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
    port,
    hits,
    hitsOf: (userId) => hits.filter(({ body }) => body.includes(`"userId":"${userId}"`)),
    // without the log lines about loaded contracts, which loaded-log.test.ts checks
    log: () => logged.replace(/^.*"msg":"contract loaded".*\n/gm, ''),
    answer: (next) => {
      answer = next;
    },
    send: (method, path, headers = {}, body) => send(port, method, `/v2${path}`, headers, body),
    raw: (...parts) => raw(port, ...parts),
  };
}

/** Starts a gateway shared by all tests of a file. Must be awaited before the first test and hook. */
export async function sharedGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const [gateway] = await sharedGateways(options);
  return gateway;
}

/** Starts several shared gateways. ava accepts no hook after the first event-loop iteration. */
export async function sharedGateways<All extends readonly GatewayOptions[]>(
  ...all: All
): Promise<{ [Index in keyof All]: Gateway }> {
  const ends: (() => unknown)[] = [];
  const started = all.map((options) => startGateway({ teardown: (end) => ends.push(end) }, options));
  const gateways = await Promise.all(started);
  test.after.always(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return gateways as { [Index in keyof All]: Gateway };
}

/**
 * Creates a contract folder, by default the screening contract, with additional overlay settings. A `wsse` setting
 * replaces the existing one; an empty `wsse:` removes it.
 */
export function contractWith(
  t: Pick<ExecutionContext, 'teardown'>,
  overlay: string,
  contract: string = screeningContract,
): string {
  const directory = mkdtempSync(join(tmpdir(), 'contract-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  cpSync(contract, directory, { recursive: true });
  const file = join(directory, 'soap.yaml');
  const stated = readFileSync(file, 'utf8').split('\n');
  const given = overlay.split('\n');
  const isReplaced = given.some((line) => line.startsWith('wsse:'));
  const kept = stated.filter((line) => !isReplaced || !line.startsWith('wsse:'));
  writeFileSync(file, [...given.filter((line) => line !== 'wsse:'), ...kept].join('\n'));
  return directory;
}

export function send(
  port: number,
  method: string,
  path: string,
  headers: HeaderList = {},
  body?: Body,
): Promise<Reply> {
  const list = Array.isArray(headers) ? headers : Object.entries(headers).flat();
  const names = list.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const all = ['Host', `127.0.0.1:${port}`, ...list];
  if (body !== undefined && !names.includes('content-length') && !names.includes('transfer-encoding')) {
    all.push('Content-Length', String(Buffer.byteLength(body)));
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: all, agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      buffer(response).then((bytes) => {
        const { statusCode: status = 0, headers: given } = response;
        resolve({ status, headers: given, text: bytes.toString('utf8') });
      }, reject);
    });
    request.end(body);
  });
}

export async function raw(port: number, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  for (const part of parts) socket.write(part);
  return text(socket);
}

// --- messages -------------------------------------------------------------------------------------

export const authentication =
  '<Authentication><ApiUserId>u</ApiUserId><ApiUserKey>key</ApiUserKey></Authentication>';

/** A complete, valid call of GetSearch. */
export const getSearch = `<GetSearch xmlns="${typesNamespace}">${authentication}<Request><Id>1</Id></Request></GetSearch>`;

export interface EnvelopeParts {
  readonly header?: string;
  readonly body?: string;
}

export function envelope(
  version: '1.1' | '1.2',
  { header = '', body = getSearch }: EnvelopeParts = {},
): string {
  const namespace = version === '1.1' ? soap11Namespace : soap12Namespace;
  const headers = header === '' ? '' : `<e:Header>${header}</e:Header>`;
  return `<e:Envelope xmlns:e="${namespace}">${headers}<e:Body>${body}</e:Body></e:Envelope>`;
}

/** The credentials of that call as headers. */
export const keyHeaders = { 'X-Api-User': 'u', 'X-Api-Key': 'key' } as const;

/** The responseStatus of a JSON reply. */
export interface Told {
  readonly errorCode: string;
  readonly message: string;
  readonly errors?: readonly {
    readonly errorCode: string;
    readonly fieldName: string;
    readonly message: string;
  }[];
  readonly meta?: Readonly<Record<string, string>>;
}

export function statusOf(json: string): Told {
  const reply: { data: { responseStatus: Told } } = JSON.parse(json);
  return reply.data.responseStatus;
}

/** Returns the text of the first element with a local name, or undefined. Sufficient for the gateway's own output. */
export function elementText(xml: string, local: string): string | undefined {
  return new RegExp(`<(?:\\w+:)?${local}(?: [^>]*)?>([^<]*)</`).exec(xml)?.[1];
}
