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
/** A gateway that takes so much is ended before it harms the machine; the bar is far below. */
const mostBytes = 3 * 1024 ** 3;
/** From SIGTERM: its delay and `drainMs`, and some more. */
const endMs = 65_000;

/** What was seen of a gateway's process. */
export interface Sight {
  /** The most that ever was resident. */
  readonly peakBytes: number;
  /** The most that timers came late, in ms, as the gateway says; undefined where it said nothing. */
  readonly loopDelayMs: number | undefined;
}

/** A gateway with its default limits, in one process of its own. */
export interface Gateway {
  readonly pid: number | undefined;
  readonly port: number;
  /** What was seen since it was asked last. */
  readonly take: () => Sight;
  /** Sends SIGTERM and gives how it ended: its exit code, or a signal's name. */
  readonly stop: () => Promise<string>;
}

/** Starts `soapbridge serve` with the contracts that an attack needs; resolves once it answers. */
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

/** A `soapbridge.yaml` of the screening contract, that of files and, where it is wanted, a large one. */
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

/** A page of the gateway's; undefined where it gives none within some time. */
function page(port: number, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = get({ host: '127.0.0.1', port, path, agent, timeout: 30_000 }, (response) =>
      text(response).then(resolve, () => resolve(undefined)),
    );
    asked.on('timeout', () => asked.destroy()).on('error', () => resolve(undefined));
  });
}

/** Looks at memory every tenth of a second, and at the event loop's delay, the most in a second, every half. */
function watchProcess(
  child: ChildProcess,
  port: number,
): { readonly take: () => Sight; readonly stop: () => void } {
  let peak = 0;
  let late: number | undefined;
  let asking = false;
  const look = setInterval(() => {
    try {
      peak = Math.max(peak, peakBytes(child.pid) || 0); // none of a process that is ending
      if (residentBytes(child.pid) > mostBytes) child.kill('SIGKILL');
    } catch {
      stop(); // it has ended
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
