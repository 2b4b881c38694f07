import { globSync, readFileSync } from 'node:fs';
import test from 'ava';
import { parse, parseAllDocuments } from 'yaml';
import { CallerPlaces } from '../../gateway/admission/caller-places.ts';
import { CallerWindows } from '../../gateway/admission/caller-windows.ts';
import { serveCommand } from '../../gateway/commands/serve.ts';
import { createCoreCallerLimits } from '../../gateway/core/caller-limits.ts';
import { Certificates } from '../../gateway/process/certificates.ts';
import { createFailedHandshakes } from '../../gateway/process/failed-handshakes.ts';
import { openFileMetrics } from '../../gateway/process/open-files.ts';
import { stateMetrics } from '../../gateway/process/state-metrics.ts';
import { createMetrics } from '../../gateway/telemetry/request-metrics.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';

const folder = new URL('../../deploy/', import.meta.url);
const files = globSync('**/*.*', { cwd: folder }).sort();
const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8');
const isTemplate = (file: string): boolean => file.includes('/templates/');

for (const file of files.filter((each) => /\.ya?ml$/.test(each) && !isTemplate(each))) {
  test(`deploy/${file} is YAML`, (t) => {
    for (const document of parseAllDocuments(read(file))) t.deepEqual(document.errors, []);
  });
}

test('every metric that deploy/ names is one of the gateway’s', (t) => {
  const idle = { inFlight: 0, queued: 0, arriving: 0, leaving: 0, heldBytes: 0, shed: 0, connections: 0 };
  const own = createMetrics().read({ ...idle, loopDelayMs: 0, droppedLines: 0, upstreamStates: new Map() });
  const workers = readFileSync(new URL('../gateway/process/worker-metrics.ts', folder), 'utf8');
  const ofWorkers = [...workers.matchAll(/\bone\(\s*'(\w+)'/g)].map(([, name]) => name);
  const local = new CallerWindows(1);
  const counts = { windows: local, places: new CallerPlaces() };
  const store = { isAway: false, missed: 0 };
  const ofLimits = createCoreCallerLimits(() => ({ rulesOf: () => undefined, counts, store, local })).read();
  const ofState = [...stateMetrics([], { isSuccessful: true, loadedAt: 0 }), ...new Certificates().read()];
  const quiet = { info: () => {}, warn: () => {}, error: () => {} };
  const ofProcess = [...createFailedHandshakes(quiet).read(), ...openFileMetrics()];
  const traces = readFileSync(new URL('../gateway/telemetry/open-telemetry.ts', folder), 'utf8');
  const ofTraces = [...traces.matchAll(/\bone\('(\w+)'/g)].map(([, name]) => name);
  const migration = readFileSync(new URL('../gateway/migration/counts.ts', folder), 'utf8');
  const ofMigration = [...migration.matchAll(/'((?:migration|legacy)_\w+)'/g)].map(([, name]) => name);
  const told = [...own, ...ofLimits, ...ofState, ...ofProcess].map(({ name }) => name);
  const all = [...told, ...ofWorkers, ...ofTraces, ...ofMigration];
  const names = new Set(all.map((name) => `soapbridge_${name}`));
  let found = 0;
  for (const file of files) {
    for (const [name] of read(file).matchAll(/\bsoapbridge_[a-z_]+(?<!_)/g)) {
      found++;
      t.true(names.has(name.replace(/_(?:bucket|sum|count)$/, '')), `${file}: ${name}`);
    }
  }
  t.true(found > 40);
});

for (const [copy, source] of [
  ['rules.yaml', 'prometheus/rules.yaml'],
  ['soapbridge.json', 'grafana/soapbridge.json'],
] as const) {
  test(`the chart has a copy of deploy/${source}, because Helm reads only files of the chart`, (t) => {
    t.true(
      read(`helm/soapbridge/files/${copy}`) === read(source),
      `cp deploy/${source} deploy/helm/soapbridge/files`,
    );
  });
}

test('every variable that deploy/ sets is one that serve, Node or OpenTelemetry reads', (t) => {
  const own = new Set(serveCommand().options.map(({ envVar }) => envVar));
  let found = 0;
  for (const file of files) {
    for (const name of variablesIn(file)) {
      found++;
      t.true(own.has(name) || /^(?:NODE_|OTEL_)/.test(name), `${file}: ${name}`);
    }
  }
  t.true(found > 15);
});

test('every limit that deploy/ speaks of has the value that it says', (t) => {
  let found = 0;
  for (const file of files) {
    for (const [all, name = '', seconds] of read(file).matchAll(/\b([a-z]+[A-Z]\w+) \(([\d,]+) s\)/g)) {
      found++;
      t.is(defaultLimits[name as 'drainMs'], Number(seconds) * 1000, `${file}: ${all}`);
    }
  }
  t.true(found > 8);
});

for (const [file, delay, most] of [
  [
    'kubernetes/base/deployment.yaml',
    /SOAPBRIDGE_DRAIN_DELAY, value: "(\d+)"/,
    /terminationGracePeriodSeconds: (\d+)/,
  ],
  ['compose/compose.yaml', /SOAPBRIDGE_DRAIN_DELAY: "(\d+)"/, /stop_grace_period: (\d+)s/],
  ['systemd/soapbridge.service', undefined, /TimeoutStopSec=(\d+)/],
] as const) {
  test(`deploy/${file} waits for as long as draining takes`, (t) => {
    const text = read(file);
    const delayMs = delay === undefined ? 1000 : Number(delay.exec(text)?.[1]);
    t.true(Number(most.exec(text)?.[1]) * 1000 > delayMs + defaultLimits.drainMs);
  });
}

for (const file of ['kubernetes/base/deployment.yaml', 'helm/soapbridge/templates/deployment.yaml']) {
  test(`deploy/${file} turns off the environment variables of Services`, (t) => {
    t.regex(read(file), /^ {6}enableServiceLinks: false$/m);
  });
}

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: { readonly severity: string };
  readonly annotations?: { readonly panel?: string };
}

function rules(): readonly Rule[] {
  const file: { readonly groups: readonly { readonly rules: readonly Rule[] }[] } = parse(
    read('prometheus/rules.yaml'),
  );
  return file.groups.flatMap((group) => group.rules);
}

test('docs/deploy.md lists every alert with its severity', (t) => {
  const alerts = rules().flatMap(({ alert, labels }) =>
    alert === undefined ? [] : [`${alert} ${labels?.severity}`],
  );
  const page = readFileSync(new URL('../docs/deploy.md', folder), 'utf8');
  const listed = [...page.matchAll(/^\| `(Soapbridge\w+)` \| [^|]+ \| (\w+) \|/gm)].map(
    ([, alert, severity]) => `${alert} ${severity}`,
  );
  t.deepEqual(listed.sort(), alerts.sort());
});

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly unknown[];
}

const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(read('grafana/soapbridge.json'));

test('the Grafana dashboard asks for something in each panel', (t) => {
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');
  t.true(panels.length > 10);
  for (const { title, targets } of panels) t.true(targets !== undefined && targets.length > 0, title);
  t.is(new Set(panels.map(({ title }) => title)).size, panels.length, 'titles are unique');
});

test('every alert names a panel of the dashboard', (t) => {
  const titles = new Set(dashboard.panels.map(({ title }) => title));
  let found = 0;
  for (const { alert, annotations } of rules()) {
    if (alert === undefined) continue;
    found++;
    t.true(titles.has(annotations?.panel ?? ''), alert);
  }
  t.true(found > 20);
});

test('rules keep the labels of the environment', (t) => {
  for (const { alert, record, expr } of rules()) t.notRegex(expr, /\bby \(/, alert ?? record);
});

/** Returns the variables that a file sets, for each kind of file. */
function variablesIn(file: string): readonly string[] {
  const text = read(file);
  const forms = file.endsWith('.service')
    ? [/(?<=^Environment=.*)\b([A-Z_]{2,})=/gm]
    : [/\{ name: ([A-Z_]{2,}), value/g, /^ {6}([A-Z_]{2,}): /gm];
  return forms.flatMap((form) => [...text.matchAll(form)].map(([, name = '']) => name));
}
