import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startProcess } from '../process.ts';
import { at, emptyReply, offer, startUpstream, stop, urlOf } from './load.ts';
import { cpuMs } from './of-process.ts';
import type { Said } from './slow-connections.ts';

const rounds = 5;
/** As long as the slow ones live: from their tenth second on they are cut. */
const seconds = 11;

/**
 * A thousand connections whose headers never end, beside good traffic. That is measured in turn without them and with
 * them, in the same process, and all but they is the same.
 */
export async function slowloris(): Promise<void> {
  const upstream = await startUpstream((response) => response.end(emptyReply));
  const served = await startProcess({ UPSTREAM_URL: urlOf(upstream) });
  const opener = fork(new URL('slow-connections.ts', import.meta.url));
  const said = async (): Promise<Said> => (await once(opener, 'message'))[0];
  const measure = async (): Promise<Round> => {
    const before = cpuMs(served.child.pid);
    const { goodP99: p99, silent } = await offer(served.port, 300, seconds, 100);
    return { p99, silent, cpuMs: cpuMs(served.child.pid) - before };
  };
  await offer(served.port, 300, 4, 100);
  const alone: Round[] = [];
  const beside: Round[] = [];
  let lastMs = 0;
  for (let round = 0; round < rounds; round++) {
    alone.push(await measure());
    opener.send(served.port);
    await said();
    const gone = said();
    beside.push(await measure());
    const told = await gone;
    if ('lastMs' in told) lastMs = Math.max(lastMs, told.lastMs);
  }
  const ratios = beside.map(({ p99 }, round) => p99 / (alone[round]?.p99 ?? 0));
  const middle = (all: readonly Round[], of: 'p99' | 'cpuMs'): number =>
    at(
      all.map((each) => each[of]),
      0.5,
    );
  const ofCore = (all: readonly Round[]): string => `${(middle(all, 'cpuMs') / seconds / 10).toFixed(1)} %`;
  const silent = beside.reduce((sum, each) => sum + each.silent, 0);
  console.log(
    `slowloris: 1,000 slow connections, ${rounds} rounds without and with them; good calls p99 ${middle(alone, 'p99').toFixed(1)} ms without, ${middle(beside, 'p99').toFixed(1)} ms with, median of the ratios × ${at(ratios, 0.5).toFixed(2)} (× ${at(ratios, 0).toFixed(2)} to × ${at(ratios, 1).toFixed(2)}); ${ofCore(alone)} of a core without, ${ofCore(beside)} with; ${silent} without an answer; the last slow one gone after ${(lastMs / 1000).toFixed(1)} s`,
  );
  opener.kill();
  await stop(served, upstream);
}

interface Round {
  readonly p99: number;
  readonly silent: number;
  readonly cpuMs: number;
}
