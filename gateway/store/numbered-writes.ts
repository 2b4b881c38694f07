import { randomUUID } from 'node:crypto';
import type { Statement, Store } from './store.ts';

/** Start of the names in `meta` with the last writes of processes. */
export const writeName = 'write ';

/** Returns a time in ms since 1970 as a text. The order of the texts is the order of the times. */
export function timeText(time: number): string {
  return String(Math.max(0, time)).padStart(15, '0');
}

/** Returns the statement that sets a value of the table `meta`. */
export function setMeta(name: string, value: string): Statement {
  const sql = `INSERT INTO meta (name, value) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  return { sql, values: [name, value] };
}

/** Maximum number of statements of one write. */
export const maxStatements = 500;

/** Writes with a number each. After a failure, the store knows whether it has performed the last one (G54). */
export class NumberedWrites {
  readonly #store: Store;
  readonly #name = `${writeName}${randomUUID()}`;
  #count = 0;
  /** A write whose result is unknown. */
  #uncertain: { readonly value: string; readonly settle: (isWritten: boolean) => void } | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Runs the statements of items in transactions of at most `maxStatements`. After a failure, the rest is not written;
   * call `settle` before the next write. Rejects with StoreError.
   *
   * @param settle called with some of the items when it is known whether the store has performed their statements
   */
  async write<Item>(
    items: readonly Item[],
    statementOf: (item: Item) => Statement,
    settle: (part: readonly Item[], isWritten: boolean) => void,
  ): Promise<void> {
    for (let at = 0; at < items.length; at += maxStatements) {
      const part = items.slice(at, at + maxStatements);
      try {
        await this.#write(part.map(statementOf), (isWritten) => settle(part, isWritten));
      } catch (error) {
        settle(items.slice(at + maxStatements), false);
        throw error;
      }
    }
  }

  async #write(statements: readonly Statement[], settle: (isWritten: boolean) => void): Promise<void> {
    const value = `${timeText(Date.now())} ${++this.#count}`;
    this.#uncertain = { value, settle };
    await this.#store.write([...statements, setMeta(this.#name, value)]);
    this.#settle(true);
  }

  /** Reads whether the store has performed the last write, if its result is unknown. Rejects with StoreError. */
  async settle(): Promise<void> {
    if (this.#uncertain === undefined) return;
    const sql = 'SELECT value FROM meta WHERE name = $1';
    const [row] = await this.#store.all({ sql, values: [this.#name] });
    this.#settle(row?.value === this.#uncertain.value);
  }

  #settle(isWritten: boolean): void {
    const settle = this.#uncertain?.settle;
    this.#uncertain = undefined;
    settle?.(isWritten);
  }
}
