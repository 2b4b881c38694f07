import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { Replay, ReplayReport, ReplayTerms } from '../migration/recording/replay.ts';
import type { UpstreamPlan } from '../process/upstream-plan.ts';
import type { StoredExchange } from '../store/tables/record.ts';
import { finding } from './failure.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { toFile } from './options.ts';
import { printLine } from './output.ts';
import {
  type RecordedContract,
  type RecordingFlags,
  readRecordedContract,
  recordingOptions,
  toCount,
} from './recordings.ts';
import { withStore } from './store-option.ts';

const formats = ['text', 'json', 'markdown', 'junit'] as const;
const requirements = ['equal', 'explained', 'ready'] as const;

/** Exit code of a replay that compared nothing. */
const nothingCompared = 3;

interface ReplayFlags extends RecordingFlags {
  readonly against: URL;
  readonly from?: string;
  readonly rate: number;
  readonly concurrency: number;
  readonly credentials?: string;
  readonly sandbox?: boolean;
  readonly format: (typeof formats)[number];
  readonly report?: string;
  readonly require: (typeof requirements)[number];
}

/** Creates the command `soapbridge replay`. */
export function replayCommand(): Command {
  const command = new Command('replay')
    .description('send recorded reads to a service and compare its replies with the recorded ones')
    .addOption(
      new Option('--against <url>', 'URL of the service')
        .makeOptionMandatory()
        .argParser((text) => toUrl(text)),
    )
    .addOption(new Option('--from <folder>', 'folder of `soapbridge record export` (default: the store)'))
    .addOption(
      new Option('--rate <calls>', 'maximum load, such as 10/s')
        .default(10, '10/s')
        .argParser((text) => toRate(text)),
    )
    .addOption(
      new Option('--concurrency <number>', 'maximum number of calls at the same time')
        .default(4)
        .argParser((text) => toCount('--concurrency', text)),
    )
    .addOption(
      new Option('--credentials <file>', 'YAML file: credentials by caller, * for all callers').argParser(
        toFile,
      ),
    )
    .addOption(new Option('--sandbox', 'also replay writes; not against the upstream or the legacy service'))
    .addOption(new Option('--format <format>', 'format of the report').choices(formats).default('text'))
    .addOption(new Option('--report <file>', 'file of the report (default: standard output)'))
    .addOption(
      new Option('--require <result>', 'exit with 1 unless all replies have this result')
        .choices(requirements)
        .default('explained'),
    );
  for (const option of recordingOptions()) command.addOption(option);
  return command
    .addHelpText(
      'after',
      helpEnd('soapbridge replay --config soapbridge.yaml --against https://next.example --since 7d', {
        0: 'all replies have the required result',
        1: 'a reply is missing or has another result (--require)',
        2: wrongInputText,
        3: 'nothing was compared',
      }),
    )
    .action(replay);
}

function toUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return url;
  throw new RangeError('--against: expected an http or https URL without credentials, got another text');
}

function toRate(text: string): number {
  const [, calls, unit] = /^(\d{1,6}(?:\.\d{1,3})?)\/([sm])$/.exec(text) ?? [];
  const rate = Number(calls) / (unit === 'm' ? 60 : 1);
  if (rate > 0) return rate;
  throw new RangeError(`--rate: expected a load such as 10/s or 30/m, got ${text}`);
}

async function replay(flags: ReplayFlags): Promise<void> {
  const from = flags.from === undefined ? undefined : resolve(flags.from);
  const { exportedExchanges, readCorpus, storedExchanges } = await import(
    '../migration/recording/exchanges.ts'
  );
  const corpus = from === undefined ? undefined : readCorpus(from);
  const recorded = await readRecordedContract(flags, corpus?.contract);
  const terms = await termsOf(flags, recorded);
  const { operation, caller, since, until, limit } = flags;
  const selection = { operation, caller, since, until, limit };
  const { Replay } = await import('../migration/recording/replay.ts');
  const running = new Replay(terms);
  let report: ReplayReport;
  try {
    await running.open();
    if (from === undefined)
      await withStore(
        flags,
        (store) => send(flags, running, storedExchanges(store, recorded.path, selection)),
        recorded.limits.storeMs,
      );
    else await send(flags, running, exportedExchanges(from, recorded.path, selection));
    report = running.report(Date.now());
  } finally {
    await running.close();
  }
  await printReport(report, flags);
  if (report.compared === 0) process.exitCode = nothingCompared;
  else if (!meets(report, flags.require)) process.exitCode = finding;
}

/** Returns the settings of a replay. Throws RangeError for a sandbox that is a service in use. */
async function termsOf(
  { against, sandbox = false, credentials }: ReplayFlags,
  { checked, plan, mapping, callers, limits }: RecordedContract,
): Promise<ReplayTerms> {
  const { addressesOf } = await import('../process/upstreams.ts');
  const isAt = (url: string): boolean => new URL(url).origin === against.origin;
  const isUpstream = addressesOf(plan).some(isAt);
  if (sandbox && (isUpstream || isAt(checked.plan.url))) {
    const name = isUpstream ? 'the upstream' : 'the legacy service';
    throw new RangeError(`expected a URL other than upstream and legacy with --sandbox, got ${name}`);
  }
  if (callers.key === undefined && checked.contract.personal.length > 0)
    throw new RangeError(
      '--caller-key: expected the key of the recordings, because the contract has personal members, got none',
    );
  const { readReplayCredentials } = await import('../migration/recording/replay-credentials.ts');
  return {
    checked,
    mapping,
    callers,
    limits,
    against: against.href,
    // its credentials are not meant for another service
    upstream: isUpstream ? withoutAddresses(plan.upstream) : undefined,
    credentials: credentials === undefined ? new Map() : readReplayCredentials(credentials),
    isSandbox: sandbox,
  };
}

/** Returns the settings of the upstream for a connection to the one address of `--against`. */
function withoutAddresses(plan: UpstreamPlan | undefined): UpstreamPlan | undefined {
  return plan && { ...plan, connection: { ...plan.connection, addresses: undefined } };
}

async function send(
  { rate, concurrency }: ReplayFlags,
  running: Replay,
  exchanges: AsyncIterable<StoredExchange>,
): Promise<void> {
  const { replayInOrder } = await import('../migration/recording/replay-schedule.ts');
  await replayInOrder(exchanges, { rate, concurrency }, running.send);
}

function meets(report: ReplayReport, require: ReplayFlags['require']): boolean {
  const { compared, equal, different, unanswered, operations } = report;
  if (require === 'ready') return operations.every(({ verdict }) => verdict === 'ready');
  return unanswered === 0 && (require === 'equal' ? equal === compared : different === 0);
}

async function printReport(report: ReplayReport, { format, report: file }: ReplayFlags): Promise<void> {
  const { replayLinesOf } = await import('./report-formats.ts');
  const lines = format === 'json' ? jsonLines(report) : replayLinesOf[format](report);
  if (file === undefined) for (const line of lines) printLine(line);
  else {
    const { writeWhole } = await import('./write-file.ts');
    writeWhole(resolve(file), `${lines.join('\n')}\n`);
  }
}

function jsonLines(report: ReplayReport): readonly string[] {
  return JSON.stringify(report, undefined, 2).split('\n');
}
