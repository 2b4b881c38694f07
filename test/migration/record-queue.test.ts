import test, { type ExecutionContext } from 'ava';
import { RecordQueue } from '../../gateway/migration/recording/record-queue.ts';
import { BodyRecorder } from '../../gateway/migration/recording/recorded-body.ts';
import { type Statement, type Store, StoreError } from '../../gateway/store/store.ts';
import {
  bytesOf,
  exchangeOf,
  type StoredExchange,
  selectExchanges,
} from '../../gateway/store/tables/record.ts';
import { missingPackages } from '../../mappings/optional-packages.ts';
import { folderOf, opened } from '../gateway/store/opened.ts';
import { postgresPrograms, startPostgres } from '../gateway/store/postgres-server.ts';
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

/** Checks the statements of recordings in a database. */
async function checkDatabase(t: ExecutionContext, url: string): Promise<void> {
  const { store } = await opened(t, url, { storeMs: 60_000 });
  const queue = queueOf(t, store);
  const now = Date.now();
  const all = [1, 2, 3].map((number) => exchange(number, { at: now - 10_000 + number }));
  for (const one of [exchange(0), ...all]) {
    queue.enter();
    queue.add(one);
  }
  const read = async () =>
    (await store.all(selectExchanges({ contract: '/', since: 0, limit: 10 }))).map(exchangeOf);
  await until(async () => (await read()).length === 4);
  const plan = { sample: 1, operations: undefined, redact: 'pseudonyms', keepMs: 3_600_000 } as const;
  queue.sweepFor(new Map([['/', { ...plan, bytes: 1_000_000 }]]));
  await until(async () => (await read()).length === 3);
  const [first] = await read();
  t.deepEqual({ ...first, request: [...(first?.request ?? [])] }, { ...all[0], request: [0, 1, 255] });
  const size = all.reduce((sum, one) => sum + bytesOf(one), 0);
  queue.sweepFor(new Map([['/', { ...plan, bytes: size - 1 }]]));
  await until(async () => (await read()).length < 3);
  t.deepEqual(
    (await read()).map(({ id }) => id),
    ['000002', '000003'],
  );
}

test('G55: recordings of a contract that is not recorded any more are deleted after 30 days', async (t) => {
  const { store } = await opened(t, `sqlite:${folderOf(t)}/store.db`, { storeMs: 60_000 });
  const queue = queueOf(t, store);
  const day = 86_400_000;
  for (const [number, days] of [31, 29].entries()) {
    queue.enter();
    queue.add(exchange(number, { at: Date.now() - days * day }));
  }
  const ids = async () =>
    (await store.all(selectExchanges({ contract: '/', since: 0, limit: 10 }))).map(
      (row) => exchangeOf(row).id,
    );
  await until(async () => (await ids()).length === 2);
  queue.sweepFor(new Map());
  await until(async () => (await ids()).length < 2);
  t.deepEqual(await ids(), ['000001']);
});

test('G56: an abandoned copy of a body keeps no bytes', (t) => {
  const body = new BodyRecorder(100, (bytes) => {
    if (bytes > 3) body.abandon();
  });
  body.add(Buffer.from('abc'));
  body.add(Buffer.from('defg'));
  t.is(body.take().bytes?.length, 0);
});

test('G53, G55: SQLite keeps exchanges, and deletes the oldest ones by age and size', (t) =>
  checkDatabase(t, `sqlite:${folderOf(t)}/store.db`));

test('G53, G55: PostgreSQL keeps exchanges, and deletes the oldest ones by age and size', async (t) => {
  const programs = postgresPrograms();
  const missing = programs === undefined ? 'PostgreSQL is not installed' : missingPackages('store');
  if (missing === undefined && programs !== undefined)
    return checkDatabase(t, (await startPostgres(t, programs)).urlWithPassword);
  t.log(`skipped: ${missing}`);
  t.pass();
});
