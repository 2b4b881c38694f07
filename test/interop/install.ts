import { run } from './run-command.ts';
import type { Stack } from './stacks.ts';

const aptLimitMs = 900_000;
const setupLimitMs = 600_000;

/** Installs all Debian packages at once, then runs each stack's own setup. Throws the output of the first failure. */
export async function installStacks(stacks: readonly Stack[]): Promise<void> {
  const packages = [...new Set(stacks.flatMap(({ apt = [] }) => apt))].toSorted();
  const apt = ['install', '-y', '-qq', '--no-install-recommends', ...packages];
  await must('apt-get', apt, import.meta.dirname, aptLimitMs);
  for (const { setup, folder } of stacks) {
    if (setup !== undefined) await must('/bin/sh', ['-c', setup], folder, setupLimitMs);
  }
}

async function must(
  command: string,
  args: readonly string[],
  folder: string,
  limitMs: number,
): Promise<void> {
  const environment = { DEBIAN_FRONTEND: 'noninteractive' };
  const { ok, output, errors } = await run(command, args, { folder, limitMs, environment });
  if (!ok) throw new Error(`${command} ${args.join(' ')}: ${errors.trim() || output.trim()}`);
}
