import type { Running } from '../process/running.ts';
import { fail } from './failure.ts';

/** Signals that stop a process. */
export const stopSignals = ['SIGTERM', 'SIGINT'] as const;

/** Handlers of SIGHUP and SIGUSR1. */
type Files = Pick<Running, 'reopen'> & { readonly reload: () => unknown };

/** Installs the handlers of SIGHUP and SIGUSR1. */
export type ListenForFiles = (files: Files) => void;

/**
 * Handles SIGHUP (files changed) and SIGUSR1 (log files were moved). By default a SIGHUP during the start would end the
 * process. Returns a function that installs the handlers and loads the files again if a SIGHUP arrived earlier.
 */
export function keepEarlyReload(): ListenForFiles {
  let isRequested = false;
  const keep = (): void => {
    isRequested = true;
  };
  process.on('SIGHUP', keep);
  return ({ reload, reopen }) => {
    process.on('SIGHUP', reload).off('SIGHUP', keep);
    process.on('SIGUSR1', reopen);
    if (isRequested) reload();
  };
}

/**
 * Stops this process at the first signal, with exit code 0 if nothing was aborted. The second signal ends it at once
 * with exit code 1.
 */
export function stopOnSignals(stop: (signal: NodeJS.Signals) => Promise<boolean>, kill?: () => void): void {
  let signalCount = 0;
  for (const signal of stopSignals) {
    process.on(signal, () => {
      signalCount++;
      if (signalCount > 1) {
        kill?.();
        process.exit(1);
      }
      stop(signal).then((clean) => process.exit(clean ? 0 : 1), fail);
    });
  }
}

/**
 * Holds the first signal that arrives while workers start. By default it would end this process and abort the requests
 * of workers that already serve. Returns a function that acts on the signal once the process can be stopped.
 */
export function keepEarlySignal(): () => void {
  let first: NodeJS.Signals | undefined;
  const keep = (signal: NodeJS.Signals): void => {
    // the second signal ends it at once; workers stop when their primary is gone
    if (first !== undefined) process.exit(1);
    first = signal;
  };
  for (const signal of stopSignals) process.on(signal, keep);
  return () => {
    for (const signal of stopSignals) process.off(signal, keep);
    if (first !== undefined) process.emit(first, first);
  };
}

/**
 * Returns the drain delay for a signal. Ctrl-C needs none, because it is sent by a person and not by an orchestrator
 * with a load balancer.
 */
export function delayOf(signal: NodeJS.Signals, { drainDelay }: { readonly drainDelay: number }): number {
  return signal === 'SIGTERM' ? drainDelay : 0;
}
