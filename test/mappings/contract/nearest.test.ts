import test from 'ava';
import { didYouMean } from '../../../mappings/contract/nearest.ts';

for (const [name, known, expected] of [
  ['servicestak', ['servicestack', 'plain'], '. Did you mean servicestack?'],
  ['plian', ['servicestack', 'plain'], '. Did you mean plain?'],
  ['NAIPL', ['servicestack', 'plain'], '. Did you mean plain?'],
  ['esperanto', ['servicestack', 'plain'], ''],
  ['', ['plain'], ''],
  ['plain', [], ''],
  [`${'ab'.repeat(31)}ba`, ['ab'.repeat(32)], `. Did you mean ${'ab'.repeat(32)}?`],
  [`${'ab'.repeat(32)}c`, [`${'ba'.repeat(32)}c`], ''],
] as const) {
  test(`didYouMean of "${name.slice(0, 12)}", ${name.length} characters, is "${expected.slice(0, 40)}"`, (t) => {
    t.is(didYouMean(name, known), expected);
  });
}

test('didYouMean compares at most 300 names', (t) => {
  const others = Array.from({ length: 300 }, (_, index) => `other name ${index}`);
  t.is(didYouMean('plian', [...others.slice(1), 'plain']), '. Did you mean plain?');
  t.is(didYouMean('plian', [...others, 'plain']), '');
});
