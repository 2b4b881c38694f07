import test from 'ava';
import { problemText } from '../../../../mappings/codec/problem.ts';
import { compiledGet, element as e, get, readMessage, sequence } from './messages.ts';

/** Limits on the number of items under `validate: strict` (A13). */

const twoToThree = 'minOccurs="2" maxOccurs="3"';
const repeat = (count: number, item: string): string => item.repeat(count);

interface Case {
  readonly title: string;
  readonly type: string;
  readonly content: (count: number) => string;
  /** Path of the array in problems. */
  readonly at: string;
  readonly least: number;
  readonly most: number;
  /** The range in the message. */
  readonly range?: string;
}

const cases: readonly Case[] = [
  {
    title: 'an element',
    type: sequence(e('a', 'xs:int', twoToThree)),
    content: (count) => repeat(count, '<t:a>1</t:a>'),
    at: 'a: ',
    least: 2,
    most: 3,
  },
  {
    title: 'an element that may be absent',
    type: sequence(e('a', 'xs:int', 'minOccurs="0" maxOccurs="2"')),
    content: (count) => repeat(count, '<t:a>1</t:a>'),
    at: 'a: ',
    least: 0,
    most: 2,
    range: 'at most 2',
  },
  {
    title: 'an element without a maximum',
    type: sequence(e('a', 'xs:int', 'minOccurs="2" maxOccurs="unbounded"')),
    content: (count) => repeat(count, '<t:a>1</t:a>'),
    at: 'a: ',
    least: 2,
    most: 40,
    range: 'at least 2',
  },
  {
    title: 'an element in two places',
    type: sequence(`${e('a', 'xs:int')}${e('b', 'xs:int', 'minOccurs="0"')}${e('a', 'xs:int')}`),
    content: (count) => repeat(count, '<t:a>1</t:a>'),
    at: 'a: ',
    least: 2,
    most: 2,
    range: '2 to 2',
  },
  {
    title: 'a wrapper that is an array',
    type: sequence(`<xs:element name="w">${sequence(e('a', 'xs:int', twoToThree))}</xs:element>`),
    content: (count) => `<t:w>${repeat(count, '<t:a>1</t:a>')}</t:w>`,
    at: 'w: ',
    least: 2,
    most: 3,
  },
  {
    title: 'an element of a nested list item',
    type: sequence(
      `<xs:element name="r" maxOccurs="unbounded">${sequence(e('a', 'xs:int', twoToThree) + e('z', 'xs:int', 'minOccurs="0"'))}</xs:element>`,
    ),
    content: (count) => `<t:r>${repeat(count, '<t:a>1</t:a>')}</t:r>`,
    at: 'r[0].a: ',
    least: 2,
    most: 3,
  },
  {
    title: 'rounds of a repeated choice',
    type: `<xs:complexType><xs:choice ${twoToThree}>${e('a', 'xs:int')}${e('b', 'xs:int')}</xs:choice></xs:complexType>`,
    content: (count) => repeat(count, '<t:a>1</t:a>'),
    at: '@items: ',
    least: 2,
    most: 3,
  },
  {
    title: 'rounds of a repeated choice that may be empty',
    type: `<xs:complexType><xs:choice ${twoToThree}>${e('a', 'xs:int', 'minOccurs="0"')}${e('b', 'xs:int')}</xs:choice></xs:complexType>`,
    content: (count) => repeat(count, '<t:a>1</t:a>'),
    at: '@items: ',
    least: 0,
    most: 3,
    range: 'at most 3',
  },
  {
    title: 'rounds of a repeated sequence',
    type: `<xs:complexType><xs:sequence ${twoToThree}>${e('a', 'xs:int')}${e('b', 'xs:int')}</xs:sequence></xs:complexType>`,
    content: (count) => repeat(count, '<t:a>1</t:a><t:b>1</t:b>'),
    at: '@items: ',
    least: 2,
    most: 3,
  },
  {
    title: 'rounds of a repeated sequence with a list, which neighbours may share',
    type: `<xs:complexType><xs:sequence ${twoToThree}>${e('a', 'xs:int')}${e('b', 'xs:int', 'maxOccurs="2"')}</xs:sequence></xs:complexType>`,
    content: (count) => repeat(count, '<t:a>1</t:a><t:b>1</t:b>'),
    at: '@items: ',
    least: 1,
    most: 3,
  },
  {
    title: 'rounds of a repeated choice with a sequence, which neighbours may share',
    type: `<xs:complexType><xs:choice ${twoToThree}><xs:sequence>${e('a', 'xs:int')}${e('b', 'xs:int')}</xs:sequence>${e('c', 'xs:int')}</xs:choice></xs:complexType>`,
    content: (count) => repeat(count, '<t:c>1</t:c>'),
    at: '@items: ',
    least: 1,
    most: 3,
  },
  {
    title: 'elements of a wildcard',
    type: sequence(`<xs:any namespace="##other" processContents="lax" ${twoToThree}/>`),
    content: (count) => repeat(count, '<o:x xmlns:o="urn:o"/>'),
    at: '@any: ',
    least: 2,
    most: 3,
  },
];

for (const { title, type, content, at, least, most, range = `${least} to ${most}` } of cases)
  test(`A13: validate: strict checks the number of items in a request: ${title}`, (t) => {
    const strict = compiledGet(t, type, '', { validate: 'strict' }).request;
    const lenient = compiledGet(t, type).request;
    const told = (count: number) =>
      readMessage(strict, get(content(count))).problems.map(
        (problem) => `${problem.code} ${problemText(problem)}`,
      );
    t.deepEqual([told(least), told(most)], [[], []]);
    for (const count of [least - 1, most + 1].filter((one) => one > 0 && one < 40)) {
      t.deepEqual(told(count), [`OutOfRange ${at}expected ${range} items, got ${count}`]);
      t.deepEqual(readMessage(lenient, get(content(count))).problems, []);
    }
  });

test('A13: validate: strict reports a required array without items as missing', (t) => {
  const { request } = compiledGet(t, sequence(e('a', 'xs:int', twoToThree)), '', { validate: 'strict' });
  const { problems, missing } = readMessage(request, get(''));
  t.deepEqual(problems, []);
  t.deepEqual(
    missing.map(({ path }) => path),
    ['a'],
  );
});

test('A13: validate: strict reports missing items of an empty wrapper', (t) => {
  const type = sequence(`<xs:element name="w">${sequence(e('a', 'xs:int', twoToThree))}</xs:element>`);
  const { request } = compiledGet(t, type, '', { validate: 'strict' });
  const { problems } = readMessage(request, get('<t:w/>'));
  t.deepEqual(problems.map(problemText), ['w: expected 2 to 3 items, got 0']);
});
