import type { Worker } from 'node:cluster';

// Calls of workers to functions of the primary process, by name. Arguments and results are JSON.

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

/** Primary process: answers the calls of a worker. */
export function answerCalls<Argument>(
  worker: Worker,
  name: string,
  run: (argument: Argument) => unknown,
): void {
  worker.on('message', async (message: Call) => {
    if (message.kind !== 'call' || message.name !== name) return;
    const value = await run(message.argument as Argument);
    const { number } = message;
    if (worker.isConnected()) worker.send({ kind: 'result', name, number, value } satisfies Result);
  });
}

/** The primary process has ended. */
export class NoPrimaryError extends Error {}

/** Worker process: returns a function that calls the primary process. It rejects with NoPrimaryError. */
export function callPrimary<Argument, Value>(name: string): (argument: Argument) => Promise<Value> {
  const waiting = new Map<number, PromiseWithResolvers<Value>>();
  let last = 0;
  process.on('message', (message: Result) => {
    if (message.kind !== 'result' || message.name !== name) return;
    waiting.get(message.number)?.resolve(message.value as Value);
    waiting.delete(message.number);
  });
  process.once('disconnect', () => {
    for (const { reject } of waiting.values()) reject(new NoPrimaryError());
    waiting.clear();
  });
  return (argument) => {
    const result = Promise.withResolvers<Value>();
    if (!process.connected || process.send === undefined) result.reject(new NoPrimaryError());
    else {
      last++;
      waiting.set(last, result);
      process.send({ kind: 'call', name, number: last, argument } satisfies Call);
    }
    return result.promise;
  };
}
