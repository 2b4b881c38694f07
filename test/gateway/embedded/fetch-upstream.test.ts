import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { createFetchDispatcher } from '../../../gateway/upstream/fetch-dispatcher.ts';
import { getBook, lend, loan, openGateway, replyWith } from './library.ts';

/** Returns a stream of these values, which may be of any type. */
function streamOf(...values: readonly unknown[]): ReadableStream {
  return new ReadableStream({
    start: (controller) => {
      for (const value of values) controller.enqueue(value);
      controller.close();
    },
  });
}

test('an upstream function gets method, URL, headers and body, and its response is the reply', async (t) => {
  const seen: unknown[] = [];
  const { call } = await openGateway(t, {
    upstream: async (request) => {
      const { method, url, headers } = request;
      seen.push([method, url, headers.get('content-type'), await request.text()]);
      t.truthy(headers.get('x-request-id'));
      return replyWith(loan, 201);
    },
  });
  const reply = await call(lend);
  t.is(reply.status, 200);
  t.regex(await reply.text(), /<number>9007199254740993<\/number><isbn>1<\/isbn><reader>Zoë<\/reader>/);
  t.deepEqual(seen, [
    ['POST', 'http://localhost/api/loans', 'application/json', '{"isbn":"1","reader":"Zoë"}'],
  ]);
});

test('an upstream function gets a GET without a body, with an encoded path', async (t) => {
  const seen: unknown[] = [];
  const { call } = await openGateway(t, {
    upstream: ({ method, url, body }) => {
      seen.push([method, url, body]);
      return replyWith('{"isbn":"1","title":"T"}');
    },
  });
  t.regex(await (await call(getBook)).text(), /<title>T<\/title>/);
  t.deepEqual(seen, [['GET', 'http://localhost/api/books/a%20b', null]]);
});

test('a response streamed in chunks is read completely', async (t) => {
  const bytes = Buffer.from(loan);
  const { call } = await openGateway(t, {
    upstream: () =>
      replyWith(
        new ReadableStream({
          async start(controller) {
            for (const byte of bytes) {
              controller.enqueue(Uint8Array.of(byte));
              await new Promise(setImmediate);
            }
            controller.close();
          },
        }),
        201,
      ),
  });
  t.regex(await (await call(lend)).text(), /<reader>Zoë<\/reader>/);
});

test('the bytes of a response are copied, because the gateway frees memory after reading', async (t) => {
  const kept = new Uint8Array(100_000).fill(1);
  const dispatcher = createFetchDispatcher(
    'http://localhost',
    () => replyWith(streamOf(kept)),
    () => {},
  );
  const read = await new Promise<Buffer>((resolve, reject) => {
    dispatcher.dispatch(
      { method: 'GET', path: '/x', headers: [], body: null },
      {
        onRequestStart: () => {},
        onResponseStart: () => {},
        onResponseData: (_controller, chunk) => resolve(chunk),
        onResponseEnd: () => {},
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
  t.deepEqual(new Uint8Array(read), kept);
  t.not(read.buffer, kept.buffer);
});

test('ignores lengths and codings of a response that fetch has decoded', async (t) => {
  const { call } = await openGateway(t, {
    upstream: () => {
      const headers = {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'content-length': String(gzipSync(loan).length),
      };
      return new Response(loan, { status: 201, headers });
    },
  });
  t.regex(await (await call(lend)).text(), /<number>9007199254740993<\/number>/);
});

for (const [what, fail] of [
  [
    'throws',
    () => {
      throw new Error('secret');
    },
  ],
  ['rejects', () => Promise.reject(new Error('secret'))],
] as const) {
  test(`an upstream function that ${what}: a read is tried twice, a write once; onError is called`, async (t) => {
    const errors: unknown[] = [];
    const sent: string[] = [];
    const { call } = await openGateway(t, {
      upstream: ({ method }) => {
        sent.push(method);
        return fail();
      },
      onError: (error, { requestId }) => errors.push([(error as Error).message, typeof requestId]),
    });
    const written = await call(lend);
    t.is(written.headers.get('x-status'), '502');
    const text = await written.text();
    t.regex(text, /UpstreamInvalidResponse/);
    t.notRegex(text, /secret/);
    t.deepEqual(sent, ['POST']);
    t.is((await call(getBook)).headers.get('x-status'), '502');
    t.deepEqual(sent, ['POST', 'GET', 'GET']);
    t.deepEqual(errors, Array(3).fill(['secret', 'string']));
  });
}

for (const [what, response] of [
  ['no response', undefined],
  ['a plain object', { status: 200 }],
  ['a response of a network error', Response.error()],
  ['a body of other values than bytes', () => replyWith(streamOf('text'))],
  [
    'a body that breaks off',
    () =>
      replyWith(
        new ReadableStream({
          start: (controller) => controller.enqueue(Buffer.from('{')),
          pull: (controller) => controller.error(new Error('broken')),
        }),
      ),
  ],
] as const) {
  test(`an upstream function that returns ${what}: the caller gets UpstreamInvalidResponse`, async (t) => {
    const { call } = await openGateway(t, {
      upstream: () => (typeof response === 'function' ? response() : response) as Response,
    });
    const reply = await call(lend);
    t.is(reply.headers.get('x-status'), '502');
    t.regex(await reply.text(), /UpstreamInvalidResponse/);
  });
}

test('accepts a response of replyBytes bytes, and rejects one more byte', async (t) => {
  for (const [length, status] of [
    [1_000, null],
    [1_001, '502'],
  ] as const) {
    const body = '{"isbn":"1","title":"T"}'.padEnd(length);
    const { call } = await openGateway(t, { upstream: () => replyWith(body), limits: { replyBytes: 1_000 } });
    t.is((await call(getBook)).headers.get('x-status'), status, String(length));
  }
});

test('the signal of a request aborts when the call times out, and the caller gets UpstreamTimeout', async (t) => {
  const aborted = Promise.withResolvers<void>();
  const { call } = await openGateway(t, {
    limits: { totalMs: 200 },
    upstream: ({ signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => aborted.resolve());
      }),
  });
  const reply = await call(lend);
  t.is(reply.headers.get('x-status'), '504');
  t.regex(await reply.text(), /UpstreamTimeout/);
  await aborted.promise;
  t.pass();
});

test('the signal of a read aborts when its caller disconnects', async (t) => {
  const asked = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const { call } = await openGateway(t, {
    upstream: ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const leaving = new AbortController();
  const left = call(getBook, leaving.signal);
  await asked.promise;
  leaving.abort();
  await t.throwsAsync(left, { name: 'AbortError' });
  await aborted.promise;
});

test('a response that arrives after its call was aborted is not read', async (t) => {
  const late = Promise.withResolvers<Response>();
  const cancelled = Promise.withResolvers<void>();
  const { call } = await openGateway(t, { limits: { totalMs: 100 }, upstream: () => late.promise });
  t.is((await call(lend)).headers.get('x-status'), '504');
  late.resolve(replyWith(new ReadableStream({ cancel: () => cancelled.resolve() })));
  await cancelled.promise;
});

test('a body that arrives in chunks is a stream of the request, with pause and resume', async (t) => {
  const pieces: string[] = [];
  const dispatcher = createFetchDispatcher(
    'http://localhost',
    async (request) => {
      t.is(request.headers.get('content-length'), null);
      t.is(await request.text(), 'onetwo');
      return replyWith(streamOf(Buffer.from('a'), Buffer.from('b')));
    },
    () => {},
  );
  await new Promise<void>((resolve, reject) => {
    dispatcher.dispatch(
      {
        method: 'POST',
        path: '/x',
        headers: ['content-length', '6', 'x-a', '1'],
        body: Readable.from([Buffer.from('one'), Buffer.from('two')], { objectMode: false }),
      },
      {
        onRequestStart: () => {},
        onResponseStart: () => {},
        onResponseData: (controller, chunk) => {
          pieces.push(chunk.toString());
          controller.pause();
          setImmediate(() => {
            pieces.push('resumed');
            controller.resume();
          });
        },
        onResponseEnd: () => resolve(),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
  t.deepEqual(pieces.slice(0, 3), ['a', 'resumed', 'b']);
});
