import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { AuditFile } from '../../../gateway/telemetry/audit-file.ts';
import { LogWriter } from '../../../gateway/telemetry/log-writer.ts';
import { emptyReply, startGateway } from '../gateway.ts';

function folder(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Mounts a disk of 16 KiB. Returns undefined if this user may not mount. */
function smallDisk(t: ExecutionContext): string | undefined {
  const directory = folder(t);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    t.log('no disk can be mounted here: left out');
    t.pass();
    return undefined;
  }
  t.teardown(() => execFileSync('umount', ['--lazy', directory]));
  return directory;
}

/** Opens both ends of a pipe in non-blocking mode. */
function pipe(t: ExecutionContext): { readonly read: number; readonly write: number; readonly path: string } {
  const path = join(folder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { read, write: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK), path };
}

/** Reads the current contents of a pipe. */
function taken(fd: number): string {
  const room = Buffer.alloc(2 * 1024 * 1024);
  let length = 0;
  try {
    for (let more = 1; more > 0; length += more) more = readSync(fd, room, { offset: length });
  } catch {} // the pipe is empty
  return room.toString('utf8', 0, length);
}

/** Fills a pipe without a reader. */
function stuff(fd: number): void {
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096, '\n'));
  } catch {}
}

const lineOf = (name: string, length: number): Buffer => Buffer.from(`"${name.padEnd(length - 3, '.')}"\n`);

test('logBytes: lines of so many bytes wait for a late reader, one more is dropped, counted and told of', (t) => {
  const { read, write } = pipe(t);
  stuff(write);
  const log = new LogWriter(write, 300, false);
  log.write(Buffer.concat([lineOf('a', 100), lineOf('b', 100)]));
  log.write(lineOf('c', 100));
  t.is(log.dropped, 0);
  log.write(lineOf('d', 10));
  t.is(log.dropped, 1);
  taken(read);
  log.write(lineOf('e', 10));
  const lines = taken(read).trim().split('\n').filter(Boolean);
  t.deepEqual(
    lines.map((line) => JSON.parse(line)).map((line) => line.dropped ?? line.at(0)),
    ['a', 'b', 'c', 1, 'e'],
  );
});

test('of what comes at once, whole lines wait as far as they fit, and those behind them are dropped', (t) => {
  const { read, write } = pipe(t);
  stuff(write);
  const log = new LogWriter(write, 250, false);
  log.write(Buffer.concat([lineOf('a', 100), lineOf('b', 100), lineOf('c', 100)]));
  t.is(log.dropped, 1);
  taken(read);
  log.end();
  t.regex(taken(read), /^\n*"a\.+"\n"b\.+"\n\{"level":40,"time":\d+,"dropped":1,"msg":"[^"]+"\}\n$/);
});

test('what waits goes out by itself once the reader reads', async (t) => {
  const { read, write } = pipe(t);
  stuff(write);
  new LogWriter(write, 250, false).write(lineOf('a', 100));
  taken(read);
  let came = '';
  while (came === '') {
    await pause(10);
    came = taken(read);
  }
  t.regex(came, /^"a\.+"\n$/);
});

test('the end waits about a second for a late reader, and not for one that never reads', (t) => {
  const { write } = pipe(t);
  stuff(write);
  const log = new LogWriter(write, 250, false);
  log.write(lineOf('a', 100));
  const began = performance.now();
  log.end();
  const took = performance.now() - began;
  t.true(took > 900 && took < 10_000);
});

test('without a reader lines are dropped and counted, and none wait', (t) => {
  const { read, write } = pipe(t);
  closeSync(read);
  const log = new LogWriter(write, 250, false);
  for (let index = 0; index < 5; index++) log.write(lineOf('a', 100));
  t.is(log.dropped, 5);
  log.end();
});

test('a full disk takes lines again once there is room: each is whole, and one says how many are missing', (t) => {
  const disk = smallDisk(t);
  if (disk === undefined) return;
  const path = join(disk, 'log');
  const log = new LogWriter(openSync(path, 'a'), 250, false);
  let written = 0;
  while (log.dropped === 0) log.write(Buffer.from(`{"number":${written++},"text":"${'x'.repeat(70)}"}\n`));
  log.write(Buffer.from('{"number":"missing"}\n{"number":"missing too"}\n'));
  t.is(log.dropped, 3);
  t.false(readFileSync(path, 'utf8').endsWith('\n'), 'the disk took a part of a line');
  execFileSync('mount', ['-o', 'remount,size=64k', disk]);
  log.write(Buffer.from('{"number":"last"}\n'));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const told = lines.map((line) => JSON.parse(line)).map(({ number, dropped }) => dropped ?? number);
  t.deepEqual(told, [...Array(written - 1).keys(), 3, 'last']);
});

test('an audit line that a full disk refused is not in the file later, nor the rest of one that it took a part of', (t) => {
  const disk = smallDisk(t);
  if (disk === undefined) return;
  const path = join(disk, 'audit');
  const audit = new AuditFile(path);
  let sent = 0;
  const refused: number[] = [];
  for (let number = 0; refused.length < 3; number++) {
    try {
      audit.write(Buffer.from(`{"number":${number},"text":"${'x'.repeat(70)}"}\n`));
      sent++;
    } catch (error) {
      t.is((error as NodeJS.ErrnoException).code, 'ENOSPC');
      refused.push(number);
    }
  }
  execFileSync('mount', ['-o', 'remount,size=64k', disk]);
  audit.write(Buffer.from('{"number":"last"}\n'));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  t.is(lines.length, sent + 2);
  const whole = lines.toSpliced(-2, 1).map((line): unknown => JSON.parse(line).number);
  t.deepEqual(whole, [...Array(sent).keys(), 'last']);
  t.false(lines.at(-2)?.endsWith('}'), 'the part of the refused line stands alone');
});

test('an audit file that ends amid a line, as a process left it, goes on behind it on a line of its own', (t) => {
  const path = join(folder(t), 'audit.log');
  writeFileSync(path, '{"number":1}\n{"numb');
  const audit = new AuditFile(path);
  audit.write(Buffer.from('{"number":2}\n'));
  audit.reopen();
  audit.write(Buffer.from('{"number":3}\n'));
  t.is(readFileSync(path, 'utf8'), '{"number":1}\n{"numb\n{"number":2}\n{"number":3}\n');
});

test('an audit line behind a part of one, as a full disk left it of another process’s, stands on a line of its own', (t) => {
  const disk = smallDisk(t);
  if (disk === undefined) return;
  const path = join(disk, 'audit');
  const [one, other] = [new AuditFile(path, true), new AuditFile(path, true)];
  let sent = 0;
  t.throws(
    () => {
      for (; ; sent++) one.write(Buffer.from(`{"number":${sent},"text":"${'x'.repeat(70)}"}\n`));
    },
    { code: 'ENOSPC' },
  );
  execFileSync('mount', ['-o', 'remount,size=64k', disk]);
  other.write(Buffer.from('{"number":"other"}\n'));
  one.write(Buffer.from('{"number":"one"}\n'));
  const lines = readFileSync(path, 'utf8').split('\n');
  t.deepEqual(lines.toSpliced(sent, 1).slice(sent), ['{"number":"other"}', '{"number":"one"}', '']);
});

test('lines that come at once go into a pipe with less room whole, so that those of other workers stand between them', (t) => {
  const { read, write } = pipe(t);
  stuff(write);
  readSync(read, Buffer.alloc(5_000));
  const log = new LogWriter(write, 100_000, true);
  const other = new LogWriter(write, 100_000, true);
  log.write(Buffer.concat(Array.from({ length: 100 }, () => lineOf('a', 300))));
  let came = taken(read);
  other.write(lineOf('b', 300));
  log.end();
  came += taken(read);
  const lines = came.split('\n').filter(Boolean);
  t.is(lines.length, 101);
  t.deepEqual(
    lines.filter((line) => line.length !== 299),
    [],
  );
});

test('a line longer than goes whole is written all the same', (t) => {
  const { read, write } = pipe(t);
  const lines = Buffer.concat([lineOf('a', 300), lineOf('b', 9_000), lineOf('c', 4_096), lineOf('d', 10)]);
  new LogWriter(write, 100, true).write(lines);
  t.is(taken(read), lines.toString());
});

test('a write that was done has its reply though its second audit line is refused, and its outcome in the log', async (t) => {
  const { read, write, path } = pipe(t);
  const gateway = await startGateway(t, { serve: { auditLog: path } });
  closeSync(write);
  let sending = '';
  gateway.answer((_hit, response) => {
    sending = taken(read);
    closeSync(read);
    response.end(emptyReply);
  });
  const headers = { 'X-Api-User': 'u', 'X-Api-Key': 'key' };
  const reply = await gateway.send('PUT', '/subusers/update', headers, '{"request":{"subUserName":"a"}}');
  t.is(reply.status, 200);
  t.is(JSON.parse(sending).audit, 'sending');
  t.regex(gateway.log(), /"code":"EPIPE".*"msg":"audit line of a write lost"/);
  t.regex(gateway.log(), /"audit":"settled","outcome":"answered"/);
});

test('an audit pipe whose reader is late refuses a line, and the write is not sent', async (t) => {
  const { write, path } = pipe(t);
  const gateway = await startGateway(t, { serve: { auditLog: path } });
  stuff(write);
  const headers = { 'X-Api-User': 'u', 'X-Api-Key': 'key' };
  const reply = await gateway.send('PUT', '/subusers/update', headers, '{"request":{"subUserName":"a"}}');
  t.is(reply.status, 500);
  t.is(gateway.hits.length, 0);
});
