import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, runOn, start, stop } from './process.ts';
import { callFor, otherCore, passThrough, serverCore, usualRequests, warmSeconds } from './small-call.ts';

const windowSeconds = 0.3;

/** CPU µs per request, in windows of 300 ms each. */
export interface PauseRow {
  readonly server: string;
  /** Immediately before the pause. */
  readonly before: number;
  /** Immediately after the pause. */
  readonly after: readonly number[];
}

/** Measures the small call before and after a pause of `pauseSeconds` without requests. */
export async function measurePause(pauseSeconds: number): Promise<readonly PauseRow[]> {
  const directory = import.meta.dirname;
  const upstreamPort = await freePort();
  const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
  runOn(otherCore);
  const upstream = await start(
    otherCore,
    [join(directory, 'servers/upstream.ts'), String(upstreamPort)],
    'ready',
  );
  const measure = async (
    server: string,
    args: (port: number) => readonly string[],
    ready: string,
  ): Promise<PauseRow> => {
    const port = await freePort();
    const env = { PORT: String(port), SOAPBRIDGE_UPSTREAM_URL: upstreamUrl };
    const started = await start(serverCore, args(port), ready, env);
    const callee = { port, requests: usualRequests(port), started };
    const window = async (): Promise<number> => (await callFor(callee, windowSeconds)).cpuPerRequest;
    try {
      await callFor(callee, warmSeconds);
      const before = await window();
      await pause(pauseSeconds * 1000);
      return { server, before, after: [await window(), await window(), await window(), await window()] };
    } finally {
      await stop(started);
    }
  };
  try {
    return [
      await measure(
        passThrough,
        (port) => [join(directory, 'servers/pass-through.ts'), String(port), upstreamUrl],
        'ready',
      ),
      await measure('soapbridge', () => [join(directory, '../bin/soapbridge.js'), 'serve'], 'listens'),
    ];
  } finally {
    await stop(upstream);
    runOn('all');
  }
}
