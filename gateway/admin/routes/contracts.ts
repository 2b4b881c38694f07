import { type Verdict, verdicts } from '../../../mappings/compare/verdict.ts';
import type { AdminState } from '../../process/admin.ts';
import { StoreError } from '../../store/store.ts';
import type { ContractView } from '../api-types.ts';
import { Problem } from '../problem.ts';
import { type AdminRoute, listRoute } from '../route.ts';

/** Returns the contracts with their verdicts and the health of both sides (G71). */
export async function readContracts(state: AdminState): Promise<readonly ContractView[]> {
  const snapshot = (await state.snapshot()) ?? [];
  const isOpen = (family: string, path: string): boolean =>
    snapshot
      .find(({ name }) => name === family)
      ?.samples.some(({ labels, value }) => labels.startsWith(`contract="${path}"`) && value > 0) === true;
  const migrated = new Set(state.migrations().map(({ contract }) => contract.basePath || '/'));
  return Promise.all(
    state.contracts().map(async (served) => {
      const { path } = served;
      const isMigrated = migrated.has(path);
      const legacy = isMigrated ? { isOpen: isOpen('legacy_breaker_open', path) } : null;
      const health = { new: { isOpen: isOpen('upstream_breaker_open', path) }, legacy };
      return { ...served, verdicts: isMigrated ? await countVerdicts(state, path) : null, health };
    }),
  );
}

/** Returns the number of operations by verdict; null without evidence, or while the store does not work. */
async function countVerdicts(state: AdminState, path: string): Promise<ContractView['verdicts']> {
  const { readVerdicts } = await import('../resources/verdicts.ts');
  try {
    const all = await readVerdicts(state, path);
    const counts = verdicts.map((name) => [name, all.filter(({ verdict }) => verdict === name).length]);
    return Object.fromEntries(counts) as Record<Verdict, number>;
  } catch (error) {
    if (error instanceof StoreError || error instanceof Problem) return null;
    throw error;
  }
}

/** Contracts with hash, version, operations, verdicts, health and time of loading. */
export const contracts: readonly AdminRoute[] = [
  listRoute('/api/v1/contracts', 'Served contracts.', readContracts, ({ path }) => path),
];
