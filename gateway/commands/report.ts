import { Command, Option } from 'commander';
import { didYouMean } from '../../mappings/contract/nearest.ts';
import type { Report } from '../migration/report.ts';
import type { Store } from '../store/store.ts';
import { finding } from './failure.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { toFile } from './options.ts';
import { printJson, printLine } from './output.ts';
import { type StoreFlags, storeConfigOption, storeOption, withStore } from './store-option.ts';

const formats = ['text', 'json', 'markdown', 'junit'] as const;

interface ReportFlags extends StoreFlags {
  readonly state?: string;
  readonly contract?: string;
  readonly format: (typeof formats)[number];
  readonly operation: readonly string[];
  readonly require?: 'ready';
}

/** Creates the command `soapbridge report`. */
export function reportCommand(): Command {
  return new Command('report')
    .description('print verdicts and findings of a migration from its store or state file')
    .addOption(
      new Option('--state <file>', 'file in migration.state of soapbridge.yaml')
        .argParser(toFile)
        .conflicts(['store', 'contract']),
    )
    .addOption(storeOption())
    .addOption(storeConfigOption())
    .addOption(new Option('--contract <path>', 'path of a contract in the store (default: the only one)'))
    .addOption(new Option('--format <format>', 'format of the report').choices(formats).default('text'))
    .addOption(
      new Option('--operation <name...>', 'operations to print (default: all)')
        .default([], '')
        .argParser((text: string, before: readonly string[]) => [...before, text]),
    )
    .addOption(
      new Option('--require <verdict>', 'exit with 1 unless all operations have this verdict').choices([
        'ready',
      ]),
    )
    .addHelpText(
      'after',
      helpEnd('soapbridge report --state orders-state.json --operation GetOrder --require ready', {
        0: 'the report is printed',
        1: 'an operation is not ready (--require)',
        2: wrongInputText,
      }),
    )
    .action(printReport);
}

async function printReport(flags: ReportFlags): Promise<void> {
  const { state, format, operation, require } = flags;
  if (state === undefined && flags.store === undefined && flags.config === undefined)
    throw new RangeError('--state: expected --state, --store, or --config with a store, got none of them');
  const { readReport } = await import('../migration/report.ts');
  const now = Date.now();
  const read =
    state === undefined
      ? await withStore(flags, (store) => readFromStore(store, flags.contract, now))
      : readReport(state, now);
  const report = selected(read, operation);
  if (format === 'json') printJson(report);
  else {
    const { linesOf } = await import('./report-formats.ts');
    for (const line of linesOf[format](report)) printLine(line);
  }
  const { operations } = report;
  const isReady = operations.length > 0 && operations.every(({ verdict }) => verdict === 'ready');
  if (require === 'ready' && !isReady) process.exitCode = finding;
}

/** Reads the report on a contract from a store. Throws RangeError for an unknown contract. */
async function readFromStore(store: Store, contract: string | undefined, now: number): Promise<Report> {
  const [{ reportOn }, { readStoredEvidence, storedContracts }] = await Promise.all([
    import('../migration/report.ts'),
    import('../migration/stored-evidence.ts'),
  ]);
  const known = await storedContracts(store);
  const path = contract ?? (known.length === 1 ? known[0] : undefined);
  const evidence = path === undefined ? undefined : await readStoredEvidence(store, path);
  if (evidence !== undefined) return reportOn(evidence, now);
  const expected =
    known.length === 0 ? 'a store with compared calls' : `the path of a contract: ${known.join(', ')}`;
  throw new RangeError(`--contract: expected ${expected}, got ${contract ?? 'none'}`);
}

/** Returns a report with the named operations only; without names, with all. Throws RangeError for an unknown name. */
function selected(report: Report, names: readonly string[]): Report {
  if (names.length === 0) return report;
  const known = report.operations.map(({ operation }) => operation);
  for (const name of names)
    if (!known.includes(name))
      throw new RangeError(
        `--operation: expected a compared operation, got ${name}${didYouMean(name, known)}`,
      );
  return { ...report, operations: report.operations.filter(({ operation }) => names.includes(operation)) };
}
