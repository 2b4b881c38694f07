import { record, text } from '../../../mappings/contract/setting.ts';
import { expectedInstant, readInstant } from '../../../mappings/contract/times.ts';
import type { AdminState } from '../../process/admin.ts';
import { deleteExemption, insertExemption } from '../../store/tables/usage.ts';
import type { ExemptionInput } from '../api-types.ts';
import { recordOf } from '../audit.ts';
import { checkContract, storeOf } from '../contract-at.ts';
import { checkReason, reasonMember } from '../members.ts';
import { invalid, Problem } from '../problem.ts';
import { readCaller, readExemptions, readUsage } from '../resources/usage.ts';
import {
  type AdminReply,
  type AdminRoute,
  type ChangeRequest,
  changeRoute,
  listRoute,
  stateRoute,
} from '../route.ts';

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
  await storeOf(state).write([audit.statementOf(entry), insertExemption(row)]);
  audit.log(entry);
  const [added] = (await readExemptions(state, contract)).filter((one) => one.caller === caller);
  return { status: 201, json: added };
}

async function endExemption(state: AdminState, request: ChangeRequest<undefined>): Promise<AdminReply> {
  const { c: contract = '', id = '' } = request.params;
  const found = (await readExemptions(state, contract)).find((one) => one.id === id);
  if (found === undefined) throw new Problem(404, 'expected the id of an exemption, got another id');
  const entry = { ...recordOf(request, 'exemption', 204), detail: found.caller };
  const deleted = deleteExemption(contract, Number(id));
  await storeOf(state).write([request.audit.statementOf(entry), deleted]);
  request.audit.log(entry);
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
