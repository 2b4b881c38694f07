import { constants, setPriority } from 'node:os';
import { attackNamed } from './attacks.ts';

/**
 * Runs an attack in a separate process with lower priority, so that only its effect on the gateway is measured. The
 * process starts after it receives a port, and ends after `stop` with a report.
 */

/** Messages to the process. */
export type Asked = { readonly port: number } | 'stop';

/** Report of the process at its end. Earlier, it sends a message at its first connection. */
export interface Told {
  /** Number of messages by result. */
  readonly counts: Readonly<Record<string, number>>;
  /** Violated guarantees. */
  readonly broken: readonly string[];
}

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const attack = attackNamed(process.argv[2] ?? '');
const end = new AbortController();
const counts = new Map<string, number>();

process.on('message', async (asked: Asked) => {
  if (asked === 'stop') {
    end.abort();
    return;
  }
  const broken = await attack.run({
    port: asked.port,
    signal: end.signal,
    count: (what) => {
      if (counts.size === 0) process.send?.('under way');
      counts.set(what, (counts.get(what) ?? 0) + 1);
    },
  });
  const told: Told = { counts: Object.fromEntries(counts), broken };
  process.send?.(told);
});
process.once('disconnect', () => process.exit());
