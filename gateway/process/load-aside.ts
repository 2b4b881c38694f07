import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Limits } from '../../mappings/contract/limits.ts';
import { receiveContract, type SentContract, sendContract } from '../../mappings/contract/transfer.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import type { ContractPlace } from '../../mappings/loader/load.ts';
import { compileLoaded, type MappingText } from '../../mappings/mapping/load.ts';
import { answerOf, NoAnswer, yieldToOthers } from '../http/thread.ts';
import { growYoungGeneration } from '../http/young-generation.ts';
import { loadPlace, type MappedContract } from './load-place.ts';

/** What the thread is given; other threads that load this module have nothing to do with it. */
interface Task {
  readonly loadAside: readonly ContractPlace[];
  readonly limits: Limits;
}

/** What the thread gives back. */
type Result = { readonly places: readonly SentPlace[] } | { readonly problems: readonly ContractProblem[] };

/** What a place holds, on its way out of the thread: of a mapping what it is compiled of. */
interface SentPlace {
  readonly loaded: Omit<MappedContract, 'contract' | 'mapping'>;
  readonly contract: SentContract;
  readonly mapping: MappingText | undefined;
}

/** In ms, beyond what the loader gives itself: it says where it was, so it goes first. */
const grace = 2_000;

/**
 * What the places hold, loaded in a thread of its own: this one goes on serving. A thread that takes longer than
 * the limit is ended, whatever it is at. Throws ContractError.
 */
export async function loadAside(
  places: readonly ContractPlace[],
  limits: Limits,
): Promise<readonly MappedContract[]> {
  const workerData: Task = { loadAside: places, limits };
  const thread = new Worker(new URL(import.meta.url), { workerData });
  try {
    // twice, as a mapping beside a contract may take as long
    const result = await answerOf<Result>(thread, limits.contractMs * 2 * places.length + grace);
    if ('problems' in result) throw new ContractError(result.problems);
    return result.places.map((sent) => receivePlace(sent, limits));
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

function perform({ loadAside: places, limits }: Task): Result {
  try {
    return { places: places.map((place) => sendPlace(loadPlace(place, limits))) };
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
