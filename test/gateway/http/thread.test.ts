import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { answerOf } from '../../../gateway/http/thread.ts';

const threadOf = (code: string): Worker => new Worker(code, { eval: true });

test('a thread gives its answer and is ended', async (t) => {
  const thread = threadOf(
    'require("node:worker_threads").parentPort.postMessage("it"); setInterval(() => {}, 1e6)',
  );
  const ended = once(thread, 'exit');
  t.is(await answerOf(thread, 60_000), 'it');
  await ended;
});

test('a thread that has no end is ended, and is told of', async (t) => {
  const thread = threadOf('for (;;) {}');
  const ended = once(thread, 'exit');
  await t.throwsAsync(answerOf(thread, 100), { message: 'expected an end within 100 ms, got none' });
  await ended;
});

test('what a thread throws is thrown, and one that ends without a word is told of', async (t) => {
  await t.throwsAsync(answerOf(threadOf('throw new RangeError("it")'), 60_000), { any: true, message: 'it' });
  await t.throwsAsync(answerOf(threadOf(''), 60_000), {
    message: 'expected an answer of its thread, got none',
  });
});
