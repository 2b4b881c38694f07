import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Running, serve } from '../../gateway/process/serve.ts';
import { screeningContract } from '../../mappings/loader/load.ts';

/** The screening gateway before an upstream, on a free port of 127.0.0.1. */
export function startGateway(upstreamUrl: string, publicUrl?: string): Promise<Running> {
  return serveContract(screeningContract, upstreamUrl, publicUrl);
}

/** The same with `soapErrors: fault`: where an error that the service reports reaches the client as a SOAP fault. */
export async function startFaultGateway(upstreamUrl: string): Promise<Running> {
  const contract = mkdtempSync(join(tmpdir(), 'interop-contract-'));
  try {
    cpSync(screeningContract, contract, { recursive: true });
    const overlay = join(contract, 'soap.yaml');
    writeFileSync(overlay, `soapErrors: fault\n${readFileSync(overlay, 'utf8')}`);
    return await serveContract(contract, upstreamUrl);
  } finally {
    rmSync(contract, { recursive: true });
  }
}

/** The gateway of a contract before an upstream, on a free port of 127.0.0.1. */
export function serveContract(contract: string, upstreamUrl: string, publicUrl?: string): Promise<Running> {
  return serve({
    contract,
    host: '127.0.0.1',
    port: 0,
    upstreamUrl,
    upstreamDatabase: undefined,
    publicUrl,
    trustedProxies: [],
    logLevel: 'silent',
    logTo: process.stderr, // a log file each would listen for the process's exit
    drainDelayMs: 0,
  });
}
