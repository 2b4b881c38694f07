import type { AdoptedOperation } from '../../mappings/contract/adopted.ts';
import type { Contract } from '../../mappings/contract/model.ts';

// Names of the contract, for errors of the settings.

/** Returns the names of the declared faults of an operation. */
export function faultsOf({ adopted }: Contract, operation: string): readonly string[] {
  const found: AdoptedOperation | undefined = adopted?.service.operations.find(
    ({ name }) => name === operation,
  );
  return found?.faults.map(({ name }) => name) ?? [];
}
