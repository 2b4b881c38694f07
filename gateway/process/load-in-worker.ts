import type { Limits } from '../../mappings/contract/limits.ts';
import { receiveContract, type SentContract, sendContract } from '../../mappings/contract/transfer.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import type { ContractPlace } from '../../mappings/loader/load.ts';
import type { OwnWsse } from '../../mappings/loader/overlay/own-wsse.ts';
import { compileLoaded, type MappingText } from '../../mappings/mapping/load.ts';
import { NoAnswer, performTasks, WorkerThread } from '../workers/worker-thread.ts';
import { loadContract, type MappedContract } from './load-place.ts';

/** A contract to load; `keepsUnmapped` and `own` as for `loadContract`. */
export interface PlaceToLoad {
  readonly place: ContractPlace;
  readonly keepsUnmapped: boolean;
  readonly own?: OwnWsse | undefined;
}

/** Contracts to load. */
interface Task {
  readonly places: readonly PlaceToLoad[];
  readonly limits: Limits;
}

/** Result of loading: the contracts, or the problems. */
type Result = { readonly places: readonly SentPlace[] } | { readonly problems: readonly ContractProblem[] };

/** A loaded contract as sent from the thread. The mapping is sent as the text it is compiled from. */
interface SentPlace {
  readonly loaded: Omit<MappedContract, 'contract' | 'mapping'>;
  readonly contract: SentContract;
  readonly mapping: MappingText | undefined;
}

/**
 * Added to the loader's own time limit, in ms. The loader reports the position at which it stopped, so its limit must
 * apply first.
 */
const grace = 2_000;

/**
 * Loads contracts in a worker thread, while this thread continues to serve. The thread is terminated if it exceeds the
 * time limit. Throws ContractError.
 */
export async function loadInWorker(
  places: readonly PlaceToLoad[],
  limits: Limits,
): Promise<readonly MappedContract[]> {
  // Doubled, because a mapping may take as long as its contract.
  const withinMs = limits.contractMs * 2 * places.length + grace;
  const worker = new WorkerThread<Task, Result>({
    module: new URL(import.meta.url),
    title: 'the thread that loads contracts',
    mostWaiting: 0,
  });
  try {
    const result = await worker.run({
      taskOf: () => ({ places, limits }),
      bytes: 0,
      memory: [],
      withinMs,
      refuse: () => new NoAnswer(`expected contracts to load within ${withinMs} ms, got a timeout`),
    });
    if (result === undefined) throw new Error('contracts not loaded');
    if ('problems' in result) throw new ContractError(result.problems);
    return result.places.map((sent) => receivePlace(sent, limits));
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const place = places[0]?.place ?? '';
    const file = typeof place === 'string' ? place : place.openapi;
    throw new ContractError([{ file, pointer: '', message: error.message }]);
  } finally {
    await worker.close();
  }
}

function sendPlace({ contract, mapping, ...loaded }: MappedContract): SentPlace {
  return { loaded, contract: sendContract(contract), mapping: mapping?.text };
}

function receivePlace({ loaded, contract, mapping }: SentPlace, limits: Limits): MappedContract {
  return {
    ...loaded,
    contract: receiveContract(contract),
    mapping: mapping === undefined ? undefined : compileLoaded(mapping, limits),
  };
}

function perform({ places, limits }: Task): Result {
  try {
    const loads = places.map(({ place, keepsUnmapped, own }) =>
      loadContract(place, limits, keepsUnmapped, own),
    );
    return { places: loads.map(sendPlace) };
  } catch (error) {
    if (error instanceof ContractError) return { problems: error.problems };
    throw error;
  }
}

performTasks(import.meta.url, perform);
