import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Served } from '../process.ts';

/** Results of one period of load. */
export interface Stretch {
  /** Responses with 200 per second. */
  readonly goodput: number;
  /** Milliseconds. */
  readonly goodP99: number;
  /** The p99 of each second that had responses. */
  readonly goodP99s: readonly number[];
  readonly shed: number;
  readonly shedP99: number;
  readonly silent: number;
}

export const emptyReply = '{"data":{"responseStatus":{}}}';
/** Returns a search request for an id by a caller. */
function callOf(caller: string, id: number): string {
  const body = `{"request":{"id":${id}},"authentication":{"apiUserId":"${caller}","apiUserKey":"key"}}`;
  return `POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: gateway\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Returns the quantile `share` of the values. Sorts them in place. */
export function at(times: number[], share: number): number {
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
}

/** A connection that is reused for calls. A reply ends after its Content-Length. */
export class Caller {
  readonly #socket: Socket;
  readonly #call: string;
  #head = '';
  #missing = -1;
  #status = 0;
  #settle: ((status: number) => void) | undefined;

  constructor(port: number, caller = 'u', id = 1) {
    this.#call = callOf(caller, id);
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.#socket.on('data', (chunk) => this.#read(chunk.toString('latin1')));
    this.#socket.on('error', () => {}).on('close', () => this.#end(0));
  }

  /** Returns the status of the reply, or 0 if there is none. */
  call(): Promise<number> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      if (this.#socket.destroyed) this.#end(0);
      else this.#socket.write(this.#call);
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

/** Sends `perSecond` calls per second, whether earlier calls were answered or not, on at most `most` connections. */
export async function offer(
  port: number,
  perSecond: number,
  seconds: number,
  most: number,
): Promise<Stretch> {
  const idle: Caller[] = [];
  const all: Caller[] = [];
  const good: number[] = [];
  const goodBySecond: number[][] = [];
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
    if (status === 200) {
      good.push(took);
      const second = Math.floor((began - start) / 1000);
      goodBySecond[second] ??= [];
      goodBySecond[second].push(took);
    } else if (status === 503) shed.push(took);
    else silent++;
    if (status !== 0) idle.push(caller);
    else all.splice(all.indexOf(caller), 1);
  };
  const start = performance.now();
  let made = 0;
  for (let now = start; now < start + seconds * 1000; now = performance.now()) {
    for (const due = ((now - start) / 1000) * perSecond; made < due; made++) one();
    await pause(2);
  }
  const took = (performance.now() - start) / 1000;
  const answered = good.length;
  while (open > 0) await pause(10);
  for (const caller of all) caller.close();
  return {
    goodput: answered / took,
    goodP99: at(good, 0.99),
    goodP99s: Object.values(goodBySecond).map((times) => at(times, 0.99)),
    shed: shed.length / took,
    shedP99: at(shed, 0.99),
    silent,
  };
}

/** Starts an upstream in this process that handles responses with the given function. */
export async function startUpstream(handle: (response: ServerResponse) => void, port = 0): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    handle(response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Stops a gateway and its upstream immediately. */
export async function stop(served: Served, upstream: Server): Promise<void> {
  served.child.kill('SIGKILL');
  await served.ended;
  upstream.closeAllConnections();
  upstream.close();
}
