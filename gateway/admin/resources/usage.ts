import { readDuration } from '../../../mappings/contract/times.ts';
import type { AdminState } from '../../process/admin.ts';
import { type CallerRow, callerRowsOf, exemptionsOf, type Usage, usageOf } from '../../store/tables/usage.ts';
import type { CallerView, ExemptionView, UsageView } from '../api-types.ts';
import { checkContract, storeOf } from '../contract-at.ts';
import { timeOf } from '../members.ts';
import { invalid, Problem } from '../problem.ts';

const defaultSince = '30d';

/** Returns the calls of a contract by operation and caller (G61 to G63). Throws Problem 400, 404 and 409. */
export async function readUsage(
  state: AdminState,
  path: string,
  since: string | readonly string[] = defaultSince,
): Promise<readonly UsageView[]> {
  checkContract(state, path);
  const store = storeOf(state);
  const ms = typeof since === 'string' ? readDuration(since) : undefined;
  if (ms === undefined)
    throw invalid(400, [{ pointer: '/since', message: 'expected a duration such as 30d, got another text' }]);
  const callers = await callerRowsOf(store, path);
  return (await usageOf(store, path, Date.now() - ms)).map((usage) =>
    usageView(usage, callers.get(usage.caller)),
  );
}

function usageView({ lastAt, ...usage }: Usage, caller: CallerRow | undefined): UsageView {
  return { ...usage, lastAt: timeOf(lastAt), stack: caller?.stack ?? 'unknown' };
}

/** Returns a caller with its calls and exemptions (G62). Throws Problem 404 and 409. */
export async function readCaller(state: AdminState, path: string, name: string): Promise<CallerView> {
  checkContract(state, path);
  const store = storeOf(state);
  const row = (await callerRowsOf(store, path, name)).get(name);
  if (row === undefined)
    throw new Problem(404, 'expected the name or pseudonym of a caller, got another text');
  const { caller, network, userAgent, subject, stack, firstAt, lastAt } = row;
  const usage = await usageOf(store, path, 0, name);
  return {
    ...{ caller, stack, network: network ?? null, userAgent: userAgent ?? null, subject: subject ?? null },
    ...{ firstAt: timeOf(firstAt), lastAt: timeOf(lastAt) },
    operations: usage.map((one) => usageView(one, row)),
    exemptions: (await readExemptions(state, path)).filter((one) => one.caller === name),
  };
}

/** Returns the exemptions of a contract, the newest first (G65). Throws Problem 404 and 409. */
export async function readExemptions(state: AdminState, path: string): Promise<readonly ExemptionView[]> {
  checkContract(state, path);
  return (await exemptionsOf(storeOf(state), path)).map(
    ({ contract: _, id, operation, until, at, ...of }) => ({
      ...{ ...of, id: String(id), operation: operation ?? null },
      ...{ until: timeOf(until), at: timeOf(at) },
    }),
  );
}
