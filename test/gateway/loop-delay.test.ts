import test from 'ava';
import { emptyReply, keyHeaders, type Reply, startGateway } from './gateway.ts';

// A file of its own: it holds the event loop that the gateway shares with it.

function holdLoop(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('loopDelayMs and loopDelayInFlight: when the loop is late two calls go on coming in, a third is shed until it isn’t', async (t) => {
  const patient = { totalMs: 600_000, upstreamFirstByteMs: 600_000 }; // what is held stays so on any machine
  const limits = { ...patient, loopDelayMs: 1_000, loopDelayInFlight: 2 };
  const gateway = await startGateway(t, { limits });
  const read = (): Promise<Reply> => gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  const held: (() => void)[] = [];
  const hold = async (count: number): Promise<void> => {
    gateway.answer((_hit, response) => held.push(() => response.end(emptyReply)));
    read();
    while (held.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    gateway.answer({ body: emptyReply });
  };
  /** Holds the loop for so long before each call, until one is answered with that status. */
  const until = async (status: number, ms: number): Promise<Reply> => {
    for (;;) {
      holdLoop(ms);
      await new Promise((resolve) => setTimeout(resolve, 10)); // the timers that look at the delay run first
      const reply = await read();
      if (reply.status === status) return reply;
    }
  };
  await hold(1);
  await hold(2);
  t.is((await until(503, 1_500)).headers['retry-after'], '1');
  held[0]?.();
  while (gateway.running.load().inFlight > 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await until(200, 1_500); // as late as before, and the second call of two comes in
  await hold(3);
  await until(200, 0);
  for (const release of held) release();
});
