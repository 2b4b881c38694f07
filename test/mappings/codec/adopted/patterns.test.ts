import test from 'ava';
import { patternOf } from '../../../../mappings/codec/adopted/patterns.ts';

for (const [pattern, takes, refuses] of [
  ['[A-Z]{2}\\d{3}', ['AB123'], ['AB12', 'xAB123', 'AB123x']],
  ['a|b', ['a', 'b'], ['ab', 'c']],
  ['\\i\\c*', ['a-1', '_x'], ['1a', '']],
  ['[\\w\\-.]+', ['a-1.b', 'é'], ['a b', '']],
  ['$1.50^', ['$1x50^'], ['1.50']],
  ['[^-a]b', ['xb'], ['-b', 'ab']],
  ['[+\\-]?\\p{Lu}', ['+A', 'Ä'], ['a']],
  ['\\P{Lu}', ['a', '1'], ['A']],
  ['a.c', ['abc', 'a😀c', 'a\u2028c'], ['a\nc', 'a\rc', 'ac']],
  ['\\D\\S\\W', ['ab-', '-1 '], ['1b-', 'a -', 'abc']],
  ['\\I\\C', ['1 ', '- '], ['a ', '11']],
  ['a{2,}b{1,2}c{2}', ['aabcc', 'aaabbcc'], ['abcc', 'aabbbcc', 'aabc']],
  ['\\-\\.\\n\\t\\r', ['-.\n\t\r'], ['-x\n\t\r', '-.n\t\r']],
  ['[\\s\\d]', [' ', '1', '\t'], ['a', '\\']],
  ['(ab|c)+d?', ['abc', 'cd', 'abab'], ['b', 'd', 'ac']],
  ['[a-c-]', ['b', '-'], ['d']],
  ['[-a]', ['-', 'a'], ['b']],
  ['[a\\-c]', ['a', '-', 'c'], ['b']],
  ['[*+^$]', ['*', '^', '$'], ['a', '\\']],
  ['[\\n\\]]', ['\n', ']'], ['n', '\\']],
] as const)
  test(`A26: the XSD pattern ${pattern} accepts the same texts in ECMAScript`, (t) => {
    const expression = new RegExp(patternOf([pattern]) ?? '', 'u');
    for (const text of takes) t.true(expression.test(text), text);
    for (const text of refuses) t.false(expression.test(text), text);
  });

for (const pattern of [
  '[a-z-[aeiou]]',
  '\\p{IsGreek}',
  '(a',
  'a)',
  'a{,2}',
  '[\\S]',
  'a**',
  '\\q',
  '[a',
  '[]',
  'a]',
  'a}',
  'a{1',
  'a{12',
  '+a',
  '(*a)',
  'a|*',
  '\\',
  '\\p{Xx}',
  '\\p{Lu',
  '\\p{Lux',
  '[^]',
  '[[a]]',
  '[a[b]',
  '[a-[b]]',
  '[\\I]',
  '[a\\q]',
])
  test(`A26: the XSD pattern ${pattern} has no form in ECMAScript`, (t) => {
    t.is(patternOf([pattern]), undefined);
  });

test('A26: patterns are described in ECMAScript syntax', (t) => {
  for (const [pattern, expression] of [
    ['(ab)c', '(?:ab)c'],
    ['a.', 'a[^\\n\\r]'],
    ['\\d\\s[\\d\\s]', '\\d[ \\t\\n\\r][\\d \\t\\n\\r]'],
    ['[-a][a-][a-c][^-]', '[\\-a][a\\-][a-c][^\\-]'],
    ['[a\\-c]\\-', '[a\\-c]-'],
    ['[$.*+?()|{}/]', '[\\$\\.\\*\\+\\?\\(\\)\\|\\{\\}\\/]'],
    ['\\p{Lu}ab', '\\p{Lu}ab'],
    ['a{2,}b', 'a{2,}b'],
  ] as const)
    t.is(patternOf([pattern]), `^(?:${expression})$`);
});

test('A26: one of several patterns suffices, and one without a form disables the check', (t) => {
  const expression = new RegExp(patternOf(['a', 'b|c']) ?? '', 'u');
  for (const text of ['a', 'b', 'c']) t.true(expression.test(text), text);
  for (const text of ['ab', '', 'abc']) t.false(expression.test(text), text);
  t.is(patternOf(['a', '(']), undefined);
});
