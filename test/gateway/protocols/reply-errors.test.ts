import test from 'ava';
import { CallError } from '../../../gateway/call/error.ts';
import { readReply } from '../../../gateway/call/outcome.ts';
import { mapReply } from '../../../gateway/upstream/mapped-upstream.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import type { Mapping } from '../../../mappings/mapping/mapping.ts';
import { MappingError } from '../../../mappings/mapping/run.ts';
import { compile, depot, operationOf } from '../../mappings/codec/contracts.ts';

/** The error that reading a reply of GetParcel throws. */
function errorOf(body: string, limits: Partial<Limits> = {}): CallError | undefined {
  const compiled = compile(depot, {}, limits);
  const reply = { status: 200, headers: {}, body: Buffer.from(body), retryAfter: undefined };
  const frame = { before: '', after: '' };
  try {
    readReply(reply, compiled, operationOf(compiled, 'GetParcel'), (text) => text, frame);
    return undefined;
  } catch (error) {
    if (error instanceof CallError) return error;
    throw error;
  }
}

const list = (items: number): string => `{"name":"a","counts":[${Array(items).fill('1').join()}]}`;

test('jsonMembers: a reply with one member or item too many names the limit', (t) => {
  t.is(errorOf(list(8), { jsonMembers: 10 }), undefined);
  const error = errorOf(list(9), { jsonMembers: 10 });
  const expected = 'got more than 10 members and items (limit jsonMembers)';
  t.is(error?.message, `expected a JSON response from the upstream, ${expected}`);
  t.is(error?.logged, `expected JSON, ${expected}`);
});

test('jsonDepth: a reply that is nested one level too deep names the limit', (t) => {
  t.is(errorOf('{"grid":[[true]]}', { jsonDepth: 3 }), undefined);
  const error = errorOf('{"grid":[[true]]}', { jsonDepth: 2 });
  t.is(
    error?.message,
    'expected a JSON response from the upstream, got nesting deeper than 2 (limit jsonDepth)',
  );
});

test('writtenBytes: the error of a reply that is too long in XML names the limits', (t) => {
  const error = errorOf(`{"note":"${'&'.repeat(60_000)}"}`, { writtenBytes: 200_000 });
  t.is(
    error?.message,
    'the reply: expected at most 200000 bytes of XML (see the limits replyBytes and replyBytesWithBinary), got more bytes',
  );
});

for (const status of [404, 422, 500, 503])
  test(`an error with status ${status} and a body over a limit names the limit`, (t) => {
    const compiled = compile(depot, {}, { jsonMembers: 10 });
    const messageOf = (body: string): string => {
      const reply = { status, headers: {}, body: Buffer.from(body), retryAfter: undefined };
      const frame = { before: '', after: '' };
      const outcome = readReply(reply, compiled, operationOf(compiled, 'GetParcel'), (text) => text, frame);
      return outcome.kind === 'failure' ? String(outcome.failure.responseStatus.get('message')) : '';
    };
    t.is(
      messageOf(list(9)),
      `the upstream responded with status ${status} and more than 10 members and items (limit jsonMembers)`,
    );
    t.false(messageOf(list(8)).includes('limit'));
    t.false(messageOf('<html>[[').includes('limit'));
    t.is(messageOf('{"message":"gone"}'), 'gone');
  });

test('a reply without a limit in the way that is not JSON is reported as such', (t) => {
  t.is(
    errorOf('canary')?.message,
    'expected a JSON response from the upstream, got text that is not one JSON object',
  );
});

for (const [what, error, message] of [
  [
    'without a path',
    new MappingError('reply', '', { expected: 'an array', got: 'an object' }),
    'the reply: expected an array, got an object',
  ],
  [
    'with a path',
    new MappingError('reply', 'state', { expected: 'open', got: 'another value' }),
    "the reply's state: expected open, got another value",
  ],
  [
    'over a limit',
    new JsonError(7, { detail: 'nesting deeper than 64' }, 'jsonDepth'),
    'expected a JSON response from the upstream, got nesting deeper than 64 (limit jsonDepth)',
  ],
] as const)
  test(`the error of a mapped reply ${what} has position and reason`, (t) => {
    const toReply = (): never => {
      throw error;
    };
    const mapping = { operations: new Map([['Op', { toReply }]]) } as unknown as Mapping;
    t.throws(() => mapReply(mapping, 'Op', 0, []), { instanceOf: CallError, message });
  });
