import { createHash } from 'node:crypto';
import { serviceOf } from '../../mappings/contract/adopted.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { Allowance } from '../../mappings/loader/document/allowance.ts';
import { type ContractPlace, mappingIn, readContract } from '../../mappings/loader/load.ts';
import type { OwnWsse } from '../../mappings/loader/overlay/own-wsse.ts';
import { faultNamesOf } from '../../mappings/mapping/faults.ts';
import { type LoadedMapping, loadMapping } from '../../mappings/mapping/load.ts';
import { deriveFromContract } from '../../wsdl/derived-openapi/document.ts';
import { checkLimits, checkPlace } from '../arguments.ts';

/**
 * A contract with the mapping of its folder (M1). Operations without a rule in the mapping are not served, unless a
 * legacy service answers them.
 */
export interface MappedContract extends LoadedContract {
  /** Undefined for a contract without a mapping. */
  readonly mapping: LoadedMapping | undefined;
}

/** The places that contracts were loaded from. */
const places = new WeakMap<Contract, ContractPlace>();

/** Returns the place that a contract was loaded from; undefined for a contract of another origin. */
export function placeOf(contract: Contract): ContractPlace | undefined {
  return places.get(contract);
}

/** Remembers the place of a contract that a worker thread has loaded. */
export function rememberPlace(contract: Contract, place: ContractPlace): void {
  places.set(contract, place);
}

/**
 * Loads the contract at a place, and the mapping in the same folder. Throws ContractError with all problems of the
 * contract, RangeError for a wrong argument.
 *
 * @param keepsUnmapped true if the contract keeps operations without a rule in the mapping
 * @param own replaces the key `wsse` of the overlay
 */
export function loadContract(
  place: ContractPlace,
  limits: Limits = defaultLimits,
  keepsUnmapped = false,
  own?: OwnWsse,
): MappedContract {
  checkPlace(place);
  checkLimits(limits);
  const loaded = withMapping(place, readContract(place, limits, own), limits, keepsUnmapped);
  rememberPlace(loaded.contract, place);
  return loaded;
}

/** Reads the mapping from a contract's WSDL to the OpenAPI document in the same folder. Throws ContractError. */
export function withMapping(
  place: ContractPlace,
  loaded: LoadedContract,
  limits: Limits,
  keepsUnmapped = false,
): MappedContract {
  const files = typeof place === 'string' ? mappingIn(place) : undefined;
  const { contract } = loaded;
  if (files === undefined) return { ...loaded, mapping: undefined };
  const { document: derived } = deriveFromContract(contract);
  const faults = faultNamesOf(contract);
  const allowance = new Allowance(limits);
  const mapping = loadMapping({ ...files, derived, faults }, limits, allowance);
  const hash = createHash('sha256').update(`${loaded.hash}${allowance.hash}`).digest('hex').slice(0, 16);
  if (keepsUnmapped) return { ...loaded, contract: { ...contract, isMapped: true }, hash, mapping };
  const unmapped = new Set(mapping.unmapped);
  const isMapped = ({ name }: { readonly name: string }): boolean => !unmapped.has(name);
  const service = serviceOf(contract);
  const adopted = { service: { ...service, operations: service.operations.filter(isMapped) } };
  const operations = contract.operations.filter(isMapped);
  const without = mapping.unmapped.map((name) => ({
    name,
    pointer: '',
    reasons: [{ pointer: '', why: 'the mapping has no rule for it' }],
  }));
  return {
    ...loaded,
    contract: { ...contract, operations, isMapped: true, adopted },
    hash,
    notServed: [...loaded.notServed, ...without],
    mapping,
  };
}
