import { resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { helpEnd, wrongInputText } from './help.ts';
import { printLine } from './output.ts';
import { type RecordingFlags, readRecordedContract, recordingOptions } from './recordings.ts';
import { withStore } from './store-option.ts';

interface ExportFlags extends RecordingFlags {
  readonly out: string;
  readonly withPersonalData?: boolean;
}

/** Creates the command `soapbridge record`. */
export function recordCommand(): Command {
  const command = new Command('record')
    .description('write recorded exchanges of a contract to a folder')
    .addArgument(
      new Argument('<action>', 'export: write each exchange to its own folder').choices(['export']),
    )
    .addOption(new Option('--out <dir>', 'new or empty folder').makeOptionMandatory())
    .addOption(new Option('--with-personal-data', 'also export recordings with redact none'));
  for (const option of recordingOptions()) command.addOption(option);
  return command
    .addHelpText(
      'after',
      helpEnd('soapbridge record export --config soapbridge.yaml --out corpus --since 7d', {
        0: 'the exchanges are exported',
        2: wrongInputText,
      }),
    )
    .action((_action: 'export', flags: ExportFlags) => exportRecordings(flags));
}

async function exportRecordings(flags: ExportFlags): Promise<void> {
  const { checked, limits, path } = await readRecordedContract(flags);
  const [{ storedExchanges }, { exportExchanges }] = await Promise.all([
    import('../migration/recording/exchanges.ts'),
    import('../migration/recording/export.ts'),
  ]);
  const { operation, caller, since, until, limit, withPersonalData = false } = flags;
  const folder = resolve(flags.out);
  const selection = { operation, caller, since, until, limit };
  const terms = { contract: checked.contract, path, limits, withPersonalData };
  const { count } = await withStore(
    flags,
    (store) => exportExchanges(storedExchanges(store, path, selection), folder, terms),
    limits.storeMs,
  );
  printLine(`${count} exchange${count === 1 ? '' : 's'} exported to ${folder}`);
}
