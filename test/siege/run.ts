import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuMs } from '../fire/figures/of-process.ts';
import { numberOf, scriptArguments } from '../script-arguments.ts';
import type { Attack } from './attack.ts';
import type { Told } from './attacker.ts';
import { attackNamed, attacks } from './attacks.ts';
import { type Gateway, startGateway } from './gateway.ts';
import type { Answered } from './honest.ts';
import { head, type Measured, type Miss, missesOf, rowOf } from './verdict.ts';

const help = `npm run siege [-- --only NAME --skip NAME --without-p99 --seconds 20 --json --help]

Attacks a gateway of one process with its default limits, one attack after the other, during 50 honest calls per second.
Prints a row for each attack. Exits with 1 if a result misses a bar of docs/siege.md.

  --only NAME   run only this attack; repeatable
  --skip NAME   skip this attack; repeatable
  --without-p99 print p99 without a verdict, for a machine with other work
  --seconds N   duration of the calls without the attack, and of the calls during it (default: 20)
  --json        print a line of JSON per attack instead of the table
  --help        print this help

${attacks.map(({ name, says }) => `  ${name.padEnd(18)}${says}`).join('\n')}`;

const { values } = scriptArguments(help, {
  options: {
    only: { type: 'string', multiple: true },
    skip: { type: 'string', multiple: true, default: [] },
    'without-p99': { type: 'boolean', default: false },
    seconds: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});
const seconds = numberOf('--seconds', values.seconds, 0.1);
/** Warm-up until V8 has compiled the code of calls. */
const warmUpSeconds = 3;
/** Maximum wait for the attack's first connection, since a dead gateway accepts none. */
const mostStartMs = 10_000;
/** Duration of an attack before normal calls are counted. */
const leadMs = 1_000;

/** Starts a module of this folder as a separate process. */
function start(module: string, ...args: readonly string[]): ChildProcess {
  return fork(new URL(module, import.meta.url), args);
}

async function ask<Answer>(child: ChildProcess, asked: object | string): Promise<Answer> {
  const answered = once(child, 'message');
  child.send(asked);
  const [answer] = await answered;
  return answer;
}

async function measure(attack: Attack): Promise<Measured> {
  const upstream = start('upstream.ts');
  const [upstreamPort] = await once(upstream, 'message');
  const gateway = await startGateway(attack, `http://127.0.0.1:${upstreamPort}`);
  const honest = start('honest.ts');
  const attacker = start('attacker.ts', attack.name);
  const call = (during: number): Promise<Answered> => ask(honest, { port: gateway.port, seconds: during });
  try {
    await call(warmUpSeconds);
    const quiet = await call(seconds);
    gateway.take();
    const before = cpuOf(gateway, attacker);
    await Promise.race([
      ask(attacker, { port: gateway.port }),
      pause(mostStartMs, undefined, { ref: false }),
    ]);
    await pause(leadMs);
    const beside = await call(seconds);
    const after = cpuOf(gateway, attacker);
    const { peakBytes, loopDelayMs } = gateway.take();
    const told: Promise<Told> = ask(attacker, 'stop');
    if (attack.outlivesGateway !== true) await told;
    const exit = await gateway.stop();
    const share = (of: 'gateway' | 'attacker'): number =>
      (after[of] - before[of]) / ((after.at - before.at) / 100);
    return {
      name: attack.name,
      quiet,
      beside,
      peakBytes: Math.max(peakBytes, gateway.take().peakBytes),
      loopDelayMs,
      exit,
      gatewayPercent: share('gateway'),
      attackerPercent: share('attacker'),
      ...(await told),
    };
  } finally {
    for (const child of [honest, attacker, upstream]) child.kill('SIGKILL');
  }
}

/** Returns the CPU time of both processes in ms; 0 for a process that has ended. */
function cpuOf(gateway: Gateway, attacker: ChildProcess): { at: number; gateway: number; attacker: number } {
  const cpu = (pid: number | undefined): number => {
    try {
      return cpuMs(pid);
    } catch {
      return 0;
    }
  };
  return { at: performance.now(), gateway: cpu(gateway.pid), attacker: cpu(attacker.pid) };
}

async function siege(): Promise<void> {
  const skipped = new Set(values.skip.map(attackNamed));
  const wanted = (values.only?.map(attackNamed) ?? attacks).filter((attack) => !skipped.has(attack));
  if (!values.json) console.log(head);
  const quietP99s: number[] = [];
  const judge = (measured: Measured, { isOfMany = false }: Attack): readonly Miss[] =>
    missesOf(measured, quietP99s).filter(({ bar }) => bar !== 'p99' || !(values['without-p99'] || isOfMany));
  for (const attack of wanted) {
    let measured = await measure(attack);
    quietP99s.push(measured.quiet.p99);
    let misses = judge(measured, attack);
    if (misses.length === 1 && misses[0]?.bar === 'p99') {
      // measured again, since a slow second of the machine has the same effect
      measured = await measure(attack);
      quietP99s.push(measured.quiet.p99);
      misses = judge(measured, attack);
    }
    if (misses.length > 0) process.exitCode = 1;
    console.log(values.json ? JSON.stringify({ ...measured, misses }) : rowOf(measured, misses));
  }
  if (!values.json) {
    const [least, most] = [Math.min(...quietP99s), Math.max(...quietP99s)];
    const load = loadavg()[0]?.toFixed(1);
    console.log(
      `  p99 of the ${quietP99s.length} quiet runs: ${least.toFixed(1)} to ${most.toFixed(1)} ms; load of the machine ${load} on ${availableParallelism()} cores`,
    );
  }
}

await siege();
