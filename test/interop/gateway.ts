import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { type Running, serve } from '../../gateway/process/serve.ts';
import { screeningContract } from '../../mappings/loader/load.ts';
import { credentials, type Version } from './checks.ts';

/** The screening gateway before an upstream, on a free port of 127.0.0.1. */
export function startGateway(upstreamUrl: string, publicUrl?: string): Promise<Running> {
  return serveContract(screeningContract, upstreamUrl, publicUrl);
}

/** The gateway of a contract before an upstream, on a free port of 127.0.0.1. */
export function serveContract(
  contract: string,
  upstreamUrl: string,
  publicUrl?: string,
  wsseSecrets?: string,
): Promise<Running> {
  return serve({
    contract,
    host: '127.0.0.1',
    port: 0,
    upstreamUrl,
    upstreamDatabase: undefined,
    publicUrl,
    wsseSecrets,
    trustedProxies: [],
    logLevel: 'silent',
    logTo: process.stderr, // a log file each would listen for the process's exit
    drainDelayMs: 0,
  });
}

/** A contract with other members in its overlay, before an upstream, on a free port of 127.0.0.1. */
export async function serveChanged(
  contract: string,
  overlay: object,
  upstreamUrl: string,
  publicUrl?: string,
): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'interop-contract-'));
  try {
    cpSync(contract, folder, { recursive: true });
    const file = join(folder, 'soap.yaml');
    writeFileSync(file, stringify({ ...parse(readFileSync(file, 'utf8')), ...overlay }));
    const secrets = join(folder, 'secrets.yaml');
    writeFileSync(secrets, stringify({ [credentials.apiUserId]: credentials.apiUserKey }), { mode: 0o600 });
    return await serveContract(folder, upstreamUrl, publicUrl, secrets);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Where a gateway is called in a version. */
export function endpointOf({ address }: Running, version: Version): string {
  return `${address}${version === '1.1' ? '/soap11' : '/soap12'}`;
}
