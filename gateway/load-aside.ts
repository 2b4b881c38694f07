import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { LoadedContract } from '../mappings/load/contract.ts';
import { ContractError, type ContractProblem } from '../mappings/load/error.ts';
import { type ContractPlace, loadContract } from '../mappings/load.ts';

/** What the thread is given; other threads that load this module have nothing to do with it. */
interface Task {
  readonly loadAside: readonly ContractPlace[];
}

/** What the thread gives back. */
type Result =
  | { readonly loaded: readonly LoadedContract[] }
  | { readonly problems: readonly ContractProblem[] };

/** The contracts at their places, loaded in a thread of its own: this one goes on serving. Throws ContractError. */
export function loadAside(places: readonly ContractPlace[]): Promise<readonly LoadedContract[]> {
  return new Promise((resolve, reject) => {
    const task: Task = { loadAside: places };
    const thread = new Worker(new URL(import.meta.url), { workerData: task });
    thread.once('error', reject);
    thread.once('message', (result: Result) => {
      if ('loaded' in result) resolve(result.loaded);
      else reject(new ContractError(result.problems));
    });
  });
}

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'loadAside' in data;
}

function perform({ loadAside: places }: Task): Result {
  try {
    return { loaded: places.map(loadContract) };
  } catch (error) {
    if (error instanceof ContractError) return { problems: error.problems };
    throw error;
  }
}

if (!isMainThread && isTask(workerData)) parentPort?.postMessage(perform(workerData));
