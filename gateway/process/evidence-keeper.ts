import type { Log } from '../core/core-options.ts';
import type { EvidenceKeeper } from '../migration/evidence-store.ts';
import type { Store } from '../store/store.ts';

/** Opens what keeps the evidence of a gateway: the store, or the memory with the state files. */
export async function openEvidence(store: Store | undefined, log: Log): Promise<EvidenceKeeper> {
  if (store === undefined) return new (await import('../migration/evidence-store.ts')).EvidenceStore(log);
  return new (await import('../migration/shared-evidence.ts')).SharedEvidence(store, log);
}
