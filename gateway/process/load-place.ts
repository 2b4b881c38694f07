import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { type ContractPlace, loadContract, mappingIn } from '../../mappings/loader/load.ts';
import { type LoadedMapping, loadMapping } from '../../mappings/mapping/load.ts';
import { deriveOpenapi } from '../../wsdl/derived-openapi/document.ts';

/** What a place holds: a contract, and the mapping that may be beside it. */
export interface LoadedPlace {
  readonly loaded: LoadedContract;
  /** Undefined for a contract whose service behind speaks its own JSON. */
  readonly mapping: LoadedMapping | undefined;
}

/** Loads what a place holds (M1). Throws ContractError with all that is wrong with it. */
export function loadPlace(place: ContractPlace, limits: Limits): LoadedPlace {
  const loaded = loadContract(place, limits);
  const files = typeof place === 'string' ? mappingIn(place) : undefined;
  const { adopted } = loaded.contract;
  if (files === undefined || adopted === undefined) return { loaded, mapping: undefined };
  const { document: derived } = deriveOpenapi(adopted.service, adopted.settings, adopted.movedHeaders);
  return { loaded, mapping: loadMapping({ ...files, derived }, limits) };
}

/** The contract of a place, without the operations that no rule of its mapping answers. */
export function servedContract({ loaded: { contract }, mapping }: LoadedPlace): Contract {
  const { adopted } = contract;
  if (mapping === undefined || adopted === undefined) return contract;
  const unmapped = new Set(mapping.unmapped);
  const isMapped = ({ name }: { readonly name: string }): boolean => !unmapped.has(name);
  const { service } = adopted;
  const mapped = {
    ...adopted,
    service: { ...service, operations: service.operations.filter(isMapped) },
    endpoints: adopted.endpoints.map(({ path, ports }) => ({
      path,
      ports: ports.map((port) => ({ ...port, operations: port.operations.filter(isMapped) })),
    })),
  };
  return { ...contract, operations: contract.operations.filter(isMapped), adopted: mapped };
}
