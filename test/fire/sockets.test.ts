import { readdirSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { emptyReply, keyHeaders, send } from '../gateway/gateway.ts';
import { startSockets } from '../gateway/sockets.ts';
import { broken } from '../gateway/upstream/broken-upstreams.ts';
import { startProcess } from './process.ts';

/** Returns the number of open sockets of a process (Linux). */
function openSockets(pid: number): number {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).filter((fd) => {
    try {
      return readlinkSync(`${directory}/${fd}`).startsWith('socket:');
    } catch {
      return false; // closed since it was listed
    }
  }).length;
}

const whole =
  (status: string, body: string, ...lines: readonly string[]) =>
  (socket: Socket) =>
    socket.write([`HTTP/1.1 ${status}`, ...lines, `Content-Length: ${body.length}`, '', body].join('\r\n'));

/** Complete upstream responses that are errors. The connection is kept until its idle timeout. */
const answered = [
  whole('200 OK', '{"data":{"responseStatus":{"errorCode":"No"}}}'),
  whole('200 OK', ''),
  whole('200 OK', '<html>'),
  whole('200 OK', '{"data":{"id":NaN}}'),
  whole('200 OK', '{"data":{"searchRecord":[]}}'),
  whole('200 OK', emptyReply, 'Content-Encoding: gzip'),
  whole('302 Found', '', 'Location: http://127.0.0.1:9/'),
  ...[400, 401, 403, 404, 422, 429, 500, 501, 503].map((status) => whole(`${status} No`, '')),
];

(process.platform === 'linux' ? test : test.skip)(
  'after every fault of the upstream, met by reads and writes, the process has as many sockets as before',
  async (t) => {
    let onRequest: (socket: Socket, count: number) => void = () => {};
    const upstream = await startSockets(t, (socket, count) => onRequest(socket, count));
    const { child, port } = await startProcess({
      SOAPBRIDGE_UPSTREAM_URL: upstream.url,
      SOAPBRIDGE_LIMITS: 'breakerCalls=100000,upstreamFirstByteMs=300,upstreamIdleMs=300,totalMs=1000',
      SOAPBRIDGE_LOG_LEVEL: 'silent',
    });
    t.teardown(() => child.kill('SIGKILL'));
    const pid = child.pid ?? 0;
    let before = openSockets(pid);
    // waits until the start's check of the upstream has finished
    for (let same = 0; same < 10; ) {
      await pause(50);
      const now = openSockets(pid);
      same = now === before && upstream.open() === 0 ? same + 1 : 0;
      before = now;
    }
    const faults = [...broken.map(([, breaks]) => breaks), ...answered];
    for (onRequest of faults) {
      await Promise.all([
        send(port, 'POST', '/v2/json/reply/GetSearch', keyHeaders, '{}'),
        send(port, 'PUT', '/v2/subusers/update', keyHeaders, '{"request":{"subUserName":"a"}}'),
      ]);
    }
    t.true(faults.length >= 29);
    // waits until kept connections reach their idle timeout
    while (openSockets(pid) > before || upstream.open() > 0) await pause(100);
    t.is(openSockets(pid), before);
  },
);
