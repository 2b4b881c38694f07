import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { withConstants } from '../../constant-limits.ts';
import { peakBytes } from '../../fire/figures/of-process.ts';
import { type Served, startProcess } from '../../fire/process.ts';
import { configOf } from '../../siege/gateway.ts';
import { files, screening } from '../../siege/wire.ts';
import type { LiveSession, LiveTarget } from '../live.ts';
import type { Random } from '../random.ts';

/** Behaviour of one connection. A mix is a list of these, run concurrently. */
interface Act {
  /** Index of the message, number of additional bytes in its body, and number of pipelined repetitions. */
  readonly message: number;
  readonly bytes: number;
  readonly times: number;
  readonly framing: 'length' | 'chunked' | 'gzip' | 'no gzip' | 'longer' | 'shorter' | 'awaited';
  /** Bytes per write or per chunk; 0 for all at once. */
  readonly piece: number;
  /** Pause between two writes, in ms. */
  readonly everyMs: number;
  readonly reads: 'all' | 'slowly' | 'nothing';
  readonly ends: 'close' | 'reset' | 'half';
  /** In ms. */
  readonly after: number;
  /** Position and value of a corrupted byte. */
  readonly spoilt?: readonly [at: number, byte: number];
}

/** Short timeouts, so that a mix ends soon, and low capacities, so that they are reached. */
const limits = [
  'keepAliveMs=1000,totalMs=4000,upstreamFirstByteMs=1500,upstreamIdleMs=1000,upstreamConnections=8',
  'inFlight=24,queue=8,queueMs=200,heldBytes=33554432,connections=100',
].join(',');
const constants = {
  headersMs: 1_000,
  bodyMs: 2_000,
  bodyIdleMs: 1_000,
  bodySlowMs: 1_000,
  writeIdleMs: 1_000,
  breakerProbeMs: 200,
  breakerWindowMs: 1_000,
};
/**
 * Time in ms within which, after a mix, a call succeeds and nothing is held: the sum of all limits, on a busy machine.
 */
const soonMs = 20_000;
/** Maximum resident memory: the process plus what these limits allow it to hold. */
const mostBytes = 640 * 1024 ** 2;

const wishes = [
  'echo 1',
  'slow 20',
  'slow 2500',
  'fail 1',
  'break 1',
  'garbage 1',
  'large 1',
  'ampersands 1',
  'short 60',
] as const;

type Message = (padding: string) => readonly [line: string, body: string];

const messages: readonly Message[] = [
  ...wishes.flatMap((wish): Message[] => [
    (padding) => ['POST /v2/soap11', screening('GetSearch', wish) + ' '.repeat(padding.length)],
    (padding) => ['POST /v2/soap12', screening('UpdateSubUser', wish) + ' '.repeat(padding.length)],
    (padding) => [
      'POST /files/soap11',
      files('read', `<wish>${wish}</wish><Body><content>${padding}</content></Body>`),
    ],
    (padding) => [
      'POST /files/soap11',
      files('write', `<wish>${wish}</wish><Body><notes><string>${padding}</string></notes></Body>`),
    ],
  ]),
  (padding) => [
    'POST /v2/json/reply/GetSearch',
    `{"request":{"subUserName":"echo 1"}${' '.repeat(padding.length)}}`,
  ],
  (padding) => ['PUT /v2/subusers/update', `{"subUserName":"${padding}"}`],
  (padding) => ['POST /v2/nothing', padding],
  () => ['GET /v2/soap11?wsdl', ''],
  () => ['GET /files', ''],
  () => ['OPTIONS /v2/soap12', ''],
  () => ['GET /healthz', ''],
  (padding) => ['no HTTP', padding],
];

/** Returns the bytes of a connection in the pieces that are written. */
function piecesOf({ message, bytes, times, framing, piece, spoilt }: Act): readonly Buffer[] {
  const [line, text] = messages[message % messages.length]?.('ZmlsZQ=='.repeat(bytes >> 3)) ?? ['', ''];
  const plain = Buffer.from(text);
  const body = framing === 'gzip' ? gzipSync(plain) : plain;
  const size =
    body.length + (framing === 'longer' ? 7 : framing === 'shorter' ? -Math.min(7, body.length) : 0);
  const coding = framing === 'gzip' || framing === 'no gzip' ? 'Content-Encoding: gzip\r\n' : '';
  const awaited = framing === 'awaited' ? 'Expect: 100-continue\r\n' : '';
  const length = framing === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${size}\r\n`;
  const head = Buffer.from(`${line} HTTP/1.1\r\nHost: gateway\r\n${coding}${awaited}${length}\r\n`);
  const one = Buffer.concat([head, framing === 'chunked' ? chunksOf(body, piece) : body]);
  const all = Buffer.concat(Array<Buffer>(times).fill(one));
  if (spoilt !== undefined && all.length > 0) all[spoilt[0] % all.length] = spoilt[1];
  const step = piece === 0 || framing === 'chunked' ? all.length : piece;
  return Array.from({ length: Math.ceil(all.length / step) }, (_, index) =>
    all.subarray(index * step, (index + 1) * step),
  );
}

function chunksOf(body: Buffer, piece: number): Buffer {
  const step = piece === 0 ? Math.max(1, body.length) : piece;
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += step) {
    const chunk = body.subarray(at, at + step);
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

async function perform(port: number, act: Act): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setNoDelay(true);
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  if (act.reads === 'all') socket.resume();
  else socket.pause();
  const timers = [setTimeout(() => finish(socket, act), act.after)];
  if (act.reads === 'slowly') timers.push(setInterval(() => socket.read(4_096), 20));
  if (act.reads === 'slowly') socket.on('readable', () => {});
  for (const piece of piecesOf(act)) {
    if (socket.destroyed || socket.writableEnded) break;
    socket.write(piece);
    if (act.everyMs > 0) await pause(act.everyMs);
  }
  await closed;
  for (const timer of timers) clearTimeout(timer);
}

function finish(socket: Socket, { ends }: Act): void {
  if (ends === 'reset') socket.resetAndDestroy();
  else if (ends === 'close') socket.destroy();
  else {
    socket.end();
    setTimeout(() => socket.destroy(), 200);
  }
}

/** Returns the fault of a process after a mix, or undefined if its state is as before. */
async function judge({ child, port }: Served, said: { text: string }): Promise<string | undefined> {
  const until = performance.now() + soonMs;
  let wrong: string | undefined;
  do {
    if (child.exitCode !== null || child.signalCode !== null)
      return `the process ended with ${child.exitCode ?? child.signalCode}: ${said.text.slice(-500)}`;
    wrong = (await callHonestly(port)) ?? (await heldBy(port));
    if (wrong === undefined) break;
    await pause(100);
  } while (performance.now() < until);
  if (wrong !== undefined) return wrong;
  const peak = peakBytes(child.pid);
  if (peak > mostBytes) return `expected at most ${mostBytes} bytes resident, got ${peak}`;
  // lines with a status report failed requests
  const unusual = said.text.split('\n').filter((line) => line !== '' && !/"status":\d{3}/.test(line));
  return unusual.length === 0 ? undefined : `the process said ${unusual.join('\n').slice(0, 500)}`;
}

async function callHonestly(port: number): Promise<string | undefined> {
  const request = {
    method: 'POST',
    body: screening('GetSearch', 'echo 4711'),
    headers: { connection: 'close' },
  };
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/v2/soap11`, {
      ...request,
      signal: AbortSignal.timeout(5_000),
    });
    const text = await reply.text();
    return text.includes('<Id>4711</Id>')
      ? undefined
      : `an honest call got ${reply.status}: ${text.slice(0, 200)}`;
  } catch (error) {
    return `an honest call got none: ${String(error)}`;
  }
}

/** Gauges that do not measure held resources. */
const others = /_(?:open|files|limit|seconds|bytes|info|successful|timestamp)$/;

/** Returns the resources that the gauges report as held. The connection of the request itself is expected. */
async function heldBy(port: number): Promise<string | undefined> {
  let page: string;
  try {
    const request = { headers: { connection: 'close' }, signal: AbortSignal.timeout(5_000) };
    page = await (await fetch(`http://127.0.0.1:${port}/metrics`, request)).text();
  } catch (error) {
    return `/metrics gave nothing: ${String(error)}`;
  }
  const gauges = new Set([...page.matchAll(/^# TYPE soapbridge_(\w+) gauge$/gm)].map(([, name]) => name));
  let seen = 0;
  for (const [, name = '', value] of page.matchAll(/^soapbridge_(\w+)\S* (\S+)$/gm)) {
    if (!gauges.has(name) || (others.test(name) && name !== 'held_bytes')) continue;
    seen++;
    const most = name === 'connections' ? 1 : 0;
    if (!(Number(value) <= most)) return `expected ${name} to be back at ${most}, got ${value}`;
  }
  return seen >= 4 ? undefined : `expected four gauges of what is held, got ${seen}`;
}

async function open(): Promise<LiveSession> {
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-siege-'));
  const upstream = fork(new URL('../../siege/upstream.ts', import.meta.url));
  const [upstreamPort] = await once(upstream, 'message');
  const config = join(folder, 'soapbridge.yaml');
  writeFileSync(config, configOf(`http://127.0.0.1:${upstreamPort}`));
  const served = await startProcess({
    SOAPBRIDGE_CONFIG: config,
    SOAPBRIDGE_LIMITS: limits,
    ...withConstants(constants),
    SOAPBRIDGE_LOG_LEVEL: 'error',
    SOAPBRIDGE_DRAIN_DELAY: '0',
  });
  const said = { text: '' };
  for (const stream of [served.child.stdout, served.child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      if (said.text.length < 10_000) said.text += chunk.toString('utf8');
    });
  }
  return {
    run: async (input) => {
      const acts: readonly Act[] = JSON.parse(input.toString('utf8'));
      await Promise.all(acts.map((act) => perform(served.port, act)));
      return judge(served, said);
    },
    close: async () => {
      served.child.kill('SIGKILL');
      await served.ended;
      upstream.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    },
  };
}

function makeAct(random: Random): Act {
  const isLarge = random.once(6);
  return {
    message: random.below(messages.length),
    bytes: isLarge ? random.below(3_000_000) : random.once(2) ? 0 : random.below(2_000),
    times: random.once(5) ? 1 + random.below(isLarge ? 4 : 200) : 1,
    framing: random.pick('length', 'length', 'chunked', 'gzip', 'no gzip', 'longer', 'shorter', 'awaited'),
    piece: random.once(2) ? 0 : 1 + random.below(isLarge ? 100_000 : 300),
    everyMs: random.once(3) ? random.below(60) : 0,
    reads: random.pick('all', 'all', 'all', 'slowly', 'nothing'),
    ends: random.pick('close', 'reset', 'half'),
    after: random.below(random.pick(20, 300, 1_500)),
    ...(random.once(6) && { spoilt: [random.below(random.pick(200, 10_000)), random.below(256)] as const }),
  };
}

/** Sends mixes of slow, many, large, aborted, pipelined and bad messages to a gateway with low limits. */
export const siege: LiveTarget = {
  name: 'siege',
  make: (random) => {
    const most = random.pick(3, 20, 80);
    const acts = Array.from({ length: 1 + random.below(most) }, () => makeAct(random));
    // many of one kind find other faults than one of each kind
    const [first] = acts;
    return JSON.stringify(random.once(4) ? acts.map(() => first) : acts);
  },
  open,
};
