import test from 'ava';
import {
  quoteElement,
  quoteValue,
  type Reason,
  sentence,
  within,
} from '../../../mappings/contract/reason.ts';

for (const [reason, text] of [
  [{ expected: 'a, got b', got: quoteValue('"c; d"', 'a text') }, 'expected a, got b, got "c; d"'],
  [{ expected: 'no text' }, 'expected no text'],
  [{ expected: 'a', detail: 'send b' }, 'expected a; send b'],
  [{ expected: 'a', got: 'none', detail: 'send b' }, 'expected a, got none; send b'],
  [{ expected: 'a', got: quoteElement('b'), meant: 'bb' }, 'expected a, got <b>, did you mean bb?'],
  [{ detail: 'the body is too long' }, 'the body is too long'],
  [{ where: 'line 1, column 2', detail: 'more than 2 elements' }, 'line 1, column 2: more than 2 elements'],
] as const)
  test(`writes the sentence: ${text}`, (t) => {
    t.is(sentence(reason), text);
  });

test('a given position precedes the reason’s own position', (t) => {
  const reason = { expected: 'a', got: 'none' } as const;
  t.is(sentence(within('the reply', reason)), 'the reply: expected a, got none');
  t.is(
    sentence(within('the reply', { ...reason, where: 'position 1' })),
    'the reply: position 1: expected a, got none',
  );
});

test('a name in a quote is cut after 64 characters', (t) => {
  t.is(quoteElement('n'.repeat(64)).text, `<${'n'.repeat(64)}>`);
  t.is(quoteElement('n'.repeat(65), ' too').text, `<${'n'.repeat(64)}> too`);
});

test('the compiler refuses text that is no description as got', (t) => {
  const text: string = 'text of the caller';
  // @ts-expect-error: text of a caller is a quote
  const reason: Reason = { expected: 'a', got: text };
  // @ts-expect-error: a description is in the list of `Got`
  const another: Reason = { expected: 'a', got: 'some new words' };
  t.deepEqual([reason.got, another.got], [text, 'some new words']);
});
