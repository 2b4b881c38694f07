import { verifiedCredentialsOf } from '../../mappings/contract/credentials.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { ContractProblem } from '../../mappings/loader/document/error.ts';
import type { Log } from '../core/core-options.ts';
import type { DeprecationCounts, Deprecations, Exemption } from '../migration/deprecations.ts';
import type { Deprecation } from '../migration/read-deprecations.ts';
import { Repeated } from '../store/repeated.ts';
import type { Store } from '../store/store.ts';
import { allExemptions, exemptionOf } from '../store/tables/usage.ts';
import type { Callers } from '../telemetry/callers.ts';
import { describeError } from '../telemetry/log.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import type { NetworkOf } from '../upstream/upstream.ts';
import type { PlannedContract } from './sites.ts';

/** A contract with checked deprecations. */
export interface CheckedDeprecations {
  readonly contract: Contract;
  readonly deprecations: readonly Deprecation[];
}

/**
 * Checks the deprecations of contracts, and adds their problems to a list (G65). The result has undefined for a contract
 * without deprecations.
 */
export async function checkDeprecations(
  contracts: readonly PlannedContract[],
  callers: Callers,
  problems: ContractProblem[],
): Promise<readonly (CheckedDeprecations | undefined)[]> {
  if (contracts.every(({ plan }) => plan.deprecate === undefined)) return [];
  const { readDeprecations } = await import('../migration/read-deprecations.ts');
  return contracts.map(({ plan, loaded }) => {
    if (plan.deprecate === undefined) return undefined;
    const { file, at, stated } = plan.deprecate;
    const contract = { ...loaded.contract, basePath: plan.basePath ?? loaded.contract.basePath };
    const report = (pointer: string, message: string): void => {
      problems.push({ file, pointer, message });
    };
    const facts = { contract, callerNames: callers.names };
    return { contract, deprecations: readDeprecations(stated, at, facts, report) };
  });
}

/** Time between two readings of the exemptions, in ms (G66). */
const pollMs = 1_000;

/** The deprecated operations of a process. Their code is loaded only for a contract that has some. */
export class ProcessDeprecations {
  #counts: DeprecationCounts | undefined;
  #reading: Repeated | undefined;
  /** Exemptions of the store by the path of the contract; undefined until the store has answered. */
  #exemptions: ReadonlyMap<string, readonly Exemption[]> | undefined = new Map();

  /** Opens the deprecations of contracts, by their position. Adds problems to a list. */
  async open(
    contracts: readonly PlannedContract[],
    callers: Callers,
    networkOf: NetworkOf,
    problems: ContractProblem[],
  ): Promise<readonly (Deprecations | undefined)[]> {
    const all = await checkDeprecations(contracts, callers, problems);
    if (all.length === 0) return [];
    const [{ DeprecationCounts, Deprecations }, { compileIdentifyCaller }] = await Promise.all([
      import('../migration/deprecations.ts'),
      import('../migration/identity.ts'),
    ]);
    this.#counts ??= new DeprecationCounts();
    const counts = this.#counts;
    return all.map((checked, index) => {
      if (checked === undefined) return undefined;
      const path = shownPath(checked.contract.basePath);
      const certified = contracts[index]?.plan.deprecate?.certified;
      const { credentials, wsse } = checked.contract;
      const signed = verifiedCredentialsOf(wsse);
      const identify = compileIdentifyCaller(credentials, certified, callers.nameOf, networkOf, signed);
      const exemptions = (): readonly Exemption[] | undefined =>
        this.#exemptions === undefined ? undefined : (this.#exemptions.get(path) ?? []);
      return new Deprecations({ ...checked, path, counts, identify, exemptions });
    });
  }

  /** Reads the exemptions of the store now and every second. Resolves after the first read, even if it failed. */
  async watch(store: Store, log: Log): Promise<void> {
    if (this.#reading !== undefined) return;
    this.#exemptions = undefined;
    const read = async (): Promise<void> => {
      const all = (await store.all(allExemptions)).map(exemptionOf);
      this.#exemptions = Map.groupBy(all, ({ contract }) => contract);
    };
    // after a failure, the last exemptions stay valid
    const onError = (error: unknown): void => log.error(describeError(error), 'exemptions not loaded');
    this.#reading = new Repeated(read, pollMs, onError);
    await this.#reading.now();
  }

  async close(): Promise<void> {
    await this.#reading?.close();
  }

  read(): Snapshot {
    return this.#counts?.read() ?? [];
  }
}
