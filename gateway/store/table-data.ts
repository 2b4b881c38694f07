import { dayMs } from '../../mappings/contract/times.ts';

/** A table whose rows expire, or belong to callers (G55). */
export interface TableData {
  readonly table: string;
  /** Columns of the primary key, for batches: `id`, or `contract, day`. */
  readonly key: string;
  /** Column with the time of a row, in ms since 1970. */
  readonly time: string;
  /** Column with the time of the last call that the row counts, if it differs. */
  readonly lastTime?: string;
  /** Column with the caller's name or pseudonym. `soapbridge forget` deletes the rows of a caller. */
  readonly caller?: string;
  /** Age at which rows are deleted, in ms. Undefined: the rows are kept, or a contract sets their age. */
  readonly keepMs?: number;
}

/** Age of counts, in ms (G55). */
export const countsKeptMs: number = 400 * dayMs;
