import { join } from 'node:path';
import { defaultLimits } from '../contract/limits.ts';
import type { LoadedContract } from './build-contract.ts';
import { type ContractPlace, findFile, isAdopted, packageRoot } from './contract-files.ts';
import type { ContractLimits } from './document/allowance.ts';
import { readOpenapiContract } from './openapi-contract.ts';
import type { OwnWsse } from './overlay/own-wsse.ts';
import { loadAdoptedContract } from './wsdl/adopted-contract.ts';

export {
  type ContractFiles,
  type ContractPlace,
  findFile,
  isAdopted,
  isDocumentUrl,
  mappingIn,
  namesLockOf,
  screeningContract,
} from './contract-files.ts';

/** The JSON Schemas of overlays, of `soapbridge.yaml` and of mappings, for editors. */
export const schemaFiles = {
  overlay: join(packageRoot, 'schemas', 'overlay.schema.json'),
  adoptedOverlay: join(packageRoot, 'schemas', 'adopted-overlay.schema.json'),
  config: join(packageRoot, 'schemas', 'soapbridge.schema.json'),
  mapping: join(packageRoot, 'schemas', 'mapping.schema.json'),
} as const;

/**
 * Reads a contract of either kind without its mapping. Throws ContractError with all problems, each with file, line,
 * JSON pointer and remedy. An exceeded limit is also a problem.
 *
 * @param own replaces the key `wsse` of the overlay
 */
export function readContract(
  place: ContractPlace,
  limits: ContractLimits = defaultLimits,
  own?: OwnWsse,
): LoadedContract {
  if (typeof place === 'string' && isAdopted(place))
    return loadAdoptedContract(place, findFile(place, 'soap'), limits, own);
  return readOpenapiContract(place, limits, own);
}
