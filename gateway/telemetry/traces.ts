import type { Snapshot } from './metrics.ts';
import type { Observer } from './observer.ts';

/** Reports exchanges to OpenTelemetry. Its methods neither fail nor wait. */
export interface Traces {
  /** @param contract path of the contract, an attribute of the spans */
  readonly observerOf: (contract: string) => Observer;
  readonly read: () => Snapshot;
  /** Sends the remaining spans, for at most a few seconds. */
  readonly close: () => Promise<void>;
}
