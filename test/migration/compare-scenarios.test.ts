import test, { type ExecutionContext } from 'ava';
import { until } from '../until.ts';
import { comparedIn, metricOf } from './comparing.ts';
import { contractFolder, readScenario, type StubReply, startSite } from './scenario.ts';

interface Scenario {
  readonly contract: string;
  readonly config: { readonly migration: object };
  readonly calls: readonly Call[];
}

interface Call {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly caller?: string;
  };
  readonly rules?: readonly object[];
  readonly legacy: StubReply;
  readonly new: StubReply;
  readonly expect: {
    readonly operation: string;
    readonly route: { readonly mode: string; readonly rule: string };
    readonly requests: { readonly legacy: number; readonly new: number };
    readonly response: { readonly status: number };
    readonly compare: {
      readonly result: string;
      readonly differences: readonly { readonly kind: string }[];
    };
  };
}

for (const name of ['S01', 'S02', 'S03', 'S04', 'S05', 'S06', 'S07', 'S09', 'S10', 'S11', 'S13', 'S31'])
  test(`scenario ${name} holds over sockets in mode compare (G25, G26, G33, G51, G52)`, async (t) => {
    const { contract, config, calls } = readScenario<Scenario>(name);
    const callers = new Set(calls.flatMap(({ request }) => request.caller ?? []));
    const site = await startSite(t, {
      contract: contractFolder(contract),
      config,
      callers: [...callers],
    });
    const differences = new Map<string, number>();
    for (const [index, call] of calls.entries()) {
      const { request, rules = [], expect } = call;
      if (calls.some((one) => one.rules !== undefined))
        await site.reconfigure({ ...config, migration: { ...config.migration, compare: { rules } } });
      site.legacy.answer = call.legacy;
      site.upstream.answer = call.new;
      const before = { legacy: site.legacy.hits.length, new: site.upstream.hits.length };
      const got = await site.send(request);
      t.is(got.status, expect.response.status);
      t.is(
        got.body.toString(),
        call.legacy !== null && 'body' in call.legacy ? String(call.legacy.body) : '',
      );
      await until(() => comparedIn(site).length === index + 1);
      t.is(comparedIn(site)[index], expect.compare.result, `call ${index}`);
      t.is(site.legacy.hits.length - before.legacy, expect.requests.legacy);
      t.is(site.upstream.hits.length - before.new, expect.requests.new);
      t.like(
        site.log().findLast(({ ms }) => ms !== undefined),
        { operation: expect.operation, ...expect.route, side: 'legacy' },
      );
      for (const { kind } of expect.compare.differences)
        differences.set(kind, (differences.get(kind) ?? 0) + 1);
    }
    const [first] = calls;
    for (const [kind, count] of differences) {
      const labels = `operation="${first?.expect.operation}",kind="${kind}"`;
      t.is(metricOf(site, 'migration_differences_total', labels), count, kind);
    }
  });

/** Compares a call of a scenario with other settings of `migration`, and returns the result. */
async function resultWith(
  t: ExecutionContext,
  name: string,
  index: number,
  migration: object,
): Promise<unknown> {
  const { contract, config, calls } = readScenario<Scenario>(name);
  const call = calls[index];
  if (call === undefined) return undefined;
  const site = await startSite(t, {
    contract: contractFolder(contract),
    config: { ...config, migration: { ...config.migration, ...migration } },
  });
  site.legacy.answer = call.legacy;
  site.upstream.answer = call.new;
  await site.send(call.request);
  await until(() => comparedIn(site).length === 1);
  return comparedIn(site)[0];
}

test('G23, G33: the new reply is compared as a package if the caller gets it as one', async (t) => {
  t.is(await resultWith(t, 'S31', 0, {}), 'different');
  t.is(await resultWith(t, 'S31', 0, { replies: { package: 'always' } }), 'equal');
});

test('G24, G33: the new fault is compared with its configured code', async (t) => {
  t.is(await resultWith(t, 'S07', 2, {}), 'different');
  t.is(await resultWith(t, 'S07', 2, { replies: { faultCode: { OrderNotFound: 'Client' } } }), 'equal');
});
