import { compileAdoptedContractInSteps } from './compile-adopted.ts';
import { compileOpenapiInSteps } from './compile-openapi.ts';
import type { CompiledContract } from './compiled.ts';
import { contractKindOf } from './contract/adopted.ts';
import { defaultLimits, type Limits } from './contract/limits.ts';
import type { Contract } from './contract/model.ts';
import { doAll, type Steps } from './steps.ts';

export type {
  CompiledContract,
  CompiledOperation,
  DeclaredHeader,
  FaultCodeWords,
  FaultWords,
  Frame,
  RouteValue,
  WrittenFault,
  WrittenReply,
} from './compiled.ts';

/** Compiles the codecs of a contract, so that requests need no work on schemas. */
export function compileContract(contract: Contract, limits: Limits = defaultLimits): CompiledContract {
  return doAll(compileInSteps(contract, limits));
}

/** Compiles the codecs of a contract of either kind in steps. `compileSteps` loads fewer modules. */
export function* compileInSteps(contract: Contract, limits: Limits): Steps<CompiledContract> {
  return contractKindOf(contract) === 'openapi'
    ? yield* compileOpenapiInSteps(contract, limits)
    : yield* compileAdoptedContractInSteps(contract, limits);
}
