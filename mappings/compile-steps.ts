import { compileOpenapiInSteps } from './compile-openapi.ts';
import type { CompiledContract } from './compiled.ts';
import { contractKindOf } from './contract/adopted.ts';
import type { Limits } from './contract/limits.ts';
import type { Contract } from './contract/model.ts';
import type { Steps } from './steps.ts';

/**
 * Returns the steps of `compileInSteps`, for a process that may serve only OpenAPI contracts: the modules for XSD
 * components are loaded at the first adopted contract.
 */
export async function compileSteps(contract: Contract, limits: Limits): Promise<Steps<CompiledContract>> {
  if (contractKindOf(contract) === 'openapi') return compileOpenapiInSteps(contract, limits);
  const { compileAdoptedContractInSteps } = await import('./compile-adopted.ts');
  return compileAdoptedContractInSteps(contract, limits);
}
