import { startProcess } from '../process.ts';
import { emptyReply, offer, startUpstream, stop, urlOf } from './load.ts';

/**
 * Measures goodput at the upstream's capacity and at three times that. The connections to the upstream define the
 * capacity.
 */
export async function overload(): Promise<void> {
  const upstream = await startUpstream((response) => setTimeout(() => response.end(emptyReply), 20));
  const limits = 'inFlight=64,queue=32,queueMs=250,upstreamConnections=16';
  const served = await startProcess({ SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream), SOAPBRIDGE_LIMITS: limits });
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
