import test, { type ExecutionContext } from 'ava';
import { RecordQueue } from '../../gateway/migration/recording/record-queue.ts';
import { BodyRecorder } from '../../gateway/migration/recording/recorded-body.ts';
import { type Statement, type Store, StoreError } from '../../gateway/store/store.ts';
import type { StoredExchange } from '../../gateway/store/tables/record.ts';
import { until } from '../until.ts';

/** Returns an exchange with a number. */
function exchange(number: number, more: Partial<StoredExchange> = {}): StoredExchange {
  return {
    id: String(number).padStart(6, '0'),
    contract: '/',
    at: number,
    operation: 'Get',
    caller: 'acme',
    mode: 'legacy',
    rule: 'otherwise',
    redaction: 'pseudonyms',
    details: { requestId: 'r', path: '/types', version: '1.1', request: { headers: {}, size: 3 } },
    request: new Uint8Array([0, 1, 255]),
    requestJson: '{}',
    legacy: undefined,
    new: undefined,
    ...more,
  };
}

/** A store in memory that may fail. */
class StubStore implements Store {
  readonly written: Statement[] = [];
  isUp = true;
  failure: StoreError | undefined;
  readonly all = async () => [];
  readonly write = async (statements: readonly Statement[]): Promise<readonly number[]> => {
    if (this.failure !== undefined) throw this.failure;
    this.written.push(...statements);
    return statements.map(() => 1);
  };
  readonly close = async () => {};
}

function queueOf(t: ExecutionContext, store: Store, most = 10, bytes = 1_000_000): RecordQueue {
  const queue = new RecordQueue(store, bytes, (error) => t.fail(String(error)), most);
  t.teardown(() => queue.close());
  return queue;
}

function metricOf(queue: RecordQueue, name: string): readonly (readonly [string, number])[] {
  const found = queue.read().find((family) => family.name === name);
  return (found?.samples ?? []).map(({ labels, value }) => [labels, value]);
}

test('G56: a queue of 10 entries takes 10, refuses one more, and counts it', (t) => {
  const queue = queueOf(t, new StubStore());
  for (let count = 0; count < 10; count++) t.true(queue.enter());
  t.false(queue.enter());
  queue.refuse('/');
  t.deepEqual(metricOf(queue, 'record_dropped_total'), [['contract="/",reason="queue"', 1]]);
  queue.drop('/', 'error');
  t.true(queue.enter());
});

test('G56: entries that wait for the store count, too', async (t) => {
  const store = new StubStore();
  store.isUp = false;
  const queue = queueOf(t, store, 2);
  for (const number of [1, 2]) {
    t.true(queue.enter());
    queue.add(exchange(number));
  }
  t.false(queue.enter());
  store.isUp = true;
  await until(() => store.written.length === 2);
  t.true(queue.enter());
});

test('G54, G74: recordings stay in the queue while the store fails, are written later, and counted', async (t) => {
  const store = new StubStore();
  store.failure = new StoreError('no', 'unreachable');
  const queue = queueOf(t, store);
  queue.enter();
  queue.add(exchange(1));
  await until(async () => {
    store.isUp = !store.isUp;
    return store.isUp;
  });
  t.deepEqual(metricOf(queue, 'record_dropped_total'), []);
  store.failure = undefined;
  store.isUp = true;
  await until(() => store.written.length === 1);
  await until(() => metricOf(queue, 'record_kept_total').length === 1);
  t.deepEqual(metricOf(queue, 'record_kept_total'), [['contract="/"', 1]]);
});

test('G54: recordings that the store refuses are dropped and counted', async (t) => {
  const store = new StubStore();
  store.failure = new StoreError('no', 'constraint');
  const queue = queueOf(t, store);
  queue.enter();
  queue.add(exchange(1));
  await until(() => metricOf(queue, 'record_dropped_total').length === 1);
  t.deepEqual(metricOf(queue, 'record_dropped_total'), [['contract="/",reason="store"', 1]]);
});

test('G56: a stop writes the queue, and counts what the store does not accept', async (t) => {
  const store = new StubStore();
  const queue = queueOf(t, store);
  for (const number of [1, 2]) {
    queue.enter();
    queue.add(exchange(number));
  }
  await queue.close();
  t.is(store.written.length, 2);
  t.false(queue.enter());
});

test('G56: an abandoned copy of a body keeps no bytes', (t) => {
  const body = new BodyRecorder(100, (bytes) => {
    if (bytes > 3) body.abandon();
  });
  body.add(Buffer.from('abc'));
  body.add(Buffer.from('defg'));
  t.is(body.take().bytes?.length, 0);
});
