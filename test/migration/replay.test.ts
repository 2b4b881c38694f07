import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { run } from '../gateway/commands/run.ts';
import { until } from '../until.ts';
import { getCall, type RecordingSite, startRecording } from './recording-site.ts';
import { contractFolder, readScenario, startStub } from './scenario.ts';

/** S37: recorded exchanges, and runs of the command. */
interface ReplayScenario {
  readonly contract: string;
  readonly corpus: readonly { readonly caller: string; readonly at: string; readonly legacy: string }[];
  readonly runs: readonly {
    readonly args: readonly string[];
    readonly newReplies: Readonly<Record<string, string>>;
    readonly expect: {
      readonly exit: number;
      readonly compared?: number;
      readonly equal?: number;
      readonly different?: number;
      readonly unanswered?: number;
      readonly message?: string;
      readonly findings?: readonly string[];
      readonly order?: Readonly<Record<string, readonly number[]>>;
    };
  }[];
}

const scenario = readScenario<ReplayScenario>('S37');

/** Options of the commands for a site. */
function filesOf(site: RecordingSite): readonly string[] {
  // the machine of a test may be slow
  return ['--config', site.config, '--caller-key', join(site.folder, 'key'), '--limits', 'storeMs=60000'];
}

/** Records the exchanges of the scenario. */
async function record(t: ExecutionContext): Promise<RecordingSite> {
  const site = await startRecording(t, {
    contract: contractFolder(scenario.contract),
    callers: ['acme', 'globex'],
  });
  for (const [index, { caller, legacy }] of scenario.corpus.entries()) {
    site.legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: legacy };
    await site.send({ ...getCall, caller });
    await until(() => site.recorded().length === index + 1);
  }
  return site;
}

for (const [index, { args, expect, newReplies }] of scenario.runs.entries())
  for (const from of ['store', 'folder'])
    test.serial(`S37: run ${index + 1} from the ${from} (G58, G59, G60)`, async (t) => {
      const site = await record(t);
      const folder = join(site.folder, 'corpus');
      if (from === 'folder')
        t.is((await run(t, ['record', 'export', '--out', folder, ...filesOf(site)]).ended).code, 0);
      const times = site.recorded().map(({ at }) => at);
      const order: Record<string, number[]> = {};
      const gone = await startStub(t);
      await gone.refuse();
      const { upstream } = site;
      upstream.onHit = ({ headers }) => {
        const number = times.indexOf(Date.parse(String(headers['x-soapbridge-recorded-at']))) + 1;
        const caller = scenario.corpus[number - 1]?.caller ?? '?';
        order[caller] = [...(order[caller] ?? []), number];
        upstream.answer = {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: newReplies[number] ?? '{}',
        };
      };
      const urls = { '{new}': upstream.url, '{upstream}': upstream.url, '{unreachable}': gone.url };
      const given = args.map((arg) => (arg in urls ? urls[arg as keyof typeof urls] : arg));
      const source = from === 'folder' ? ['--from', folder] : [];
      const { code, out, err } = await run(t, [
        ...['replay', ...given, ...source, '--rate', '1000/s', '--format', 'json'],
        ...filesOf(site),
      ]).ended;
      const { exit, order: wanted, findings, message, ...counts } = expect;
      t.is(code, exit, err);
      if (message !== undefined) {
        t.is(err.trim(), message);
        t.is(upstream.hits.length, 0);
        return;
      }
      const report = JSON.parse(out);
      t.like(report, counts);
      if (wanted !== undefined) t.deepEqual(order, wanted);
      if (findings !== undefined)
        t.deepEqual(
          report.operations.flatMap(({ findings }: { readonly findings: readonly { name: string }[] }) =>
            findings.map(({ name }) => name),
          ),
          findings,
        );
    });
