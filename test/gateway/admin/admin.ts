import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { SecureContextOptions } from 'node:tls';
import type { ExecutionContext } from 'ava';
import { openAdmin } from '../../../gateway/admin/listener.ts';
import type { ServeOptions } from '../../../gateway/process/serve-options.ts';
import { screeningContract } from '../../../mappings/loader/load.ts';
import { type Gateway, startGateway } from '../gateway.ts';

export const readToken = 'read-token';
export const changeToken = 'change-token';

export function sha256(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Entries of the token file of `startAdmin`. */
export const entries = [
  { name: 'reader', role: 'read', sha256: sha256(readToken) },
  { name: 'changer', role: 'change', sha256: sha256(changeToken), expires: '2100-01-01T00:00:00+01:00' },
  { name: 'former', role: 'read', sha256: sha256('expired-token'), expires: '2020-01-01T00:00:00Z' },
];

/** A response of the admin listener. */
export interface AdminReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface AdminRequestOptions extends SecureContextOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly token?: string;
  readonly body?: string;
}

/** Sends a request on a new connection. */
export function ask(url: string, path: string, options: AdminRequestOptions = {}): Promise<AdminReply> {
  const { method = 'GET', headers = {}, token, body, ...tls } = options;
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const request = url.startsWith('https:') ? requestTls : requestPlain;
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  // Node's client compares the certificate with the Host header, which a test may replace.
  const identity = headers.host === undefined ? {} : { checkServerIdentity: () => undefined };
  const all = {
    method,
    agent: false,
    headers: Object.fromEntries(
      Object.entries({ ...authorization, ...length, ...headers }).filter(([, value]) => value !== undefined),
    ),
    ...identity,
    ...tls,
  };
  return new Promise((resolve, reject) => {
    request(new URL(path, url), all, (response) => {
      text(response).then((received) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received });
      }, reject);
    })
      .on('error', reject)
      .end(body);
  });
}

/** A gateway with an admin listener. */
export interface Administered {
  readonly gateway: Gateway;
  readonly folder: string;
  readonly write: (name: string, content: unknown) => void;
  readonly ask: (path: string, options?: AdminRequestOptions) => Promise<AdminReply>;
}

export interface AdministeredOptions {
  readonly admin?: object;
  readonly config?: object;
  readonly files?: Readonly<Record<string, string>>;
  readonly serve?: Partial<ServeOptions>;
  /** Clock of the request rate, in ms. */
  readonly now?: () => number;
  /** Time limit of headers and handshakes, in ms. By default, no machine is too slow. */
  readonly headersMs?: number;
}

/** Starts a gateway with an admin listener on a free port of 127.0.0.1. */
export async function startAdmin(
  t: Pick<ExecutionContext, 'teardown'>,
  { admin = {}, config = {}, files = {}, serve = {}, now, headersMs = 1_800_000 }: AdministeredOptions = {},
): Promise<Administered> {
  const folder = mkdtempSync(join(tmpdir(), 'admin-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: unknown): void => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    chmodSync(path, 0o600);
  };
  for (const [name, content] of Object.entries(files)) write(name, content);
  if (!('tokens.yaml' in files)) write('tokens.yaml', entries);
  write('soapbridge.yaml', {
    contracts: { '/v2': { contract: screeningContract, upstream: 'http://127.0.0.1:1' } },
    admin: { listen: '127.0.0.1:0', tokens: 'tokens.yaml', ...admin },
    ...config,
  });
  const gateway = await startGateway(t, {
    serve: {
      config: join(folder, 'soapbridge.yaml'),
      openAdmin: (options) => openAdmin(options, { ...(now && { now }), headersMs }),
      ...serve,
    },
  });
  const url = gateway.running.adminUrl ?? '';
  return { gateway, folder, write, ask: (path, options) => ask(url, path, options) };
}
