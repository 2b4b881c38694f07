import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const root = fileURLToPath(new URL('..', import.meta.url));
const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
/** Scripts that are a program of the tests or the benchmark, by their name in package.json. */
const programs = Object.entries(scripts).flatMap(([name, command]) => {
  const [, file] = /^node ((?:bench|test)\/\S+\.ts)$/.exec(command) ?? [];
  return file === undefined ? [] : [{ name, file }];
});

function run(file: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('package.json has programs of the tests and the benchmark', (t) => {
  const names = programs.map(({ name }) => name);
  for (const name of ['bench', 'bench:against', 'fuzz', 'golden', 'mutants', 'soak'])
    t.true(names.includes(name), name);
});

for (const { name, file } of programs) {
  test(`npm run ${name} -- --help prints help`, (t) => {
    const { status, stdout, stderr } = run(file, '--help');
    t.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    t.regex(stdout, new RegExp(`npm run ${name}\\b[^]*\n  --help +this\n`));
  });

  test(`npm run ${name} refuses an unknown option`, (t) => {
    t.deepEqual(run(file, '--no-such-option'), {
      status: 2,
      stdout: '',
      stderr: "Unknown option '--no-such-option'; --help shows the options\n",
    });
  });
}

test('an option without its value is refused', (t) => {
  t.deepEqual(run('test/soak/run.ts', '--minutes'), {
    status: 2,
    stdout: '',
    stderr: "Option '--minutes <value>' argument missing; --help shows the options\n",
  });
});

test('a word in place of a number is refused', (t) => {
  t.deepEqual(run('test/soak/run.ts', '--minutes', 'ten'), {
    status: 2,
    stdout: '',
    stderr: '--minutes: expected a number from 0.1, got ten; --help shows the options\n',
  });
});
