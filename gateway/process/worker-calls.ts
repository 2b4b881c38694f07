import cluster, { type Worker } from 'node:cluster';

// Calls between the primary process and its workers, in both directions, by name. Arguments and results are JSON.

interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly number: number;
  readonly argument: unknown;
}

interface Result {
  readonly kind: 'result';
  readonly name: string;
  readonly number: number;
  readonly value: unknown;
}

/** The process at the other end of the channel has ended. */
export class ChannelClosedError extends Error {
  override readonly name = 'ChannelClosedError';
}

/** Returns the channel of this worker process to its primary. */
export function ownChannel(): Worker {
  const { worker } = cluster;
  if (worker === undefined) throw new Error('worker: expected a primary, got none');
  return worker;
}

/** Answers the calls of a name that the process at the other end of a channel makes. */
export function answerCalls<Argument>(
  channel: Worker,
  name: string,
  run: (argument: Argument) => unknown,
): void {
  channel.on('message', async (message: Call) => {
    if (message.kind !== 'call' || message.name !== name) return;
    const value = await run(message.argument as Argument);
    const { number } = message;
    if (channel.isConnected()) channel.send({ kind: 'result', name, number, value } satisfies Result);
  });
}

/** Returns a function that calls the process at the other end of a channel. It rejects with ChannelClosedError. */
export function callOver<Argument, Value>(
  channel: Worker,
  name: string,
): (argument: Argument) => Promise<Value> {
  const waiting = new Map<number, PromiseWithResolvers<Value>>();
  let last = 0;
  channel.on('message', (message: Result) => {
    if (message.kind !== 'result' || message.name !== name) return;
    waiting.get(message.number)?.resolve(message.value as Value);
    waiting.delete(message.number);
  });
  channel.once('disconnect', () => {
    for (const { reject } of waiting.values()) reject(new ChannelClosedError());
    waiting.clear();
  });
  return (argument) => {
    const result = Promise.withResolvers<Value>();
    if (!channel.isConnected()) result.reject(new ChannelClosedError());
    else {
      last++;
      waiting.set(last, result);
      channel.send({ kind: 'call', name, number: last, argument } satisfies Call);
    }
    return result.promise;
  };
}

/** Resolves with the result of a call; undefined if the channel is closed. */
export async function unlessClosed<Value>(call: Promise<Value>): Promise<Value | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ChannelClosedError) return undefined;
    throw error;
  }
}

/** Maximum wait for a busy worker, in ms. */
const longestWait = 1_000;

/** Resolves with a promise, but after `longestWait` at the latest. */
export function withinWait(promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, longestWait);
    promise.then(() => resolve(), reject).finally(() => clearTimeout(timer));
  });
}
