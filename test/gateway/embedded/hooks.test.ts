import test from 'ava';
import { type CallReport, createGateway } from '../../../gateway/index.ts';
import { contract, getBook, lend, loan, openGateway, replyWith } from './library.ts';

test('onCall gets operation, protocol, status, outcome and duration of each call, and no values', async (t) => {
  const calls: CallReport[] = [];
  let status = 201;
  const { base, call } = await openGateway(t, {
    upstream: () => replyWith(status === 201 ? loan : '{}', status),
    onCall: (report) => calls.push(report),
  });
  await call(lend);
  await call(lend.replace('<isbn>1</isbn>', ''));
  status = 500;
  await call(lend);
  await call('no XML');
  await fetch(`${base}/soap11?wsdl`);
  t.deepEqual(
    calls.map(({ operation, protocol, status: replied, outcome, error }) => [
      operation,
      protocol,
      replied,
      outcome,
      error,
    ]),
    [
      ['lend', 'soap11', 200, 'ok', undefined],
      ['lend', 'soap11', 500, 'rejected', 'ValidationError'],
      ['lend', 'soap11', 500, 'failed', 'UpstreamInvalidResponse'],
      [undefined, 'soap11', 500, 'rejected', 'MalformedRequest'],
    ],
  );
  for (const { durationMs, requestId, bytesIn } of calls) {
    t.true(durationMs > 0 && bytesIn > 0);
    t.regex(requestId, /./);
  }
  t.notRegex(JSON.stringify(calls), /Zoë|no XML/);
});

test('onCall reports a disconnected caller as aborted', async (t) => {
  const reported = Promise.withResolvers<CallReport>();
  const asked = Promise.withResolvers<void>();
  const { call } = await openGateway(t, {
    upstream: () => {
      asked.resolve();
      return new Promise(() => {});
    },
    onCall: reported.resolve,
  });
  const leaving = new AbortController();
  const left = call(getBook, leaving.signal);
  await asked.promise;
  leaving.abort();
  await t.throwsAsync(left);
  t.is((await reported.promise).outcome, 'aborted');
});

for (const [what, hook] of [
  [
    'throws',
    () => {
      throw new Error('of the hook');
    },
  ],
  ['rejects', () => Promise.reject(new Error('of the hook'))],
] as const) {
  test(`an onCall that ${what} does not affect the call, and onError gets the error`, async (t) => {
    const reported = Promise.withResolvers<unknown>();
    const { call } = await openGateway(t, {
      upstream: () => replyWith(loan, 201),
      onCall: hook,
      onError: (error) => reported.resolve(error),
    });
    t.is((await call(lend)).status, 200);
    t.is(((await reported.promise) as Error).message, 'of the hook');
  });

  test(`an onError that ${what} does not affect the call, and is logged without its message`, async (t) => {
    const logged = Promise.withResolvers<unknown>();
    const { call } = await openGateway(t, {
      upstream: () => Promise.reject(new Error('of the upstream')),
      onError: hook,
      logger: {
        info: () => {},
        warn: () => {},
        error: (fields, message) => {
          if (message === 'onError threw an error') logged.resolve(fields);
        },
      },
    });
    t.is((await call(lend)).headers.get('x-status'), '502');
    t.notRegex(JSON.stringify(await logged.promise), /of the hook/);
  });
}

for (const [options, message] of [
  [{ onCall: 'log' }, 'onCall: expected a function, got "log"'],
  [
    { onEror: () => {} },
    'onEror: expected an option of createGateway, got an unknown name. Did you mean onError?',
  ],
  [
    { upstreem: 'http://127.0.0.1' },
    'upstreem: expected an option of createGateway, got an unknown name. Did you mean upstream?',
  ],
] as const) {
  test(`createGateway refuses options: ${message}`, (t) => {
    const given = { contract, upstream: 'http://127.0.0.1:1', publicUrl: 'http://localhost', ...options };
    t.throws(() => createGateway(given as never), { instanceOf: RangeError, message });
  });
}
