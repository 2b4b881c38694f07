import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import {
  type Order,
  type Refusal,
  WorkerThread,
  type WorkerThreadOptions,
} from '../../../gateway/workers/worker-thread.ts';

const laneModule = new URL('../../../gateway/workers/worker-thread.ts', import.meta.url).href;

/** Returns the module of a worker thread that performs tasks with the given function. */
function moduleOf(perform: string): URL {
  const code = `import { performTasks } from ${JSON.stringify(laneModule)}; performTasks(import.meta.url, ${perform});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

function laneOf(
  perform: string,
  options: Partial<WorkerThreadOptions<string>> = {},
): WorkerThread<string, string> {
  return new WorkerThread({ module: moduleOf(perform), title: 'the thread', mostWaiting: 10, ...options });
}

const orderOf = (task: string, terms: Partial<Order<string>> = {}): Order<string> => ({
  taskOf: () => task,
  bytes: task.length,
  memory: [],
  withinMs: 60_000,
  refuse: (why: Refusal) => new RangeError(why),
  ...terms,
});

/** A thread that needs more than 5 s to start. */
const late = '(Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000), (task) => task)';
const upper = '(task) => task.toUpperCase()';
/** Waiting tasks have no handle that would keep the process alive. */
const endless = '(task) => { if (task === "endless") for (;;); return task; }';

test('a thread performs tasks in order, and ends when the lane is closed', async (t) => {
  const lane = laneOf(upper);
  t.deepEqual(await Promise.all(['a', 'b'].map((task) => lane.run(orderOf(task)))), ['A', 'B']);
  await lane.close();
});

test('a task that takes too long is rejected, and another thread performs the next', async (t) => {
  const lost: unknown[] = [];
  const lane = laneOf(endless, { onLost: (error) => lost.push(error) });
  const slow = lane.run(orderOf('endless', { withinMs: 50 }));
  const next = lane.run(orderOf('next'));
  await t.throwsAsync(slow, { instanceOf: RangeError, message: 'slow' });
  t.is(await next, 'next');
  t.is(lost.length, 1);
  await lane.close();
});

test('the start of a thread does not count as time of its first task', async (t) => {
  const lane = laneOf(late);
  t.is(await lane.run(orderOf('first', { withinMs: 5_000 })), 'first');
  await lane.close();
});

test('mostWaiting: one task more is rejected; a bound one waits', async (t) => {
  const lane = laneOf(endless, { mostWaiting: 1 });
  const current = lane.run(orderOf('endless', { withinMs: 300 }));
  const waiting = lane.run(orderOf('waiting'));
  await t.throwsAsync(lane.run(orderOf('more')), { message: 'full' });
  const bound = lane.run(orderOf('bound', { isBound: true }));
  await t.throwsAsync(current, { message: 'slow' });
  t.deepEqual(await Promise.all([waiting, bound]), ['waiting', 'bound']);
  await lane.close();
});

test('mostWaiting: bound tasks that wait leave the places of others free', async (t) => {
  const lane = laneOf(endless, { mostWaiting: 1 });
  const current = lane.run(orderOf('endless', { withinMs: 300 }));
  const bound = ['a', 'b'].map((name) => lane.run(orderOf(name, { isBound: true })));
  const waiting = lane.run(orderOf('waiting'));
  await t.throwsAsync(lane.run(orderOf('more')), { message: 'full' });
  await t.throwsAsync(current, { message: 'slow' });
  t.deepEqual(await Promise.all([...bound, waiting]), ['a', 'b', 'waiting']);
  await lane.close();
});

test('a task whose deadline passes, or whose caller leaves, is not performed', async (t) => {
  const lane = laneOf(endless);
  let performed = 0;
  const taskOf = (): string => `${++performed}`;
  const current = lane.run(orderOf('endless', { withinMs: 300 }));
  const late = lane.run(orderOf('', { taskOf, deadline: performance.now() + 10 }));
  const left = lane.run(
    orderOf('', {
      taskOf,
      watch: (leave) => {
        setImmediate(() => leave(new Error('left')));
        return () => {};
      },
    }),
  );
  await t.throwsAsync(late, { message: 'late' });
  await t.throwsAsync(left, { message: 'left' });
  await t.throwsAsync(current, { message: 'slow' });
  t.is(await lane.run(orderOf('next')), 'next');
  t.is(performed, 0);
  await lane.close();
});

test('a task that may not start returns undefined, and the next one is performed', async (t) => {
  const lane = laneOf(upper);
  const [none, next] = [lane.run(orderOf('', { taskOf: () => undefined })), lane.run(orderOf('next'))];
  t.is(await none, undefined);
  t.is(await next, 'NEXT');
  await lane.close();
});

test('an error of a task rejects its promise; a thread that ends is replaced', async (t) => {
  const lane = laneOf(
    '(task) => { if (task === "exit") process.exit(); if (task === "throw") throw new RangeError("it"); return task; }',
  );
  await t.throwsAsync(lane.run(orderOf('throw')), { instanceOf: RangeError, message: 'it' });
  await t.throwsAsync(lane.run(orderOf('exit')), { message: 'the thread ended' });
  t.is(await lane.run(orderOf('next')), 'next');
  await lane.close();
});

test('waiting tasks are taken alternately: the first one, then the smallest one', async (t) => {
  const lane = laneOf(upper);
  const order: string[] = [];
  const run = (task: string, bytes: number) =>
    lane.run(orderOf(task, { bytes })).then((result = '') => order.push(result));
  await Promise.all([run('begun', 9), run('large', 9), run('larger', 10), run('small', 1), run('tiny', 0)]);
  t.deepEqual(order, ['BEGUN', 'TINY', 'LARGE', 'SMALL', 'LARGER']);
  await lane.close();
});

test('a task records the state of its thread, which a new thread lacks', async (t) => {
  const lane = laneOf(upper);
  const run = (id: number) =>
    lane.run(
      orderOf('', {
        taskOf: (known) => {
          const task = known.has(id) ? 'known' : 'new';
          known.add(id);
          return task;
        },
      }),
    );
  t.deepEqual([await run(1), await run(1), await run(2)], ['NEW', 'KNOWN', 'NEW']);
  lane.renew();
  t.is(await run(1), 'NEW');
  await lane.close();
});

test('memory is transferred to the thread', async (t) => {
  const lane = laneOf(upper);
  const memory = new ArrayBuffer(8);
  t.is(await lane.run(orderOf('a', { memory: [memory] })), 'A');
  t.is(memory.byteLength, 0);
  await lane.close();
});

test('a process waits for a result and for its thread, and then ends', async (t) => {
  const code = `
    import { WorkerThread } from ${JSON.stringify(laneModule)};
    const module = new URL(${JSON.stringify(moduleOf(upper).href)});
    const lane = new WorkerThread({ module, title: 'the thread', mostWaiting: 0 });
    const order = { taskOf: () => 'a', bytes: 0, memory: [], withinMs: 60_000, refuse: () => undefined };
    console.log(await lane.run(order));
    await lane.close();
    console.log('closed');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
  t.is(stdout, 'A\nclosed\n');
});
