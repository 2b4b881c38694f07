import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'node:v8';
import { defaultLimits } from '../contract/limits.ts';
import type { LoadedContract } from './build-contract.ts';
import { type ContractPlace, screeningContract } from './contract-files.ts';
import { Allowance, type ContractLimits, contractConstants } from './document/allowance.ts';
import { readWhole } from './document/yaml.ts';

/** The result of `readContract` for the contract that ships, in V8's format. `npm run golden` writes it. */
export const shippedFile: string = join(screeningContract, 'loaded.bin');

/**
 * Returns the contract that ships, without reading its YAML and without the loader, which take half of the time of a
 * start. Returns undefined for another contract, for changed files, and if a limit is lower than usual.
 */
export function readShippedContract(
  place: ContractPlace,
  limits: ContractLimits,
): LoadedContract | undefined {
  if (place !== screeningContract || hasLowerLimit(limits)) return undefined;
  if (existsSync(join(place, 'names.lock'))) return undefined;
  const allowance = new Allowance(limits);
  for (const name of ['openapi.yaml', 'soap.yaml']) {
    const path = join(place, name);
    if (!existsSync(path)) return undefined;
    readWhole(path, allowance);
  }
  const loaded: LoadedContract = deserialize(readFileSync(shippedFile));
  return loaded.hash === allowance.hash ? loaded : undefined;
}

function hasLowerLimit(limits: ContractLimits): boolean {
  const usual = { ...contractConstants, contractMs: defaultLimits.contractMs };
  return Object.entries(usual).some(
    ([name, least]) => (limits[name as keyof ContractLimits] ?? least) < least,
  );
}
