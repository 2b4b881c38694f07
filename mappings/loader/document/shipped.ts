import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Allowance, contractConstants } from './allowance.ts';

/** The package's folder. A build in `dist/` uses the other files of the package that contains it. */
export const packageRoot: string = join(
  import.meta.dirname,
  import.meta.dirname.endsWith(join('dist', 'mappings', 'loader', 'document')) ? '../../../..' : '../../..',
);

/** Path of the contract that ships with soapbridge. */
export const screeningContract: string = join(packageRoot, 'mappings', 'screening');

/** File with the values of the YAML files of that contract. `npm run golden` writes it. */
export const shippedValuesFile: string = join(screeningContract, 'values.json');

/** The values of the shipped files by name. A value applies only while its file has this SHA-256, in hex. */
export interface ShippedValues {
  readonly [file: string]: { readonly sha256: string; readonly root: unknown } | undefined;
}

const limitsOfYaml = ['contractTokens', 'contractAliases', 'contractDepth', 'contractKey'] as const;

/**
 * Returns the value of a file that ships with soapbridge, because the YAML parser takes a quarter of the time of a
 * start. Returns undefined for another or a changed file, and if a limit is lower than usual.
 */
export function shippedValue(path: string, bytes: Buffer, { limits }: Allowance): unknown {
  if (dirname(path) !== screeningContract) return undefined;
  if (limitsOfYaml.some((name) => limits[name] < contractConstants[name])) return undefined;
  const values: ShippedValues = JSON.parse(readFileSync(shippedValuesFile, 'utf8'));
  const known = values[basename(path)];
  return known?.sha256 === sha256(bytes) ? known.root : undefined;
}

/** Returns the SHA-256 of a file in hex. */
export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
