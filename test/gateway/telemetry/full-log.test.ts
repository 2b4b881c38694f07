import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { withConstants } from '../../constant-limits.ts';
import { freePort } from '../../free-port.ts';
import { send } from '../gateway.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

function folder(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Starts a serving process with this descriptor as its standard output. It does not wait for output. */
async function serveInto(
  t: ExecutionContext,
  fd: number,
  environment: Record<string, string> = {},
): Promise<{ readonly child: ChildProcess; readonly port: number; readonly call: () => Promise<number> }> {
  const port = await freePort();
  const child = spawn(process.execPath, ['bin/soapbridge.js', 'serve', '--demo'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', PORT: String(port), SOAPBRIDGE_DRAIN_DELAY: '0', ...environment },
    stdio: ['ignore', fd, 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  closeSync(fd);
  const isReady = () => send(port, 'GET', '/readyz').then(({ status }) => status === 200);
  while (!(await isReady().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`expected it to serve, got exit code ${child.exitCode}`);
    await pause(20);
  }
  const headers = { 'X-Api-User': 'demo', 'X-Api-Key': 'demo-key' };
  const call = async () =>
    (await send(port, 'POST', '/v2/json/reply/GetSearch', headers, '{"request":{"id":1}}')).status;
  return { child, port, call };
}

async function droppedOf(port: number): Promise<number> {
  const { text } = await send(port, 'GET', '/metrics');
  return Number(/^soapbridge_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
}

/** Calls the gateway at least once and until it has dropped lines. Each call must be answered. */
async function callUntilDropping(
  t: ExecutionContext,
  port: number,
  call: () => Promise<number>,
): Promise<number> {
  let calls = 0;
  do {
    t.deepEqual(await Promise.all(Array.from({ length: 100 }, call)), Array(100).fill(200));
    calls += 100;
    await pause(20);
  } while ((await droppedOf(port)) === 0);
  return calls;
}

interface LogLine {
  readonly dropped?: number;
  readonly requestId?: string;
}

/** Returns the lines of a log without the start line, which is the first or second line. */
function linesOf(log: string): readonly LogLine[] {
  const lines = log.trimEnd().split('\n');
  return lines.filter((line) => !line.includes('soapbridge listens')).map((line) => JSON.parse(line));
}

async function endsClean(t: ExecutionContext, child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  t.is(code, 0);
}

for (const workers of ['1', '2']) {
  (existsSync('/dev/full') ? test.serial : test.serial.skip)(
    `with a log that takes nothing, SOAPBRIDGE_WORKERS=${workers}, every call is answered, and the metric says what is missing`,
    async (t) => {
      const environment = { SOAPBRIDGE_WORKERS: workers, SOAPBRIDGE_UPSTREAM_DB: join(folder(t), 'db') };
      const { child, port, call } = await serveInto(t, openSync('/dev/full', 'w'), environment);
      await callUntilDropping(t, port, call);
      await endsClean(t, child);
    },
  );
}

test.serial(
  'a log on a full disk continues when there is space, with one line about lost lines',
  async (t) => {
    const disk = folder(t);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      t.log('no disk can be mounted here: left out');
      t.pass();
      return;
    }
    t.teardown(() => execFileSync('umount', ['--lazy', disk]));
    const file = join(disk, 'log');
    const { child, port, call } = await serveInto(t, openSync(file, 'a'));
    const calls = await callUntilDropping(t, port, call);
    execFileSync('mount', ['-o', 'remount,size=8m', disk]);
    t.is(await call(), 200);
    await endsClean(t, child);
    const told = linesOf(readFileSync(file, 'utf8'));
    const dropped = told.reduce((sum, line) => sum + (line.dropped ?? 0), 0);
    t.true(dropped > 0);
    t.is(told.filter(({ requestId }) => requestId !== undefined).length + dropped, calls + 1);
  },
);

test.serial(
  'a stuck log reader blocks nothing, and only lines reported as dropped are missing',
  async (t) => {
    const path = join(folder(t), 'pipe');
    execFileSync('mkfifo', [path]);
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const environment = withConstants({ logBytes: 20_000 });
    const { child, port, call } = await serveInto(t, openSync(path, 'w'), environment);
    const calls = await callUntilDropping(t, port, call);
    // opens the pipe itself, so that it waits for data
    const reader = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(reader, 'close');
    let out = '';
    reader.stdout.on('data', (chunk) => {
      out += chunk;
    });
    await once(reader.stdout, 'data');
    closeSync(read);
    await endsClean(t, child);
    await closed;
    const told = linesOf(out);
    const dropped = told.reduce((sum, line) => sum + (line.dropped ?? 0), 0);
    t.true(dropped > 0);
    t.is(told.filter(({ requestId }) => requestId !== undefined).length + dropped, calls);
  },
);

test.serial('a closed log reader, before or after the start, does not stop the process', async (t) => {
  for (const when of ['before', 'after']) {
    const path = join(folder(t), 'pipe');
    execFileSync('mkfifo', [path]);
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const write = openSync(path, 'w');
    if (when === 'before') closeSync(read);
    const { child, port, call } = await serveInto(t, write);
    if (when === 'after') closeSync(read);
    await callUntilDropping(t, port, call);
    await endsClean(t, child);
  }
});
