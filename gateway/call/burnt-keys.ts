/** The keys of a message that are reserved before they are used (X24). It is plain data. */
export interface KeyLock {
  /** SHA-256 of the encrypted keys, 32 characters each. */
  readonly keys: readonly string[];
  /** The signer, or the issuer that vouches for it; undefined without a verified SignatureValue. */
  readonly caller: string | undefined;
  /** True if the Signature itself may be encrypted. */
  readonly mayHideSigner: boolean;
}

/**
 * Result of a reservation. `free`: the keys may be used. `burnt`: a call with one of them failed, or is in progress.
 * `full`: there is no capacity to remember the keys.
 */
export type KeyReservation = 'free' | 'burnt' | 'full';

/** The encrypted keys of failed calls, which are refused for one hour (X24). Times are in ms since 1970. */
export interface BurntKeys {
  /** Burns the keys of a message before they are used, in one step. */
  readonly reserve: (lock: KeyLock, now: number) => KeyReservation | Promise<KeyReservation>;
  /** Removes the keys of a message that was decrypted. */
  readonly release: (lock: KeyLock, now: number) => void | Promise<void>;
}

/** Time for which a key is refused, in ms (X24). */
export const burntMs = 3_600_000;

/** Maximum number of keys of one signer, as a multiple of the free entries (X17). */
export const signerShare = 4;

interface Entry {
  readonly until: number;
  readonly caller: string | undefined;
}

/** Burnt keys of one process. Calls without a verified SignatureValue use at most half of the entries. */
export class OwnBurntKeys implements BurntKeys {
  readonly #most: { readonly signed: number; readonly unsigned: number };
  /** Keys of verified signers, and the number of entries by signer. */
  readonly #signed = new Map<string, Entry>();
  readonly #bySigner = new Map<string, number>();
  readonly #unsigned = new Map<string, Entry>();

  constructor(most: number) {
    const unsigned = Math.floor(most / 2);
    this.#most = { unsigned, signed: most - unsigned };
  }

  /** Number of keys that are refused at a time. */
  sizeAt(now: number): number {
    this.#expire(now);
    return this.#signed.size + this.#unsigned.size;
  }

  reserve({ keys, caller, mayHideSigner }: KeyLock, now: number): KeyReservation {
    this.#expire(now);
    if (keys.some((key) => this.#signed.has(key) || this.#unsigned.has(key))) return 'burnt';
    const entries = caller === undefined ? this.#unsigned : this.#signed;
    const count = new Set(keys).size;
    const left = this.#most[caller === undefined ? 'unsigned' : 'signed'] - entries.size;
    if (caller === undefined && left < count) return mayHideSigner ? 'full' : 'free';
    const own = caller === undefined ? 0 : (this.#bySigner.get(caller) ?? 0);
    if (left < count || own >= left * signerShare) return 'full';
    for (const key of keys) entries.set(key, { until: now + burntMs, caller });
    if (caller !== undefined) this.#bySigner.set(caller, own + count);
    return 'free';
  }

  release({ keys }: KeyLock): void {
    for (const key of keys) this.#remove(key);
  }

  #remove(key: string): void {
    const caller = this.#signed.get(key)?.caller;
    this.#signed.delete(key);
    this.#unsigned.delete(key);
    if (caller === undefined) return;
    const left = (this.#bySigner.get(caller) ?? 0) - 1;
    if (left > 0) this.#bySigner.set(caller, left);
    else this.#bySigner.delete(caller);
  }

  /** Removes keys after their time. All keys have one lifetime, so the oldest ones are first. */
  #expire(now: number): void {
    for (const entries of [this.#signed, this.#unsigned])
      for (const [key, { until }] of entries) {
        if (until > now) break;
        this.#remove(key);
      }
  }
}
