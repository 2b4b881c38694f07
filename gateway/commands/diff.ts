import { statSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { Limits } from '../../mappings/contract/limits.ts';
import { type ContractPlace, readContract } from '../../mappings/loader/load.ts';
import { type Change, compareContracts, type Grade } from '../../wsdl/diff.ts';
import { finding } from './failure.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { limitsOption } from './options.ts';
import { jsonOption, printJson, printLine } from './output.ts';

interface DiffFlags {
  readonly overlay?: string;
  readonly limits?: Limits;
  readonly strict: boolean;
  readonly json: boolean;
}

/** Printed names of the grades. */
const words: Readonly<Record<Grade, string>> = {
  breaking: 'breaking',
  strict: 'breaks strict clients',
  compatible: 'compatible',
};

/** Creates the command `soapbridge diff`. */
export function diffCommand(): Command {
  return new Command('diff')
    .description('list changes between two contracts that break existing SOAP clients')
    .argument('<old>', 'contract folder or OpenAPI document of the old version')
    .argument('<new>', 'contract folder or OpenAPI document of the new version')
    .addOption(new Option('--overlay <file>', 'overlay for the OpenAPI documents (default: none)'))
    .addOption(
      new Option('--strict', 'exit with 1 also for changes that break only strict clients').default(false),
    )
    .addOption(limitsOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpEnd('soapbridge diff old/openapi.yaml new/openapi.yaml --overlay soap.yaml', {
        0: 'no change breaks clients',
        1: 'a change breaks clients',
        2: wrongInputText,
      }),
    )
    .action(printDiff);
}

function printDiff(before: string, after: string, flags: DiffFlags): void {
  const [old, next] = [before, after].map(
    (path) => readContract(placeAt(path, flags.overlay), flags.limits).contract,
  );
  if (old === undefined || next === undefined) return;
  const changes = compareContracts(old, next);
  const breaking = changes.some(({ grade }) => grade === 'breaking' || (flags.strict && grade === 'strict'));
  if (flags.json) printJson({ breaking, changes });
  else print(changes);
  if (breaking) process.exitCode = finding;
}

function placeAt(path: string, overlay: string | undefined): ContractPlace {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? path : { openapi: path, overlay };
}

function print(changes: readonly Change[]): void {
  const width = Math.max(...Object.values(words).map(({ length }) => length));
  for (const { grade, where, what, why } of changes)
    printLine(`${words[grade].padEnd(width)}  ${where}: ${what}; ${why}`);
  const counts = (['breaking', 'strict', 'compatible'] as const).map(
    (grade) => `${changes.filter((change) => change.grade === grade).length} ${words[grade]}`,
  );
  printLine(`${changes.length} changes: ${counts.join(', ')}`);
}
