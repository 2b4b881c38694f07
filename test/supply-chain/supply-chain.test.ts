import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { optionalFeatures } from '../../mappings/optional-packages.ts';
import { accepted, denied } from './advisories.ts';
import { allowedInDevelopment, allowedInProduction, isAllowed, statedElsewhere } from './licences.ts';
import { compareVersions, readLockfile } from './lockfile.ts';
import { optionalPackagesPage, writeOptionalPackagesPage } from './optional-packages.ts';
import { supplyChainPage, writeSupplyChainPage } from './page.ts';
import { verdictOf } from './signatures.ts';

const root = new URL('../../', import.meta.url);
const locked = readLockfile();
const names = new Set(locked.map(({ name }) => name));

test('the lockfile has a SHA-512 for every package, and no foreign address', (t) => {
  t.true(locked.length > 100);
  for (const { name, integrity, resolved } of locked) {
    t.regex(integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/, name);
    t.is(resolved, undefined, name);
  }
});

test('package.json has one version of each dependency', (t) => {
  const {
    dependencies,
    devDependencies,
  }: Record<string, Record<string, string>> = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    t.regex(version, /^\d+\.\d+\.\d+(?:-[\w.]+)?$/, name);
  }
});

for (const { package: name, id, from = '0.0.0', below, what } of denied) {
  test(`no version of ${name} in the lockfile has ${id}: ${what} (from ${from})`, (t) => {
    t.true(names.has(name), 'a row for a package that is gone');
    for (const { version } of locked.filter((one) => one.name === name)) {
      const isAffected =
        compareVersions(version, from) >= 0 && compareVersions(version, below ?? '999.0.0') < 0;
      t.false(isAffected, version);
    }
  });
}

test('an accepted advisory is of a package in the lockfile, and of its version', (t) => {
  for (const { package: name, from = '0.0.0', below } of accepted) {
    const affected = locked.filter(
      (one) =>
        one.name === name &&
        compareVersions(one.version, from) >= 0 &&
        (below === undefined || compareVersions(one.version, below) < 0),
    );
    t.true(affected.length > 0, name);
  }
});

for (const [one, other, sign] of [
  ['1.2.3', '1.2.3', 0],
  ['1.2.3', '1.2.10', -1],
  ['2.0.0', '1.99.99', 1],
  ['3.0.0-alpha.1', '3.0.0', -1],
  ['3.0.1-alpha.1', '3.0.0', 1],
] as const) {
  test(`version ${one} ${['is older than', 'is', 'is newer than'][sign + 1]} ${other}`, (t) => {
    t.is(Math.sign(compareVersions(one, other)), sign);
  });
}

test('shipped packages have a licence of the short list, test packages one of the longer', (t) => {
  for (const { name, licence, use } of locked) {
    const allowed = use === 'development' ? allowedInDevelopment : allowedInProduction;
    t.true(isAllowed(licence ?? 'none', allowed), `${name}: ${licence}`);
  }
  for (const name of Object.keys(statedElsewhere))
    t.true(names.has(name), `a row for ${name}, which is gone`);
});

for (const [expression, isFine] of [
  ['MIT', true],
  ['GPL-3.0-only', false],
  ['(MIT OR GPL-3.0-only)', true],
  ['MIT AND GPL-3.0-only', false],
  ['MIT AND ISC', true],
  ['none', false],
] as const) {
  test(`the licence ${expression} is ${isFine ? 'allowed' : 'not allowed'}`, (t) => {
    t.is(isAllowed(expression, allowedInProduction), isFine);
  });
}

test('each optional peer dependency belongs to a feature, in the tested version', (t) => {
  const {
    devDependencies = {},
    peerDependencies = {},
    peerDependenciesMeta,
  }: Record<string, Record<string, string>> = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const specs = Object.values(optionalFeatures).flatMap(({ packages }) => Object.entries<string>(packages));
  t.deepEqual(specs.map(([name]) => name).toSorted(), Object.keys(peerDependencies));
  t.deepEqual(
    peerDependenciesMeta as unknown,
    Object.fromEntries(specs.map(([name]) => [name, { optional: true }]).toSorted()),
  );
  for (const [name, version] of specs) {
    const tested = devDependencies[name] ?? '';
    t.true(tested.startsWith(`${version}.`), `${name}@${version}, tested ${tested}`);
    const range = peerDependencies[name] ?? '';
    t.true([`^${tested}`, `>=${tested} <${Number(version) + 1}`].includes(range), `${name}: ${range}`);
  }
});

test('docs/optional-packages.md has all features; npm run golden rewrites it', (t) => {
  t.is(readFileSync(optionalPackagesPage, 'utf8'), writeOptionalPackagesPage());
});

test('the image is built with the optional packages in the versions of the lockfile', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  cpSync(new URL('package.json', root), join(folder, 'package.json'));
  execFileSync(process.execPath, [fileURLToPath(new URL('bin/peers.js', root))], { cwd: folder });
  const read = (file: string | URL): Record<string, Record<string, string>> =>
    JSON.parse(readFileSync(file, 'utf8'));
  const own = read(new URL('package.json', root));
  const { dependencies = {}, devDependencies = {} } = read(join(folder, 'package.json'));
  for (const name of Object.keys(own.peerDependencies ?? {})) {
    t.is(dependencies[name], own.devDependencies?.[name], name);
    t.false(name in devDependencies, name);
  }
});

test('docs/supply-chain.md has the current advisories and licences; npm run golden rewrites it', (t) => {
  t.is(readFileSync(supplyChainPage, 'utf8'), writeSupplyChainPage());
});

/** A package in CycloneDX format. */
interface Component {
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

test('npm’s bill of materials lists all packages of the lockfile with their SHA-512', (t) => {
  const told = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { components }: { components: Component[] } = JSON.parse(told);
  const listed = components.map(({ name, group, version, hashes }) => {
    const sha = hashes?.find(({ alg }) => alg === 'SHA-512')?.content ?? '';
    return `${group === undefined ? '' : `${group}/`}${name} ${version} sha512-${Buffer.from(sha, 'hex').toString('base64')}`;
  });
  const all = locked.map(({ name, version, integrity }) => `${name} ${version} ${integrity}`);
  t.deepEqual([...new Set(listed)].toSorted(), [...new Set(all)].toSorted());
});

for (const [code, said, failed, says] of [
  [
    0,
    'audited 9 packages in 1s\n\n9 packages have verified registry signatures\n',
    false,
    /^9 packages have verified/,
  ],
  [1, '1 package has an invalid registry signature:\n\na@1.0.0\n', true, /do not hold: 1 package/],
  [
    1,
    '2 packages have missing registry signatures but the registry is providing signing keys:\n',
    true,
    /do not hold/,
  ],
  [1, '1 package has an invalid attestation:\n', true, /do not hold/],
  [1, 'npm error code ENOTFOUND\nnpm error network\n', false, /not checked.*ENOTFOUND/],
  [
    1,
    'npm error found no dependencies to audit that were installed from a supported registry\n',
    false,
    /not checked/,
  ],
  [null, '', false, /not checked/],
] as const) {
  test(`npm audit signatures that exits with ${code} and ${said.split('\n', 1)[0] || 'nothing'} is ${failed ? 'a failure' : 'no failure'}`, (t) => {
    const verdict = verdictOf(code, said);
    t.is(verdict.failed, failed);
    t.regex(verdict.says, says);
  });
}

test('the image starts serve without an upstream, which is refused until one is set', (t) => {
  const text = readFileSync(new URL('Dockerfile', root), 'utf8');
  const own = '/app/node_modules/soapbridge';
  t.regex(text, new RegExp(`^ENTRYPOINT \\["node", "${own}/bin/soapbridge.js"\\]$`, 'm'));
  t.regex(text, /^CMD \["serve"\]$/m);
  t.true(text.includes(`CMD ["node", "${own}/bin/healthcheck.js"]`));
  t.deepEqual(text.match(/^ENV .*/m), text.match(/^ENV NODE_ENV=production HOST=0\.0\.0\.0 PORT=8080$/m));
});

test('a build can pin the content of the image’s base', (t) => {
  const text = readFileSync(new URL('Dockerfile', root), 'utf8');
  t.regex(text, /^ARG BASE=node:\d+-[a-z]+-slim$/m);
  const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  t.is(bases.length, 3);
  for (const base of bases) t.regex(base ?? '', /^\$\{BASE\}$/);
});

/** Files allowed in the npm package: code, data, documentation with samples, and files that npm adds. */
const packed =
  /^(?:package\.json|(?:README|ARCHITECTURE|CHANGELOG|CONTRIBUTING|SECURITY|bench\/README)\.md|LICENSE|(?:docs|deploy|examples)\/[\w/.-]+|bin\/\w+\.js|dist\/(?:console|gateway|mappings|wsdl|upstream)\/[\w/-]+(?:\.js|\.d\.ts)|dist\/console\/(?:texts\/\w+\.json|client\/(?:pages\.css|operators\.css|icon\.svg))|mappings\/screening\/(?:\w+\.yaml|loaded\.bin)|schemas\/[\w.-]+\.json)$/;

test('the npm package has only code, data and documentation', (t) => {
  const told = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(told);
  const paths = files.map(({ path }) => path);
  t.deepEqual(
    paths.filter((path) => !packed.test(path)),
    [],
  );
  for (const needed of [
    'bin/soapbridge.js',
    'bin/healthcheck.js',
    'mappings/screening/openapi.yaml',
    'mappings/screening/soap.yaml',
  ]) {
    t.true(paths.includes(needed), needed);
  }
});

test('dist is built from the executed folders, with the pages’ script', (t) => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(new URL('package.json', root), 'utf8'),
  );
  t.regex(
    scripts.build ?? '',
    /rmSync\('dist',.*&& tsc -p tsconfig\.build\.json && node console\/build\.ts$/,
  );
  const { include }: { include: string[] } = JSON.parse(
    readFileSync(new URL('tsconfig.build.json', root), 'utf8'),
  );
  t.deepEqual(include, [
    'console/operators',
    'console/server',
    'console/command.ts',
    'console/description.ts',
    'console/remedy.ts',
    'console/search.ts',
    'gateway',
    'mappings',
    'wsdl',
    'upstream',
  ]);
});

test('the image has only what runs, is built from the lockfile, and does not run as root', (t) => {
  const text = readFileSync(new URL('Dockerfile', root), 'utf8');
  const [, build = '', packages = '', final = ''] = text.split(/^FROM /m);
  // no install scripts, since one would download a second Node
  t.regex(build, /^RUN npm ci --ignore-scripts$/m);
  // command links are not needed
  t.regex(
    packages,
    /^RUN node peers\.js && npm ci --omit=dev --ignore-scripts && rm -rf node_modules\/\.bin$/m,
  );
  const { files }: { files: string[] } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const runs = files.filter(
    (path) => !path.endsWith('.md') && !['docs', 'deploy', 'examples'].includes(path),
  );
  const copied = [...final.matchAll(/^COPY --from=(?:build|packages) \/src\/(\S+) \S+$/gm)].map(
    ([, path = '']) => path,
  );
  t.regex(final, /^COPY --from=packages \/src\/node_modules /m);
  t.deepEqual(copied.toSorted(), ['node_modules', 'package.json', ...runs].toSorted());
  t.is(copied.length, [...final.matchAll(/^COPY /gm)].length);
  t.false(/^(?:RUN|ADD)/m.test(final));
  t.regex(final, /^USER node$/m);
  t.regex(final, /^HEALTHCHECK .* CMD \["node", ".*\/bin\/healthcheck\.js"\]$/m);
});
