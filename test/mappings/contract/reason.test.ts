import test from 'ava';
import { sentence, within } from '../../../mappings/contract/reason.ts';

for (const [reason, text] of [
  [{ expected: 'a, got b', got: '"c; d"' }, 'expected a, got b, got "c; d"'],
  [{ expected: 'no text' }, 'expected no text'],
  [{ expected: 'a', detail: 'send b' }, 'expected a; send b'],
  [{ expected: 'a', got: 'none', detail: 'send b' }, 'expected a, got none; send b'],
  [{ expected: 'a', got: '<b>', meant: 'bb' }, 'expected a, got <b>, did you mean bb?'],
  [{ detail: 'the body is too long' }, 'the body is too long'],
  [{ where: 'line 1', detail: 'more than 2 elements' }, 'line 1: more than 2 elements'],
] as const)
  test(`writes the sentence: ${text}`, (t) => {
    t.is(sentence(reason), text);
  });

test('a given position precedes the reason’s own position', (t) => {
  const reason = { expected: 'a', got: 'b' };
  t.deepEqual(within('the reply', reason), { ...reason, where: 'the reply' });
  t.is(sentence(within('the reply', { ...reason, where: 'line 1' })), 'the reply: line 1: expected a, got b');
});
