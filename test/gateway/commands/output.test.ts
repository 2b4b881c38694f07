import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const command = join(root, 'bin/soapbridge.js');

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'soapbridge-output-'));
  t.teardown(() => rmSync(path, { recursive: true }));
  return path;
}

/** Runs `soapbridge` with what a shell does before it, and says where its output goes. */
function shell(script: string, ...args: readonly string[]) {
  const { status, stderr } = spawnSync('/bin/sh', ['-c', script, 'sh', process.execPath, command, ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '' },
  });
  return { status, stderr };
}

for (const args of [['wsdl'], ['check', '--json']]) {
  test(`of ${args.join(' ')} a file has all that is printed, or 2 and a sentence tell that it hasn’t`, (t) => {
    const whole = execFileSync(process.execPath, [command, ...args], { cwd: root });
    const path = join(folder(t), 'out');
    t.deepEqual(shell(`"$@" > '${path}'`, ...args), { status: 0, stderr: '' });
    t.true(readFileSync(path).equals(whole));
    // a disk with no room for the end takes the beginning
    const { status, stderr } = shell(`ulimit -f 1; "$@" > '${path}'`, ...args);
    t.true(statSync(path).size < whole.length);
    t.is(stderr, 'standard output: expected room for all that is printed, got EFBIG\n');
    t.is(status, 2);
  });
}

(existsSync('/dev/full') ? test : test.skip)(
  'a device that takes nothing is told by 2, not by a stack',
  (t) => {
    const { status, stderr } = shell('"$@" > /dev/full', 'check');
    t.is(stderr, 'standard output: expected room for all that is printed, got ENOSPC\n');
    t.is(status, 2);
  },
);
