import { type Command, Option } from 'commander';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import type { ContractProblem } from '../../mappings/loader/document/error.ts';
import { namesLockOf, readContract } from '../../mappings/loader/load.ts';
import { type ContractNames, folded } from '../../mappings/loader/names/names.ts';
import { joinNames, readNamesLock, writeNamesLock } from '../../mappings/loader/names/names-lock.ts';
import { finding } from './failure.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { type ContractFlags, contractAction, contractCommand, placeOf } from './options.ts';
import { jsonOption, printJson, printLine } from './output.ts';
import { writeWhole } from './write-file.ts';

interface NamesFlags extends ContractFlags {
  readonly check: boolean;
  readonly prune: boolean;
  readonly try: boolean;
  readonly json: boolean;
}

/** Creates the command `soapbridge names`. */
export function namesCommand(): Command {
  return contractCommand('names')
    .description('write names.lock, which keeps the names that clients compile in')
    .addOption(new Option('--check', 'write nothing; exit with 1 if the file would change').default(false))
    .addOption(new Option('--prune', 'remove names of items that the document no longer has').default(false))
    .addOption(
      new Option(
        '--try',
        'write nothing; list operation names, and names that several operations claim',
      ).default(false),
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpEnd(
        'soapbridge names --openapi parcels.yaml --overlay soap.yaml',
        { 0: 'written or up to date', 1: 'the file would change (--check)', 2: wrongInputText },
        'The file is in the folder of the overlay, or of the document if there is no overlay.',
      ),
    )
    .action(contractAction(writeNames));
}

/** A name that would be added to the file or removed from it. */
interface Difference {
  readonly kind: 'service' | 'operations' | 'types' | 'members';
  readonly key: string;
  readonly name: string;
}

function writeNames(flags: NamesFlags): void {
  const place = placeOf(flags);
  const path = namesLockOf(place);
  const loaded = readContract(place, flags.limits); // includes the file's names for items that the document still has
  if (flags.try) {
    tryNames(loaded, flags.json);
    return;
  }
  const problems: ContractProblem[] = [];
  const before = readNamesLock(path, problems);
  const after = before === undefined || flags.prune ? loaded.names : joinNames(loaded.names, before);
  const added = differences(after, before);
  const removed = before === undefined ? [] : differences(before, after);
  const changes = added.length + removed.length > 0;
  if (!flags.check) writeWhole(path, writeNamesLock(after));
  if (flags.json) printJson({ path, written: !flags.check, added, removed });
  else print(path, flags.check, added, removed);
  if (flags.check && changes) process.exitCode = finding;
}

/** Prints the names of operations, with the preferred name if another item has it. */
function tryNames({ names, wantedOperations, contract }: LoadedContract, asJson: boolean): void {
  const operations = [...names.operations].map(([key, name]) => {
    const wanted = wantedOperations.get(key) ?? name;
    return { key, name, ...(wanted === name ? {} : { wanted }) };
  });
  const wanting = Map.groupBy(wantedOperations, ([, name]) => folded(name));
  const collisions = [...wanting.values()].flatMap(([first, ...others]) =>
    first === undefined || others.length === 0
      ? []
      : [{ name: first[1], keys: [first, ...others].map(([key]) => key) }],
  );
  if (asJson) {
    printJson({ service: contract.service, operations, collisions });
    return;
  }
  printLine(`service: ${contract.service}`);
  for (const { key, name, wanted } of operations)
    printLine(`  ${name}${wanted === undefined ? '' : ` instead of ${wanted}`} (${key})`);
  for (const { name, keys } of collisions)
    printLine(`claimed by ${keys.length} operations: ${name} (${keys.join(', ')})`);
  printLine(`${operations.length} operations, ${collisions.length} names claimed by several operations`);
}

function differences(names: ContractNames, others: ContractNames | undefined): readonly Difference[] {
  const found: Difference[] = [];
  if (names.service !== undefined && others?.service === undefined)
    found.push({ kind: 'service', key: '', name: names.service });
  for (const kind of ['operations', 'types', 'members'] as const) {
    for (const [key, name] of names[kind])
      if (others?.[kind].get(key) !== name) found.push({ kind, key, name });
  }
  return found;
}

function print(
  path: string,
  isCheck: boolean,
  added: readonly Difference[],
  removed: readonly Difference[],
): void {
  if (isCheck) {
    for (const { key, name } of added) printLine(`not in names.lock: ${name} (${key})`);
    for (const { key, name } of removed) printLine(`no longer in the document: ${name} (${key})`);
  }
  const verb = isCheck ? 'would change' : 'written';
  printLine(`${path} ${verb}: ${added.length} names added, ${removed.length} removed`);
}
