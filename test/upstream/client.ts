import { createReferenceUpstream, type ReferenceUpstream } from '../../upstream/service.ts';

/** The time of every test's seed: noon, so that dates at midnight are half a day in the past. */
export const now = Date.UTC(2026, 2, 10, 12);
export const day = 86_400_000;
export const midnight = now - day / 2;

export const demo = { apiUserId: 'demo', apiUserKey: 'demo-key' };
export const other = { apiUserId: 'other', apiUserKey: 'other-key' };
export const jane = { ...demo, userId: '6f9619ff-8b86-d011-b42d-00cf4fc964ff' };
export const bob = { ...demo, userId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301' };
export const owner = { ...demo, userId: '00000000-0000-4000-8000-000000000001' };

export interface FieldError {
  readonly errorCode: string;
  readonly fieldName: string;
  readonly message: string;
  readonly meta: null;
}

export interface Reply<Data> {
  readonly status: number;
  /** The unparsed body. */
  readonly text: string;
  readonly data: Data & { readonly responseStatus: ResponseStatus };
  /** `errors[]` as `code fieldName`. */
  readonly errors: readonly string[];
}

interface ResponseStatus {
  readonly errorCode?: string;
  readonly message?: string;
  readonly errors?: readonly FieldError[];
}

export interface Client {
  readonly upstream: ReferenceUpstream;
  /** Calls an operation as the demo account without acting user, or with the given credentials. */
  call<Data = object>(operation: string, input?: object, authentication?: object): Promise<Reply<Data>>;
  /** Sends the text unchanged. */
  send<Data = object>(operation: string, text: string): Promise<Reply<Data>>;
}

/** Opens a new upstream in memory, or in the given file, with the tests' clock (R4). */
export function open(database = ':memory:', clock = () => now): Client {
  const upstream = createReferenceUpstream({ database, clock });
  const send = async <Data>(operation: string, body: string): Promise<Reply<Data>> => {
    const { status, body: text } = await upstream.handle({
      method: 'POST',
      path: `/json/reply/${operation}`,
      body,
    });
    const { data } = JSON.parse(text) as { data: Reply<Data>['data'] };
    const errors = (data.responseStatus.errors ?? []).map(
      ({ errorCode, fieldName }) => `${errorCode} ${fieldName}`,
    );
    return { status, text, data, errors };
  };
  return {
    upstream,
    send,
    call: (operation, input = {}, authentication = demo) =>
      send(operation, JSON.stringify({ ...input, authentication })),
  };
}

/** Formats a date as in messages. */
export const wireDate = (milliseconds: number): string => `/Date(${milliseconds}-0000)/`;
