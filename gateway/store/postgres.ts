import { loadPackage } from '../../mappings/optional-packages.ts';
import type { Connection } from './connection.ts';
import { metaTable, migrationOf, selectVersion } from './schema.ts';
import { type Statement, StoreError, type StoreReason, type StoreRow, type StoreValue } from './store.ts';

/** The parts of the package `pg` that are used. */
interface Pg {
  readonly Client: new (options: object) => Client;
}

interface Client {
  readonly connect: () => Promise<void>;
  readonly query: (query: Query) => Promise<{ readonly rows: StoreRow[]; readonly rowCount: number | null }>;
  readonly end: () => Promise<void>;
  readonly on: (event: 'error' | 'end', listener: (error?: Error) => void) => void;
  readonly connection: { readonly stream: { readonly destroy: () => void; readonly unref: () => void } };
}

interface Query {
  readonly text: string;
  readonly values?: readonly StoreValue[];
}

/** Number of the lock that processes hold while they migrate the schema. */
const migrationLock = 1_397_506_898;

/** Types of results that are numbers: int8, int2, int4, float4, float8 and numeric. */
const numbers: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700]);

/** A connection to a PostgreSQL server (G53). */
export class PostgresConnection implements Connection {
  readonly #url: string;
  readonly #storeMs: number;
  readonly #isExisting: boolean;
  #client: Promise<Client> | undefined;

  /**
   * @param url URL with the password, unless PGPASSWORD has it
   * @param isExisting true if an older schema is an error
   */
  constructor(url: string, storeMs: number, isExisting: boolean) {
    this.#isExisting = isExisting;
    this.#url = url;
    this.#storeMs = storeMs;
  }

  all({ sql: text, values = [] }: Statement): Promise<readonly StoreRow[]> {
    return this.#withClient(async (client) => (await client.query({ text, values })).rows);
  }

  write(statements: readonly Statement[]): Promise<readonly number[]> {
    return this.#withClient((client) =>
      inTransaction(client, async () => {
        const changes: number[] = [];
        for (const { sql: text, values = [] } of statements)
          changes.push((await client.query({ text, values })).rowCount ?? 0);
        return changes;
      }),
    );
  }

  reset(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.then(
      ({ connection }) => connection.stream.destroy(),
      () => {}, // it was not connected
    );
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.then((connected) => connected.end()).catch(() => {}); // it is closed in any case
  }

  /** Calls a function within the time of a call. */
  async #withClient<Result>(call: (client: Client) => Promise<Result>): Promise<Result> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.reset();
      reject(new StoreError('the store did not answer in time', 'timeout'));
    }, this.#storeMs);
    try {
      this.#client ??= this.#connect();
      return await Promise.race([this.#client.then(call), late]);
    } catch (error) {
      throw failureOf(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #connect(): Promise<Client> {
    const { Client } = loadPackage('store', 'pg') as Pg;
    const client = new Client({
      connectionString: this.#url,
      application_name: 'soapbridge',
      connectionTimeoutMillis: this.#storeMs,
      statement_timeout: this.#storeMs,
      keepAlive: true,
      types: {
        getTypeParser: (type: number, format: string) =>
          numbers.has(type) && format !== 'binary' ? Number : parserOf(type, format),
      },
    });
    const forget = (): void => {
      this.#client = undefined;
    };
    // the next call connects again
    client.on('error', forget);
    client.on('end', forget);
    await client.connect();
    client.connection.stream.unref(); // the process may end
    if (this.#isExisting) migrationOf(await versionOf(client), true);
    else await migrate(client);
    return client;
  }
}

function parserOf(type: number, format: string): unknown {
  const { types } = loadPackage('store', 'pg') as { types: { getTypeParser: (...of: unknown[]) => unknown } };
  return types.getTypeParser(type, format);
}

async function migrate(client: Client): Promise<void> {
  await inTransaction(client, async () => {
    await client.query({ text: `SELECT pg_advisory_xact_lock(${migrationLock})` });
    await client.query({ text: metaTable });
    for (const text of migrationOf(await versionOf(client), false)) await client.query({ text });
  });
}

/** Returns the version of the schema; undefined for a database without a schema. */
async function versionOf(client: Client): Promise<StoreValue | undefined> {
  const [table] = (await client.query({ text: "SELECT to_regclass('meta') AS name" })).rows;
  if (table?.name === null) return undefined;
  return (await client.query({ text: selectVersion })).rows[0]?.value;
}

async function inTransaction<Result>(client: Client, run: () => Promise<Result>): Promise<Result> {
  await client.query({ text: 'BEGIN' });
  try {
    const result = await run();
    await client.query({ text: 'COMMIT' });
    return result;
  } catch (error) {
    // without a connection, the server ends the transaction
    await client.query({ text: 'ROLLBACK' }).catch(() => {});
    throw error;
  }
}

/** Reasons by SQLSTATE or its class. */
const reasons = new Map<string, StoreReason>([
  ['08', 'unreachable'],
  ['22', 'constraint'], // a value that the server refuses
  ['23', 'constraint'],
  ['25', 'readonly'],
  ['28', 'refused'],
  ['3D', 'refused'],
  ['40', 'conflict'],
  ['40003', 'unreachable'], // the result is unknown
  ['53', 'full'],
  ['55', 'busy'],
  ['57', 'unreachable'],
  ['57014', 'timeout'],
  ['58', 'unreachable'],
  ['XX', 'corrupt'],
]);

/** Returns the StoreError for an error of a call. */
export function failureOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { message, code = '' } = error as { readonly message: string; readonly code?: string };
  // SQLSTATE has five characters; other codes are those of the operating system and of TLS
  if (!/^[0-9A-Z]{5}$/.test(code)) return new StoreError(message, 'unreachable', code);
  return new StoreError(message, reasons.get(code) ?? reasons.get(code.slice(0, 2)) ?? 'statement', code);
}
