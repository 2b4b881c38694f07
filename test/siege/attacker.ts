import { constants, setPriority } from 'node:os';
import { attackNamed } from './attacks.ts';

/**
 * An attack in a process of its own, which yields to the others': what is measured is what it does to the gateway, not
 * what it takes of the machine. Told a port it begins; told to stop it ends, and says what came of it.
 */

/** What the process is asked for. */
export type Asked = { readonly port: number } | 'stop';

/** What the process says at its end; before, when it has its first connection, that it is under way. */
export interface Told {
  /** What came of its messages, counted. */
  readonly counts: Readonly<Record<string, number>>;
  /** What was promised to it and broken. */
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
