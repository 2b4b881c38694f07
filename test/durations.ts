import { appendFileSync, readFileSync } from 'node:fs';
import test from 'ava';

// ava loads this file into each test process if TEST_DURATIONS names a file (see ava.config.js). Each process appends a
// line: its CPU time, the CPU time of its child processes, both in seconds (Linux, proc(5)), and the test file.

const ticksPerSecond = 100;

process.on('exit', () => {
  const [user, system, childUser, childSystem] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(11, 15)
    .map(Number);
  const seconds = (a = 0, b = 0): string => ((a + b) / ticksPerSecond).toFixed(2);
  const line = [seconds(user, system), seconds(childUser, childSystem), test.meta.file].join('\t');
  appendFileSync(process.env.TEST_DURATIONS ?? '', `${line}\n`);
});
