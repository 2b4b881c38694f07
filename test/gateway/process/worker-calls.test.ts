import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import test from 'ava';
import {
  answerCalls,
  ChannelClosedError,
  callOver,
  unlessClosed,
} from '../../../gateway/process/worker-calls.ts';

/** One end of a channel that passes messages on as JSON, as between a primary and a worker. */
class End extends EventEmitter {
  other: End | undefined;
  isOpen = true;

  isConnected(): boolean {
    return this.isOpen;
  }

  send(message: object): void {
    this.other?.emit('message', JSON.parse(JSON.stringify(message)));
  }

  close(): void {
    this.isOpen = false;
    this.emit('disconnect');
  }
}

function channel(): readonly [one: Worker & End, other: Worker & End] {
  const [one, other] = [new End(), new End()];
  one.other = other;
  other.other = one;
  return [one, other] as unknown as readonly [Worker & End, Worker & End];
}

test('each call gets the result of its name, in both directions', async (t) => {
  const [one, other] = channel();
  answerCalls(other, 'double', (value: number) => value * 2);
  answerCalls(other, 'greet', async (name: string) => `hello ${name}`);
  answerCalls(one, 'double', (value: number) => value * 20);
  const double = callOver<number, number>(one, 'double');
  const results = [double(1), callOver<string, string>(one, 'greet')('ann'), double(3)] as const;
  t.deepEqual(await Promise.all(results), [2, 'hello ann', 6]);
  t.is(await callOver<number, number>(other, 'double')(2), 40);
});

test('a call without a result ends when the channel closes', async (t) => {
  const [one] = channel();
  const call = callOver<object, unknown>(one, 'never answered');
  const waiting = call({});
  one.close();
  await t.throwsAsync(waiting, { instanceOf: ChannelClosedError });
  t.is(await unlessClosed(call({})), undefined);
});

test('only the end of the channel is no error of a call', async (t) => {
  await t.throwsAsync(unlessClosed(Promise.reject(new TypeError('other'))), { instanceOf: TypeError });
});
