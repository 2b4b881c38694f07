import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { createWaitingRequests } from '../../../gateway/http/waiting-requests.ts';

const hourMs = 3_600_000;

/** Records the requests that are begun, and creates replies to them. */
function startWaiting(most: number, placeMs: number) {
  const wait = createWaitingRequests(most, placeMs);
  const begun: number[] = [];
  return {
    begun,
    ask: (number: number, isGone = false): ServerResponse => {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      if (isGone) response.destroy();
      wait(response, () => begun.push(number));
      return response;
    },
  };
}

test('a limited number of requests run; the next starts when one is written or its caller left', async (t) => {
  const { begun, ask } = startWaiting(2, hourMs);
  const [first, second] = [0, 1, 2, 3, 4].map((number) => ask(number));
  t.deepEqual(begun, [0, 1]);
  first?.emit('prefinish');
  first?.emit('close');
  t.deepEqual(begun, [0, 1]); // not in the same iteration
  await turn();
  t.deepEqual(begun, [0, 1, 2]);
  second?.destroy();
  await turn();
  await turn();
  t.deepEqual(begun, [0, 1, 2, 3]);
});

test('a waiting request whose caller disconnected uses no slot', (t) => {
  const { begun, ask } = startWaiting(1, hourMs);
  for (let number = 0; number < 3; number++) ask(number, true);
  ask(3);
  ask(4);
  t.deepEqual(begun, [0, 1, 2, 3]);
});

test('a request that takes long releases its slot to others, once', async (t) => {
  const { begun, ask } = startWaiting(1, 5);
  const first = ask(0);
  ask(1);
  while (begun.length < 2) await pause(1);
  first.emit('prefinish');
  for (let number = 2; number < 4; number++) ask(number);
  t.true(begun.length < 4);
  while (begun.length < 4) await pause(1);
  t.deepEqual(begun, [0, 1, 2, 3]);
});
