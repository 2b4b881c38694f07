import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface RunOptions {
  readonly folder: string;
  /** Time in ms after which the command and its child processes are killed. */
  readonly limitMs: number;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Finished {
  readonly ok: boolean;
  readonly output: string;
  /** Standard error, and the reason if the command was killed. */
  readonly errors: string;
}

const binaries = join(import.meta.dirname, '../../node_modules/.bin');

/** Runs a command with the project's own Node first on the PATH. Never rejects: a missing command is a failure. */
export async function run(
  command: string,
  args: readonly string[],
  { folder, limitMs, environment = {} }: RunOptions,
): Promise<Finished> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, PATH: `${binaries}${delimiter}${process.env.PATH}`, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group, so that child processes can be killed with it
  });
  let why = '';
  const ended = new Promise<boolean>((resolve) => {
    child.once('error', (error) => {
      why = `${command}: ${error.message}`;
      resolve(false);
    });
    child.once('close', (code) => resolve(code === 0));
  });
  const timer = setTimeout(() => {
    why = `${command}: expected an end within ${limitMs / 1000} s, got none`;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, limitMs);
  const [ok, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  clearTimeout(timer);
  return { ok: ok && why === '', output, errors: why === '' ? errors : `${errors}\n${why}` };
}
