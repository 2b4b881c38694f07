import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readContract } from '../../mappings/loader/load.ts';
import { writeSchema } from '../../wsdl/schema.ts';

/**
 * Fixtures of the dialect `plain`, one folder per capability:
 *
 * - `openapi.yaml`, with `soap.yaml` if the defaults do not fit
 * - `types.xsd`: the generated schema; `notes.txt`: the notes logged at start. `npm run golden` writes both
 * - `exchanges/{name}/`: one call each, see `exchangesIn`
 */

const root = import.meta.dirname;

/** Names of the folders. */
export const capabilities: readonly string[] = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();

export function folderOf(capability: string): string {
  return join(root, capability);
}

/** Returns the expected golden files of a capability by name. A file without text does not exist. */
export function goldensOf(capability: string): Readonly<Record<string, string>> {
  const { contract, notes, notServed } = readContract(folderOf(capability));
  return {
    'types.xsd': writeSchema(contract, 0, { address: 'http://soapbridge.example' }) ?? '',
    'notes.txt': [...notes, ...notServed.flatMap(({ reasons }) => reasons)]
      .map(({ pointer, why }) => `${pointer}: ${why}\n`)
      .join(''),
  };
}
