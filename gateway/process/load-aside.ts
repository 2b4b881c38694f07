import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { receiveContract, type SentContract, sendContract } from '../../mappings/contract/transfer.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import type { ContractLimits } from '../../mappings/loader/document/allowance.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import { type ContractPlace, loadContract } from '../../mappings/loader/load.ts';
import { answerOf, NoAnswer, yieldToOthers } from '../http/thread.ts';
import { growYoungGeneration } from '../http/young-generation.ts';

/** What the thread is given; other threads that load this module have nothing to do with it. */
interface Task {
  readonly loadAside: readonly ContractPlace[];
  readonly limits: ContractLimits;
}

/** What the thread gives back. */
type Result = { readonly loaded: readonly SentLoad[] } | { readonly problems: readonly ContractProblem[] };

/** A contract on its way out of the thread. */
type SentLoad = Omit<LoadedContract, 'contract'> & { readonly contract: SentContract };

/** In ms, beyond what the loader gives itself: it says where it was, so it goes first. */
const grace = 2_000;

/**
 * The contracts at their places, loaded in a thread of its own: this one goes on serving. A thread that takes longer than
 * the limit is ended, whatever it is at. Throws ContractError.
 */
export async function loadAside(
  places: readonly ContractPlace[],
  limits: ContractLimits,
): Promise<readonly LoadedContract[]> {
  const workerData: Task = { loadAside: places, limits };
  const thread = new Worker(new URL(import.meta.url), { workerData });
  try {
    const result = await answerOf<Result>(thread, limits.contractMs * places.length + grace);
    if ('loaded' in result)
      return result.loaded.map((loaded) => ({ ...loaded, contract: receiveContract(loaded.contract) }));
    throw new ContractError(result.problems);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const [first = ''] = places;
    const file = typeof first === 'string' ? first : first.openapi;
    throw new ContractError([{ file, pointer: '', message: error.message }]);
  }
}

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'loadAside' in data;
}

function perform({ loadAside: places, limits }: Task): Result {
  try {
    const loads = places.map((place) => loadContract(place, limits));
    return { loaded: loads.map((loaded) => ({ ...loaded, contract: sendContract(loaded.contract) })) };
  } catch (error) {
    if (error instanceof ContractError) return { problems: error.problems };
    throw error;
  }
}

if (!isMainThread && isTask(workerData)) {
  yieldToOthers();
  growYoungGeneration();
  parentPort?.postMessage(perform(workerData));
}
