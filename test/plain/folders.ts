import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readContract } from '../../mappings/loader/load.ts';
import { writeSchema } from '../../wsdl/schema.ts';

/**
 * The fixtures of the plain dialect, a folder per capability:
 *
 * - `openapi.yaml`, with `soap.yaml` where the defaults do not fit
 * - `types.xsd`: the schema that comes of it; `notes.txt`: what the start says of it. `npm run golden` writes both
 * - `exchanges/{name}/`: one call each, see `exchangesIn`
 */

const root = import.meta.dirname;

/** The capabilities that have fixtures. */
export const capabilities: readonly string[] = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();

export function folderOf(capability: string): string {
  return join(root, capability);
}

/** What the golden files of a capability have to hold, by name; one without text is not there. */
export function goldensOf(capability: string): Readonly<Record<string, string>> {
  const { contract, notes, notServed } = readContract(folderOf(capability));
  return {
    'types.xsd': writeSchema(contract, 0, { address: 'http://soapbridge.example' }) ?? '',
    'notes.txt': [...notes, ...notServed.flatMap(({ reasons }) => reasons)]
      .map(({ pointer, why }) => `${pointer}: ${why}\n`)
      .join(''),
  };
}
