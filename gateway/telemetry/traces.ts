import type { Snapshot } from './metrics.ts';
import type { Observer } from './observer.ts';

/** Tells OpenTelemetry of exchanges; none of it fails, or waits. */
export interface Traces {
  /** @param contract the path of a contract, as spans have it */
  readonly observerOf: (contract: string) => Observer;
  readonly read: () => Snapshot;
  /** Sends what is left, for at most some seconds. */
  readonly close: () => Promise<void>;
}
