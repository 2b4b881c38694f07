import test from 'ava';
import { CallError, errorCodes, failureOf } from '../../../gateway/call/error.ts';

const hide = (text: string): string => text.replaceAll('requests', '***');

test('a refusal has no stack; an error created after it has one', (t) => {
  t.regex(new CallError('Overloaded').stack ?? '', /^\w*Error: too many requests are waiting$/);
  t.regex(new Error('ours').stack ?? '', /^Error: ours\n {4}at /);
});

test('secrets are removed from the message of one call, not from constant messages', (t) => {
  const said = (error: CallError): unknown => failureOf(error, 'id', hide).responseStatus.get('message');
  t.is(said(new CallError('Overloaded')), errorCodes.Overloaded.message);
  t.is(said(new CallError('Overloaded', { detail: 'as many requests as fit' })), 'as many *** as fit');
  const problems = [{ code: 'InvalidType', path: '', detail: errorCodes.Overloaded.message } as const];
  t.is(said(new CallError('Overloaded', { problems })), 'too many *** are waiting');
});
