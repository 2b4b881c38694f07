import { userInfo } from 'node:os';
import { Command, Option } from 'commander';
import type { StoredCaller } from '../store/forget.ts';
import type { Store } from '../store/store.ts';
import { callerOptions } from './file-options.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { jsonOption, printJson, printLine } from './output.ts';
import { type StoreFlags, storeConfigOption, storeOption, withStore } from './store-option.ts';

interface ForgetFlags extends StoreFlags {
  readonly callers?: string;
  readonly callerKey?: string;
  readonly reason: string;
  readonly json?: boolean;
}

/** Maximum time of one operation, in ms. No caller waits for it. */
const forgetMs = 600_000;

/** Creates the command `soapbridge forget`. */
export function forgetCommand(): Command {
  const command = new Command('forget')
    .description('delete the data of a caller from the store')
    .argument('<caller>', 'name, id or pseudonym of the caller')
    .addOption(storeOption())
    .addOption(storeConfigOption())
    .addOption(new Option('--reason <text>', 'reason for the audit').default('request of the caller'))
    .addOption(jsonOption());
  for (const option of callerOptions()) command.addOption(option);
  return command
    .addHelpText(
      'after',
      helpEnd('soapbridge forget acme --config soapbridge.yaml', {
        0: 'the rows are deleted; a caller without data has 0 rows',
        2: wrongInputText,
      }),
    )
    .action(runForget);
}

async function runForget(text: string, flags: ForgetFlags): Promise<void> {
  const { readCallers } = await import('../process/callers-file.ts');
  const callers = readCallers(flags);
  const rows = await withStore(
    flags,
    async (store, url) => {
      const { findCaller, forgetCaller } = await import('../store/forget.ts');
      const caller = await findCaller(text, callers, store);
      await audit(store, caller, flags.reason);
      return forgetCaller(store, url, caller.names);
    },
    forgetMs,
  );
  const tables = Object.fromEntries(rows);
  const sum = [...rows.values()].reduce((all, count) => all + count, 0);
  if (flags.json === true) printJson({ rows: sum, tables });
  else {
    for (const [table, count] of rows) if (count > 0) printLine(`${table}: ${count}`);
    printLine(`${sum} ${sum === 1 ? 'row' : 'rows'}`);
  }
}

/** Writes the entry of the audit before anything is deleted (G72). */
async function audit(store: Store, { pseudonym }: StoredCaller, reason: string): Promise<void> {
  const { insertAudit } = await import('../store/tables/audit.ts');
  const actor = userInfo().username;
  const entry = { actor, network: 'local', action: 'forget', status: 200, subject: pseudonym, reason };
  await store.write([insertAudit(entry, Date.now())]);
}
