import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { screeningContract } from '../../mappings/loader/load.ts';
import { createAuthority } from '../gateway/certificates.ts';
import {
  type Answer,
  emptyReply,
  envelope,
  type Gateway,
  type GatewayOptions,
  send,
  startGateway,
  typesNamespace,
} from '../gateway/gateway.ts';
import { until } from '../until.ts';
import {
  type Alert,
  firesAt,
  isInstalled,
  type Prometheus,
  type Recording,
  type Series,
  startPrometheus,
} from './prometheus.ts';

// Five incidents. For each one, three replicas serve real calls and their /metrics are recorded. A scrape counts as
// 15 s, so that minutes are recorded in seconds. A real Prometheus then evaluates the rules and the queries of the
// dashboard on all recordings. docs/incidents.md describes the same incidents for operators.

const deploy = new URL('../../deploy/', import.meta.url);
const ends: (() => unknown)[] = [];
const teardown = (end: () => unknown): void => {
  ends.push(end);
};

const replicas = ['one', 'two', 'three'] as const;
type Fleet = ReadonlyMap<string, Gateway>;

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-incidents-'));
  teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function startFleet(optionsOf: (replica: string) => GatewayOptions): Promise<Fleet> {
  const callers = join(scratch(), 'callers.yaml');
  writeFileSync(callers, 'acme: ["ann"]\nglobex: ["bob"]\n');
  const started = replicas.map(async (replica) => {
    const { serve, ...options } = optionsOf(replica);
    const callerFiles = { callers };
    return [
      replica,
      await startGateway({ teardown }, { ...options, serve: { callerFiles, ...serve } }),
    ] as const;
  });
  return new Map(await Promise.all(started));
}

const soapHeaders = { 'Content-Type': 'text/xml', 'X-Api-Key': 'k' };

/** Sends a SOAP call of an operation by a caller. */
function soap({ port }: Gateway, operation: string, user = 'ann', body?: string): Promise<unknown> {
  const message = envelope('1.1', { body: `<${operation} xmlns="${typesNamespace}"/>` });
  const headers = { ...soapHeaders, 'X-Api-User': user };
  return send(port, 'POST', '/v2/soap11', headers, body ?? message);
}

/** Calls of a healthy minute: two operations by two callers. */
const usual = async (gateway: Gateway): Promise<void> => {
  for (const user of ['ann', 'bob']) {
    await soap(gateway, 'GetEulaStatus', user);
    await soap(gateway, 'GetValidIds', user);
  }
};

/** Does something to each replica and scrapes it, several times. */
async function record(
  fleet: Fleet,
  scrapes: number,
  act: (gateway: Gateway, replica: string) => Promise<unknown>,
  scrape: (gateway: Gateway) => Promise<string> = async ({ port }) =>
    (await send(port, 'GET', '/metrics')).text,
): Promise<Map<string, string>[]> {
  const all: Map<string, string>[] = [];
  for (let index = 0; index < scrapes; index++) {
    const pages = [...fleet].map(async ([replica, gateway]) => {
      await act(gateway, replica);
      return [replica, await scrape(gateway)] as const;
    });
    all.push(new Map(await Promise.all(pages)));
  }
  return all;
}

/** Scrapes before an incident: four minutes. */
const before = 16;
/** Scrapes of an incident: ten minutes. */
const during = 40;

async function failingOperation(): Promise<Recording> {
  const fleet = await startFleet(() => ({}));
  const healthy = await record(fleet, before, usual);
  const failing: Answer = ({ path }, response) => {
    response.writeHead(path.endsWith('GetSearch') ? 500 : 200, { 'content-type': 'application/json' });
    response.end(emptyReply);
  };
  for (const gateway of fleet.values()) gateway.answer(failing);
  // the circuit breaker opens after failures of several seconds
  await Promise.all(
    [...fleet.values()].map((gateway) =>
      until(async () => {
        await soap(gateway, 'GetSearch');
        await pause(50);
        return [...gateway.running.upstreams()].some(([, { openOperations }]) => openOperations.length > 0);
      }),
    ),
  );
  const incident = await record(fleet, during, async (gateway) => {
    await usual(gateway);
    await soap(gateway, 'GetSearch');
  });
  return { cluster: 'operation', scrapes: [...healthy, ...incident] };
}

async function malformedCaller(): Promise<Recording> {
  const fleet = await startFleet(() => ({}));
  const unknown = { body: '{"data":{"responseStatus":{},"unknown":1}}' };
  for (const gateway of fleet.values()) gateway.answer(unknown);
  const healthy = await record(fleet, before, usual);
  const incident = await record(fleet, during, async (gateway) => {
    await usual(gateway);
    await soap(gateway, 'GetEulaStatus', 'ann', '<e:Envelope><unclosed>');
  });
  return { cluster: 'caller', scrapes: [...healthy, ...incident] };
}

/** Reads a page over TLS without a check of the certificate. */
function overTls(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/metrics', rejectUnauthorized: false }, (response) =>
      text(response).then(resolve, reject),
    )
      .on('error', reject)
      .end();
  });
}

async function expiringCertificate(): Promise<Recording> {
  const authority = createAuthority({ teardown });
  const fleet = await startFleet((replica) => {
    const { certFile, keyFile } = authority.issue({ days: replica === 'two' ? 10 : 300 });
    const said = { file: 'soapbridge.yaml', pointer: '/tls' };
    const files = { certificate: certFile, key: keyFile, ca: undefined };
    return {
      serve: { tls: { ...files, minVersion: undefined, clientCertificates: undefined, position: said } },
    };
  });
  const plain = async ({ port }: Gateway): Promise<void> => {
    await send(port, 'GET', '/healthz').catch(() => {}); // a handshake that fails
  };
  const scrapes = await record(fleet, during, plain, ({ port }) => overTls(port));
  return { cluster: 'certificate', scrapes };
}

async function exhaustedPool(): Promise<Recording> {
  const fleet = await startFleet((replica) => ({
    isPatient: true,
    limits: replica === 'two' ? { upstreamConnections: 2 } : {},
  }));
  const healthy = await record(fleet, before, usual);
  const slow = fleet.get('two');
  slow?.answer((_hit, response) => {
    setTimeout(() => {
      response.setHeader('content-type', 'application/json');
      response.end(emptyReply);
    }, 100);
  });
  let isOver = false;
  const callers = Array.from({ length: 8 }, async () => {
    while (slow !== undefined && !isOver) await soap(slow, 'GetEulaStatus');
  });
  await until(() => [...(slow?.running.upstreams() ?? [])].some(([, { waiting }]) => waiting > 0));
  const incident = await record(fleet, during, async (gateway, replica) => {
    if (replica !== 'two') await usual(gateway);
  });
  isOver = true;
  await Promise.all(callers);
  return { cluster: 'pool', scrapes: [...healthy, ...incident] };
}

async function wrongOverlay(): Promise<Recording> {
  const folder = scratch();
  cpSync(screeningContract, folder, { recursive: true });
  const overlay = join(folder, 'soap.yaml');
  writeFileSync(
    overlay,
    readFileSync(overlay, 'utf8').replace(`types: ${typesNamespace}`, 'types: urn:wrong'),
  );
  const fleet = await startFleet((replica) => (replica === 'three' ? { serve: { contract: folder } } : {}));
  return { cluster: 'overlay', scrapes: await record(fleet, before + 2 * during, usual) };
}

interface Incident {
  readonly title: string;
  /** The label `cluster` of its recording. */
  readonly cluster: string;
  readonly record: () => Promise<Recording>;
  /** All alerts that fire, each with labels that name the cause. */
  readonly alerts: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The panel that shows the cause two minutes after the first alert, and labels of its worst series. */
  readonly panel: string;
  readonly shows: Readonly<Record<string, string>>;
  /** True if the lowest value of the panel is the worst. */
  readonly isLowest?: boolean;
}

const incidents: readonly Incident[] = [
  {
    title: 'the upstream of one operation fails',
    cluster: 'operation',
    record: failingOperation,
    alerts: {
      SoapbridgeFailing: { contract: '/v2' },
      SoapbridgeOperationFailing: { contract: '/v2', operation: 'GetSearch' },
      SoapbridgeOperationsOpen: { contract: '/v2' },
    },
    panel: 'Failing calls per second by operation',
    shows: { contract: '/v2', operation: 'GetSearch' },
  },
  {
    title: 'one caller sends malformed XML',
    cluster: 'caller',
    record: malformedCaller,
    alerts: { SoapbridgeCallerMistakes: { contract: '/v2', code: 'MalformedRequest', caller: 'acme' } },
    panel: 'Faults per second by code and caller',
    shows: { code: 'MalformedRequest', caller: 'acme' },
  },
  {
    title: 'a certificate is about to expire',
    cluster: 'certificate',
    record: expiringCertificate,
    alerts: { SoapbridgeCertificateExpires: { use: 'server', instance: 'two' } },
    panel: 'Days until a certificate expires',
    shows: { use: 'server', instance: 'two' },
    isLowest: true,
  },
  {
    title: 'a pool is exhausted',
    cluster: 'pool',
    record: exhaustedPool,
    alerts: { SoapbridgePoolExhausted: { contract: '/v2', instance: 'two' } },
    panel: 'Calls that wait for a connection to the upstream',
    shows: { contract: '/v2', instance: 'two' },
  },
  {
    title: 'one replica has a wrong overlay',
    cluster: 'overlay',
    record: wrongOverlay,
    alerts: {
      SoapbridgeCallerMistakes: { contract: '/v2', code: 'OperationNotFound' },
      SoapbridgeContractsDiffer: { contract: '/v2' },
    },
    panel: 'Share of calls that fail, by replica',
    shows: { instance: 'three' },
  },
];

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(
  readFileSync(new URL('grafana/soapbridge.json', deploy), 'utf8'),
);

/** Returns the queries of a panel with the values of Grafana's variables. */
function queriesOf(title: string): readonly string[] {
  const { targets = [] } = dashboard.panels.find((panel) => panel.title === title) ?? {};
  return targets.map(({ expr }) =>
    expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*').replaceAll('$contract', '.*'),
  );
}

/** Returns the query for one cluster, as the filter `environment` of the dashboard does. */
const within = (query: string, cluster: string): string =>
  query.replaceAll(/\{job=/g, `{cluster="${cluster}",job=`);

const hasLabels = ({ labels }: Series, expected: Readonly<Record<string, string>>): boolean =>
  Object.entries(expected).every(([name, value]) => labels[name] === value);

/** Alerts about the load of the machine that runs the test. */
const ofMachine: ReadonlySet<string> = new Set(['SoapbridgeLoopLate', 'SoapbridgeMemory']);

let prometheus: Prometheus | undefined;
let alerts: readonly Alert[] = [];

const needsPrometheus = isInstalled ? test : test.skip;
const skipped = isInstalled ? '' : ' (not looked at: prometheus is not installed)';

if (isInstalled) {
  test.before(async () => {
    const recordings: Recording[] = [];
    for (const incident of incidents) recordings.push(await incident.record());
    prometheus = await startPrometheus(
      teardown,
      new URL('prometheus/rules.yaml', deploy).pathname,
      recordings,
    );
    alerts = await prometheus.alerts();
  });
  test.after.always(async () => {
    for (const end of ends.toReversed()) await end();
  });
}

const ask = async (query: string): Promise<readonly Series[]> => (await prometheus?.ask(query)) ?? [];

/** Returns the series for which an alert fires in a cluster, with the times at which it starts. */
async function firing(alert: Alert, cluster: string): Promise<readonly (readonly [Series, number])[]> {
  const series = await ask(alert.query);
  return series.flatMap((each) => {
    const at = each.labels.cluster === cluster ? firesAt(each, alert) : undefined;
    return at === undefined ? [] : [[each, at] as const];
  });
}

for (const { title, cluster, alerts: expected, panel, shows, isLowest } of incidents) {
  needsPrometheus(`alerts and a panel find the cause: ${title}${skipped}`, async (t) => {
    const found = new Set<string>();
    let first = Number.POSITIVE_INFINITY;
    for (const alert of alerts) {
      const series = await firing(alert, cluster);
      if (series.length === 0 || ofMachine.has(alert.name)) continue;
      found.add(alert.name);
      first = Math.min(first, ...series.map(([, at]) => at));
      const labels = expected[alert.name];
      if (labels === undefined) continue;
      t.true(
        series.every(([each]) => hasLabels(each, labels)),
        JSON.stringify(series),
      );
      for (const query of queriesOf(alert.annotations.panel ?? ''))
        t.true((await ask(within(query, cluster))).length > 0, `${alert.name}: ${query}`);
    }
    t.deepEqual([...found].sort(), Object.keys(expected).sort());
    const [query = ''] = queriesOf(panel);
    const values = (await ask(within(query, cluster))).flatMap((each) => {
      const [, value] = each.values.find(([at]) => at >= first && at <= first + 120) ?? [];
      return value === undefined ? [] : [{ value, isCause: hasLabels(each, shows) }];
    });
    const [worst] = values.toSorted((a, b) => (isLowest === true ? a.value - b.value : b.value - a.value));
    t.true(worst?.isCause, `two minutes after the first alert: ${JSON.stringify(values)}`);
    t.true((worst?.value ?? 0) > 0);
  });
}

/** Panels of features that no incident uses. */
const withoutData: ReadonlySet<string> = new Set([
  'Addresses of the upstream without calls',
  'Calls by the service that answered',
  'Calls rejected by limits per caller',
  'Calls with tolerated deviations',
  'Circuit breaker of the legacy service open',
  'Replies of the legacy service by status',
  'Workers that ended',
  'Lost spans',
  'Limit store unavailable',
]);

needsPrometheus(`Prometheus accepts the query of each panel, and has data for it${skipped}`, async (t) => {
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');
  t.true(panels.length > 30);
  for (const { title } of panels) {
    let found = 0;
    for (const query of queriesOf(title)) found += (await ask(query)).length;
    t.is(found === 0, withoutData.has(title), title);
  }
});

needsPrometheus(`no alert fires while three replicas are healthy${skipped}`, async (t) => {
  t.true(alerts.length > 20);
  for (const alert of alerts.filter(({ name }) => !ofMachine.has(name))) {
    for (const cluster of ['operation', 'caller', 'pool']) {
      const recorded = await ask(`up{cluster="${cluster}"}`);
      const start = Math.min(...recorded.flatMap(({ values }) => values.map(([at]) => at)));
      for (const [, at] of await firing(alert, cluster)) t.true(at > start + before * 15, alert.name);
    }
  }
});
