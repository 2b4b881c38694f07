import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { scriptArguments } from './script-arguments.ts';

scriptArguments(
  `npm run check [-- --help]

Runs the formatter, the linter, the type checks and the fast tests side by side, as \`npm test\` does. It prints the output of
a step other than ava only if the step fails. The exit code is 1 if a step fails.

  --help  print this help`,
  { options: {} },
);

const steps: readonly (readonly [command: string, ...args: string[]])[] = [
  ['biome', 'check', '.'],
  ['tsc'],
  ['tsc', '-p', 'console/client'],
  ['ava'],
];

interface Result {
  readonly line: string;
  readonly isGood: boolean;
}

/** Runs a command of the project. npm adds these commands to PATH. */
function run(command: string, args: readonly string[]): Promise<Result> {
  const name = [command, ...args].join(' ');
  const start = performance.now();
  const isShown = command === 'ava';
  const child = spawn(command, args, { stdio: isShown ? 'inherit' : 'pipe' });
  const output: Buffer[] = [];
  child.stdout?.on('data', (chunk) => output.push(chunk));
  child.stderr?.on('data', (chunk) => output.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const isGood = code === 0;
      const seconds = ((performance.now() - start) / 1_000).toFixed(0);
      if (!isGood) process.stdout.write(Buffer.concat([Buffer.from(`\n${name}:\n`), ...output]));
      resolve({
        line: `${isGood ? 'passed' : `failed with ${code ?? signal}`}, ${seconds} s: ${name}`,
        isGood,
      });
    });
  });
}

const results = await Promise.all(steps.map(([command, ...args]) => run(command, args)));
process.stdout.write(`\n${results.map(({ line }) => line).join('\n')}\n`);
if (results.some(({ isGood }) => !isGood)) process.exitCode = 1;
