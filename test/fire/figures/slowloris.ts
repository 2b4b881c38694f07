import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startProcess } from '../process.ts';
import { at, emptyReply, offer, startUpstream, stop, urlOf } from './load.ts';
import { cpuMs } from './of-process.ts';
import type { Said } from './slow-connections.ts';

const rounds = 5;
/** Lifetime of the slow connections: they are closed from the tenth second on. */
const seconds = 11;

/**
 * Measures good traffic without and with a thousand connections whose headers never end, alternately in the same
 * process. The median second counts, since single seconds vary with the load of the machine.
 */
export async function slowloris(): Promise<void> {
  const upstream = await startUpstream((response) => response.end(emptyReply));
  const served = await startProcess({ SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream) });
  const opener = fork(new URL('slow-connections.ts', import.meta.url));
  const said = async (): Promise<Said> => (await once(opener, 'message'))[0];
  const measure = async (): Promise<Round> => {
    const before = cpuMs(served.child.pid);
    const { goodP99s, silent } = await offer(served.port, 300, seconds, 100);
    const cpuPercent = (cpuMs(served.child.pid) - before) / seconds / 10;
    return { usual: median(goodP99s), worst: Math.max(...goodP99s), silent, cpuPercent };
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
  const ratios = beside.map(({ usual }, round) => usual / (alone[round]?.usual ?? 0));
  const silent = beside.reduce((sum, each) => sum + each.silent, 0);
  console.log(
    `slowloris: 1,000 slow connections, ${rounds} rounds without and with them; good calls p99 × ${median(ratios).toFixed(2)} (median; × ${Math.min(...ratios).toFixed(2)} to × ${Math.max(...ratios).toFixed(2)}), ${silent} without an answer; without them ${tell(alone)}; with them ${tell(beside)}; the last slow one gone after ${(lastMs / 1000).toFixed(1)} s`,
  );
  opener.kill();
  await stop(served, upstream);
}

/** One period of good traffic; p99 in ms. */
interface Round {
  /** Median of the p99 of all seconds. */
  readonly usual: number;
  readonly worst: number;
  readonly silent: number;
  readonly cpuPercent: number;
}

const median = (values: readonly number[]): number => at([...values], 0.5);

function tell(rounds: readonly Round[]): string {
  const of = (name: keyof Round): string => median(rounds.map((round) => round[name])).toFixed(1);
  return `${of('usual')} ms in a usual second, ${of('worst')} ms in the worst, ${of('cpuPercent')} % of a core`;
}
