import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { compileContract } from '../../mappings/compile.ts';
import { loadContract } from '../process/load-place.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { type ContractFlags, contractAction, contractCommand, placeOf, publicUrlOption } from './options.ts';
import { printLine } from './output.ts';
import { writeWhole } from './write-file.ts';

interface KitFlags extends ContractFlags {
  readonly out: string;
  readonly operation?: readonly string[];
  readonly publicUrl?: string;
  readonly force: boolean;
}

/** Creates the command `soapbridge kit`. */
export function kitCommand(): Command {
  return contractCommand('kit')
    .description('write client programs, samples, and SoapUI, Postman and Bruno collections')
    .requiredOption('--out <place>', 'folder or .zip file to write')
    .option('--operation <names...>', 'include only these operations')
    .addOption(publicUrlOption())
    .option('--force', 'replace existing files', false)
    .addHelpText(
      'after',
      helpEnd(
        'soapbridge kit parcels.yaml --out kit.zip',
        { 0: 'the kit was written', 2: wrongInputText },
        'Credentials in the files are placeholders. Programs that no test runs are marked.',
      ),
    )
    .action(contractAction(writeKit));
}

async function writeKit(flags: KitFlags): Promise<void> {
  const { out, operation, publicUrl = 'http://localhost:8080', force, limits } = flags;
  const { contract } = loadContract(placeOf(flags), limits);
  // Loaded on demand, so that wrong flags are reported at once.
  const { Kits } = await import('../../wsdl/kits/kits.ts');
  const address = `${publicUrl.endsWith('/') ? publicUrl.slice(0, -1) : publicUrl}${contract.basePath}`;
  const kits = new Kits(compileContract(contract, limits), address);
  const files = out.endsWith('.zip')
    ? [[out, kits.zip(operation)] as const]
    : filesBelow(out, kits.files(operation));
  const [known] = force ? [] : files.filter(([path]) => existsSync(path));
  if (known !== undefined)
    throw new RangeError(`--out: expected no file at ${known[0]}, got a file. Replace it with --force`);
  for (const [path, content] of files) writeWhole(path, content);
  printLine(`wrote ${out}: ${files.length} ${files.length === 1 ? 'file' : 'files'}, for ${address}`);
}

/** Returns the files with their paths below a folder. Throws RangeError. */
function filesBelow(
  folder: string,
  files: ReadonlyMap<string, string>,
): readonly (readonly [path: string, content: string])[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
    throw new RangeError(`--out: expected a folder or a file that ends with .zip, got the file ${folder}`);
  return [...files].map(([path, text]) => [join(folder, path), text] as const);
}
