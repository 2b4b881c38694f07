import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  /** Standard error. JSON lines with start errors of `serve` are replaced by their messages. */
  readonly err: string;
  /** Standard error as it was written. */
  readonly rawErr: string;
}

/** Replaces the JSON lines of start errors by their messages. */
export function withMessages(err: string): string {
  return err.replaceAll(/^\{"level":60,.*\}$/gm, (line) => JSON.parse(line).msg);
}

/** Runs `soapbridge` in the project's folder with only these environment variables. */
export function run(
  t: ExecutionContext,
  args: readonly string[],
  environment: Record<string, string> = {},
  input = '',
  cwd = root,
) {
  const child = spawn(process.execPath, [join(root, 'bin/soapbridge.js'), ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  t.teardown(() => child.kill('SIGKILL'));
  const ended: Promise<Ended> = Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]).then(([out, err, [code]]) => ({ out, err: withMessages(err), rawErr: err, code }));
  return { child, ended };
}

export interface Served {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Start line in JSON, because standard output is not a terminal. */
  readonly line: string;
  readonly port: number;
}

const upstreamFlags: ReadonlySet<string> = new Set(['--upstream', '--config', '--demo']);
const upstreamVariables = ['SOAPBRIDGE_UPSTREAM_URL', 'SOAPBRIDGE_CONFIG'];

/**
 * Starts `soapbridge serve` and waits for its start line. It serves the demo unless an upstream or a document by
 * position is given.
 */
export async function start(
  t: ExecutionContext,
  args: readonly string[] = [],
  environment: Record<string, string> = {},
): Promise<Served> {
  const isNamed = args[0] !== undefined && !args[0].startsWith('-');
  const isDemo =
    !isNamed &&
    !args.some((arg) => upstreamFlags.has(arg)) &&
    !upstreamVariables.some((name) => name in environment);
  const flags = isDemo ? ['--demo', ...args] : args;
  const { child, ended } = run(t, ['serve', ...flags], {
    PORT: '0',
    SOAPBRIDGE_LOG_LEVEL: 'warn',
    ...environment,
  });
  let out = '';
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const said = /^.*soapbridge listens .*$/m.exec(out)?.[0];
      if (said !== undefined) resolve(said);
    });
    child.once('exit', () => reject(new Error(`expected a start line, got ${out}`)));
  });
  const port = Number(/http:\/\/[^:/]+:(\d+)/.exec(line)?.[1]);
  return { child, ended, line, port };
}
