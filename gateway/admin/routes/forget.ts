import { record, text } from '../../../mappings/contract/setting.ts';
import type { AdminState } from '../../process/admin.ts';
import type { ForgetInput, Forgotten } from '../api-types.ts';
import { recordOf } from '../audit.ts';
import { storeOf } from '../contract-at.ts';
import { checkReason, reasonMember } from '../members.ts';
import { conflict } from '../problem.ts';
import { type AdminReply, type AdminRoute, type ChangeRequest, changeRoute } from '../route.ts';

/** Deletes the data of a caller (G55). The audit has its pseudonym. */
async function forgetCaller(state: AdminState, request: ChangeRequest<ForgetInput>): Promise<AdminReply> {
  const { caller, reason } = request.body;
  const store = storeOf(state);
  checkReason(reason);
  const { findCaller } = await import('../../store/forget.ts');
  const { names, pseudonym } = await findCaller(caller, state.callers(), store);
  if (state.forget === undefined) throw conflict('NoStore', 'expected a store, got none');
  await request.audit.write({ ...recordOf(request, 'forget', 200), subject: pseudonym });
  const rows = await state.forget(names);
  const forgotten: Forgotten = { caller: pseudonym, rows: Object.fromEntries(rows) };
  return { json: forgotten };
}

/** Deletes the data of callers. */
export const forget: readonly AdminRoute[] = [
  changeRoute<ForgetInput>({
    path: '/api/v1/forget',
    summary: 'Deletes the recordings, examples, usage and row of a caller.',
    action: 'forget',
    input: {
      members: record('A caller to forget.', {
        caller: text('Name, id or pseudonym.', 'a name, id or pseudonym', /^\P{Cc}{1,500}$/u),
        reason: reasonMember,
      }),
      required: ['caller', 'reason'],
    },
    change: forgetCaller,
  }),
];
