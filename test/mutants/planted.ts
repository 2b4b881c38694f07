import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { plantedFaults } from './planted-faults.ts';

// Plants one fault at a time in a copy of the project, and runs the tests of `npm test` that must detect it.

const root = fileURLToPath(new URL('../..', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'soapbridge-planted-'));

test.before(() => {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});
test.after.always(() => rmSync(copy, { recursive: true }));

/** Runs a test file in the copy. Returns false if a test fails, or if the file is not part of `npm test`. */
function passes(file: string): boolean {
  const ava = join(copy, 'node_modules/ava/entrypoints/cli.js');
  const environment: NodeJS.ProcessEnv = { ...process.env, TESTS: 'quick', AVA_PATH: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, [ava, file], {
    cwd: copy,
    env: environment,
    encoding: 'utf8',
  });
  if (status !== 0 && status !== 1) throw new Error(`ava ended with ${status}: ${stdout}${stderr}`);
  return status === 0;
}

test.serial('without a fault the tests pass', (t) => {
  for (const file of new Set(plantedFaults.flatMap(({ tests }) => tests))) t.true(passes(file), file);
});

for (const { title, file, code, fault, tests } of plantedFaults) {
  test.serial(`npm test notices that ${title}`, (t) => {
    const path = join(copy, file);
    const text = readFileSync(path, 'utf8');
    t.is(text.split(code).length, 2, `${file} has the code once`);
    writeFileSync(
      path,
      text.replace(code, () => fault),
    );
    try {
      for (const name of tests) t.false(passes(name), name);
    } finally {
      writeFileSync(path, text);
    }
  });
}
