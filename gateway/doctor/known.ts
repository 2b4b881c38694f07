import type { CompiledContract } from '../../mappings/compiled.ts';
import type { Sampler } from '../../wsdl/samples/samples.ts';
import type { Readers } from '../protocols/read-call.ts';
import type { ViewOf } from './view.ts';

/** Parts of a contract that messages are compared with. */
export interface Known {
  readonly compiled: CompiledContract;
  readonly viewOf: ViewOf;
  readonly readers: Readers;
  /** Local names of the operations' elements. */
  readonly roots: readonly string[];
  readonly sampler: Sampler;
}
