import { Command, Option } from 'commander';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { expectedInstant, instantText, readDuration, readInstant } from '../../mappings/contract/times.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { SilentOperation, UsageReport } from '../migration/usage-report.ts';
import type { Store } from '../store/store.ts';
import type { Usage } from '../store/tables/usage.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { printJson, printLine } from './output.ts';
import { type StoreFlags, storeConfigOption, storeOption, withStore } from './store-option.ts';

const formats = ['text', 'json', 'csv'] as const;

interface UsageFlags extends StoreFlags {
  readonly contract?: string;
  readonly since: string;
  readonly silent?: string;
  readonly format: (typeof formats)[number];
}

/** Creates the command `soapbridge usage` (G63). */
export function usageCommand(): Command {
  return new Command('usage')
    .description('print who calls which operations, or the operations without calls')
    .addOption(storeOption())
    .addOption(storeConfigOption())
    .addOption(new Option('--contract <path>', 'path of a contract (default: all contracts)'))
    .addOption(
      new Option(
        '--since <time>',
        'a duration such as 30d, or a time; the first day counts as a whole',
      ).default('30d'),
    )
    .addOption(
      new Option(
        '--silent <duration>',
        'list operations of the contracts in --config without calls in this period, such as 14d',
      ),
    )
    .addOption(new Option('--format <format>', 'format of the output').choices(formats).default('text'))
    .addHelpText(
      'after',
      helpEnd('soapbridge usage --config soapbridge.yaml --since 7d', {
        0: 'the usage is printed',
        2: wrongInputText,
      }),
    )
    .action((flags: UsageFlags) =>
      flags.silent === undefined ? printUsage(flags) : printSilent(flags, flags.silent),
    );
}

async function printUsage(flags: UsageFlags): Promise<void> {
  const since = timeOf('--since', flags.since);
  const { readUsage } = await import('../migration/usage-report.ts');
  const reports = await withStore(flags, async (store) => {
    const all: UsageReport[] = [];
    for (const path of await pathsOf(store, flags)) all.push(await readUsage(store, path, since));
    return all;
  });
  if (flags.format === 'json') printJson({ contracts: reports });
  else for (const line of flags.format === 'csv' ? csvLines(reports) : textLines(reports)) printLine(line);
}

/** Returns the paths of the contracts with calls in the store, or the path in the flags. Throws RangeError. */
async function pathsOf(store: Store, { contract }: UsageFlags): Promise<readonly string[]> {
  const { contractsOf } = await import('../store/tables/usage.ts');
  const known = await contractsOf(store);
  if (contract === undefined) return known;
  if (known.includes(contract)) return [contract];
  const expected = known.length === 0 ? 'a store with calls' : `the path of a contract: ${known.join(', ')}`;
  throw new RangeError(`--contract: expected ${expected}, got ${contract}`);
}

/** Operations of a contract without calls. */
interface Silent {
  readonly contract: string;
  readonly silent: readonly SilentOperation[];
}

async function printSilent(flags: UsageFlags, silent: string): Promise<void> {
  const since = timeOf('--silent', silent);
  const { config } = flags;
  if (config === undefined)
    throw new RangeError('--silent: expected --config, the soapbridge.yaml with the contracts, got none');
  const [{ silentOperations }, contracts] = await Promise.all([
    import('../migration/usage-report.ts'),
    operationsOf(config, flags.contract),
  ]);
  const found = await withStore(flags, async (store) => {
    const all: Silent[] = [];
    for (const [contract, operations] of contracts)
      all.push({ contract, silent: await silentOperations(store, contract, operations, since) });
    return all;
  });
  if (flags.format === 'json') printJson({ since, contracts: found });
  else if (flags.format === 'csv') {
    printLine(csvLine(['contract', 'operation', 'last_call']));
    for (const { contract, silent: operations } of found)
      for (const { operation, lastAt } of operations)
        printLine(csvLine([contract, operation, timeText(lastAt)]));
  } else
    for (const { contract, silent: operations } of found) {
      const count = operations.length === 1 ? '1 operation' : `${operations.length} operations`;
      printLine(`${contract}: ${count} without calls since ${instantText(since)}`);
      for (const { operation, lastAt } of operations)
        printLine(
          `  ${operation}: ${lastAt === undefined ? 'never called' : `last call ${timeText(lastAt)}`}`,
        );
    }
}

/** Returns the operations of the contracts in a configuration file by their paths. Throws ContractError, RangeError. */
async function operationsOf(
  config: string,
  only: string | undefined,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const [{ readConfig }, { loadContract }] = await Promise.all([
    import('../process/config.ts'),
    import('../process/load-place.ts'),
  ]);
  const plans = new Map(readConfig(config).map((plan) => [shownPath(plan.basePath ?? ''), plan]));
  if (only !== undefined && !plans.has(only)) {
    const known = [...plans.keys()].join(', ');
    throw new RangeError(`--contract: expected the path of a contract: ${known}, got ${only}`);
  }
  const chosen = [...plans].filter(([path]) => only === undefined || path === only);
  return new Map(
    chosen.map(([path, { contract: place, legacy, wsse }]) => {
      const { contract } = loadContract(place, defaultLimits, legacy !== undefined, wsse);
      return [path, contract.operations.map(({ name }) => name)];
    }),
  );
}

/** Returns the time in ms since 1970 that a flag names. Throws RangeError. */
function timeOf(flag: string, text: string): number {
  const duration = readDuration(text);
  const time = duration === undefined ? readInstant(text) : Date.now() - duration;
  if (time !== undefined) return time;
  throw new RangeError(`${flag}: expected a duration such as 30d, or ${expectedInstant}, got ${text}`);
}

function timeText(ms: number | undefined): string {
  return ms === undefined ? '' : instantText(Math.floor(ms / 1_000) * 1_000);
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function irregularText({ reordered, ignored, illegalReferences, noAction }: Usage): string {
  const counts = {
    'elements out of order': reordered,
    'ignored elements': ignored,
    'illegal character references': illegalReferences,
    'no SOAPAction': noAction,
  };
  return countsText(Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)));
}

function textLines(reports: readonly UsageReport[]): readonly string[] {
  if (reports.length === 0) return ['the store has no calls'];
  return reports.flatMap(({ contract, since, usage, callers }) => [
    `${contract}: calls since ${timeText(since)}`,
    ...tableOf([
      ['operation', 'caller', 'calls', 'faults', 'last call', 'side', 'binding', 'irregularities'],
      ...usage.map((row) => [
        ...[row.operation, row.caller, String(row.calls), String(row.faults), timeText(row.lastAt)],
        ...[countsText(row.sides), countsText(row.bindings), irregularText(row)],
      ]),
    ]),
    ...tableOf([
      ['caller', 'client stack', 'first call', 'last call', 'certificate', 'User-Agent'],
      ...callers.map(({ caller, stack, firstAt, lastAt, subject = '', userAgent = '' }) => [
        ...[caller, stack, timeText(firstAt), timeText(lastAt), subject, userAgent],
      ]),
    ]),
  ]);
}

/** Returns lines with columns of equal width. */
export function tableOf(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((most, row) => Math.max(most, (row[column] ?? '').length), 0),
  );
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}

function csvLines(reports: readonly UsageReport[]): readonly string[] {
  const head = [
    'contract',
    'operation',
    'caller',
    'stack',
    'calls',
    'faults',
    'last_call',
    'sides',
    'bindings',
  ];
  const lines = [csvLine([...head, 'reordered', 'ignored', 'illegal_references', 'no_action'])];
  for (const { contract, usage, callers } of reports) {
    const stacks = new Map(callers.map(({ caller, stack }) => [caller, stack]));
    for (const row of usage)
      lines.push(
        csvLine([
          ...[contract, row.operation, row.caller, stacks.get(row.caller) ?? 'unknown'],
          ...[String(row.calls), String(row.faults), timeText(row.lastAt)],
          ...[countsText(row.sides), countsText(row.bindings)],
          ...[row.reordered, row.ignored, row.illegalReferences, row.noAction].map(String),
        ]),
      );
  }
  return lines;
}

/** Returns a line of CSV (RFC 4180). */
function csvLine(cells: readonly string[]): string {
  return cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',');
}
