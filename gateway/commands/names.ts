import { type Command, Option } from 'commander';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import type { ContractProblem } from '../../mappings/loader/document/error.ts';
import { namesLockOf, readContract } from '../../mappings/loader/load.ts';
import { type ContractNames, folded } from '../../mappings/loader/names/names.ts';
import { joinNames, readNamesLock, writeNamesLock } from '../../mappings/loader/names/names-lock.ts';
import { finding } from './failure.ts';
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
    .description('write names.lock, which keeps every name that callers compile in')
    .addOption(new Option('--check', 'write nothing; say whether it would change').default(false))
    .addOption(new Option('--prune', 'drop names of what the document no longer has').default(false))
    .addOption(
      new Option(
        '--try',
        'write nothing; list what operations are called, and names that several want',
      ).default(false),
    )
    .addOption(jsonOption())
    .addHelpText('after', '\nThe file is beside the overlay, or beside the document where there is none.')
    .addHelpText(
      'after',
      '\nExit codes: 0 written or up to date, 1 with --check: it would change, 2 wrong input.',
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
    printLine(`  ${name}${wanted === undefined ? '' : ` rather than ${wanted}`} (${key})`);
  for (const { name, keys } of collisions)
    printLine(`wanted by ${keys.length}: ${name} (${keys.join(', ')})`);
  printLine(`${operations.length} operations, ${collisions.length} names that several want`);
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
  const verb = isCheck ? 'would change by' : 'is written:';
  printLine(`${path} ${verb} ${added.length} names more, ${removed.length} fewer`);
}
