import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Attack, Target } from '../attack.ts';
import { keep, open, post, screening } from '../wire.ts';
import { callInLoop } from './overload.ts';

const fastCallers = 10;
/** Time that a caller of the fast operation pauses between two calls, in ms. */
const pauseMs = 100;
const maxMedianMs = 50;

/** Sends a message and returns the status of its reply, or an empty text if the connection closes. */
function statusOf(socket: Socket, message: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const end = (chunk: unknown): void => {
      socket.off('data', end).off('close', end);
      resolve(Buffer.isBuffer(chunk) ? chunk.toString('latin1', 9, 12) : '');
    };
    socket.on('data', end).on('close', end).write(message);
  });
}

/** Makes calls one after the other, and returns their times in ms. A call without status 200 has an infinite time. */
async function callOften(target: Target): Promise<readonly number[]> {
  const message = post('/v2/soap11', screening('UpdateSubUser', 'slow 10'));
  const times: number[] = [];
  const socket = open(target);
  while (!target.signal.aborted && !socket.destroyed) {
    const began = performance.now();
    const status = await statusOf(socket, message);
    if (target.signal.aborted) break;
    times.push(status === '200' ? performance.now() - began : Number.POSITIVE_INFINITY);
    await pause(pauseMs, undefined, { signal: target.signal }).catch(() => {}); // aborted: the loop checks the signal
  }
  return times;
}

/** The slow and the fast callers have the same address and the same credentials. */
export const starvation: Attack = {
  name: 'starvation',
  says: '150 calls of a read that takes 8 s, beside 10 callers of a fast write with the same address and caller',
  run: async (target) => {
    const slow = post('/v2/soap11', screening('GetSearch', 'slow 8000'));
    const [, ...fast] = await Promise.all([
      keep(150, target, (socket) => callInLoop(socket, target, slow)),
      ...Array.from({ length: fastCallers }, () => callOften(target)),
    ]);
    const times = fast.flat().toSorted((a, b) => a - b);
    const failed = times.filter((ms) => !Number.isFinite(ms)).length;
    const median = times[Math.floor(times.length / 2)] ?? Number.POSITIVE_INFINITY;
    const problems: string[] = [];
    if (median > maxMedianMs) problems.push(`fast calls took ${median.toFixed(0)} ms in the median`);
    if (failed * 100 > times.length) problems.push(`${failed} of ${times.length} fast calls failed`);
    return problems;
  },
};
