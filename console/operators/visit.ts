import type { RouteChangeInput, SessionView } from '../../gateway/admin/api-types.ts';
import { Problem, type ShownSetting, type Snapshot } from '../../gateway/admin/operator-pages.ts';
import type { Html } from '../server/html.ts';

/** A visit of a page by a user who may read it. */
export interface Visit {
  readonly viewer: Pick<SessionView, 'name' | 'role'>;
  /** Path of the contract; `''` for a page about all contracts. */
  readonly contract: string;
  /** Name of the operation; `''` for another page. */
  readonly operation: string;
  /** Returns a parameter of the query, or `''`. */
  readonly query: (name: string) => string;
  /** Address of the admin listener, for commands. */
  readonly origin: string;
  /**
   * Returns the result of a GET call of the admin API, by the function that answers the call. `{c}` is the contract.
   * Rejects with the Problem of the call.
   */
  readonly get: <Result>(path: string, query?: Readonly<Record<string, string>>) => Promise<Result>;
  /** Returns the items of a list of the admin API, at most `maxShown`. It is read once. Rejects as `get`. */
  readonly all: <Item>(path: string, query?: Readonly<Record<string, string>>) => Promise<readonly Item[]>;
  /** Returns the metrics of all workers. */
  readonly samples: () => Promise<readonly Sample[]>;
  /** Returns the effective settings without secrets. */
  readonly settings: () => readonly ShownSetting[];
  /** Returns the sentence of an operation after a route change. Throws Problem 422 for a change that is not possible. */
  readonly sentenceAfter: (change: Omit<RouteChangeInput, 'reason' | 'ifVersion'>) => string;
}

/** A sample of a metric. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** Contents of a page. */
export interface PageParts {
  readonly title: string;
  readonly body: Html;
}

/** A page of the console. */
export interface ConsolePage {
  /** Path in the form of koa-router. */
  readonly path: string;
  /** The role of the calls that it shows, if it is not `read`. */
  readonly access?: 'change';
  readonly render: (visit: Visit) => Promise<PageParts>;
}

/** A page of a list of the API. */
export interface List<Item> {
  readonly items: readonly Item[];
  readonly cursor: string | null;
}

/** Maximum number of items of a list that a page shows. */
export const maxShown = 10_000;

/** Returns the result of a call, or why there is none: no store is configured, or it does not work. */
export async function ifAvailable<Result>(
  result: Promise<Result>,
): Promise<{ readonly value?: Result; readonly why?: string }> {
  try {
    return { value: await result };
  } catch (error) {
    if (error instanceof Problem && [409, 503].includes(error.status)) return { why: error.message };
    throw error;
  }
}

/** Returns the samples of counters and gauges. */
export function samplesOf(snapshot: Snapshot): readonly Sample[] {
  return snapshot.flatMap(({ type, samples }) =>
    type === 'histogram'
      ? []
      : samples.map(({ name, labels, value }) => ({ name, labels: new Map(labelsOf(labels)), value })),
  );
}

/** Returns the labels of `contract="/v2",status="200"`. A backslash escapes the next character of a value. */
function labelsOf(text: string): readonly (readonly [name: string, value: string])[] {
  const labels: (readonly [string, string])[] = [];
  for (let at = 0; at < text.length; ) {
    const equals = text.indexOf('="', at);
    if (equals === -1) break;
    let value = '';
    let end = equals + 2;
    for (; end < text.length && text[end] !== '"'; end++) {
      if (text[end] === '\\') end++;
      value += text[end];
    }
    labels.push([text.slice(at, equals), value]);
    at = end + 2; // the quote and the comma
  }
  return labels;
}

/** Adds up the samples of a metric with certain labels. */
export function sumOf(
  samples: readonly Sample[],
  name: string,
  isOf: (labels: ReadonlyMap<string, string>) => boolean,
): number {
  let sum = 0;
  for (const sample of samples) if (sample.name === name && isOf(sample.labels)) sum += sample.value;
  return sum;
}
