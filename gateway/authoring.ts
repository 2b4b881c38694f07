// `soapbridge/authoring`: the functions of the authoring commands, without file and terminal access. It does not load
// the HTTP server.

export { type CompiledContract, compileContract } from '../mappings/compile.ts';
export type { Contract } from '../mappings/contract/model.ts';
export { ContractError, type ContractProblem } from '../mappings/loader/document/error.ts';
export type { ContractPlace } from '../mappings/loader/load.ts';
export {
  type DerivedOpenapi,
  deriveFromContract as deriveOpenapi,
  writeDerivedOpenapi,
} from '../wsdl/derived-openapi/document.ts';
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
