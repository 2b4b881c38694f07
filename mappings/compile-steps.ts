import { compileOpenapiInSteps } from './compile-openapi.ts';
import type { CompiledContract } from './compiled.ts';
import { contractKindOf } from './contract/adopted.ts';
import type { Limits } from './contract/limits.ts';
import type { Contract } from './contract/model.ts';
import type { Steps } from './steps.ts';

/** Returns the steps that compile a contract. The codecs of XSD components are loaded only for an adopted contract. */
export async function compileSteps(contract: Contract, limits: Limits): Promise<Steps<CompiledContract>> {
  if (contractKindOf(contract) === 'openapi') return compileOpenapiInSteps(contract, limits);
  const { compileInSteps } = await import('./compile.ts');
  return compileInSteps(contract, limits);
}
