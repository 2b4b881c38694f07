import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'ava';
import { bytesOf } from '../../gateway/protocols/soap/related.ts';
import { beginning, Caller, ending, startUploads, uploads } from '../../gateway/protocols/soap/uploads.ts';
import { startProcess } from '../process.ts';

const mebibyte = 1024 * 1024;

/** Returns the peak memory of a process in bytes (`VmHWM` of /proc/PID/status). */
function mostMemory(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

test('W64: a file of almost 1 GiB is streamed while memory stays under 250 MB', async (t) => {
  const service = await startUploads(t);
  const { child, port } = await startProcess({
    SOAPBRIDGE_CONTRACT: uploads,
    SOAPBRIDGE_UPSTREAM_URL: service.url,
  });
  t.teardown(() => child.kill());
  const piece = bytesOf(256 * 1024);
  const expected = createHash('sha256');
  const caller = new Caller(port);
  const began = performance.now();
  await caller.send(beginning());
  for (let index = 0; index < 4 * 1024 - 1; index++) {
    await caller.send(piece);
    expected.update(piece);
  }
  await caller.send(ending);
  t.regex(await caller.end(), /^HTTP\/1\.1 200 /);
  const [upload] = service.got;
  t.is(upload?.bytes, 1024 * mebibyte - piece.length);
  t.is(upload?.hash, expected.digest('hex'));
  const most = mostMemory(child.pid);
  t.log(`${(most / 1e6).toFixed(0)} MB at most, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  t.true(most < 250e6, `${most} bytes`);
});

test('W64: a file that breaks off after 256 MiB never ends successfully at the upstream', async (t) => {
  const service = await startUploads(t);
  const { child, port } = await startProcess({
    SOAPBRIDGE_CONTRACT: uploads,
    SOAPBRIDGE_UPSTREAM_URL: service.url,
  });
  t.teardown(() => child.kill());
  const piece = bytesOf(256 * 1024);
  const caller = new Caller(port);
  await caller.send(beginning());
  for (let index = 0; index < 1024; index++) await caller.send(piece);
  caller.socket.destroy();
  await service.settled();
  t.is(service.got[0]?.end, 'broken');
});
