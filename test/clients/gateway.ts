import type { ExecutionContext } from 'ava';
import type { Running } from '../../gateway/process/running.ts';
import { serve } from '../../gateway/process/serve.ts';
import { screeningContract } from '../../mappings/loader/load.ts';

/** Starts a gateway with a new reference upstream. The caller must stop it. */
export function startGateway(): Promise<Running> {
  return serve({
    contract: screeningContract,
    host: '127.0.0.1',
    port: 0,
    upstreamUrl: undefined,
    upstreamDatabase: undefined,
    publicUrl: undefined,
    trustedProxies: [],
    logLevel: 'silent',
    drainDelayMs: 0,
  });
}

/** Starts a separate gateway for a test that changes the upstream's data. */
export async function ownGateway(t: ExecutionContext): Promise<Running> {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop(0));
  return gateway;
}

/** Returns an operation's `data` from the JSON endpoint, called with the demo account. */
export async function jsonData(gateway: Running, operation: string, input: object): Promise<object> {
  const authentication = { apiUserId: 'demo', apiUserKey: 'demo-key' };
  const response = await fetch(`${gateway.address}/json/reply/${operation}`, {
    method: 'POST',
    body: JSON.stringify({ ...input, authentication }),
  });
  const { data } = (await response.json()) as { data: object };
  return data;
}
