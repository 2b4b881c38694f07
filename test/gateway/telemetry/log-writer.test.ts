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

test('logBytes: lines of that many bytes wait for a late reader; one more is dropped and counted', (t) => {
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

test('a burst is kept up to the last whole line that fits, and later lines are dropped', (t) => {
  const { read, write } = pipe(t);
  stuff(write);
  const log = new LogWriter(write, 250, false);
  log.write(Buffer.concat([lineOf('a', 100), lineOf('b', 100), lineOf('c', 100)]));
  t.is(log.dropped, 1);
  taken(read);
  log.end();
  t.regex(taken(read), /^\n*"a\.+"\n"b\.+"\n\{"level":40,"time":\d+,"dropped":1,"msg":"[^"]+"\}\n$/);
});

test('waiting lines are written when the reader reads', async (t) => {
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

test('the end waits about a second for a late reader, and then stops', (t) => {
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

test('a disk with space again gets whole lines, and one with the number of lost ones', (t) => {
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

test('a full disk keeps neither a refused audit line nor its first part', (t) => {
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

test('an audit file that ends in a partial line continues on a new line', (t) => {
  const path = join(folder(t), 'audit.log');
  writeFileSync(path, '{"number":1}\n{"numb');
  const audit = new AuditFile(path);
  audit.write(Buffer.from('{"number":2}\n'));
  audit.reopen();
  audit.write(Buffer.from('{"number":3}\n'));
  t.is(readFileSync(path, 'utf8'), '{"number":1}\n{"numb\n{"number":2}\n{"number":3}\n');
});

test('an audit line after another process’s partial line starts on a new line', (t) => {
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

test('lines for a pipe with less space are written whole, between lines of other workers', (t) => {
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

test('a line longer than an atomic pipe write is written', (t) => {
  const { read, write } = pipe(t);
  const lines = Buffer.concat([lineOf('a', 300), lineOf('b', 9_000), lineOf('c', 4_096), lineOf('d', 10)]);
  new LogWriter(write, 100, true).write(lines);
  t.is(taken(read), lines.toString());
});

test('a finished write gets its reply if its second audit line fails, and its outcome is logged', async (t) => {
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

test('a late audit pipe reader refuses a line, and the write is not sent', async (t) => {
  const { write, path } = pipe(t);
  const gateway = await startGateway(t, { serve: { auditLog: path } });
  stuff(write);
  const headers = { 'X-Api-User': 'u', 'X-Api-Key': 'key' };
  const reply = await gateway.send('PUT', '/subusers/update', headers, '{"request":{"subUserName":"a"}}');
  t.is(reply.status, 500);
  t.is(gateway.hits.length, 0);
});
