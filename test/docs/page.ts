import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Reads a page of docs/. */
export function readPage(name: string): string {
  return readFileSync(join(root, 'docs', name), 'utf8');
}

/** A command of a page. */
export interface Step {
  readonly command: string;
  readonly serves: boolean;
  /** Expected output, or undefined if the page shows none. */
  readonly prints: string | undefined;
}

/** Returns the commands of a page in order. */
export function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(/^```sh( serve)?\n(.*?)\n```\n(?:\n```\n(.*?\n)```\n)?/gms)].map(
    ([, serves, command = '', prints]) => ({ command, serves: serves !== undefined, prints }),
  );
}

/** The environment in which a page's commands run. */
export interface Place {
  readonly folder: string;
  /** Additional environment variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns the command line for a command of the page. */
  readonly lineOf: (command: string) => string;
}

const node = `'${process.execPath}' `;

const bin = join(root, 'bin/soapbridge.js');

/** A clone of the repository that uses the running Node. */
export const clone: Place = {
  folder: root,
  environment: {},
  lineOf: (command) => {
    const own = command.includes('||') ? node : `exec ${node}`; // a shell runs the command after ||
    return command.replace(/^npx soapbridge/m, `${own}'${bin}'`).replace(/^node /, own);
  },
};

/** Runs a command of a page in a shell. */
function shell(
  t: ExecutionContext,
  command: string,
  { folder, environment, lineOf }: Place,
): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const child = spawn('sh', ['-c', lineOf(command)], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      SOAPBRIDGE_DRAIN_DELAY: '0',
      SOAPBRIDGE_LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // a process group, so that the shell, npx and the command end together
  });
  t.teardown(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  });
  return child;
}

/** A server that a command of a page has started. */
export interface Served {
  readonly port: string;
  /** Stops the server like Ctrl+C. */
  readonly stop: () => Promise<void>;
}

/** Starts a server, and waits until it reports its port. */
export async function serve(t: ExecutionContext, command: string, place: Place): Promise<Served> {
  const child = shell(t, command, place);
  const closed = once(child, 'close');
  let out = '';
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const found = /listens on https?:\/\/127\.0\.0\.1:(\d+)/.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error(`${command}: expected a line with the port, got ${out}`)));
  });
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    await closed;
  };
  return { port, stop };
}

/** Runs a command that ends. Returns what it prints, and its exit code. */
export async function run(
  t: ExecutionContext,
  command: string,
  place: Place,
): Promise<{ readonly out: string; readonly code: number }> {
  const child = shell(t, command, place);
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { out, code };
}

/**
 * Runs all commands of a page in order, and compares their output with the page.
 *
 * @param places replacements for texts in commands
 * @param before called before each command
 * @param place where the commands run; a clone by default
 * @returns the number of commands that serve, and of compared outputs
 */
export async function runPage(
  t: ExecutionContext,
  page: string,
  places: Map<string, string>,
  before: (command: string) => void = () => {},
  place: Place = clone,
): Promise<{ readonly served: number; readonly compared: number }> {
  const steps = stepsOf(page);
  let compared = 0;
  for (const { command, serves, prints } of steps) {
    before(command);
    let here = command;
    for (const [there, meant] of places) here = here.replaceAll(there, meant);
    if (serves) {
      const served = command.includes('upstream.mjs') ? '127.0.0.1:9090' : '127.0.0.1:8080';
      places.set(served, `127.0.0.1:${(await serve(t, here, place)).port}`);
      continue;
    }
    const { out, code } = await run(t, here, place);
    t.is(code, 0, command);
    if (prints === undefined) continue;
    t.is(out.trimEnd(), prints.trimEnd(), command);
    compared++;
  }
  return { served: steps.filter(({ serves }) => serves).length, compared };
}

/** Checks that the files and pages that a page names exist. */
export function checkFiles(t: ExecutionContext, page: string): void {
  for (const [, path = ''] of page.matchAll(/(?:npx soapbridge \w+ |@|< )(docs\/\S+)/g))
    t.true(readFileSync(join(root, path), 'utf8').length > 0, path);
  for (const [, link = ''] of page.matchAll(/\]\(([\w./-]+\.(?:md|mjs|wsdl))\)/g))
    t.true(readFileSync(join(root, 'docs', link), 'utf8').length > 0, dirname(link));
}
