import type { Limits } from '../../mappings/contract/limits.ts';
import { receiveContract, type SentContract, sendContract } from '../../mappings/contract/transfer.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import type { ContractPlace } from '../../mappings/loader/load.ts';
import { compileLoaded, type MappingText } from '../../mappings/mapping/load.ts';
import { Lane, NoAnswer, performTasks } from '../workers/lane.ts';
import { loadContract, type MappedContract } from './load-place.ts';

/** Contracts to be loaded. */
interface Task {
  readonly places: readonly ContractPlace[];
  readonly limits: Limits;
}

/** What came of it. */
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
  // twice, as a mapping beside a contract may take as long
  const withinMs = limits.contractMs * 2 * places.length + grace;
  const lane = new Lane<Task, Result>({
    module: new URL(import.meta.url),
    title: 'the thread that loads contracts',
    mostWaiting: 0,
  });
  try {
    const result = await lane.run({
      taskOf: () => ({ places, limits }),
      bytes: 0,
      memory: [],
      withinMs,
      refuse: () => new NoAnswer(`expected an end within ${withinMs} ms, got none`),
    });
    if (result === undefined) throw new Error('the contracts were not loaded');
    if ('problems' in result) throw new ContractError(result.problems);
    return result.places.map((sent) => receivePlace(sent, limits));
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const [first = ''] = places;
    const file = typeof first === 'string' ? first : first.openapi;
    throw new ContractError([{ file, pointer: '', message: error.message }]);
  } finally {
    await lane.close();
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
    return { places: places.map((place) => sendPlace(loadContract(place, limits))) };
  } catch (error) {
    if (error instanceof ContractError) return { problems: error.problems };
    throw error;
  }
}

performTasks(import.meta.url, perform);
