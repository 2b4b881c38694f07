import type { CompiledContract } from '../../mappings/compile.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { type SentContract, sendContract } from '../../mappings/contract/transfer.ts';
import type { StatedMigration } from '../process/migration-setting.ts';
import { isFirstSent } from '../workers/worker-thread.ts';

/** The keys of `migration` that a comparison uses, as written in the file. */
export type StatedCompare = Pick<StatedMigration, 'compare' | 'replies'>;

/** A contract as it is sent to the thread, once. */
export interface ComparedContract {
  readonly contract: SentContract;
  readonly limits: Limits;
  readonly stated: StatedCompare;
}

/** A contract of a thread, in the process. */
export interface SentOnce {
  /** Number of the contract in the thread. */
  readonly contractId: number;
  readonly compiled: Pick<CompiledContract, 'contract' | 'limits'>;
  readonly stated: StatedCompare;
}

/** Returns the head of a task, with the contract if the thread does not have it. */
export function taskHead(
  { contractId, compiled: { contract, limits }, stated }: SentOnce,
  operation: string,
  known: Set<number>,
): TaskHead {
  const sent = isFirstSent(known, contractId)
    ? { contract: sendContract(contract), limits, stated }
    : undefined;
  return { contractId, contract: sent, operation };
}

/** The part of each task that names the contract and the operation. */
export interface TaskHead {
  readonly contractId: number;
  /** The contract, if the thread does not have it yet. */
  readonly contract: ComparedContract | undefined;
  readonly operation: string;
}
