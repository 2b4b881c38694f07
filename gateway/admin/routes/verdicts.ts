import { keyword, record } from '../../../mappings/contract/setting.ts';
import type { FindingStateInput } from '../api-types.ts';
import { reasonMember } from '../members.ts';
import { type AdminRoute, changeRoute, listRoute, stateRoute } from '../route.ts';

/** Loads the code only for a request, because few configurations have a legacy service. */
const load = () => import('../resources/verdicts.ts');

const path = '/api/v1/contracts/:c';

/** Verdicts, findings and the report of a contract (G45 to G50). */
export const verdicts: readonly AdminRoute[] = [
  listRoute(
    `${path}/verdicts`,
    'Verdict of each read.',
    async (state, { params }) => (await load()).readVerdicts(state, params.c ?? ''),
    ({ operation }) => operation,
  ),
  listRoute(
    `${path}/findings`,
    'Findings without examples.',
    async (state, { params }) => (await load()).readFindings(state, params.c ?? ''),
    ({ operation, name, id }) => `${operation} ${name} ${id}`,
  ),
  stateRoute(`${path}/findings/:id`, 'A finding with its examples.', async (state, { params }) =>
    (await load()).readFinding(state, params.c ?? '', params.id ?? ''),
  ),
  stateRoute(
    `${path}/report`,
    'The report that soapbridge report prints as JSON.',
    async (state, { params }) => (await load()).readContractReport(state, params.c ?? ''),
  ),
  changeRoute<FindingStateInput>({
    path: `${path}/findings/:id/state`,
    summary: 'Accepts a finding, closes it until its next occurrence, or opens it again.',
    action: 'finding',
    input: {
      members: record('A decision about a finding.', {
        state: keyword('accepted counts as explained.', 'accepted', 'fixed', 'open'),
        reason: reasonMember,
      }),
      required: ['state', 'reason'],
    },
    change: async (state, request) => (await load()).setState(state, request),
  }),
];
