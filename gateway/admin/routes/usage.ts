import { record, text } from '../../../mappings/contract/setting.ts';
import { expectedInstant, readDuration, readInstant } from '../../../mappings/contract/times.ts';
import type { AdminState } from '../../process/admin.ts';
import {
  type CallerRow,
  callerRowsOf,
  deleteExemption,
  exemptionsOf,
  insertExemption,
  type Usage,
  usageOf,
} from '../../store/tables/usage.ts';
import type { CallerView, ExemptionInput, ExemptionView, UsageView } from '../api-types.ts';
import { recordOf } from '../audit.ts';
import { checkContract, storeOf } from '../contract-at.ts';
import { checkReason, reasonMember, viewOf } from '../members.ts';
import { invalid, Problem } from '../problem.ts';
import {
  type AdminReply,
  type AdminRoute,
  type ChangeRequest,
  changeRoute,
  listRoute,
  stateRoute,
} from '../route.ts';

const defaultSince = '30d';

/** Returns the calls of a contract by operation and caller (G61 to G63). Throws Problem 400, 404 and 409. */
async function readUsage(
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

function usageView(usage: Usage, caller: CallerRow | undefined): UsageView {
  return { ...viewOf(usage, 'lastAt'), stack: caller?.stack ?? 'unknown' };
}

/** Returns a caller with its calls and exemptions (G62). Throws Problem 404 and 409. */
async function readCaller(state: AdminState, path: string, name: string): Promise<CallerView> {
  checkContract(state, path);
  const store = storeOf(state);
  const row = (await callerRowsOf(store, path, name)).get(name);
  if (row === undefined)
    throw new Problem(404, 'expected the name or pseudonym of a caller, got another text');
  const usage = await usageOf(store, path, 0, name);
  return {
    ...viewOf(row, 'firstAt', 'lastAt'),
    operations: usage.map((one) => usageView(one, row)),
    exemptions: (await readExemptions(state, path)).filter((one) => one.caller === name),
  };
}

/** Returns the exemptions of a contract, the newest first (G65). Throws Problem 404 and 409. */
async function readExemptions(state: AdminState, path: string): Promise<readonly ExemptionView[]> {
  checkContract(state, path);
  return (await exemptionsOf(storeOf(state), path)).map(({ contract: _, id, ...exemption }) => {
    return { id: String(id), ...viewOf(exemption, 'until', 'at') };
  });
}

/** Exempts a caller from a sunset and from brown-outs until a time (G65). */
async function exempt(state: AdminState, request: ChangeRequest<ExemptionInput>): Promise<AdminReply> {
  const { body, actor, audit, params } = request;
  const { caller: given, operation, until, reason } = body;
  const contract = params.c ?? '';
  checkContract(state, contract);
  const problems: Problem['problems'][number][] = [];
  const served = state.contracts().find(({ path }) => path === contract);
  if (operation !== undefined && served?.operations.includes(operation) !== true)
    problems.push({
      pointer: '/operation',
      message: `expected an operation of the contract, got ${operation}`,
    });
  const end = readInstant(until) ?? 0;
  if (end <= Date.now())
    problems.push({ pointer: '/until', message: `expected ${expectedInstant}, after now, got ${until}` });
  if (problems.length > 0) throw invalid(422, problems);
  checkReason(reason);
  const { names, nameOf } = state.callers();
  const { isStoredPseudonym } = await import('../../store/forget.ts');
  const isKnown = names.has(given) || (await isStoredPseudonym(storeOf(state), given));
  const caller = isKnown ? given : nameOf({ kind: 'id', value: given });
  const entry = { ...recordOf(request, 'exemption', 201), detail: `${caller} until ${until}` };
  const row = { contract, caller, operation, until: end, reason, actor: actor.name, at: Date.now() };
  await audit.writeWith(entry, insertExemption(row), storeOf(state));
  const [added] = (await readExemptions(state, contract)).filter((one) => one.caller === caller);
  return { status: 201, json: added };
}

async function endExemption(state: AdminState, request: ChangeRequest<undefined>): Promise<AdminReply> {
  const { c: contract = '', id = '' } = request.params;
  const found = (await readExemptions(state, contract)).find((one) => one.id === id);
  if (found === undefined) throw new Problem(404, 'expected the id of an exemption, got another id');
  const entry = { ...recordOf(request, 'exemption', 204), detail: found.caller };
  await request.audit.writeWith(entry, deleteExemption(contract, Number(id)), storeOf(state));
  return { status: 204, json: null };
}

const path = '/api/v1/contracts/:c';

/** Usage, callers and exemptions (G61 to G65). */
export const usage: readonly AdminRoute[] = [
  listRoute(
    `${path}/usage`,
    'Calls by operation and caller.',
    (state, { params, query }) => readUsage(state, params.c ?? '', query.since),
    ({ operation, caller }) => `${operation} ${caller}`,
    ['since'],
  ),
  stateRoute(`${path}/callers/:caller`, 'A caller with its operations and exemptions.', (state, { params }) =>
    readCaller(state, params.c ?? '', params.caller ?? ''),
  ),
  listRoute(
    `${path}/exemptions`,
    'Exempted callers.',
    (state, { params }) => readExemptions(state, params.c ?? ''),
    ({ id }) => id.padStart(16, '0'),
  ),
  changeRoute<ExemptionInput>({
    path: `${path}/exemptions`,
    summary: 'Exempts a caller from a sunset and from brown-outs.',
    action: 'exemption',
    input: {
      members: record('An exemption.', {
        caller: text('Name, pseudonym or id of the caller.', 'a caller', /^\P{Cc}{1,500}$/u),
        operation: text('Name of the operation. Default: all.', 'the name of an operation'),
        until: text('Time at which the exemption ends.', expectedInstant),
        reason: reasonMember,
      }),
      required: ['caller', 'until', 'reason'],
    },
    change: exempt,
  }),
  changeRoute<undefined>({
    method: 'DELETE',
    path: `${path}/exemptions/:id`,
    summary: 'Ends an exemption.',
    action: 'exemption',
    change: endExemption,
  }),
];
