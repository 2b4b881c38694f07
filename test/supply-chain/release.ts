import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { scriptArguments } from '../script-arguments.ts';
import { readLockfile } from './lockfile.ts';

const help = `npm run release [-- --dry-run --out DIR]

Builds and packs the package, writes its SBOM, and lists what is published. Then it publishes the archive with npm. It
refuses to publish if git has changes that are not committed, or if CHANGELOG.md does not have the version as released.

  --dry-run  publish nothing; report what prevents publishing
  --out DIR  folder for the archive and the SBOM (default: release)
  --help     print this help`;

const root = join(import.meta.dirname, '../..');

/** The part of the output of `npm pack --json` that a release needs. Sizes are in bytes. */
interface Packed {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly integrity: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** The part of a CycloneDX 1.5 document that this script reads or changes. */
interface Bom {
  readonly metadata: { readonly component: { name: string } };
  components: readonly { readonly 'bom-ref': string }[];
  dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

function npm(...args: readonly string[]): string {
  return execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

/** Builds dist/ and packs. The build prints to standard error, because npm prints JSON to standard output. */
function pack(folder: string): Packed {
  execFileSync('npm', ['run', 'prepack'], { cwd: root, stdio: ['ignore', 2, 2] });
  const [packed]: readonly Packed[] = JSON.parse(
    npm('pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  );
  if (packed === undefined) throw new Error('npm pack: expected a package, got none');
  return packed;
}

/**
 * The SBOM of the package: what `npm install` of it installs. `npm sbom --omit dev` leaves out packages that
 * development uses too, so the full SBOM is filtered by the lockfile. npm names the root after its folder.
 */
function writeBom(file: string, { name, version }: Packed): number {
  const bom: Bom = JSON.parse(npm('sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'));
  const shipped = new Set(
    readLockfile()
      .filter(({ use }) => use === 'default')
      .map((each) => `${each.name}@${each.version}`),
  );
  bom.metadata.component.name = name;
  bom.components = bom.components.filter((component) => shipped.has(component['bom-ref']));
  const refs = shipped.add(`${name}@${version}`);
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
  writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
  return bom.components.length;
}

/** The reasons not to publish, each a sentence. */
function obstaclesTo(version: string): readonly string[] {
  const obstacles: string[] = [];
  try {
    const changes = execFileSync('git', ['status', '--porcelain'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (changes !== '') obstacles.push('git: expected all changes to be committed, got changed files');
  } catch {
    obstacles.push('git: expected a repository, got an error of git status');
  }
  const [, heading = 'no release'] =
    /^## (.*)$/m.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) ?? [];
  if (!heading.startsWith(`${version} - `))
    obstacles.push(
      `CHANGELOG.md: expected "## ${version} - YYYY-MM-DD" as first release, got "## ${heading}"`,
    );
  return obstacles;
}

function describe(packed: Packed, folder: string, bom: string, components: number): string {
  const { name, version, filename, size, unpackedSize, integrity, files } = packed;
  const width = String(Math.max(...files.map((file) => file.size))).length;
  return [
    `package    ${name}@${version}`,
    `archive    ${join(relative(root, folder), filename)}, ${size} bytes, ${unpackedSize} bytes unpacked`,
    `integrity  ${integrity}`,
    `SBOM       ${join(relative(root, folder), bom)}, CycloneDX, ${components} components`,
    `files      ${files.length}`,
    ...files.map((file) => `  ${String(file.size).padStart(width)}  ${file.path}`),
  ].join('\n');
}

function main(): void {
  const { values } = scriptArguments(help, {
    options: { 'dry-run': { type: 'boolean', default: false }, out: { type: 'string', default: 'release' } },
  });
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const obstacles = obstaclesTo(version);
  if (obstacles.length > 0 && !values['dry-run']) {
    console.error(obstacles.join('\n'));
    process.exitCode = 1;
    return;
  }
  const folder = resolve(root, values.out);
  mkdirSync(folder, { recursive: true });
  const packed = pack(folder);
  const bom = `${packed.name}-${packed.version}.cdx.json`;
  console.log(describe(packed, folder, bom, writeBom(join(folder, bom), packed)));
  if (values['dry-run']) {
    for (const obstacle of obstacles) console.log(`not ready: ${obstacle}`);
    console.log('dry run: nothing is published');
  } else execFileSync('npm', ['publish', join(folder, packed.filename)], { cwd: root, stdio: 'inherit' });
}

main();
