import { setTimeout as pause } from 'node:timers/promises';

/** Maximum number of exchanges that are held in memory for each concurrent call. */
const heldPerCall = 16;

/** The load of a replay. */
export interface ReplayLoad {
  /** Maximum number of calls per second. */
  readonly rate: number;
  /** Maximum number of calls at the same time. */
  readonly concurrency: number;
}

/**
 * Sends exchanges. Those of one caller are sent in their order, one at a time; those of different callers at the same
 * time (G60). Rejects with the first error of `send`.
 */
export async function replayInOrder<Exchange extends { readonly caller: string | undefined }>(
  exchanges: AsyncIterable<Exchange>,
  { rate, concurrency }: ReplayLoad,
  send: (exchange: Exchange) => Promise<void>,
): Promise<void> {
  const lastOf = new Map<string, Promise<void>>();
  const held = new Set<Promise<void>>();
  const waiting: (() => void)[] = [];
  let free = concurrency;
  let nextAt = 0;
  const enter = async (): Promise<void> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };
  const run = async (exchange: Exchange, before: Promise<void> | undefined): Promise<void> => {
    await before;
    await enter();
    try {
      const now = performance.now();
      const at = Math.max(now, nextAt);
      nextAt = at + 1_000 / rate;
      if (at > now) await pause(at - now);
      await send(exchange);
    } finally {
      leave();
    }
  };
  for await (const exchange of exchanges) {
    const caller = exchange.caller ?? '';
    const call = run(exchange, lastOf.get(caller));
    call.catch(() => {}); // awaited below
    lastOf.set(caller, call);
    held.add(call);
    void call.then(
      () => held.delete(call),
      () => {},
    );
    if (held.size >= concurrency * heldPerCall) await Promise.race(held);
  }
  await Promise.all(held);
}
