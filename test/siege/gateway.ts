import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { peakBytes, residentBytes } from '../fire/figures/of-process.ts';
import { freePort } from '../free-port.ts';
import type { Attack } from './attack.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Memory at which the gateway is killed to protect the machine; the pass limit is far below. */
const mostBytes = 3 * 1024 ** 3;
/** Time limit after SIGTERM: delay plus `drainMs` plus a margin. */
const endMs = 65_000;

/** Measurements of a gateway's process. */
export interface Sight {
  /** Peak of resident memory. */
  readonly peakBytes: number;
  /** Maximum event-loop delay in ms, from the gateway's metrics; undefined without metrics. */
  readonly loopDelayMs: number | undefined;
}

/** A gateway with its default limits in a separate process. */
export interface Gateway {
  readonly pid: number | undefined;
  readonly port: number;
  /** Returns the measurements since the last call. */
  readonly take: () => Sight;
  /** Sends SIGTERM and returns the exit code or the signal's name. */
  readonly stop: () => Promise<string>;
}

/** Starts `soapbridge serve` with the contracts that an attack needs. Resolves when it responds. */
export async function startGateway(attack: Attack | undefined, upstream: string): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'siege-'));
  const config = join(folder, 'soapbridge.yaml');
  writeFileSync(config, configOf(upstream, attack?.isOfLargeContract));
  const port = await freePort();
  const log = openSync(attack?.isLogFull === true ? '/dev/full' : '/dev/null', 'w');
  const child = spawn(process.execPath, ['bin/soapbridge.js', 'serve', '--config', config], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', PORT: String(port) },
    stdio: ['ignore', log, 'pipe'],
  });
  closeSync(log);
  const said = child.stderr === null ? '' : text(child.stderr);
  const ended = once(child, 'close').then(async ([code, signal]) => {
    rmSync(folder, { recursive: true });
    return `${code ?? signal}${code === 0 ? '' : ` ${(await said).trim().slice(-300)}`}`.trim();
  });
  const watch = watchProcess(child, port);
  await untilReady(child, port);
  return {
    pid: child.pid,
    port,
    take: watch.take,
    stop: async () => {
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), endMs);
      const how = await ended;
      clearTimeout(kill);
      watch.stop();
      return how;
    },
  };
}

/** Returns a `soapbridge.yaml` with the screening contract, the files contract and optionally a large one. */
export function configOf(upstream: string, withLarge: boolean = false): string {
  const files = {
    openapi: join(import.meta.dirname, 'files/openapi.yaml'),
    overlay: join(import.meta.dirname, 'files/soap.yaml'),
  };
  const large = { openapi: join(root, 'test/documents/ory/openapi.yaml') };
  const contracts = {
    '/v2': { contract: join(root, 'mappings/screening'), upstream },
    '/files': { ...files, upstream },
    ...(withLarge && { '/large': { ...large, upstream } }),
  };
  return JSON.stringify({ contracts });
}

async function untilReady(child: ChildProcess, port: number): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    if ((await page(port, '/readyz')) === 'ready\n') return;
    await pause(50);
  }
}

const agent = new Agent({ keepAlive: true });

/** Loads a page of the gateway. Returns undefined after a time-out. */
function page(port: number, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = get({ host: '127.0.0.1', port, path, agent, timeout: 30_000 }, (response) =>
      text(response).then(resolve, () => resolve(undefined)),
    );
    asked.on('timeout', () => asked.destroy()).on('error', () => resolve(undefined));
  });
}

/** Measures memory every 100 ms, and the maximum event-loop delay every 500 ms. */
function watchProcess(
  child: ChildProcess,
  port: number,
): { readonly take: () => Sight; readonly stop: () => void } {
  let peak = 0;
  let late: number | undefined;
  let asking = false;
  const look = setInterval(() => {
    try {
      peak = Math.max(peak, peakBytes(child.pid) || 0); // a process that is ending has no figure
      if (residentBytes(child.pid) > mostBytes) child.kill('SIGKILL');
    } catch {
      stop(); // the process has ended
    }
  }, 100);
  const ask = setInterval(async () => {
    if (asking) return;
    asking = true;
    const said = /^soapbridge_event_loop_delay_seconds (\S+)$/m.exec(
      (await page(port, '/metrics')) ?? '',
    )?.[1];
    if (said !== undefined) late = Math.max(late ?? 0, Number(said) * 1000);
    asking = false;
  }, 500);
  const stop = (): void => {
    clearInterval(look);
    clearInterval(ask);
  };
  return {
    take: () => {
      const sight: Sight = { peakBytes: peak, loopDelayMs: late };
      late = undefined;
      return sight;
    },
    stop,
  };
}
