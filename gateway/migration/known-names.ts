import type { AdoptedOperation } from '../../mappings/contract/adopted.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { nearest } from '../../mappings/contract/nearest.ts';

// Names of the contract, for errors of the settings.

/** Maximum number of known names that are compared with an unknown name. */
const maxCompared = 300;

/** Returns `, did you mean x?` for the nearest known name; `''` if none is near. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known.slice(0, maxCompared));
  return near === undefined ? '' : `, did you mean ${near}?`;
}

/** Returns the names of the declared faults of an operation. */
export function faultsOf({ adopted }: Contract, operation: string): readonly string[] {
  const found: AdoptedOperation | undefined = adopted?.service.operations.find(
    ({ name }) => name === operation,
  );
  return found?.faults.map(({ name }) => name) ?? [];
}
