import type { Limits } from '../../mappings/contract/limits.ts';
import type { SentContract } from '../../mappings/contract/transfer.ts';
import type { StatedMigration } from '../process/migration-setting.ts';

/** The keys of `migration` that a comparison uses, as written in the file. */
export type StatedCompare = Pick<StatedMigration, 'compare' | 'replies'>;

/** A contract as it is sent to the thread, once. */
export interface ComparedContract {
  readonly contract: SentContract;
  readonly limits: Limits;
  readonly stated: StatedCompare;
}

/** The part of each task that names the contract and the operation. */
export interface TaskHead {
  readonly contractId: number;
  /** The contract, if the thread does not have it yet. */
  readonly contract: ComparedContract | undefined;
  readonly operation: string;
}
