import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { at } from '../fire/figures/load.ts';

/**
 * Normal callers in a separate process. After receiving a port and a duration, they make 50 calls per second,
 * regardless of pending calls, and report the results.
 */

/** Message to the process. */
export interface Asked {
  readonly port: number;
  readonly seconds: number;
}

/** Report of the process. Times in ms, of the calls with the right reply. */
export interface Answered {
  readonly calls: number;
  readonly right: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  /** Errors of the other calls with their number. */
  readonly wrong: Readonly<Record<string, number>>;
}

const perSecond = 50;
/** A caller's time-out. */
const patienceMs = 10_000;
const agent = new Agent({ keepAlive: true });

const types = 'http://schemas.servicestack.net/types';

interface Kind {
  readonly path: string;
  readonly method?: string;
  readonly body: (number: number) => string;
  /** Returns the expected text of the reply for a number. */
  readonly holds: (number: number) => string;
}

function element(operation: string, number: number): string {
  return `<${operation} xmlns="${types}"><Authentication><ApiUserId>honest</ApiUserId><ApiUserKey>honest-key</ApiUserKey></Authentication><Request><SubUserName>echo ${number}</SubUserName></Request></${operation}>`;
}

function envelope(version: 'soap11' | 'soap12', body: string): string {
  const namespace =
    version === 'soap11'
      ? 'http://schemas.xmlsoap.org/soap/envelope/'
      : 'http://www.w3.org/2003/05/soap-envelope';
  return `<?xml version="1.0" encoding="utf-8"?><e:Envelope xmlns:e="${namespace}"><e:Body>${body}</e:Body></e:Envelope>`;
}

function json(number: number): string {
  const authentication = { apiUserId: 'honest', apiUserKey: 'honest-key' };
  return JSON.stringify({ request: { subUserName: `echo ${number}` }, authentication });
}

const userIn = (number: number): string => `<UserName>echo ${number} &amp; &lt;Söhne&gt;</UserName>`;
const idIn = (number: number): string => `<Id>${number}</Id>`;
const read = 'GetSearch';
const write = 'UpdateSubUser';

/** Reads and writes in every format. */
const kinds: readonly Kind[] = [
  { path: '/soap11', body: (number) => envelope('soap11', element(read, number)), holds: idIn },
  { path: '/soap12', body: (number) => envelope('soap12', element(write, number)), holds: userIn },
  { path: `/json/reply/${read}`, body: json, holds: (number) => `"id":${number}` },
  { path: '/soap11', body: (number) => envelope('soap11', element(write, number)), holds: userIn },
  { path: '/soap12', body: (number) => envelope('soap12', element(read, number)), holds: idIn },
  { path: `/json/reply/${write}`, body: json, holds: (number) => `"userName":"echo ${number} ` },
  { path: `/xml/reply/${read}`, body: (number) => element(read, number), holds: idIn },
];

/** Makes a call on a kept connection or, every third time, on a new one. Rejects with the error. */
async function call(port: number, number: number): Promise<void> {
  const kind = kinds[number % kinds.length];
  if (kind === undefined) return;
  const sent = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: `/v2${kind.path}`,
    agent: number % 3 === 0 ? false : agent,
    headers: { 'content-type': 'text/plain' },
    signal: AbortSignal.timeout(patienceMs),
  });
  await new Promise<void>((resolve, reject) => {
    sent.on('error', reject).on('response', async (response) => {
      try {
        const reply = await text(response);
        const status = response.headers['x-status'] ?? response.statusCode;
        if (response.statusCode !== 200 || response.headers['x-status'] !== undefined)
          throw new Error(`status ${status}`);
        if (!reply.includes(kind.holds(number))) throw new Error('another reply');
        resolve();
      } catch (error) {
        reject(error);
      }
    });
    sent.end(kind.body(number));
  });
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no reply in time';
  return 'code' in error ? String(error.code) : error.message;
}

let number = 0;

async function callFor({ port, seconds }: Asked): Promise<Answered> {
  const times: number[] = [];
  const wrong = new Map<string, number>();
  const one = async (): Promise<void> => {
    const began = performance.now();
    try {
      await call(port, number++);
      times.push(performance.now() - began);
    } catch (error) {
      wrong.set(nameOf(error), (wrong.get(nameOf(error)) ?? 0) + 1);
    }
  };
  const calls: Promise<void>[] = [];
  const started = performance.now();
  await new Promise<void>((resolve) => {
    const clock = setInterval(() => {
      const passed = performance.now() - started;
      const due = Math.min(passed / 1000, seconds) * perSecond;
      while (calls.length < due) calls.push(one());
      if (passed < seconds * 1000) return;
      clearInterval(clock);
      resolve();
    }, 1000 / perSecond);
  });
  await Promise.all(calls);
  return {
    calls: calls.length,
    right: times.length,
    p50: at(times, 0.5),
    p99: at(times, 0.99),
    most: times.at(-1) ?? 0,
    wrong: Object.fromEntries(wrong),
  };
}

process.on('message', async (asked: Asked) => process.send?.(await callFor(asked)));
process.once('disconnect', () => process.exit());
