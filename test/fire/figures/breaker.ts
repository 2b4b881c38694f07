import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { startProcess } from '../process.ts';
import { at, Caller, emptyReply, offer, startUpstream, stop, urlOf } from './load.ts';

/**
 * Measures how long a failing upstream is called, how long a recovered one is not, and the effect of one caller on
 * others.
 */
export async function breaker(): Promise<void> {
  await broken();
  await gone();
  await harmful();
}

/** Returns the seconds until a caller that calls continuously gets the wanted status. */
async function until(caller: () => Promise<number>, wanted: number): Promise<number> {
  const began = performance.now();
  while ((await caller()) !== wanted) await pause(20);
  return (performance.now() - began) / 1000;
}

/** Measures an upstream that accepts connections and breaks every response, with one caller. */
async function broken(): Promise<void> {
  let isBroken = false;
  const upstream = await startUpstream((response) => {
    if (isBroken) response.destroy();
    else response.end(emptyReply);
  });
  const served = await startProcess({ SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream) });
  await offer(served.port, 50, 3, 50);
  const caller = new Caller(served.port);
  isBroken = true;
  const opened = await until(() => caller.call(), 503);
  const times: number[] = [];
  for (let count = 0; count < 500; count++) {
    const began = performance.now();
    if ((await caller.call()) === 503) times.push(performance.now() - began);
  }
  isBroken = false;
  const closed = await until(() => caller.call(), 200);
  console.log(
    `breaker: open ${opened.toFixed(1)} s after the upstream broke, closed ${closed.toFixed(1)} s after it was well; an answer while open p50 ${at(times, 0.5).toFixed(2)} ms, p99 ${at(times, 0.99).toFixed(2)} ms`,
  );
  caller.close();
  await stop(served, upstream);
}

/**
 * Measures an upstream that is unreachable and returns. Only a response from the open circuit breaker has Retry-After.
 */
async function gone(): Promise<void> {
  const upstream = await startUpstream((response) => response.end(emptyReply));
  const served = await startProcess({ SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream) });
  await offer(served.port, 50, 3, 50);
  const { port } = upstream.address() as AddressInfo;
  upstream.closeAllConnections();
  upstream.close();
  const isRefused = async (): Promise<number> => {
    const { headers } = await fetch(`http://127.0.0.1:${served.port}/v2/json/reply/GetSearch`, {
      method: 'POST',
      headers: { 'X-Api-User': 'u', 'X-Api-Key': 'key' },
      body: '{"request":{"id":1}}',
    });
    return headers.has('retry-after') ? 1 : 0;
  };
  const opened = await until(isRefused, 1);
  const back = await startUpstream((response) => response.end(emptyReply), port);
  const caller = new Caller(served.port);
  const closed = await until(() => caller.call(), 200);
  console.log(
    `breaker: open ${opened.toFixed(1)} s after the upstream was gone, closed ${closed.toFixed(1)} s after it was there again`,
  );
  caller.close();
  await stop(served, back);
}

/**
 * Measures one caller whose calls fail with 500, on ten connections at full speed, while another caller makes good
 * calls.
 */
async function harmful(): Promise<void> {
  const upstream = createServer(async (request, response) => {
    if ((await text(request)).includes('"id":500')) response.statusCode = 500;
    response.end(emptyReply);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const served = await startProcess({ SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream) });
  let failed = 0;
  let goesOn = true;
  const callers = Array.from({ length: 10 }, () => new Caller(served.port, 'harmful', 500));
  const all = callers.map(async (caller) => {
    for (; goesOn; failed++) await caller.call();
  });
  const another = new Caller(served.port, 'another');
  let calls = 0;
  let answered = 0;
  for (; calls < 200; calls++) {
    if ((await another.call()) === 200) answered++;
    await pause(100);
  }
  goesOn = false;
  await Promise.all(all);
  console.log(
    `breaker: beside ${failed} calls in 20 s by one caller of which the upstream says 500, ${answered} of ${calls} of another's were answered`,
  );
  for (const caller of [another, ...callers]) caller.close();
  await stop(served, upstream);
}
