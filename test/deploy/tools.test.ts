import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { parse, parseAllDocuments } from 'yaml';
import { env, needs, scratch } from './tool.ts';

// Checks the files of deploy/ with the tools that read them. Tests of a missing tool are skipped, with the reason in
// the title.

const root = join(import.meta.dirname, '../..');
const deploy = join(root, 'deploy');

/** Runs a tool. If its exit code is not 0, the test fails with the tool's output. */
function run(t: ExecutionContext, tool: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(tool, args, { cwd: deploy, env, encoding: 'utf8' });
  t.is(status, 0, `${tool} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

const kinds = (yaml: string): readonly string[] =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS()?.kind)
    .filter((kind) => kind !== undefined)
    .sort();

const served = [
  'ConfigMap',
  'Deployment',
  'HorizontalPodAutoscaler',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'Service',
  'ServiceAccount',
];

for (const [place, more] of [
  ['base', []],
  ['overlays/production', ['Namespace', 'ServiceMonitor']],
  ['overlays/in-flight', ['Namespace', 'ServiceMonitor']],
] as const) {
  needs('kustomize', `kustomize builds ${place}`, (t) => {
    t.deepEqual(kinds(run(t, 'kustomize', 'build', `kubernetes/${place}`)), [...served, ...more].sort());
  });
}

/** Fails if a document has a member or a value that the Kubernetes API rejects. Custom resources are not checked. */
function checkSchema(t: ExecutionContext, yaml: string): void {
  const file = join(scratch(t), 'documents.yaml');
  writeFileSync(file, yaml);
  run(t, 'kubernetes-validate', '--strict', '--quiet', '--no-warn', file);
}

const allComponents = ['admin-listener', 'ingress', 'one-pod', 'tls'] as const;

needs(['kustomize', 'kubernetes-validate'], 'Kubernetes accepts what kustomize builds', (t) => {
  for (const place of ['base', 'overlays/production', 'overlays/in-flight'])
    checkSchema(t, run(t, 'kustomize', 'build', `kubernetes/${place}`));
  checkSchema(t, buildWithComponents(t, ...allComponents));
});

/** Builds an overlay of the production overlay with components. Returns its documents by kind. */
function withComponents(t: ExecutionContext, ...components: readonly string[]): Manifests {
  return byKind(buildWithComponents(t, ...components));
}

function buildWithComponents(t: ExecutionContext, ...components: readonly string[]): string {
  return buildWithKeys(t, { components: components.map((name) => `../../components/${name}`) });
}

/** Builds an overlay of the production overlay with further keys of its kustomization. */
function buildWithKeys(t: ExecutionContext, keys: object): string {
  const folder = scratch(t);
  cpSync(join(deploy, 'kubernetes'), folder, { recursive: true });
  const overlay = join(folder, 'overlays/mine');
  mkdirSync(overlay);
  writeFileSync(
    join(overlay, 'kustomization.yaml'),
    JSON.stringify({ kind: 'Kustomization', resources: ['../production'], ...keys }),
  );
  return run(t, 'kustomize', 'build', overlay);
}

/** Returns the settings of an example in docs/deploy.md, by the words after its fence. */
function example(words: string): object {
  const page = readFileSync(join(root, 'docs/deploy.md'), 'utf8');
  const [, text = ''] = new RegExp(`^\`\`\`${words}\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
  return parse(text);
}

/** Fails if the pods do not share limits per caller, by the files of a Secret and a store that they may connect to. */
function checkSharedLimits(t: ExecutionContext, documents: Manifests): void {
  const { volumeMounts, env: variables } = containerOf(documents);
  const variable = (name: string) => variables.findLast((each) => each.name === name)?.value;
  t.is(variable('SOAPBRIDGE_CALLER_LIMITS'), '/etc/soapbridge/limits/caller-limits.yaml');
  t.is(variable('SOAPBRIDGE_CALLER_KEY'), '/etc/soapbridge/limits/caller-key');
  t.is(variable('SOAPBRIDGE_LIMIT_STORE'), 'redis://valkey:6379');
  t.truthy(variable('SOAPBRIDGE_TRUSTED_PROXIES'));
  t.true(
    volumeMounts.some(({ name, mountPath }) => name === 'limits' && mountPath === '/etc/soapbridge/limits'),
  );
  t.like(documents('Deployment').spec.template.spec.volumes.at(-1), {
    name: 'limits',
    secret: { secretName: 'soapbridge-limits' },
  });
  const ports = documents('NetworkPolicy').spec.egress.flatMap((rule) => rule.ports.map(({ port }) => port));
  t.true(ports.includes(6379));
}

type Texts = Readonly<Record<string, string>>;
type Named = Readonly<Record<'name' | 'value' | 'mountPath' | 'port', string>>;

const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;

/** A container, with the parts that the tests read. */
interface Container
  extends Readonly<
    Record<
      (typeof probes)[number],
      { httpGet: { port: string; scheme: string }; failureThreshold: number; timeoutSeconds: number }
    >
  > {
  readonly env: readonly Named[];
  readonly envFrom: unknown;
  readonly ports: readonly unknown[];
  readonly volumeMounts: readonly Named[];
}

/** A rule of a NetworkPolicy for connections of the gateway. */
interface Egress {
  readonly to: readonly unknown[];
  readonly ports: readonly { readonly port: number }[];
}

/** A document for Kubernetes, with the parts that the tests read. */
interface Manifest {
  readonly metadata: { readonly labels: Texts; readonly annotations: Texts };
  readonly data: Texts;
  readonly spec: {
    readonly strategy: unknown;
    readonly template: {
      readonly metadata: { readonly labels: Texts; readonly annotations: Texts };
      readonly spec: { readonly containers: readonly [Container]; readonly volumes: readonly Named[] };
    };
    readonly ports: readonly Named[];
    readonly ingress: readonly [{ readonly ports: readonly Named[] }];
    readonly egress: readonly Egress[];
    readonly maxReplicas: number;
    readonly jobLabel: string;
    readonly endpoints: readonly [
      Readonly<Record<'port' | 'scheme', string>> & {
        readonly tlsConfig: unknown;
        readonly authorization: unknown;
      },
    ];
  };
}

/** Returns a document by its kind. Throws Error if there is none. */
type Manifests = (kind: string) => Manifest;

function byKind(yaml: string): Manifests {
  const all = new Map<string, Manifest>(
    parseAllDocuments(yaml).map((document) => [document.toJS()?.kind, document.toJS()]),
  );
  return (kind) => {
    const found = all.get(kind);
    if (found === undefined) throw new Error(`expected ${kind}, got ${[...all.keys()].join(', ')}`);
    return found;
  };
}

/** Returns the container of the Deployment. */
const containerOf = (manifests: Manifests): Container =>
  manifests('Deployment').spec.template.spec.containers[0];

/** Fails if a wave of new connections would make a pod unready or restart it. */
function checkPatience(t: ExecutionContext, container: Container): void {
  for (const probe of probes) {
    t.true(container[probe].failureThreshold >= 3, probe);
    t.true(container[probe].timeoutSeconds >= 5, probe);
  }
}

needs('kustomize', 'probes of kustomize tolerate failures', (t) => {
  checkPatience(t, containerOf(byKind(run(t, 'kustomize', 'build', 'kubernetes/base'))));
});

needs('kustomize', 'the component admin-listener moves probes and scrapes to the admin port', (t) => {
  const documents = withComponents(t, 'admin-listener');
  const container = containerOf(documents);
  for (const probe of probes) {
    t.is(container[probe].httpGet.port, 'admin');
    t.is(container[probe].httpGet.scheme, 'HTTPS');
  }
  checkPatience(t, container);
  const [endpoint] = documents('ServiceMonitor').spec.endpoints;
  t.is(endpoint.port, 'admin');
  t.is(endpoint.scheme, 'https');
  t.deepEqual(
    documents('Service').spec.ports.map(({ name }) => name),
    ['http', 'admin'],
  );
  t.deepEqual(
    documents('NetworkPolicy').spec.ingress[0].ports.map(({ port }) => port),
    ['http', 'admin'],
  );
});

needs('kustomize', 'the network policy allows the port of the store for pods of a Valkey', (t) => {
  const { egress } = byKind(run(t, 'kustomize', 'build', 'kubernetes/base'))('NetworkPolicy').spec;
  const valkey = { key: 'app.kubernetes.io/name', operator: 'In', values: ['valkey'] };
  const rule = egress.find(({ ports }) => ports.some(({ port }) => port === 6379));
  t.deepEqual(rule?.to, [{ podSelector: { matchExpressions: [valkey] } }]);
});

needs('kustomize', 'docs/deploy.md: the patch makes the pods share limits per caller', (t) => {
  checkSharedLimits(t, byKind(buildWithKeys(t, example('yaml kustomize limits'))));
});

needs('kustomize', 'the components tls, ingress and one-pod change what they name', (t) => {
  const documents = withComponents(t, 'tls', 'ingress', 'one-pod');
  for (const probe of probes) t.is(containerOf(documents)[probe].httpGet.scheme, 'HTTPS');
  t.deepEqual(documents('Deployment').spec.strategy, { type: 'Recreate' });
  t.is(documents('HorizontalPodAutoscaler').spec.maxReplicas, 1);
  const { annotations } = documents('Ingress').metadata;
  t.is(annotations['nginx.ingress.kubernetes.io/proxy-next-upstream'], 'off');
});

const contract = ['soapbridge', 'openapi'].flatMap((name) => [
  '--set-file',
  `contract.files.${name}\\.yaml=kubernetes/base/contract/${name}.yaml`,
]);

needs('helm', 'the chart passes helm lint', (t) => {
  run(t, 'helm', 'lint', '--strict', 'helm/soapbridge', ...contract);
});

needs('helm', 'the chart makes the same kinds as kustomize, with another name for another release', (t) => {
  const plain = run(t, 'helm', 'template', 'soapbridge', 'helm/soapbridge', ...contract);
  t.deepEqual(kinds(plain), served);
  const more = run(
    t,
    'helm',
    'template',
    'edge',
    'helm/soapbridge',
    ...contract,
    '--set',
    'serviceMonitor.enabled=true,autoscaling.inFlight=200,secretName=keys,publicUrl=https://soap.example',
  );
  t.deepEqual(kinds(more), [...served, 'ServiceMonitor'].sort());
  t.regex(more, /name: edge-soapbridge\b/);
  t.regex(more, /secretName: keys/);
  t.regex(more, /averageValue: "200"/);
});

needs(['helm', 'kubernetes-validate'], 'Kubernetes accepts what the chart makes', (t) => {
  const make = (values: object): string => {
    const file = join(scratch(t), 'values.yaml');
    writeFileSync(file, JSON.stringify(values));
    return run(t, 'helm', 'template', 'soapbridge', 'helm/soapbridge', ...contract, '-f', file);
  };
  checkSchema(t, make({}));
  checkSchema(
    t,
    make({
      admin: { port: 9090 },
      secretName: 'keys',
      env: { SOAPBRIDGE_WORKERS: 2 },
      extraEnv: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }],
      envFrom: [{ secretRef: { name: 'upstream' } }],
      extraVolumes: [{ name: 'contract', image: { reference: 'registry.example/orders:1' } }],
      extraVolumeMounts: [{ name: 'contract', mountPath: '/more', readOnly: true }],
      deploymentAnnotations: { note: 'b' },
      podAnnotations: { note: 'd' },
      service: { port: 81, labels: { team: 'e' }, annotations: { note: 'f' } },
      strategy: { type: 'Recreate' },
      autoscaling: { inFlight: 200 },
      serviceMonitor: { enabled: true },
      prometheusRule: { enabled: true },
      dashboard: { enabled: true },
      ingress: { enabled: true, host: 'soap.example', paths: ['/v2'], tlsSecretName: 'tls' },
    }),
  );
});

needs('helm', 'the chart without a contract is refused in words', (t) => {
  const { status, stderr } = spawnSync('helm', ['template', 'x', 'helm/soapbridge'], {
    cwd: deploy,
    env,
    encoding: 'utf8',
  });
  t.not(status, 0);
  t.regex(stderr, /contract: expected files with soapbridge\.yaml, existingConfigMap or path, got none/);
});

/** Renders the chart with values. Returns its documents by kind. */
function render(t: ExecutionContext, values: object, ...more: readonly string[]): Manifests {
  const file = join(scratch(t), 'values.yaml');
  writeFileSync(file, JSON.stringify(values));
  return byKind(run(t, 'helm', 'template', 'soapbridge', 'helm/soapbridge', '-f', file, ...more));
}

for (const [title, values, message] of [
  ['a misspelt value', { trustedProxys: '10.0.0.0/8' }, /trustedProxys/],
  ['a misspelt value of a group', { probes: { readiness: { failures: 3 } } }, /failures/],
  ['a text for a number', { drainDelayMs: '10s' }, /drainDelayMs/],
  ['an unknown strategy', { strategy: { type: 'Rolling' } }, /strategy/],
  ['a volume mount without a path', { extraVolumeMounts: [{ name: 'x' }] }, /mountPath/],
  ['an ingress without paths', { ingress: { enabled: true } }, /ingress\.paths: expected the paths/],
] as const) {
  needs('helm', `the chart refuses ${title}`, (t) => {
    const file = join(scratch(t), 'values.yaml');
    writeFileSync(file, JSON.stringify(values));
    const args = ['template', 'x', 'helm/soapbridge', ...contract, '-f', file];
    const { status, stderr } = spawnSync('helm', args, { cwd: deploy, env, encoding: 'utf8' });
    t.not(status, 0);
    t.regex(stderr, message);
  });
}

needs('helm', 'probes of the chart tolerate failures', (t) => {
  checkPatience(t, containerOf(render(t, {}, ...contract)));
});

needs('helm', 'with an admin port, the chart probes and scrapes that port', (t) => {
  const documents = render(
    t,
    {
      admin: { port: 9090 },
      serviceMonitor: {
        enabled: true,
        tlsConfig: { serverName: 'soapbridge' },
        authorization: { credentials: { name: 'soapbridge', key: 'token' } },
      },
    },
    ...contract,
  );
  const container = containerOf(documents);
  for (const probe of probes) {
    t.is(container[probe].httpGet.port, 'admin');
    t.is(container[probe].httpGet.scheme, 'HTTPS');
  }
  t.deepEqual(container.ports[1], { name: 'admin', containerPort: 9090 });
  const { jobLabel, endpoints } = documents('ServiceMonitor').spec;
  t.is(jobLabel, 'app.kubernetes.io/name');
  t.is(endpoints[0].port, 'admin');
  t.is(endpoints[0].scheme, 'https');
  t.deepEqual(endpoints[0].tlsConfig, { serverName: 'soapbridge' });
  t.deepEqual(endpoints[0].authorization, { credentials: { name: 'soapbridge', key: 'token' } });
  t.is(documents('NetworkPolicy').spec.ingress[0].ports[1]?.port, 'admin');
});

needs('helm', 'docs/deploy.md: the values make the pods share limits per caller', (t) => {
  checkSharedLimits(t, render(t, example('yaml helm limits'), ...contract));
});

needs('helm', 'docs/deploy.md: the values make the pods share the memory of digests', (t) => {
  const documents = render(t, example('yaml helm digests'), ...contract);
  const { volumeMounts, env: variables } = containerOf(documents);
  const variable = (name: string) => variables.findLast((each) => each.name === name)?.value;
  t.is(variable('SOAPBRIDGE_WSSE_SECRETS'), '/etc/soapbridge/wsse/wsse.yaml');
  t.is(variable('SOAPBRIDGE_LIMIT_STORE'), 'redis://valkey:6379');
  t.true(volumeMounts.some(({ name, mountPath }) => name === 'wsse' && mountPath === '/etc/soapbridge/wsse'));
});

needs('helm', 'with scheme HTTPS, the chart probes and scrapes the public port over TLS', (t) => {
  const documents = render(t, { scheme: 'HTTPS', serviceMonitor: { enabled: true } }, ...contract);
  for (const probe of probes) t.is(containerOf(documents)[probe].httpGet.scheme, 'HTTPS');
  t.is(documents('ServiceMonitor').spec.endpoints[0].scheme, 'https');
});

needs('helm', 'the chart serves an adopted folder of an image or a volume', (t) => {
  const documents = render(t, {
    contract: { path: '/contract/soapbridge.yaml' },
    extraVolumes: [{ name: 'contract', image: { reference: 'registry.example/orders:1' } }],
    extraVolumeMounts: [{ name: 'contract', mountPath: '/contract', readOnly: true }],
  });
  t.throws(() => documents('ConfigMap'));
  const { volumes } = documents('Deployment').spec.template.spec;
  t.deepEqual(
    volumes.map(({ name }) => name),
    ['tmp', 'contract'],
  );
  const container = containerOf(documents);
  t.is(container.env.find(({ name }) => name === 'SOAPBRIDGE_CONFIG')?.value, '/contract/soapbridge.yaml');
  t.deepEqual(
    container.volumeMounts.map(({ mountPath }) => mountPath),
    ['/tmp', '/contract'],
  );
});

needs('helm', 'the chart adds variables, labels and annotations, and can recreate pods', (t) => {
  const documents = render(
    t,
    {
      env: { SOAPBRIDGE_WORKERS: 2 },
      extraEnv: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }],
      envFrom: [{ secretRef: { name: 'upstream' } }],
      deploymentLabels: { team: 'a' },
      deploymentAnnotations: { note: 'b' },
      podLabels: { team: 'c' },
      podAnnotations: { note: 'd' },
      service: { port: 81, labels: { team: 'e' }, annotations: { note: 'f' } },
      strategy: { type: 'Recreate' },
    },
    ...contract,
  );
  const { metadata, spec } = documents('Deployment');
  t.is(metadata.labels.team, 'a');
  t.is(metadata.annotations.note, 'b');
  t.is(spec.template.metadata.labels.team, 'c');
  t.is(spec.template.metadata.annotations.note, 'd');
  t.deepEqual(spec.strategy, { type: 'Recreate' });
  const container = containerOf(documents);
  t.deepEqual(container.envFrom, [{ secretRef: { name: 'upstream' } }]);
  t.is(container.env.at(-1)?.name, 'TOKEN');
  const service = documents('Service');
  t.is(service.metadata.labels.team, 'e');
  t.is(service.metadata.annotations.note, 'f');
  t.like(service.spec.ports[0], { name: 'http', port: 81 });
});

needs('helm', 'the chart has the alerts and the dashboard of deploy/', (t) => {
  const documents = render(t, {
    contract: { path: '/contract/soapbridge.yaml' },
    prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
    dashboard: { enabled: true },
    ingress: { enabled: true, host: 'soap.example', paths: ['/library'], tlsSecretName: 'tls' },
  });
  const rules = parse(readFileSync(join(deploy, 'prometheus/rules.yaml'), 'utf8'));
  const { metadata, spec } = documents('PrometheusRule');
  t.deepEqual(spec, rules);
  t.is(metadata.labels.release, 'prometheus');
  const dashboard = documents('ConfigMap');
  t.is(dashboard.metadata.labels.grafana_dashboard, '1');
  t.deepEqual(
    JSON.parse(dashboard.data['soapbridge.json'] ?? ''),
    JSON.parse(readFileSync(join(deploy, 'grafana/soapbridge.json'), 'utf8')),
  );
  const { annotations } = documents('Ingress').metadata;
  t.is(annotations['nginx.ingress.kubernetes.io/proxy-next-upstream'], 'off');
});

needs('promtool', 'promtool takes the configuration and the rules, and their tests pass', (t) => {
  run(t, 'promtool', 'check', 'config', 'prometheus/prometheus.yml');
  run(t, 'promtool', 'check', 'rules', 'prometheus/rules.yaml');
  run(t, 'promtool', 'test', 'rules', 'prometheus/rules.test.yaml');
});

test('every alert has a test', (t) => {
  const alerts = (file: string, form: RegExp): Set<string | undefined> =>
    new Set([...readFileSync(join(deploy, file), 'utf8').matchAll(form)].map(([, name]) => name));
  const tested = alerts('prometheus/rules.test.yaml', /alertname: (\w+)/g);
  for (const alert of alerts('prometheus/rules.yaml', /alert: (\w+)/g)) t.true(tested.has(alert), alert);
});

needs('systemd-analyze', 'systemd takes the unit, and finds it well closed off', (t) => {
  const unit = join(scratch(t), 'soapbridge.service');
  // the tests' machine may have Node at another path
  const text = readFileSync(join(deploy, 'systemd/soapbridge.service'), 'utf8');
  writeFileSync(unit, text.replace('/usr/bin/node', process.execPath));
  run(t, 'systemd-analyze', 'verify', unit);
  run(t, 'systemd-analyze', 'security', '--offline=true', '--threshold=20', unit);
});

/** Creates a self-signed certificate with its key. */
function certificate(folder: string): void {
  const key = join(folder, 'certificate.key');
  const cert = join(folder, 'certificate.pem');
  execFileSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=soap.example.com', '-keyout', key, '-out', cert],
  ]);
}

needs('haproxy', 'HAProxy takes both configurations', (t) => {
  const folder = scratch(t);
  certificate(folder);
  const pair = ['certificate.pem', 'certificate.key'].map((name) => readFileSync(join(folder, name), 'utf8'));
  writeFileSync(join(folder, 'pair.pem'), pair.join(''));
  const main = join(folder, 'haproxy.cfg');
  const text = readFileSync(join(deploy, 'haproxy/haproxy.cfg'), 'utf8');
  writeFileSync(main, text.replace('/etc/haproxy/certificate.pem', join(folder, 'pair.pem')));
  run(t, 'haproxy', '-c', '-f', main);
  run(t, 'haproxy', '-c', '-f', 'haproxy/compose.cfg');
});

needs('nginx', 'nginx takes its configuration', (t) => {
  const folder = scratch(t);
  certificate(folder);
  cpSync(join(deploy, 'nginx/soapbridge.conf'), join(folder, 'soapbridge.conf'));
  const site = readFileSync(join(folder, 'soapbridge.conf'), 'utf8').replaceAll('/etc/nginx/', `${folder}/`);
  writeFileSync(join(folder, 'soapbridge.conf'), site);
  const main = join(folder, 'nginx.conf');
  writeFileSync(
    main,
    `pid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp { access_log off; include ${folder}/soapbridge.conf; }\n`,
  );
  run(t, 'nginx', '-t', '-c', main);
});

for (const method of ['POST', 'PUT', 'DELETE', 'GET', 'PATCH']) {
  needs(
    'nginx',
    `nginx sends a ${method} once if a replica fails after it received the request`,
    async (t) => {
      let received = 0;
      const replica = await listen(t, (socket) => {
        socket.once('data', () => {
          received++;
          socket.destroy();
        });
      });
      const ask = await startNginx(t, [replica, replica, replica]);
      t.is(await ask(method), 502);
      t.is(received, 1);
    },
  );
}

needs('nginx', 'nginx sends a POST to another replica if it cannot connect to the first', async (t) => {
  let received = 0;
  const replica = await listen(t, (socket) => {
    socket.once('data', () => {
      received++;
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  const ask = await startNginx(t, [9, replica, 9]);
  const statuses: (number | undefined)[] = [];
  for (let times = 0; times < 3; times++) statuses.push(await ask('POST'));
  t.deepEqual(statuses, [200, 200, 200]);
  t.is(received, 3);
});

/** Starts a TCP server on a free port and returns the port. */
async function listen(t: ExecutionContext, onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {}); // nginx may reset its connections
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Starts nginx with the recipe, on a Unix socket. Returns a function that sends a request and returns the status. */
async function startNginx(
  t: ExecutionContext,
  replicas: readonly number[],
): Promise<(method: string) => Promise<number | undefined>> {
  const folder = scratch(t);
  certificate(folder);
  const socketPath = join(folder, 'socket');
  const site = readFileSync(join(deploy, 'nginx/soapbridge.conf'), 'utf8')
    .replaceAll('/etc/nginx/', `${folder}/`)
    .replaceAll(/^ +listen .*:80;$|^ +listen 80;$|^ +listen \[::\]:443 .*$/gm, '')
    .replace(/^ +listen 443 .*$/m, `listen unix:${socketPath};`)
    .replaceAll(/127\.0\.0\.1:808(\d)/g, (_, digit) => `127.0.0.1:${replicas[Number(digit) - 1]}`)
    .replace(/^server \{\n\s*server_name.*?^\}$/ms, '');
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const main = join(folder, 'nginx.conf');
  writeFileSync(
    main,
    `${process.getuid?.() === 0 ? 'user root;' : ''}\ndaemon off;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp { access_log off; ${folders.join(' ')} ${site} }\n`,
  );
  const child = spawn('nginx', ['-c', main], { env, stdio: 'ignore' });
  t.teardown(() => child.kill());
  while (!existsSync(socketPath)) {
    if (child.exitCode !== null) throw new Error('expected nginx to start, got its end');
    await setTimeout(20);
  }
  return (method) =>
    new Promise((resolve, reject) => {
      const headers = { host: 'soap.example.com', 'content-length': method === 'GET' ? 0 : 2 };
      request({ socketPath, method, path: '/v2/soap11', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end(method === 'GET' ? '' : 'ab');
    });
}

test.skip('Envoy takes its configuration (not looked at: no registry that CI reaches has envoy)', () => {});
