import type { AdoptedOperation } from '../../mappings/contract/adopted.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { suggestion } from '../../mappings/contract/nearest.ts';
import type { Report } from '../../mappings/loader/document/error.ts';

// Names of the contract and of callers, for errors of the settings.

/** Returns the names of the declared faults of an operation. */
export function faultsOf({ adopted }: Contract, operation: string): readonly string[] {
  const found: AdoptedOperation | undefined = adopted?.service.operations.find(
    ({ name }) => name === operation,
  );
  return found?.faults.map(({ name }) => name) ?? [];
}

/** Reports a name that no operation of the contract has. Returns true for a known one. */
export function checkOperation(name: string, known: readonly string[], at: string, report: Report): boolean {
  if (known.includes(name)) return true;
  report(at, `expected an operation of the contract, got ${name}${suggestion(name, known)}`);
  return false;
}

/** Reports names that are no declared faults of an operation. */
export function checkFaults(
  names: readonly string[],
  contract: Contract,
  operation: string,
  at: string,
  report: Report,
): void {
  const declared = faultsOf(contract, operation);
  for (const [index, name] of names.entries())
    if (!declared.includes(name))
      report(
        `${at}/${index}`,
        `expected a declared fault of ${operation}, got ${name}${suggestion(name, declared)}`,
      );
}

/** Reports a caller that is neither named in `callers.yaml` nor a pseudonym. */
export function checkCaller(name: string, known: ReadonlySet<string>, at: string, report: Report): void {
  if (known.has(name) || /^[\w-]{16}$/.test(name)) return;
  const near = suggestion(name, [...known]);
  report(at, `expected a name of callers.yaml or a pseudonym, got ${name}${near}`);
}
