import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../store/store.ts';
import {
  type ExchangeSelection,
  exchangeOf,
  type StoredExchange,
  selectExchanges,
} from '../../store/tables/record.ts';

// Recorded exchanges from the store or from an export folder (G58, G59).

/** Selects exchanges. Times are in ms since 1970. */
export type Selection = Omit<ExchangeSelection, 'contract' | 'after' | 'limit'> & {
  readonly limit?: number | undefined;
};

/** Number of exchanges that are read at once. */
const pageSize = 50;

/** Reads the exchanges of a contract from a store, in their order. */
export async function* storedExchanges(
  store: Store,
  contract: string,
  { limit = Number.POSITIVE_INFINITY, ...selection }: Selection,
): AsyncGenerator<StoredExchange, void, undefined> {
  let after: ExchangeSelection['after'];
  for (let left = limit; left > 0; ) {
    const page = Math.min(left, pageSize);
    const rows = await store.all(selectExchanges({ ...selection, contract, after, limit: page }));
    for (const row of rows) {
      const exchange = exchangeOf(row);
      after = { at: exchange.at, id: exchange.id };
      yield exchange;
    }
    if (rows.length < page) return;
    left -= rows.length;
  }
}

/** `corpus.json` of an export folder. */
export interface Corpus {
  readonly contract: string;
  /** SHA-256 of the documents of the WSDL. */
  readonly wsdl: string;
  /** `none` if an exchange has personal data. */
  readonly redaction: 'pseudonyms' | 'none';
  readonly count: number;
}

/** `meta.json` of an exchange in an export folder. */
export type Meta = Pick<StoredExchange, 'operation' | 'mode' | 'rule' | 'redaction'> &
  StoredExchange['details'] & {
    readonly caller: string | null;
    /** RFC 3339, in UTC. */
    readonly at: string;
  };

/** Names of the files of an exchange. */
export const fileNames = {
  corpus: 'corpus.json',
  meta: 'meta.json',
  fresh: 'new.json',
  legacyJson: 'legacy.json',
  /** Returns the name of a message with a Content-Type. */
  message: (side: 'request' | 'legacy', headers: Readonly<Record<string, string>> = {}): string =>
    `${side}.${/^\s*multipart\/related/i.test(headers['Content-Type'] ?? '') ? 'mime' : 'xml'}`,
} as const;

/** Reads `corpus.json` of an export folder. Throws RangeError. */
export function readCorpus(folder: string): Corpus {
  const corpus = readJson<Corpus>(join(folder, fileNames.corpus));
  if (typeof corpus.contract !== 'string' || typeof corpus.count !== 'number')
    throw new RangeError(
      `${join(folder, fileNames.corpus)}: expected an export of recordings, got other JSON`,
    );
  return corpus;
}

/** Reads the exchanges of an export folder, in their order. Throws RangeError. */
export async function* exportedExchanges(
  folder: string,
  contract: string,
  {
    operation,
    caller,
    since = 0,
    until = Number.POSITIVE_INFINITY,
    limit = Number.POSITIVE_INFINITY,
  }: Selection,
): AsyncGenerator<StoredExchange, void, undefined> {
  const names = readdirSync(folder)
    .filter((name) => /^[0-9]{6,}-/.test(name))
    .toSorted((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
  let left = limit;
  for (const id of names) {
    if (left <= 0) return;
    const exchange = readExchange(join(folder, id), id, contract);
    const { at } = exchange;
    const isWanted =
      (operation === undefined || exchange.operation === operation) &&
      (caller === undefined || exchange.caller === caller);
    if (!isWanted || at < since || at >= until) continue;
    left--;
    yield exchange;
  }
}

function readExchange(folder: string, id: string, contract: string): StoredExchange {
  const file = join(folder, fileNames.meta);
  const { operation, caller, at, mode, rule, redaction, ...details } = readJson<Meta>(file);
  const time = Date.parse(at);
  if (typeof operation !== 'string' || Number.isNaN(time) || typeof details.request !== 'object')
    throw new RangeError(`${file}: expected operation, at and request of an exchange, got other JSON`);
  return {
    id,
    contract,
    at: time,
    operation,
    caller: caller ?? undefined,
    mode,
    rule,
    redaction,
    details,
    request: readFile(join(folder, fileNames.message('request', details.request.headers))),
    requestJson: undefined,
    legacy: readFile(join(folder, fileNames.message('legacy', details.legacy?.headers))),
    new: readFile(join(folder, fileNames.fresh)),
  };
}

function readJson<Kind>(file: string): Kind {
  const bytes = readFile(file);
  if (bytes === undefined) throw new RangeError(`${file}: expected a file of an export, got none`);
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Kind;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new RangeError(`${file}: expected a JSON object, got other text`);
}

/** Reads a file; undefined if it does not exist. */
function readFile(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
