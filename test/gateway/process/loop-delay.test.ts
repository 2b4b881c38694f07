import test from 'ava';
import { LoopDelay } from '../../../gateway/core/loop-delay.ts';
import { emptyReply, keyHeaders, type Reply, startGateway } from '../gateway.ts';

// These tests have their own file, because they block the event loop that they share with the gateway.

function holdLoop(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test.serial('loopDelayMs and loopDelayInFlight: while the loop is late, a third call gets 503', async (t) => {
  // no time limit ends the held calls on a slow machine
  const patient = { totalMs: 600_000, upstreamFirstByteMs: 600_000 };
  const limits = { ...patient, loopDelayMs: 1_000, loopDelayInFlight: 2 };
  const gateway = await startGateway(t, { limits });
  const read = (): Promise<Reply> => gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  const held: (() => void)[] = [];
  /**
   * Starts `count` new calls and holds them. Calls of earlier rounds are released, because only recent ones count.
   */
  const hold = async (count: number): Promise<void> => {
    for (const release of held.splice(0)) release();
    while (gateway.running.load().inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    gateway.answer((_hit, response) => held.push(() => response.end(emptyReply)));
    for (let begun = 0; begun < count; begun++) read();
    while (held.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    gateway.answer({ body: emptyReply });
  };
  /** Blocks the event loop during `count` calls in progress, until a further call gets this status. */
  const until = async (status: number, ms: number, count: number): Promise<Reply> => {
    for (;;) {
      await hold(count);
      holdLoop(ms);
      await new Promise((resolve) => setTimeout(resolve, 10)); // the timers that measure the delay run first
      const reply = await read();
      if (reply.status === status) return reply;
    }
  };
  t.is((await until(503, 1_500, 2)).headers['retry-after'], '1');
  await until(200, 1_500, 1); // the same delay, but the second of two calls is accepted
  await until(200, 0, 2);
  for (const release of held) release();
});

test.serial('a stop of the loop is reported at once, a repeated one with the second in two checks', (t) => {
  let now = 0;
  const delay = new LoopDelay(() => now);
  t.teardown(() => delay.stop());
  /** Takes a measurement, this late after the timer was due. */
  const takeAfter = (ms: number): readonly number[] => {
    now += 50 + ms;
    const { mostMs, repeatedMs } = delay.take();
    return [mostMs, repeatedMs];
  };
  t.deepEqual([300, 0, 0, 300, 200, 0, 0].map(takeAfter), [
    [300, 0],
    [0, 0],
    [0, 0],
    [300, 0],
    [200, 200],
    [0, 0],
    [0, 0],
  ]);
});
