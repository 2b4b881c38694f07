import { connect } from 'node:net';

/**
 * Closed-loop callers in a separate process: each sends its next call when it has the reply to the one before. After
 * receiving what to call, the process reports the results.
 */

/** Callers that repeat one call. */
export interface Callers {
  readonly port: number;
  /** A complete HTTP message. */
  readonly message: string;
  readonly callers: number;
  /** Pause of a caller between two calls, in ms. */
  readonly pauseMs?: number;
}

/** Message to the process. */
export interface Asked {
  /** Time in which the callers connect and call, and nothing is counted. */
  readonly warmUpMs: number;
  /** Time after that, in which calls are counted. */
  readonly ms: number;
  readonly groups: readonly Callers[];
}

/** Results of one group of callers: calls with and without status 200, and the times of the former in ms. */
export interface Answered {
  readonly good: number;
  readonly bad: number;
  readonly times: readonly number[];
}

/** Time after which a caller without a connection opens one, in ms. */
const reopenMs = 20;

interface Group {
  readonly asked: Callers;
  good: number;
  bad: number;
  times: number[];
}

function call(group: Group, until: number): void {
  const { port, message, pauseMs = 0 } = group.asked;
  const socket = connect(port, '127.0.0.1');
  let began = 0;
  let received = '';
  const send = (): void => {
    if (performance.now() >= until) {
      socket.destroy();
      return;
    }
    began = performance.now();
    received = '';
    socket.write(message);
  };
  const end = (isGood: boolean): void => {
    if (isGood) {
      group.good++;
      group.times.push(performance.now() - began);
    } else group.bad++;
    began = 0;
  };
  socket.once('connect', send).on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    const headEnd = received.indexOf('\r\n\r\n');
    const length = Number(/^content-length: *(\d+)/im.exec(received)?.[1] ?? 0);
    if (headEnd === -1 || received.length < headEnd + 4 + length) return;
    end(received.startsWith('HTTP/1.1 200'));
    if (/^connection: close/im.test(received)) socket.destroy();
    else if (pauseMs > 0) setTimeout(send, pauseMs);
    else send();
  });
  socket.once('close', () => {
    const isOver = performance.now() >= until;
    if (began > 0 && !isOver) end(false);
    if (!isOver) setTimeout(call, reopenMs, group, until);
  });
}

process.on('message', ({ warmUpMs, ms, groups }: Asked) => {
  const until = performance.now() + warmUpMs + ms;
  const all: readonly Group[] = groups.map((asked) => ({ asked, good: 0, bad: 0, times: [] }));
  for (const group of all) for (let count = 0; count < group.asked.callers; count++) call(group, until);
  setTimeout(() => {
    for (const group of all) Object.assign(group, { good: 0, bad: 0, times: [] });
  }, warmUpMs);
  setTimeout(() => {
    const answered: Answered[] = all.map(({ good, bad, times }) => ({ good, bad, times }));
    process.send?.(answered);
  }, warmUpMs + ms);
});
process.once('disconnect', () => process.exit());
