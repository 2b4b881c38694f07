import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { numberOf, scriptArguments } from '../script-arguments.ts';
import { type Caller, type Kind, kinds } from './calls.ts';
import type { Health } from './gateway.ts';
import { grows, growthOf, riseOf, type Sample } from './growth.ts';
import { startUpstream } from './upstream.ts';

const help = `npm run soak [-- --minutes N --help]

Sends mixed traffic to a gateway in a separate process. Exits with 1 if a reply is wrong, memory clearly grows, or
sockets remain open.

  --minutes N  duration (default: 10)
  --help       print this help`;

const { values } = scriptArguments(help, { options: { minutes: { type: 'string', default: '10' } } });
const minutes = numberOf('--minutes', values.minutes, 0.1);

const callers = 12;
/** Pause between two calls of a caller. */
const pauseMs = 20;
/** Number of samples. The traffic stops for each, so that samples include no request. */
const samples = 40;
/** Maximum growth in 10 minutes. Without a leak, the heap grows by less than a megabyte. */
const mostBytes = { heapBytes: 1e6, bufferBytes: 1e6 } as const;
/** Maximum rise of resident memory. The allocator keeps a varying amount of some tens of megabytes. */
const mostRise = 48e6;
/** Share of the run that is ignored, since every process grows until V8 has compiled hot code. */
const warmUp = 0.4;
/** Minimum duration for a verdict. A shorter run is only warm-up, so its growth is shown but not judged. */
const leastMinutes = 5;

const upstream = await startUpstream();
const gateway = fork(new URL('gateway.ts', import.meta.url), {
  execArgv: ['--expose-gc'],
  env: { ...process.env, SOAPBRIDGE_UPSTREAM_URL: upstream.url },
});
const [url] = await once(gateway, 'message');
const agent = new Agent({ keepAlive: true });
const caller: Caller = { port: Number(new URL(url).port), agent };

const traffic = kinds.flatMap((kind) => Array<Kind>(kind.weight).fill(kind));
const counts = new Map(kinds.map(({ name }) => [name, 0]));
const wrong: string[] = [];
let calls = 0;

/** Makes calls until the end, with all kinds in rotation. */
async function callUntil(end: number): Promise<void> {
  while (performance.now() < end) {
    const number = calls++;
    // a step that is coprime to the number of entries visits all of them
    const kind = traffic[(number * 61) % traffic.length];
    if (kind === undefined) continue;
    counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1);
    const says = await kind.call(caller, number).catch((error: unknown) => String(error));
    if (says !== undefined) wrong.push(`${kind.name}, call ${number}: ${says}`);
    await delay(pauseMs);
  }
}

async function healthOf(child: ChildProcess): Promise<Health> {
  const told = once(child, 'message');
  child.send('health');
  const [health] = await told;
  return health;
}

/** Returns the number of open sockets of the gateway without the listening one. */
function socketsOf({ resources }: Health): number {
  return resources.TCPSocketWrap ?? 0;
}

const first = await healthOf(gateway);
const taken: { readonly minutes: number; readonly health: Health }[] = [];
const started = performance.now();
for (let sample = 1; sample <= samples; sample++) {
  const end = started + (sample * minutes * 60_000) / samples;
  await Promise.all(Array.from({ length: callers }, () => callUntil(end)));
  taken.push({ minutes: (performance.now() - started) / 60_000, health: await healthOf(gateway) });
}

agent.destroy();
let last = await healthOf(gateway);
// the upstream pool closes idle sockets after some seconds
for (let wait = 0; wait < 60 && socketsOf(last) > socketsOf(first); wait++) {
  await delay(500);
  last = await healthOf(gateway);
}
gateway.disconnect();
await once(gateway, 'exit');
upstream.server.closeAllConnections();
upstream.server.close();

let failed = false;
function tell(good: boolean, line: string): void {
  failed ||= !good;
  console.log(`  ${good ? '✔' : '✘'} soak › ${line}`);
}

const perSecond = (calls / (minutes * 60)).toFixed(0);
tell(
  wrong.length === 0,
  `${calls} calls in ${minutes} minutes (${perSecond}/s), ${wrong.length} replies wrong`,
);
for (const says of wrong.slice(0, 20)) console.log(`    ${says}`);
for (const [name, count] of counts) console.log(`    ${name}: ${count}`);

/** Returns the samples after the warm-up. */
function warmSamples(name: 'heapBytes' | 'bufferBytes' | 'residentBytes'): Sample[] {
  return taken
    .slice(Math.floor(taken.length * warmUp))
    .map(({ minutes: at, health }) => ({ minutes: at, bytes: health[name] }));
}

function megabytes(name: 'heapBytes' | 'bufferBytes' | 'residentBytes'): string {
  const all = [first, ...taken.map(({ health }) => health)];
  return `MB: ${all.map((health) => (health[name] / 1e6).toFixed(1)).join(' ')}`;
}

for (const [name, most] of Object.entries(mostBytes) as [keyof typeof mostBytes, number][]) {
  const warm = warmSamples(name);
  const { slope, tau } = growthOf(warm);
  tell(
    minutes < leastMinutes || !grows(warm, most),
    `${name}: ${(slope / 1e6).toFixed(2)} MB per 10 minutes (at most ${most / 1e6}, tau ${tau.toFixed(2)}); ${megabytes(name)}`,
  );
}
const rise = riseOf(warmSamples('residentBytes'));
tell(
  minutes < leastMinutes || rise <= mostRise,
  `residentBytes: ${(rise / 1e6).toFixed(1)} MB higher at the end (at most ${mostRise / 1e6}); ${megabytes('residentBytes')}`,
);
tell(socketsOf(last) <= socketsOf(first), `sockets: ${socketsOf(first)} before, ${socketsOf(last)} after`);
console.log(`    resources at the end: ${JSON.stringify(last.resources)}`);
process.exitCode = failed ? 1 : 0;
