import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Served, startProcess } from './process.ts';

// `npm run fire:figures [-- overload slowloris breaker abort]`: what docs/security.md publishes, measured in one run
// each. Nothing is asserted: machines are noisy, ratios within a run are what counts.

/** What became of the calls of one stretch of load. */
interface Stretch {
  /** Answers with 200, a second. */
  readonly goodput: number;
  /** Milliseconds. */
  readonly goodP99: number;
  readonly shed: number;
  readonly shedP99: number;
  readonly silent: number;
}

const emptyReply = '{"data":{"responseStatus":{}}}';
const body = '{"request":{"id":1},"authentication":{"apiUserId":"u","apiUserKey":"key"}}';
const call = `POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: gateway\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

function at(times: number[], share: number): number {
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
}

/** One connection that is used call by call; a reply is there once its announced length is. */
class Caller {
  readonly #socket: Socket;
  #head = '';
  #missing = -1;
  #status = 0;
  #settle: ((status: number) => void) | undefined;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.#socket.on('data', (chunk) => this.#read(chunk.toString('latin1')));
    this.#socket.on('error', () => {}).on('close', () => this.#end(0));
  }

  /** The status of the reply; 0 for none. */
  call(): Promise<number> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      if (this.#socket.destroyed) this.#end(0);
      else this.#socket.write(call);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    if (this.#missing === -1) {
      this.#head += chunk;
      const end = this.#head.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1] ?? 0);
      this.#status = Number(this.#head.slice(9, 12));
      this.#missing = length - (this.#head.length - end - 4);
    } else this.#missing -= chunk.length;
    if (this.#missing <= 0) this.#end(this.#status);
  }

  #end(status: number): void {
    this.#head = '';
    this.#missing = -1;
    this.#settle?.(status);
    this.#settle = undefined;
  }
}

/**
 * Calls `perSecond` times a second, whether the calls before were answered or not, on as many connections as that
 * takes, at most `most`.
 */
async function offer(port: number, perSecond: number, seconds: number, most: number): Promise<Stretch> {
  const idle: Caller[] = [];
  const all: Caller[] = [];
  const good: number[] = [];
  const shed: number[] = [];
  let silent = 0;
  let open = 0;
  const one = async (): Promise<void> => {
    let caller = idle.pop();
    if (caller === undefined) {
      if (all.length >= most) return;
      caller = new Caller(port);
      all.push(caller);
    }
    open++;
    const began = performance.now();
    const status = await caller.call();
    const took = performance.now() - began;
    open--;
    if (status === 200) good.push(took);
    else if (status === 503) shed.push(took);
    else silent++;
    if (status !== 0) idle.push(caller);
    else all.splice(all.indexOf(caller), 1);
  };
  const began = performance.now();
  let made = 0;
  for (let now = began; now < began + seconds * 1000; now = performance.now()) {
    for (const due = ((now - began) / 1000) * perSecond; made < due; made++) one();
    await pause(2);
  }
  const took = (performance.now() - began) / 1000;
  const answered = good.length;
  while (open > 0) await pause(10);
  for (const caller of all) caller.close();
  return {
    goodput: answered / took,
    goodP99: at(good, 0.99),
    shed: shed.length / took,
    shedP99: at(shed, 0.99),
    silent,
  };
}

async function startUpstream(handle: (response: ServerResponse) => void): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    handle(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function stop(served: Served, upstream: Server): Promise<void> {
  served.child.kill('SIGKILL');
  await served.ended;
  upstream.closeAllConnections();
  upstream.close();
}

/** Goodput at what the upstream can do, and at three times that: its connections are the capacity. */
async function overload(): Promise<void> {
  const upstream = await startUpstream((response) => setTimeout(() => response.end(emptyReply), 20));
  const limits = 'inFlight=64,queue=32,queueMs=250,upstreamConnections=16';
  const served = await startProcess({ UPSTREAM_URL: urlOf(upstream), LIMITS: limits });
  await offer(served.port, 300, 3, 500);
  let peak = 0;
  for (const perSecond of [400, 500, 600, 700, 800]) {
    const { goodput } = await offer(served.port, perSecond, 4, 500);
    console.log(`offered ${perSecond}/s: ${goodput.toFixed(0)} answered`);
    peak = Math.max(peak, goodput);
  }
  const three = await offer(served.port, peak * 3, 10, 1_000);
  console.log(
    `overload: offered ${(peak * 3).toFixed(0)}/s, 3 × the peak of ${peak.toFixed(0)}: ${three.goodput.toFixed(0)} answered (${((three.goodput / peak) * 100).toFixed(0)} %), p99 ${three.goodP99.toFixed(0)} ms; ${three.shed.toFixed(0)}/s shed, p99 ${three.shedP99.toFixed(1)} ms; ${three.silent} without an answer`,
  );
  await stop(served, upstream);
}

/** A thousand connections whose headers never end, beside good traffic. */
async function slowloris(): Promise<void> {
  const upstream = await startUpstream((response) => response.end(emptyReply));
  const served = await startProcess({ UPSTREAM_URL: urlOf(upstream) });
  await offer(served.port, 300, 4, 100);
  const before = await offer(served.port, 300, 6, 100);
  const began = performance.now();
  const lives: number[] = [];
  const slow = Array.from({ length: 1_000 }, () => {
    const socket = connect(served.port, '127.0.0.1').on('error', () => {});
    socket.write('POST /v2/soap11 HTTP/1.1\r\nHost: x\r\n');
    const drip = setInterval(() => socket.write('X'), 5_000);
    socket.resume().on('close', () => {
      clearInterval(drip);
      lives.push((performance.now() - began) / 1000);
    });
    return socket;
  });
  const beside = await offer(served.port, 300, 6, 100);
  while (lives.length < slow.length) await pause(50);
  console.log(
    `slowloris: 1,000 slow connections; good calls p99 ${before.goodP99.toFixed(1)} ms before, ${beside.goodP99.toFixed(1)} ms beside them (× ${(beside.goodP99 / before.goodP99).toFixed(2)}), ${beside.silent} without an answer; the last slow one gone after ${at(lives, 1).toFixed(1)} s`,
  );
  await stop(served, upstream);
}

/** How long a failing upstream is called, and how long one that is well again is not. */
async function breaker(): Promise<void> {
  let broken = false;
  const upstream = await startUpstream((response) => {
    if (broken) response.destroy();
    else response.end(emptyReply);
  });
  const served = await startProcess({ UPSTREAM_URL: urlOf(upstream) });
  await offer(served.port, 50, 3, 50);
  const caller = new Caller(served.port);
  const until = async (wanted: number): Promise<number> => {
    const began = performance.now();
    while ((await caller.call()) !== wanted) await pause(20);
    return (performance.now() - began) / 1000;
  };
  broken = true;
  const opened = await until(503);
  const times: number[] = [];
  for (let count = 0; count < 500; count++) {
    const began = performance.now();
    if ((await caller.call()) === 503) times.push(performance.now() - began);
  }
  broken = false;
  const closed = await until(200);
  console.log(
    `breaker: open ${opened.toFixed(1)} s after the upstream broke, closed ${closed.toFixed(1)} s after it was well; an answer while open p50 ${at(times, 0.5).toFixed(2)} ms, p99 ${at(times, 0.99).toFixed(2)} ms`,
  );
  caller.close();
  await stop(served, upstream);
}

/** From a caller's going to the end of its read upstream. */
async function abort(): Promise<void> {
  let leave: (() => void) | undefined;
  let left = 0;
  const times: number[] = [];
  const upstream = await startUpstream((response) => {
    response.on('close', () => times.push(performance.now() - left));
    leave?.();
  });
  const served = await startProcess({ UPSTREAM_URL: urlOf(upstream) });
  for (let count = 0; count < 1_000; count++) {
    const caller = new Caller(served.port);
    leave = () => {
      left = performance.now();
      caller.close();
    };
    await caller.call();
    while (times.length <= count) await pause(1);
  }
  const soon = times.filter((time) => time <= 50).length;
  console.log(
    `abort: of 1,000 callers that left, ${soon} reads ended upstream within 50 ms; p50 ${at(times, 0.5).toFixed(1)} ms, p99.9 ${at(times, 0.999).toFixed(1)} ms`,
  );
  await stop(served, upstream);
}

const figures = new Map([
  ['overload', overload],
  ['slowloris', slowloris],
  ['breaker', breaker],
  ['abort', abort],
]);
const wanted = process.argv.slice(2);
for (const name of wanted.length === 0 ? figures.keys() : wanted) {
  const measure = figures.get(name);
  if (measure === undefined)
    throw new Error(`expected one of ${[...figures.keys()].join(', ')}, got ${name}`);
  await measure();
}
