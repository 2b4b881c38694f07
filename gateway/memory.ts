import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives back to the system what only starting took. Loading a contract makes V8's young generation grow, and V8 keeps
 * that size for good: some 35 MB of a process that does nothing. V8 gives it back in the collection that it would make
 * before it ran out of memory; it takes some 50 ms, so this is for a process that has just started.
 */
export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void =
    runInNewContext('gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * Keeps V8 from collecting a process that has had nothing to do for eight seconds: with the garbage goes the code that it
 * compiled, and the first calls after a pause cost up to ten times as much (decision 6). What a busy time took stays taken.
 */
export function keepCompiledCode(): void {
  // an older V8 has no such flag, and would say so on standard error
  if (Number.parseInt(process.versions.v8, 10) >= 14) setFlagsFromString('--memory-reducer-gc-count=0');
}
