import { extname } from 'node:path';
import { describeError } from '../telemetry/log.ts';
import { WorkerThread } from '../workers/worker-thread.ts';
import type { Connection } from './connection.ts';
import type { SqliteResult, SqliteTask } from './sqlite-thread.ts';
import { type Statement, StoreError, type StoreRow } from './store.ts';

const threadModule = new URL(`./sqlite-thread${extname(import.meta.url)}`, import.meta.url);

/** Share of the time of a call that may pass while another process has the lock. */
const busyShare = 0.7;

/** A SQLite file, opened by a worker thread (G53). */
export class SqliteConnection implements Connection {
  readonly #path: string;
  readonly #storeMs: number;
  readonly #thread: WorkerThread<SqliteTask, SqliteResult>;
  readonly #isExisting: boolean;
  #mustExist = false;
  #isReset = false;

  /** @param isExisting true if a missing file and an older schema are errors */
  constructor(path: string, storeMs: number, isExisting: boolean) {
    this.#isExisting = isExisting;
    this.#path = path;
    this.#storeMs = storeMs;
    this.#thread = new WorkerThread({
      module: threadModule,
      title: 'the thread of the store',
      mostWaiting: 1,
    });
  }

  async all(statement: Statement): Promise<readonly StoreRow[]> {
    const result = await this.#run('all', [statement]);
    return 'rows' in result ? result.rows : [];
  }

  async write(statements: readonly Statement[]): Promise<readonly number[]> {
    const result = await this.#run('write', statements);
    return 'changes' in result ? result.changes : [];
  }

  reset(): void {
    this.#isReset = true;
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #run(kind: SqliteTask['kind'], statements: readonly Statement[]): Promise<SqliteResult> {
    const task: SqliteTask = {
      path: this.#path,
      busyMs: Math.ceil(this.#storeMs * busyShare),
      mustExist: this.#mustExist,
      isExisting: this.#isExisting,
      isReset: this.#isReset,
      kind,
      statements,
    };
    this.#isReset = false;
    const result = await this.#thread
      .run({ taskOf: () => task, bytes: 0, memory: [], withinMs: this.#storeMs, refuse: refusal })
      .catch((error: unknown) => {
        if (error instanceof StoreError) throw error;
        throw new StoreError('the thread of the store ended', 'unreachable', describeError(error).code);
      });
    if (result === undefined) throw new StoreError('the thread of the store did not run the statement');
    if ('failed' in result)
      throw new StoreError(result.failed.message, result.failed.reason, result.failed.code);
    this.#mustExist = true;
    return result;
  }
}

function refusal(): StoreError {
  return new StoreError('the store did not answer in time', 'timeout');
}
