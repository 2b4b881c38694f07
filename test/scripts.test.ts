import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const root = fileURLToPath(new URL('..', import.meta.url));
const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
/** Scripts that run a program of the tests or the benchmark, by their name in package.json. */
const programs = Object.entries(scripts).flatMap(([name, command]) => {
  const [, file] = /^node ((?:bench|test)\/\S+\.ts)$/.exec(command) ?? [];
  return file === undefined ? [] : [{ name, file }];
});

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without blocking this process, so that test results are reported in time. */
function run(file: string, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file, ...args], { cwd: root }, (_, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

test('package.json has scripts for the programs of tests and the benchmark', (t) => {
  const names = programs.map(({ name }) => name);
  for (const name of ['bench', 'bench:against', 'fuzz', 'golden', 'mutants', 'soak'])
    t.true(names.includes(name), name);
});

for (const { name, file } of programs) {
  test.serial(`npm run ${name} -- --help prints help`, async (t) => {
    const { status, stdout, stderr } = await run(file, '--help');
    t.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    t.regex(stdout, new RegExp(`npm run ${name}\\b[^]*\n  --help +print this help\n`));
  });

  test.serial(`npm run ${name} refuses an unknown option`, async (t) => {
    t.deepEqual(await run(file, '--no-such-option'), {
      status: 2,
      stdout: '',
      stderr: "Unknown option '--no-such-option'; --help shows the options\n",
    });
  });
}

test.serial('an option without its value is refused', async (t) => {
  t.deepEqual(await run('test/soak/run.ts', '--minutes'), {
    status: 2,
    stdout: '',
    stderr: "Option '--minutes <value>' argument missing; --help shows the options\n",
  });
});

test.serial('a word instead of a number is refused', async (t) => {
  t.deepEqual(await run('test/soak/run.ts', '--minutes', 'ten'), {
    status: 2,
    stdout: '',
    stderr: '--minutes: expected a number from 0.1, got ten; --help shows the options\n',
  });
});
