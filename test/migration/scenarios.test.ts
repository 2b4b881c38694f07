import test, { type ExecutionContext } from 'ava';
import { bucketOf } from '../../gateway/migration/decide.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { until } from '../until.ts';
import { contractFolder, readScenario, type Site, type Stub, type StubReply, startSite } from './scenario.ts';

interface Scenario {
  readonly contract: string;
  readonly config: object;
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
  readonly legacy: StubReply;
  readonly new: StubReply;
  /** Changes to the settings of blended operations. */
  readonly config?: object;
  readonly expect: Expected;
}

interface Expected {
  readonly operation?: string;
  readonly route?: { readonly mode: string; readonly rule: string };
  readonly requests: { readonly legacy: number; readonly new: number };
  readonly response: {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly bytesOf?: 'legacy' | 'new';
    readonly json?: string;
    readonly xml?: string;
    readonly contains?: string;
    readonly fault?: { readonly code?: string; readonly error?: string; readonly contains?: string };
  };
  readonly log?: Record<string, unknown>;
  readonly audit?: readonly Record<string, unknown>[];
  readonly notForwarded?: readonly string[];
  readonly failedSide?: string;
  readonly duplicates?: readonly string[];
}

for (const name of ['S25', 'S26', 'S27', 'S28'])
  test(`scenario ${name} holds over sockets (G7, G8, G9, G11, G20, G32)`, async (t) => {
    const scenario = readScenario<Scenario>(name);
    const callers = new Set(scenario.calls.flatMap(({ request }) => request.caller ?? []));
    const site = await startSite(t, {
      contract: contractFolder(scenario.contract),
      config: scenario.config,
      callers: [...callers],
    });
    for (const call of scenario.calls) await run(t, site, call);
  });

interface BlendConfig {
  readonly migration: { readonly blend: Record<string, object> };
}

for (const name of ['S20', 'S23', 'S24'])
  test(`scenario ${name} holds over sockets (G28, G29, G31)`, async (t) => {
    const scenario = readScenario<Scenario & { readonly config: BlendConfig }>(name);
    const site = await startSite(t, {
      contract: contractFolder(scenario.contract),
      config: scenario.config,
      callers: ['grantsolutions'],
      limits: { upstreamFirstByteMs: 1_000 },
    });
    for (const call of scenario.calls) {
      const { migration } = scenario.config;
      const blend = Object.fromEntries(
        Object.entries(migration.blend).map(([key, one]) => [key, { ...one, ...call.config }]),
      );
      await site.reconfigure({ ...scenario.config, migration: { ...migration, blend } });
      await run(t, site, call);
    }
  });

async function run(t: ExecutionContext, site: Site, { request, expect, ...call }: Call): Promise<void> {
  const { legacy, upstream } = site;
  const [lines, written] = [site.log().length, site.audit().length];
  await prepare(legacy, call.legacy);
  await prepare(upstream, call.new);
  const before = { legacy: legacy.hits.length, new: upstream.hits.length };
  const reply = await site.send(request);
  t.is(legacy.hits.length - before.legacy, expect.requests.legacy, 'requests to the legacy service');
  t.is(upstream.hits.length - before.new, expect.requests.new, 'requests to the upstream');
  const { response } = expect;
  t.is(reply.status, response.status);
  for (const [name, value] of Object.entries(response.headers ?? {}))
    t.is(String(reply.headers[name]), value, name);
  const text = reply.body.toString();
  if (response.bytesOf !== undefined) {
    const source = response.bytesOf === 'legacy' ? call.legacy : call.new;
    t.is(text as string | undefined, source !== null && 'body' in source ? String(source.body) : '');
  }
  if (response.contains !== undefined) t.true(text.includes(response.contains));
  if (response.xml !== undefined) t.true(text.includes(response.xml), text);
  else if (response.json !== undefined)
    for (const value of Object.values(JSON.parse(response.json))) t.true(text.includes(`>${value}<`));
  const { fault } = response;
  if (fault?.code !== undefined) t.regex(text, new RegExp(`<faultcode>\\w+:${fault.code}</faultcode>`));
  if (fault?.error !== undefined) t.regex(text, new RegExp(`<faultstring[^>]*>${fault.error}\\b`));
  const lineOf = () =>
    site
      .log()
      .slice(lines)
      .find(({ ms }) => ms !== undefined);
  await until(() => lineOf() !== undefined);
  const line = lineOf() ?? {};
  if (expect.operation !== undefined) t.is(line.operation, expect.operation);
  t.like(line, { ...expect.route, ...expect.log });
  if (expect.failedSide !== undefined) t.is(line.side, expect.failedSide);
  if (expect.audit !== undefined) {
    const { length } = expect.audit;
    await until(() => site.audit().length === written + length);
    const audit = site.audit().slice(written);
    for (const [index, wanted] of expect.audit.entries()) t.like(audit[index], wanted);
  }
  await legacy.open();
  await upstream.open();
}

async function prepare(stub: Stub, answer: StubReply): Promise<void> {
  stub.answer = answer;
  if (answer !== null && 'fails' in answer && answer.fails === 'connectionRefused') await stub.refuse();
}

interface Percentages {
  readonly percent: readonly {
    readonly rule: string;
    readonly buckets: readonly { readonly key: string; readonly bucket: number }[];
    readonly selected: Record<string, readonly string[]>;
  }[];
}

test('G9: the position of a caller is the same in all processes', (t) => {
  for (const { rule, buckets, selected } of readScenario<Percentages>('S28').percent) {
    for (const { key, bucket } of buckets) t.is(Number(bucketOf(rule, key).toFixed(3)), bucket);
    for (const [share, keys] of Object.entries(selected))
      t.deepEqual(
        buckets.flatMap(({ key }) => (bucketOf(rule, key) < Number(share) ? [key] : [])),
        keys,
      );
  }
});

interface ConfigErrors {
  readonly contract: string;
  readonly configErrors: readonly {
    readonly migration: Record<string, unknown>;
    readonly pointer: string;
    readonly message: string;
  }[];
}

test('scenario S35: configuration errors of routes have a pointer and a message (G3, G4, G11, G28, G43)', async (t) => {
  const { contract, configErrors: ofRoutes } = readScenario<ConfigErrors>('S35');
  const folder = contractFolder(contract);
  for (const { migration, pointer, message } of ofRoutes) {
    const config = { legacy: { url: 'http://127.0.0.1:9' }, migration };
    const error = await t.throwsAsync(startSite(t, { contract: folder, config, path: '/agency' }), {
      instanceOf: ContractError,
    });
    const [problem] = error?.problems ?? [];
    t.is(problem?.pointer, pointer);
    t.is(problem?.message, message);
    t.true(problem?.line !== undefined);
  }
});
