import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
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
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { optionalFeatures } from '../../mappings/optional-packages.ts';
import { documentedNames, printNames } from '../docs/exported-names.ts';
import { walkMigration } from '../docs/migration-walk.ts';
import { runPage } from '../docs/page.ts';

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'package-'));
/** A folder with only the packed package installed, or undefined if the registry does not respond. */
const app = installed();

test.after.always(() => rmSync(directory, { recursive: true, force: true }));

/** Installs a package from npm, or a packed one, into a new folder. Returns undefined if that fails. */
function install(name: string, what: string): string | undefined {
  const folder = join(directory, name);
  mkdirSync(folder);
  execFileSync('npm', ['init', '-y'], { cwd: folder, stdio: 'ignore' });
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--fetch-retries=0', what], {
    cwd: folder,
    stdio: 'ignore',
    timeout: 90_000,
  });
  return status === 0 ? folder : undefined;
}

/** Packs a copy of the sources, because npm pack rebuilds dist/ and other tests list the files of this folder. */
function installed(): string | undefined {
  const sources = join(directory, 'sources');
  const left = new Set(['.git', 'dist', 'node_modules', 'test'].map((name) => join(root, name)));
  cpSync(root, sources, { recursive: true, filter: (path) => !left.has(path) });
  symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'));
  const args = ['pack', '--json', '--pack-destination', directory];
  const told = execFileSync('npm', args, {
    cwd: sources,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, file = ''] = /"filename": "(.+?)"/.exec(told) ?? [];
  return install('app', join(directory, file));
}

/** Returns the packages in a folder's node_modules, including nested ones. */
function packagesIn(folder: string): readonly string[] {
  return readdirSync(join(folder, 'node_modules'), { recursive: true, encoding: 'utf8' })
    .map((path) => /^(?:.*\/node_modules\/)?((?:@[^/]+\/)?[^/@][^/]*)\/package\.json$/.exec(path)?.[1])
    .filter((name) => name !== undefined);
}

/** Folders of Node versions installed from npm, by major version. */
const folders = new Map<number, string>();

/** Returns a Node of a major version: one on this machine, otherwise one from npm, or undefined. */
function nodeOf(major: number): string | undefined {
  const here = [dirname(process.execPath), ...(process.env.PATH ?? '').split(delimiter)];
  const known = here.map((folder) => join(folder, 'node')).find((node) => majorOf(node) === major);
  if (known !== undefined) return known;
  const folder = folders.get(major) ?? install(`node-${major}`, `node@${major}`);
  folders.set(major, folder ?? directory);
  const node = folder === undefined ? undefined : join(folder, 'node_modules/node/bin/node');
  return node !== undefined && majorOf(node) === major ? node : undefined;
}

function majorOf(node: string): number | undefined {
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 ? Number(/^v(\d+)/.exec(stdout)?.[1]) : undefined;
}

/** Returns the files of an installed package, without hashes in names and without Node's caches. */
function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('node_modules'))
    .map((path) => path.replace(/-[A-Z0-9]{8}\.js$/, '.js'))
    .toSorted();
}

/** Returns an environment with a Node first on the PATH. */
function environmentOf(node: string): Record<string, string> {
  return { PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, HOME: process.env.HOME ?? '' };
}

/** Runs `npx soapbridge` in the folder, with a Node first on the PATH. */
function npx(t: ExecutionContext, folder: string, node: string, command: readonly string[]) {
  const env = environmentOf(node);
  const child = spawn('npx', ['--no-install', 'soapbridge', ...command], {
    cwd: folder,
    env: { ...env, PORT: '0', SOAPBRIDGE_DRAIN_DELAY: '0', SOAPBRIDGE_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group, so that npx and its child processes end together
  });
  t.teardown(() => end(child, 'SIGKILL'));
  return child;
}

function end({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // it has ended
  }
}

/** Returns the folder and a Node, or undefined if one is not available. Logs the reason. */
function setUp(t: ExecutionContext, major: number): { folder: string; node: string } | undefined {
  const node = app === undefined ? undefined : nodeOf(major);
  if (app !== undefined && node !== undefined) return { folder: app, node };
  t.log(`skipped: npm's registry gave no ${app === undefined ? 'dependencies' : `Node ${major}`}`);
  t.pass();
  return undefined;
}

const call =
  '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>' +
  '<UpdateSubUser xmlns="http://schemas.servicestack.net/types"><Authentication><ApiUserId>demo</ApiUserId>' +
  '<ApiUserKey>demo-key</ApiUserKey></Authentication><Request><SubUserName>jane</SubUserName></Request>' +
  '</UpdateSubUser></s:Body></s:Envelope>';

test.serial('npm install of the package installs at most 50 packages, and no optional one', (t) => {
  if (app === undefined) {
    t.log("skipped: npm's registry gave no dependencies");
    t.pass();
    return;
  }
  const names = packagesIn(app);
  t.log(`${names.length} packages`);
  t.true(names.includes('soapbridge') && names.includes('koa'), names.join(' '));
  t.true(names.length <= 50, names.join(' '));
  const optional = Object.values(optionalFeatures).flatMap(({ packages }) => Object.keys(packages));
  t.deepEqual(
    names.filter((name) => optional.includes(name)),
    [],
  );
});

test.serial(
  'the packed package without optional packages names the missing one and exits with 2',
  async (t) => {
    const set = setUp(t, Number(process.versions.node.split('.')[0]));
    if (set === undefined) return;
    const folder = join(set.folder, 'node_modules/soapbridge/docs/tutorial');
    const overlay = join(directory, 'strict.yaml');
    writeFileSync(overlay, 'validate: strict\n');
    const command = ['serve', '--openapi', join(folder, 'openapi.yaml'), '--overlay', overlay];
    const child = npx(t, set.folder, set.node, command);
    const [said, told, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    t.deepEqual([code, said], [2, ''], told);
    t.regex(told, /strict\.yaml:1#\/validate: .*expected the package re2js, .* npm install re2js@2 /);
  },
);

for (const major of [22, 24, 26]) {
  test.serial(`the packed package, installed into an empty folder, serves under Node ${major}`, async (t) => {
    const set = setUp(t, major);
    if (set === undefined) return;
    const child = npx(t, set.folder, set.node, ['serve', '--demo']);
    const [line] = await once(child.stdout, 'data');
    const address = /"endpoints":\["([^"]+)"/.exec(String(line))?.[1] ?? '';
    const headers = { 'Content-Type': 'text/xml; charset=utf-8' };
    const reply = await fetch(address, { method: 'POST', headers, body: call });
    t.is(reply.status, 200);
    t.regex(await reply.text(), /<Name>Jane O'Sample<\/Name>/);
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // memory is released after a second
    t.is((await fetch(`${address}?wsdl`)).status, 200);
    const ended = once(child, 'exit');
    end(child, 'SIGTERM');
    await ended;
    const said = await text(child.stderr);
    t.false(/error/i.test(said), said);
  });

  test.serial(`the packed package translates in a program of Node ${major}`, (t) => {
    const set = setUp(t, major);
    if (set === undefined) return;
    cpSync(join(set.folder, 'node_modules/soapbridge/docs'), join(set.folder, 'docs'), { recursive: true });
    const { status, stdout } = spawnSync(set.node, ['docs/embedding/codec.mts'], {
      cwd: set.folder,
      encoding: 'utf8',
    });
    t.is(status, 0);
    t.regex(stdout, /^lend \{"Body":/);
  });
}

test.serial('each documented import of the packed package has the documented names', (t) => {
  if (app === undefined) {
    t.log("skipped: npm's registry gave no dependencies");
    t.pass();
    return;
  }
  const page = readFileSync(join(app, 'node_modules/soapbridge/docs/embedding.md'), 'utf8');
  for (const [module, names] of documentedNames(page)) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', printNames(module)],
      { cwd: app, encoding: 'utf8' },
    );
    t.is(status, 0, stderr);
    t.deepEqual(JSON.parse(stdout), names);
  }
});

test.serial('the examples of docs/embedding.md that print run in the packed package', (t) => {
  if (app === undefined) {
    t.log("skipped: npm's registry gave no dependencies");
    t.pass();
    return;
  }
  const docs = join(app, 'node_modules/soapbridge/docs');
  cpSync(docs, join(app, 'docs'), { recursive: true });
  const page = readFileSync(join(docs, 'embedding.md'), 'utf8');
  for (const name of ['codec', 'authoring']) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [`docs/embedding/${name}.mts`], {
      cwd: app,
      encoding: 'utf8',
    });
    t.is(status, 0, stderr);
    t.true(page.includes(`\`\`\`\n${stdout}\`\`\`\n`), stdout);
  }
});

for (const major of [22, 24, 26]) {
  for (const [name, counts] of [
    ['tutorial', { served: 2, compared: 6 }],
    ['adopt', { served: 2, compared: 3 }],
  ] as const) {
    test.serial(
      `docs/${name}.md: the commands work in a folder with the package under Node ${major}`,
      async (t) => {
        const set = setUp(t, major);
        if (set === undefined) return;
        t.timeout(110_000);
        const folder = join(set.folder, `${name}-${major}`);
        mkdirSync(folder);
        symlinkSync(join(set.folder, 'node_modules'), join(folder, 'node_modules'));
        writeFileSync(join(folder, 'package.json'), readFileSync(join(set.folder, 'package.json')));
        cpSync(join(folder, 'node_modules/soapbridge/docs'), join(folder, 'docs'), { recursive: true });
        const page = readFileSync(join(folder, `docs/${name}.md`), 'utf8');
        const [, overlay = ''] = /^```yaml overlay\n(.*?)^```/ms.exec(page) ?? [];
        const result = await runPage(
          t,
          page,
          new Map(),
          (command) => {
            if (command.endsWith(' --force')) appendFileSync(join(folder, 'orders/soap.yaml'), overlay);
          },
          { folder, environment: environmentOf(set.node), lineOf: (command) => command },
        );
        t.deepEqual(result, counts);
      },
    );
  }
}

test.serial('docs/migrate.md: the example works in a folder with the package under Node 22', async (t) => {
  const set = setUp(t, 22);
  if (set === undefined) return;
  t.timeout(110_000);
  const folder = join(set.folder, 'migrate');
  mkdirSync(folder);
  symlinkSync(join(set.folder, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), readFileSync(join(set.folder, 'package.json')));
  const own = join(folder, 'node_modules/soapbridge');
  cpSync(join(own, 'examples'), join(folder, 'examples'), { recursive: true });
  const page = readFileSync(join(own, 'docs/migrate.md'), 'utf8');
  const place = { folder, environment: environmentOf(set.node), lineOf: (command: string) => command };
  t.deepEqual(await walkMigration(t, page, place), { served: 6, compared: 7 });
});

test.serial('npm install of a git address builds the package', async (t) => {
  if (app === undefined || !existsSync(join(root, '.git'))) {
    t.log("skipped: there is no repository, or npm's registry gave no dependencies");
    t.pass();
    return;
  }
  t.timeout(600_000);
  const folder = join(directory, 'from-git');
  mkdirSync(folder);
  execFileSync('npm', ['init', '-y'], { cwd: folder, stdio: 'ignore' });
  const child = spawn('npm', ['install', '--no-audit', '--no-fund', `git+file://${root}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // ava stops a file that reports nothing for two minutes
  const heartbeat = setInterval(() => t.log('npm installs'), 30_000);
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  clearInterval(heartbeat);
  t.is(code, 0, errors);
  t.deepEqual(
    filesOf(join(folder, 'node_modules/soapbridge')),
    filesOf(join(app, 'node_modules/soapbridge')),
  );
  const command = [
    '--no-install',
    'soapbridge',
    'check',
    '--openapi',
    'node_modules/soapbridge/docs/tutorial/openapi.yaml',
  ];
  const { status, stdout } = spawnSync('npx', command, {
    cwd: folder,
    encoding: 'utf8',
    env: environmentOf(process.execPath),
  });
  t.is(status, 0);
  t.regex(stdout, /^CityLibrary: 2 operations/);
});

test.serial('prepare does nothing in the packed package, which has no sources', (t) => {
  if (app === undefined) {
    t.log("skipped: npm's registry gave no dependencies");
    t.pass();
    return;
  }
  const own = join(app, 'node_modules/soapbridge');
  const before = filesOf(own);
  for (const script of ['prepare', 'prepack']) {
    const { status, stderr } = spawnSync('npm', ['run', script], { cwd: own, encoding: 'utf8' });
    t.is(status, 0, stderr);
  }
  t.deepEqual(filesOf(own), before);
});

test.serial('under Node 20 the command prints one sentence and exits with 1', async (t) => {
  const set = setUp(t, 20);
  if (set === undefined) return;
  const child = npx(t, set.folder, set.node, ['serve']);
  const [said, told, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  t.deepEqual([code, said], [1, '']);
  t.regex(told, /^soapbridge needs Node 22\.19 or newer, and this is Node 20\.\d+\.\d+\.$/m);
  t.notRegex(told, /^ +at /m);
});

test.serial('the types of the packed package accept the examples of docs/embedding.md', (t) => {
  if (app === undefined) {
    t.log("skipped: npm's registry gave no dependencies");
    t.pass();
    return;
  }
  cpSync(join(app, 'node_modules/soapbridge/docs/embedding'), join(app, 'docs/embedding'), {
    recursive: true,
  });
  symlinkSync(join(root, 'node_modules/@types'), join(app, 'node_modules/@types'));
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext'];
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/typescript/bin/tsc'),
      ...options,
      ...['--target', 'es2024', '--types', 'node'],
      ...['koa', 'node-http', 'fetch', 'hooks', 'codec', 'authoring'].map(
        (name) => `docs/embedding/${name}.mts`,
      ),
    ],
    { cwd: app, encoding: 'utf8' },
  );
  t.is(status, 0, stdout);
});
