import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A page of docs/. */
export function readPage(name: string): string {
  return readFileSync(join(root, 'docs', name), 'utf8');
}

interface Step {
  readonly command: string;
  readonly serves: boolean;
  /** What the page says that it prints; undefined where it says nothing. */
  readonly prints: string | undefined;
}

function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(/^```sh( serve)?\n(.*?)\n```\n(?:\n```\n(.*?\n)```\n)?/gms)].map(
    ([, serves, command = '', prints]) => ({ command, serves: serves !== undefined, prints }),
  );
}

/** Runs a command of a page in a shell, as a reader would; `soapbridge` is this one. */
function shell(t: ExecutionContext, command: string): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const own = `exec '${process.execPath}' `;
  const line = command.replace(/^npx soapbridge/, `${own}bin/soapbridge.js`).replace(/^node /, own);
  const child = spawn('sh', ['-c', line], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      SOAPBRIDGE_DRAIN_DELAY: '0',
      SOAPBRIDGE_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

/** Starts what serves, and gives the port that it says it listens on. */
async function serve(t: ExecutionContext, command: string): Promise<string> {
  const [chunk] = await once(shell(t, command).stdout, 'data');
  return /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(String(chunk))?.[1] ?? '';
}

/**
 * Runs all commands of a page, one after the other, and compares what they print with what the page says.
 *
 * @param places what stands in commands, and what it is here
 * @param before called before each command
 * @returns how many commands serve, and how many were compared
 */
export async function runPage(
  t: ExecutionContext,
  page: string,
  places: Map<string, string>,
  before: (command: string) => void = () => {},
): Promise<{ readonly served: number; readonly compared: number }> {
  const steps = stepsOf(page);
  let compared = 0;
  for (const { command, serves, prints } of steps) {
    before(command);
    let here = command;
    for (const [there, place] of places) here = here.replaceAll(there, place);
    if (serves) {
      const served = command.includes('upstream.mjs') ? '127.0.0.1:9090' : '127.0.0.1:8080';
      places.set(served, `127.0.0.1:${await serve(t, here)}`);
      continue;
    }
    const child = shell(t, here);
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    t.is(code, 0, command);
    if (prints === undefined) continue;
    t.is(out.trimEnd(), prints.trimEnd(), command);
    compared++;
  }
  return { served: steps.filter(({ serves }) => serves).length, compared };
}

/** Whether each file and page that a page names is there. */
export function checkFiles(t: ExecutionContext, page: string): void {
  for (const [, path = ''] of page.matchAll(/(?:--openapi |@|< )(docs\/\S+)/g))
    t.true(readFileSync(join(root, path), 'utf8').length > 0, path);
  for (const [, link = ''] of page.matchAll(/\]\(([\w./-]+\.(?:md|mjs|wsdl))\)/g))
    t.true(readFileSync(join(root, 'docs', link), 'utf8').length > 0, dirname(link));
}
