import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { optionalFeatures } from '../../mappings/optional-packages.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'missing-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const all = Object.values(optionalFeatures).flatMap(({ packages }) => Object.keys(packages));
const openapi = readFileSync(join(root, 'docs/tutorial/openapi.yaml'), 'utf8');

/** Runs a command of soapbridge in a folder with these files, without optional packages. */
function run(
  command: readonly string[],
  files: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
) {
  const place = mkdtempSync(join(folder, 'case-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  const hide = join(root, 'test/packages/hide.ts');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', hide, join(root, 'bin/soapbridge.js'), ...command],
    {
      cwd: place,
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        PATH: process.env.PATH ?? '',
        HOST: '127.0.0.1',
        PORT: '0',
        ...environment,
        HIDDEN_PACKAGES: all.join(' '),
      },
    },
  );
  return { status, stdout, stderr };
}

const patch =
  'overlay: 1.0.0\ninfo: { title: Title, version: "1" }\nactions:\n  - { target: $.info, update: { title: Other } }\n';

for (const [title, command, files, environment, message] of [
  [
    '`validate: strict`',
    ['check', '--contract', '.'],
    { 'openapi.yaml': openapi, 'soap.yaml': 'validate: strict\n' },
    {},
    /soap\.yaml:1#\/validate: .*expected the package re2js,.* npm install re2js@2 /,
  ],
  [
    'a pattern in `operationNames`',
    ['check', '--contract', '.'],
    { 'openapi.yaml': openapi, 'soap.yaml': 'operationNames:\n  - { path: /a, name: b }\n' },
    {},
    /soap\.yaml:1#\/operationNames: .*expected the package re2js,/,
  ],
  [
    '`patches`',
    ['check', '--contract', '.'],
    { 'openapi.yaml': openapi, 'soap.yaml': 'patches: [patch.yaml]\n', 'patch.yaml': patch },
    {},
    /patch\.yaml#: .*expected the package json-p3,.* npm install json-p3@2 /,
  ],
  [
    '`upstream.oauth2`',
    ['serve', '--config', 'soapbridge.yaml'],
    {
      'openapi.yaml': openapi,
      'soapbridge.yaml':
        'contracts:\n  /:\n    contract: .\n    upstream:\n      url: http://127.0.0.1:1\n' +
        '      oauth2: { tokenUrl: "http://127.0.0.1:1", clientId: a, clientSecret: b }\n',
    },
    {},
    /soapbridge\.yaml:\d+#\/contracts\/~1\/upstream\/oauth2: .*expected the package oauth4webapi,/,
  ],
  [
    '`legacy.oauth2`',
    ['serve', '--config', 'soapbridge.yaml'],
    {
      'Orders.wsdl': readFileSync(join(root, 'docs/adopt/Orders.wsdl'), 'utf8'),
      'soapbridge.yaml':
        'contracts:\n  /:\n    contract: .\n    upstream: http://127.0.0.1:1\n    legacy:\n      url: http://127.0.0.1:1\n' +
        '      oauth2: { tokenUrl: "http://127.0.0.1:1", clientId: a, clientSecret: b }\n',
    },
    {},
    /soapbridge\.yaml:\d+#\/contracts\/~1\/legacy\/oauth2: .*expected the package oauth4webapi,/,
  ],
  [
    'a limit store',
    ['serve', '--demo'],
    { 'limits.yaml': 'each: { rate: 2/h }\n', key: 'k'.repeat(64) },
    {
      SOAPBRIDGE_CALLER_LIMITS: 'limits.yaml',
      SOAPBRIDGE_CALLER_KEY: 'key',
      SOAPBRIDGE_LIMIT_STORE: 'redis://127.0.0.1:1',
    },
    /SOAPBRIDGE_LIMIT_STORE: expected the packages iovalkey, rate-limiter-flexible,/,
  ],
  [
    'traces',
    ['serve', '--demo'],
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
    /expected the packages @opentelemetry\/api, .*, which are not installed\. Install them with: npm install @opentelemetry\/api@1 /,
  ],
] as const) {
  test(`${title} without its package stops the start with code 2, the package's name and a command`, (t) => {
    const { status, stdout, stderr } = run(command, files, environment);
    t.is(status, 2, stderr);
    t.is(stdout, '');
    t.regex(stderr, message);
    t.true(stderr.includes('docs/optional-packages.md'));
    t.notRegex(stderr, /^ +at /m);
  });
}

test('`map try` without ajv exits with code 2 and the command that installs it', (t) => {
  const { status, stderr } = run(
    ['map', 'try', join(root, 'docs/mapping'), join(root, 'docs/mapping/samples/GetOrder.json')],
    {},
  );
  t.is(status, 2, stderr);
  t.regex(stderr, /expected the package ajv,.* npm install ajv@8 /);
});

test('without re2js, samples of a document with patterns are written', (t) => {
  const withPattern = openapi.replaceAll('{ type: string }', '{ type: string, pattern: "^[0-9-]+$" }');
  t.not(withPattern, openapi);
  const { status, stderr } = run(['kit', 'openapi.yaml', '--out', 'kit'], { 'openapi.yaml': withPattern });
  t.is(status, 0, stderr);
});

test('without oauth4webapi, a contract with a legacy service is checked', (t) => {
  const folder = join(root, 'examples/migration');
  const { status, stderr } = run(['check', '--config', join(folder, '3-shift.yaml')], {});
  t.is(status, 0, stderr);
});

/** The WSDL of docs/adopt, extended with a pattern. */
const wsdl = readFileSync(join(root, 'docs/adopt/Orders.wsdl'), 'utf8').replace(
  'name="culture" type="s:string" />',
  'name="culture"><s:simpleType><s:restriction base="s:string"><s:pattern value="[a-z]{2}-[A-Z]{2}"/></s:restriction></s:simpleType></s:element>',
);

test('without re2js, a WSDL with patterns is served, and its kit is written', (t) => {
  t.true(wsdl.includes('s:pattern'));
  for (const command of [['check'], ['kit', '--out', 'kit']]) {
    const { status, stderr } = run([...command, '--contract', '.'], { 'Orders.wsdl': wsdl });
    t.is(status, 0, stderr);
  }
});

test('`validate: strict` of a WSDL without re2js stops the start with code 2', (t) => {
  const files = { 'Orders.wsdl': wsdl, 'soap.yaml': 'validate: strict\n' };
  const { status, stderr } = run(['check', '--contract', '.'], files);
  t.is(status, 2, stderr);
  t.regex(stderr, /soap\.yaml:1#\/validate: .*expected the package re2js,/);
});
