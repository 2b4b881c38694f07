import { compileReplyWriters } from './codec/codecs.ts';
import { compileScalars } from './codec/scalars/table.ts';
import { compileAdoptedOperations } from './compile-adopted.ts';
import { compileOpenapiInSteps, compileWriteError } from './compile-openapi.ts';
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

/** Compiles the codecs of a contract of either kind in steps. A process that serves OpenAPI contracts only does not load this file. */
export function* compileInSteps(contract: Contract, limits: Limits): Steps<CompiledContract> {
  if (contractKindOf(contract) === 'openapi') return yield* compileOpenapiInSteps(contract, limits);
  const { settings } = contract;
  const writers = compileReplyWriters(contract, compileScalars({ settings, limits }), limits);
  return {
    contract,
    limits,
    withLimits: (others) => compileContract(contract, others),
    operations: yield* compileAdoptedOperations(contract, limits),
    writeError: compileWriteError(contract, writers),
  };
}
