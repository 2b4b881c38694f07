import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

/**
 * A function that answers requests like `fetch`. The request's body is a stream if the gateway sends it piece by piece.
 * Its signal aborts if the caller disconnects or a time limit expires.
 */
export type FetchUpstream = (request: Request) => Response | Promise<Response>;

/** Called with an error that the function throws or rejects with. */
export type FetchError = (error: unknown, requestId: string | undefined) => void;

/** Origin of the requests to a function. An operation that names another server has that server's origin. */
export const fetchOrigin = 'http://localhost';

/** The methods of a connection pool that an upstream call uses. */
export type CallDispatcher = Pick<Dispatcher, 'dispatch'>;

/**
 * Sends calls to a function instead of a connection pool. An error of the function, or a response body that breaks off,
 * counts as a connection error. Reads are sent again once (W35), then the caller gets UpstreamInvalidResponse.
 *
 * @param origin scheme, host and port of the requests
 */
export function createFetchDispatcher(
  origin: string,
  answer: FetchUpstream,
  onError: FetchError,
): CallDispatcher {
  return {
    dispatch: (options, handler) => {
      const controller = new FetchController(handler);
      handler.onRequestStart?.(controller, {});
      if (controller.aborted) return true;
      let request: Request;
      try {
        request = requestOf(origin, options, controller.signal);
      } catch (error) {
        controller.fail(error);
        return true;
      }
      const answered = new Promise<Response>((resolve) => {
        resolve(answer(request));
      });
      answered.then(
        (response) => controller.receive(response),
        (error) => {
          if (!controller.aborted) onError(error, request.headers.get('x-request-id') ?? undefined);
          controller.fail(error);
        },
      );
      return true;
    },
  };
}

/** Throws TypeError for a request that `fetch` rejects, for example a GET with a body. */
function requestOf(origin: string, options: Dispatcher.DispatchOptions, signal: AbortSignal): Request {
  const { method, path, body } = options;
  const headers = new Headers();
  const flat = options.headers as readonly string[];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const name = flat[index] as string;
    // `fetch` sets the length itself and rejects a length together with a stream.
    if (name.toLowerCase() !== 'content-length') headers.append(name, flat[index + 1] as string);
  }
  // Redirects of an upstream are not followed.
  const init: RequestInit = { method, headers, signal, redirect: 'manual' };
  if (body instanceof Readable)
    return new Request(origin + path, {
      ...init,
      body: Readable.toWeb(body) as unknown as ReadableStream<Uint8Array>,
      duplex: 'half',
    } as RequestInit);
  return new Request(
    origin + path,
    body === null ? init : { ...init, body: body as string | Uint8Array<ArrayBuffer> },
  );
}

/** One call to the function. It ends with exactly one of `onResponseEnd` and `onResponseError`. */
class FetchController implements Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #abort = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #hasEnded = false;
  /** Defined while the call is paused. */
  #paused: PromiseWithResolvers<void> | undefined;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.#abort.signal.aborted;
  }

  get paused(): boolean {
    return this.#paused !== undefined;
  }

  get reason(): Error | null {
    return this.aborted ? (this.#abort.signal.reason as Error) : null;
  }

  abort(reason: Error): void {
    if (this.aborted || this.#hasEnded) return;
    this.#abort.abort(reason);
    this.resume();
    this.#reader?.cancel(reason).catch(() => {}); // the call has ended for another reason
    // asynchronous, as in undici: the call first does its own work
    setImmediate(() => this.fail(reason));
  }

  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#handler.onResponseError?.(
      this,
      error instanceof Error ? error : new Error('the upstream function failed', { cause: error }),
    );
  }

  /** Passes the response on, piece by piece. Never rejects. */
  async receive(response: Response): Promise<void> {
    try {
      if (this.aborted) {
        await response.body?.cancel();
        return;
      }
      const { status, headers, body } = checked(response);
      this.#handler.onResponseStart?.(this, status, headersOf(headers), '');
      if (body !== null) await this.#read(body.getReader());
      if (this.aborted || this.#hasEnded) return;
      this.#hasEnded = true;
      this.#handler.onResponseEnd?.(this, {});
    } catch (error) {
      this.fail(error);
    }
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    this.#reader = reader;
    if (this.aborted) await reader.cancel();
    while (!this.aborted) {
      await this.#paused?.promise;
      const { done, value } = await reader.read();
      if (done) return;
      if (!(value instanceof Uint8Array))
        throw new TypeError('upstream: expected a body of bytes, got another type');
      // Copy the bytes, because the gateway releases the memory of bytes that it has read.
      if (!this.aborted) this.#handler.onResponseData?.(this, Buffer.from(value));
    }
  }
}

/** Throws TypeError for a value that is not a response. Instances of another library's class are accepted, too. */
function checked(response: Response | undefined): Response {
  const { status = 0, headers, body, bodyUsed = false } = response ?? {};
  const hasStatus = Number.isInteger(status) && status >= 200 && status <= 599;
  const hasBody = body === null || typeof body?.getReader === 'function';
  if (response !== undefined && hasStatus && headers !== undefined && hasBody && !bodyUsed) return response;
  throw new TypeError('upstream: expected a Response with a status of 200 to 599 and an unread body');
}

/**
 * Returns the headers by their names in lower case. If `fetch` has decoded the body, lengths and codings are left out,
 * because they describe the encoded bytes.
 */
function headersOf(headers: Headers): Record<string, string | string[]> {
  const isDecoded = headers.has('content-encoding');
  const all: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    if (name === 'transfer-encoding' || name === 'content-encoding') continue;
    if (isDecoded && name === 'content-length') continue;
    if (name !== 'set-cookie') all[name] = value;
  }
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) all['set-cookie'] = cookies;
  return all;
}
