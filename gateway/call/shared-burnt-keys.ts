import type { SharedEntries } from '../admission/shared-entries.ts';
import { type BurntKeys, burntMs, type KeyLock, type KeyReservation } from './burnt-keys.ts';

/** Lists of burnt keys that replicas share. */
interface Lists {
  /** Keys of calls with a verified SignatureValue. */
  readonly signed: SharedEntries;
  readonly unsigned: SharedEntries;
}

/** Burnt keys that all replicas remember. While the store is unavailable, no key may be used (X24). */
export class SharedBurntKeys implements BurntKeys {
  readonly #lists: Lists;

  constructor(lists: Lists) {
    this.#lists = lists;
  }

  async reserve(lock: KeyLock, now: number): Promise<KeyReservation> {
    const { signed, unsigned } = this.#lists;
    const [list, other] = lock.caller === undefined ? [unsigned, signed] : [signed, unsigned];
    const entries = entriesOf(lock).map((entry) => ({ ...entry, until: now + burntMs }));
    for (const { key } of entries) if (await other.holds(key, now)) return 'burnt';
    const answer = await list.keepAll(entries, now);
    if (answer === 'new') return 'free';
    if (answer === 'used') return 'burnt';
    // without a Signature that may be valid, nothing is decrypted
    return lock.caller === undefined && !lock.mayHideSigner ? 'free' : 'full';
  }

  release(lock: KeyLock, now: number): Promise<void> {
    const { signed, unsigned } = this.#lists;
    return (lock.caller === undefined ? unsigned : signed).remove(entriesOf(lock), now);
  }
}

/** Returns the keys with the signers whose share they use. A key without a signer uses a share of its own. */
function entriesOf({ keys, caller }: KeyLock): { readonly key: string; readonly caller: string }[] {
  return keys.map((key) => ({ key, caller: caller ?? key }));
}
