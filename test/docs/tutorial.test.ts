import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8');

interface Step {
  readonly command: string;
  readonly serves: boolean;
  /** What the page says that it prints; undefined where it says nothing. */
  readonly prints: string | undefined;
}

const steps: readonly Step[] = [
  ...page.matchAll(/^```sh( serve)?\n(.*?)\n```\n(?:\n```\n(.*?\n)```\n)?/gms),
].map(([, serves, command = '', prints]) => ({ command, serves: serves !== undefined, prints }));

/** Runs a command of the page in a shell, as a reader would; `soapbridge` is this one. */
function shell(t: ExecutionContext, command: string): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const own = `exec '${process.execPath}' `;
  const line = command.replace(/^npx soapbridge/, `${own}bin/soapbridge.js`).replace(/^node /, own);
  const child = spawn('sh', ['-c', line], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', PORT: '0', DRAIN_DELAY: '0', LOG_LEVEL: 'warn' },
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

test('docs/tutorial.md: every command does what the page says', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'tutorial-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  // the page's ports, and its overlay's place, as they are here
  const places = new Map([['--overlay soap.yaml', `--overlay ${join(directory, 'soap.yaml')}`]]);
  let checked = 0;
  for (const { command, serves, prints } of steps) {
    let here = command;
    for (const [there, place] of places) here = here.replaceAll(there, place);
    if (serves) {
      const served = command.includes('upstream.js') ? '127.0.0.1:9090' : '127.0.0.1:8080';
      places.set(served, `127.0.0.1:${await serve(t, here)}`);
      continue;
    }
    const child = shell(t, here);
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    t.is(code, 0, command);
    if (prints === undefined) continue;
    t.is(out.trimEnd(), prints.trimEnd(), command);
    checked++;
  }
  t.is(steps.filter(({ serves }) => serves).length, 2);
  t.is(checked, 6);
});

test('docs/tutorial.md names files that are there', (t) => {
  for (const [, path = ''] of page.matchAll(/(?:--openapi |@|< )(docs\/\S+)/g))
    t.true(readFileSync(join(root, path), 'utf8').length > 0, path);
  for (const [, link = ''] of page.matchAll(/\]\(([\w./-]+\.md)\)/g))
    t.true(readFileSync(join(root, 'docs', link), 'utf8').length > 0, dirname(link));
});
