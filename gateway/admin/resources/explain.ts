import { compileSteps } from '../../../mappings/compile-steps.ts';
import type { CompiledContract } from '../../../mappings/compiled.ts';
import type { Contract } from '../../../mappings/contract/model.ts';
import { compileDecision } from '../../migration/decide.ts';
import { explainRoute } from '../../migration/explain.ts';
import type { AdminState } from '../../process/admin.ts';
import { runInSlices } from '../../process/run-in-slices.ts';
import type { ExplainInput, ExplainView } from '../api-types.ts';
import { invalid } from '../problem.ts';
import { presentRoutes, routingWith } from './route-changes.ts';

/** Contracts that were compiled for an explanation. */
const compiled = new WeakMap<Contract, Promise<CompiledContract>>();

/** Returns rule and mode for a message, or for an operation without a message. Throws Problem 404 and 422. */
export async function explainCall(
  state: AdminState,
  path: string,
  input: ExplainInput,
): Promise<ExplainView> {
  const { operation, caller, body, headers = {} } = input;
  await state.routeSync()?.refresh();
  const present = presentRoutes(state, path);
  const { contract, plan } = present.migration;
  const routing = routingWith(present);
  const callers = state.callers();
  const id =
    caller === undefined ? undefined : { kind: 'id' as const, value: callers.idOf(caller) ?? caller };
  const rawHeaders = Object.entries(headers).flat();
  if (body === undefined) {
    if (operation === undefined || !contract.operations.some(({ name }) => name === operation))
      throw wrongOperation(operation === undefined ? 'none' : operation);
    const names = contract.operations.map(({ name }) => name);
    const decision = compileDecision(routing, names)(operation, {
      caller: id === undefined ? undefined : callers.nameOf(id),
      callerKey: () => (id === undefined ? 'net 127.0.0.1' : `id ${id.value}`),
      rawHeaders,
      request: { json: undefined },
    });
    if (decision === 'payload') throw new TypeError('decision: expected one without a message, got none');
    return { operation, mode: decision.mode, rule: decision.rule };
  }
  const limits = { ...state.limits, ...plan.limits };
  const known = compiled.get(contract) ?? compileSteps(contract, limits).then(runInSlices);
  compiled.set(contract, known);
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const message = Buffer.from(body);
  const all = hasType ? rawHeaders : [...rawHeaders, 'Content-Type', 'text/xml; charset=utf-8'];
  const call = { rawHeaders: all, body: message, id };
  const found = explainRoute(await known, routing, call, callers.nameOf);
  if (operation !== undefined && operation !== found.operation) throw wrongOperation(found.operation);
  return found;

  function wrongOperation(got: string): Error {
    const expected = body === undefined ? 'an operation of the contract' : `a message of ${operation}`;
    return invalid(422, [{ pointer: '/operation', message: `expected ${expected}, got ${got}` }]);
  }
}
