import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'ava';

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The files that npm packs, except build results. */
const packed: readonly string[] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
)
  .flatMap(({ files }: { readonly files: readonly { readonly path: string }[] }) => files)
  .map(({ path }: { readonly path: string }) => path)
  .filter((path: string) => !path.startsWith('dist/'));

const pages = packed.filter((path) => path.endsWith('.md'));

/** Returns the files and folders that a page links to, without links to other hosts and within the page. */
function linksOf(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```.*?^```$/gms, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link.replace(/#.*$/, ''))
    .filter((link) => link !== '' && !/^[a-z]+:/.test(link));
}

test('the package has the files of the tutorial, of adopt, of migrate and of embedding', (t) => {
  for (const file of [
    'README.md',
    'docs/tutorial.md',
    'docs/tutorial/openapi.yaml',
    'docs/tutorial/upstream.mjs',
    'docs/tutorial/lend.xml',
    'docs/adopt.md',
    'docs/adopt/Orders.wsdl',
    'docs/adopt/upstream.mjs',
    'docs/adopt/get-order.xml',
    'docs/migrate.md',
    'examples/migration/agency/Agency.wsdl',
    'examples/migration/agency/soap.yaml',
    'examples/migration/legacy.mjs',
    'examples/migration/new.mjs',
    'examples/migration/4-switch.yaml',
    'docs/embedding/koa.mts',
    'docs/embedding/node-http.mts',
    'docs/embedding/fetch.mts',
    'docs/embedding/hooks.mts',
    'docs/embedding/codec.mts',
    'docs/embedding/authoring.mts',
  ])
    t.true(packed.includes(file), file);
});

for (const page of pages) {
  test(`${page}: each link refers to a file of the package`, (t) => {
    const dead = linksOf(page).filter((link) => {
      const path = normalize(join(dirname(page), link)).replace(/\/$/, '');
      return !packed.includes(path) && !packed.some((file) => file.startsWith(`${path}/`));
    });
    t.deepEqual(dead, []);
  });
}

test('JavaScript in docs/ and examples/ is .mjs or .mts, because npm init makes packages of type commonjs', (t) => {
  t.deepEqual(
    packed.filter((path) => /^(?:docs|examples)\//.test(path) && /\.(?:js|ts)$/.test(path)),
    [],
  );
});

test('each script that npm runs on installation names only files of the package', (t) => {
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare', 'prepack']) {
    const script: string | undefined = manifest.scripts[name];
    for (const [file] of script?.matchAll(/\S+\.(?:[cm]?[jt]s|json)\b/g) ?? [])
      t.true(packed.includes(file), `${name}: ${file}`);
  }
  t.true(packed.includes('bin/prepare.js'));
});

test('package.json has keywords, and no address that does not exist', (t) => {
  t.true(manifest.keywords.includes('soap'));
  for (const name of ['repository', 'homepage', 'bugs']) t.is(manifest[name], undefined, name);
});
