import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse, stringify } from 'yaml';
import { credentials, type Version } from './checks.ts';

/** A gateway started by the CLI. */
export interface Served {
  /** The address of the server, without a path. */
  readonly url: string;
  /** The addresses of the WSDLs in the start line: one for each contract. */
  readonly wsdl: readonly string[];
  /** The SOAP addresses in the start line. */
  readonly endpoints: readonly string[];
  /** Makes the process read its configuration again. */
  readonly reload: () => void;
  /** Stops the process without the drain delay and waits for its end. */
  readonly stop: () => Promise<void>;
}

const root = join(import.meta.dirname, '../..');
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts `soapbridge serve` with its default settings, as users do. The flags name the contract, the upstream and a
 * free port of 127.0.0.1.
 *
 * @param flags additional flags, for a setting that a variant of the calls needs
 * @throws {Error} with the last lines of its log if the process ends before it listens
 */
export async function serveContract(
  contract: string,
  upstreamUrl: string,
  flags: readonly string[] = [],
): Promise<Served> {
  return serveWith(['--contract', contract, '--upstream', upstreamUrl, ...flags]);
}

/**
 * Starts `soapbridge serve` with flags on a free port of 127.0.0.1.
 *
 * @throws {Error} with the last lines of its log if the process ends before it listens
 */
export async function serveWith(flags: readonly string[]): Promise<Served> {
  const fixed = ['serve', '--port', '0'];
  const child = spawn(process.execPath, [join(root, 'bin/soapbridge.js'), ...fixed, ...flags], {
    cwd: root,
    env: { PATH: process.env.PATH, TZ: process.env.TZ, HOME: process.env.HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      running.delete(child);
      resolve();
    });
  });
  const log: string[] = [];
  const keep = (line: string): void => {
    log.push(line);
    if (log.length > 20) log.shift();
  };
  createInterface({ input: child.stderr }).on('line', keep);
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      keep(text);
      if (text.includes('"endpoints":')) resolve(text);
    });
    void ended.then(() =>
      reject(new Error(`serve ${flags.join(' ')}: expected a start line, got ${log.join('\n')}`)),
    );
  });
  const { url, wsdl, endpoints } = JSON.parse(line) as Omit<Served, 'stop' | 'reload'>;
  return {
    url,
    wsdl,
    endpoints,
    reload: () => {
      child.kill('SIGHUP');
    },
    stop: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}

/**
 * Starts the gateway of a contract with changed overlay members.
 *
 * @param flags additional flags of `serve`
 */
export async function serveChanged(
  contract: string,
  overlay: object,
  upstreamUrl: string,
  flags: readonly string[] = [],
): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'interop-contract-'));
  try {
    cpSync(contract, folder, { recursive: true });
    const file = join(folder, 'soap.yaml');
    writeFileSync(file, stringify({ ...parse(readFileSync(file, 'utf8')), ...overlay }));
    if (!('wsse' in overlay)) return await serveContract(folder, upstreamUrl, flags);
    const secrets = join(folder, 'secrets.yaml');
    writeFileSync(secrets, stringify({ [credentials.apiUserId]: credentials.apiUserKey }), { mode: 0o600 });
    return await serveContract(folder, upstreamUrl, [...flags, '--wsse-secrets', secrets]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The address of a plain contract's gateway for a SOAP version.
 *
 * @param origin the origin that clients use, if there is a relay between them and the gateway
 * @throws {Error} if no endpoint of the start line has the version
 */
export function endpointOf({ endpoints, url }: Served, version: Version, origin = url): string {
  const endpoint = endpoints.find((each) => each.endsWith(version === '1.1' ? '/soap11' : '/soap12'));
  if (endpoint === undefined)
    throw new Error(`expected an endpoint of SOAP ${version}, got ${endpoints.join(', ')}`);
  return endpoint.replace(url, origin);
}
