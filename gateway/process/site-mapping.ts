import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { type ContractPlace, mappingIn } from '../../mappings/loader/load.ts';
import { type LoadedMapping, loadMapping } from '../../mappings/mapping/load.ts';
import { deriveOpenapi } from '../../wsdl/derived-openapi/document.ts';

/** A contract with the mapping that its folder has (M1). */
export interface MappedContract {
  /** Without the operations that no rule of the mapping answers. */
  readonly contract: Contract;
  /** Undefined for a contract whose service behind speaks its own JSON. */
  readonly mapping: LoadedMapping | undefined;
}

/**
 * Reads the mapping between a contract's WSDL and the OpenAPI document beside it. Operations that it has no rule for aren't
 * served. Throws ContractError with all that is wrong with it.
 */
export function withMapping(place: ContractPlace, contract: Contract, limits: Limits): MappedContract {
  const files = typeof place === 'string' ? mappingIn(place) : undefined;
  const { adopted } = contract;
  if (files === undefined || adopted === undefined) return { contract, mapping: undefined };
  const { document: derived } = deriveOpenapi(adopted.service, adopted.settings, adopted.movedHeaders);
  const mapping = loadMapping({ ...files, derived }, limits);
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
  const operations = contract.operations.filter(isMapped);
  return { contract: { ...contract, operations, adopted: mapped }, mapping };
}
