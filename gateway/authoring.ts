import type { Contract } from '../mappings/contract/model.ts';
import { type DerivedOpenapi, deriveOpenapi as deriveFrom } from '../wsdl/derived-openapi/document.ts';

// `soapbridge/authoring`: the work of the commands for authors of contracts, without their files and terminal. It loads no HTTP.

export { type CompiledContract, compileContract } from '../mappings/compile.ts';
export type { Contract } from '../mappings/contract/model.ts';
export { ContractError, type ContractProblem } from '../mappings/loader/document/error.ts';
export type { ContractPlace } from '../mappings/loader/load.ts';
export { type DerivedOpenapi, writeDerivedOpenapi } from '../wsdl/derived-openapi/document.ts';
export { type Change, compareContracts, type Grade } from '../wsdl/diff.ts';
export { Kits } from '../wsdl/kits/kits.ts';
export {
  createSampler,
  type MessageSample,
  type OperationSamples,
  type RequestSample,
  type SampleFormat,
  type Sampler,
} from '../wsdl/samples/samples.ts';
export {
  type CorrectedMessage,
  createDoctor,
  type Doctor,
  type ExplainedMessage,
  type Explanation,
} from './doctor/explain.ts';
export type { Finding } from './doctor/findings.ts';
export { type DraftMappingOptions, draftMapping, type MappingDraft } from './process/draft-mapping.ts';
export { loadContract, type MappedContract } from './process/load-place.ts';

/**
 * Derives the OpenAPI document of the service behind a contract that is loaded from a WSDL (A32). The same contract gives the same
 * document. Throws RangeError for a contract of an OpenAPI document.
 */
export function deriveOpenapi({ adopted, settings }: Contract): DerivedOpenapi {
  if (adopted === undefined)
    throw new RangeError('contract: expected one that is loaded from a WSDL, got one of an OpenAPI document');
  return deriveFrom(adopted.service, settings, adopted.movedHeaders);
}
