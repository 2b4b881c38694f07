import { record } from '../../../mappings/contract/setting.ts';
import { recordOf } from '../audit.ts';
import { Problem } from '../problem.ts';
import { type AdminRoute, changeRoute } from '../route.ts';

/** Reloads the configuration. */
export const reload: readonly AdminRoute[] = [
  changeRoute<object>({
    path: '/api/v1/reload',
    summary: 'Loads the configuration, contracts and secrets again, as SIGHUP does.',
    action: 'reload',
    input: { members: record('No members.', {}), required: [], isOptional: true },
    change: async (state, request) => {
      await request.audit.write(recordOf(request, 'reload', 202)); // whether it succeeds is not known yet
      const problems = await state.reload();
      if (problems.length > 0) throw new Problem(422, 'the previous configuration is in use', {}, problems);
      return { json: { reloaded: true } };
    },
  }),
];
