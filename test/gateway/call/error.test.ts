import test from 'ava';
import { CallError, errorCodes, failureOf } from '../../../gateway/call/error.ts';

const hide = (text: string): string => text.replaceAll('requests', '***');

test('a refusal has no stack, and an error made after it has one', (t) => {
  t.regex(new CallError('Overloaded').stack ?? '', /^\w*Error: too many requests are waiting$/);
  t.regex(new Error('ours').stack ?? '', /^Error: ours\n {4}at /);
});

test('secrets are hidden in what is said of one call, not in what is said of every such refusal', (t) => {
  const said = (error: CallError): unknown => failureOf(error, 'id', hide).responseStatus.get('message');
  t.is(said(new CallError('Overloaded')), errorCodes.Overloaded.message);
  t.is(said(new CallError('Overloaded', { detail: 'as many requests as fit' })), 'as many *** as fit');
  const problems = [{ code: 'InvalidType', path: '', detail: errorCodes.Overloaded.message } as const];
  t.is(said(new CallError('Overloaded', { problems })), 'too many *** are waiting');
});
