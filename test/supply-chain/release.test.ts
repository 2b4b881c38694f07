import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import test from 'ava';
import { readLockfile } from './lockfile.ts';

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'release-'));
const sources = join(directory, 'sources');
const out = join(directory, 'out');
const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

test.before(() => {
  const left = new Set(['.git', 'dist', 'node_modules', 'release', 'test'].map((name) => join(root, name)));
  cpSync(root, sources, { recursive: true, filter: (path) => !left.has(path) });
  for (const path of ['test/script-arguments.ts', 'test/supply-chain'])
    cpSync(join(root, path), join(sources, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'));
  writePublishingNpm();
});
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

/** Writes an npm that records the arguments of `publish`, and runs the real npm for all other commands. */
function writePublishingNpm(): void {
  const bin = join(directory, 'bin');
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'npm'),
    `#!/bin/sh\nif [ "$1" = publish ]; then echo "$@" >>'${directory}/published'; else exec '${npm}' "$@"; fi\n`,
  );
  chmodSync(join(bin, 'npm'), 0o755);
}

function git(...args: readonly string[]): void {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  execFileSync('git', [...identity, ...args], { cwd: sources, stdio: 'ignore' });
}

function release(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['test/supply-chain/release.ts', '--out', out, ...args],
    {
      cwd: sources,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${directory}/bin${delimiter}${process.env.PATH}` },
    },
  );
  return { status, stdout, stderr };
}

/** Gives CHANGELOG.md this heading for the version. */
function writeHeading(heading: string): void {
  const file = join(sources, 'CHANGELOG.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^## .*$/m, `## ${heading}`));
}

test.serial('npm run release refuses to publish without a repository and a dated release', (t) => {
  writeHeading(`${version} (unreleased)`);
  const { status, stdout, stderr } = release();
  t.deepEqual([status, stdout], [1, '']);
  t.is(
    stderr,
    'git: expected a repository, got an error of git status\n' +
      `CHANGELOG.md: expected "## ${version} - YYYY-MM-DD" as first release, got "## ${version} (unreleased)"\n`,
  );
  t.false(existsSync(out));
});

test.serial('npm run release -- --dry-run packs, writes the SBOM and lists what it would publish', (t) => {
  const { status, stdout, stderr } = release('--dry-run');
  t.is(status, 0, stderr);
  const archive = `soapbridge-${version}.tgz`;
  const bom = `soapbridge-${version}.cdx.json`;
  t.deepEqual(readdirSync(out).toSorted(), [bom, archive].toSorted());
  t.regex(stdout, new RegExp(`^package {4}soapbridge@${version}\n`));
  const bytes = readFileSync(join(out, archive));
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  t.true(stdout.includes(`\nintegrity  ${integrity}\n`), stdout);
  t.true(stdout.includes(`/${archive}, ${bytes.length} bytes, `), stdout);
  const size = readFileSync(join(root, 'package.json')).length;
  t.regex(stdout, new RegExp(`^ +${size} {2}package\\.json$`, 'm'));
  for (const file of ['SECURITY.md', 'bin/soapbridge.js', 'dist/gateway/index.js'])
    t.regex(stdout, new RegExp(`^ +\\d+ {2}${file}$`, 'm'));
  t.regex(stdout, /\nnot ready: CHANGELOG\.md: .+\ndry run: nothing is published\n$/);
  t.false(existsSync(join(directory, 'published')));
});

test.serial('the SBOM of a release lists what npm install brings, each package with its SHA-512', (t) => {
  const bom = JSON.parse(readFileSync(join(out, `soapbridge-${version}.cdx.json`), 'utf8'));
  t.deepEqual([bom.bomFormat, bom.metadata.component.name], ['CycloneDX', 'soapbridge']);
  const components: { 'bom-ref': string; hashes: { alg: string; content: string }[] }[] = bom.components;
  const listed = components.map(({ 'bom-ref': ref, hashes }) => {
    const sha = hashes.find(({ alg }) => alg === 'SHA-512')?.content ?? '';
    return `${ref} sha512-${Buffer.from(sha, 'hex').toString('base64')}`;
  });
  const shipped = readLockfile().filter(({ use }) => use === 'default');
  t.deepEqual(
    listed.toSorted(),
    shipped.map((each) => `${each.name}@${each.version} ${each.integrity}`).toSorted(),
  );
  const refs = new Set([bom.metadata.component['bom-ref'], ...components.map((each) => each['bom-ref'])]);
  const dependencies: { ref: string; dependsOn: string[] }[] = bom.dependencies;
  t.is(dependencies.length, refs.size);
  for (const { ref, dependsOn } of dependencies)
    for (const name of [ref, ...dependsOn]) t.true(refs.has(name), `${ref}: ${name}`);
});

test.serial('npm run release publishes the packed archive if all changes are committed', (t) => {
  writeHeading(`${version} - 2026-12-01`);
  git('init');
  git('add', '-A');
  git('commit', '--no-verify', '-m', 'release: test');
  writeFileSync(join(sources, 'new.txt'), '');
  const refused = release();
  t.deepEqual(refused, {
    status: 1,
    stdout: '',
    stderr: 'git: expected all changes to be committed, got changed files\n',
  });
  rmSync(join(sources, 'new.txt'));

  const { status, stderr } = release();
  t.is(status, 0, stderr);
  const archive = join(out, `soapbridge-${version}.tgz`);
  t.is(readFileSync(join(directory, 'published'), 'utf8'), `publish ${archive}\n`);
  t.true(existsSync(archive));
});
