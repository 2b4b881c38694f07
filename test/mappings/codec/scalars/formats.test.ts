import test from 'ava';
import { isFormat, isOfFormat } from '../../../../mappings/codec/scalars/formats.ts';
import type { FormatName } from '../../../../mappings/contract/model.ts';

/** Valid and invalid texts of each format, close to its bounds. */
const bounds: Readonly<
  Record<FormatName, { readonly good: readonly string[]; readonly bad: readonly string[] }>
> = {
  uuid: {
    good: ['6f9619ff-8b86-d011-b42d-00cf4fc964ff', '6F9619FF-8B86-D011-B42D-00CF4FC964FF'],
    bad: ['6f9619ff8b86d011b42d00cf4fc964ff', '{6f9619ff-8b86-d011-b42d-00cf4fc964ff}', ''],
  },
  ipv4: { good: ['0.0.0.0', '255.249.199.99'], bad: ['256.0.0.1', '1.2.3', '1.2.3.4.5', '1.2.3.'] },
  ipv6: { good: ['::', 'FE80::1'], bad: [':', 'g::', '::1]/[::', '1:2:3:4:5:6:7:8:9', '127.0.0.1'] },
  hostname: {
    good: ['a', 'a-b.C9', `${`${'a'.repeat(63)}.`.repeat(3)}${'a'.repeat(61)}`],
    bad: [
      '',
      '-a',
      'a-',
      'a.-b',
      'a-.b',
      'a.'.repeat(2),
      `${'a'.repeat(64)}.b`,
      'a.'.repeat(126).concat('ab'),
    ],
  },
  email: {
    good: ['a@b', `a@${'b'.repeat(318)}`],
    bad: ['@b', 'a@', 'a@b@c', 'a b@c', `a@${'b'.repeat(319)}`],
  },
  uri: { good: ['a:', 'urn:x', 'https://a/?b#c'], bad: [':a', '1:a', 'a b:', 'a:<b>', 'a'] },
  time: { good: ['23:59:60z', '00:00:00.5-23:59'], bad: ['24:00:00Z', '00:60:00Z', '00:00:61Z', '00:00:00'] },
  duration: { good: ['P1D', 'PT1S', 'P1Y2M3DT4H5M6.7S', 'P2W'], bad: ['P', 'PT', 'P1DT', 'P1W1D', '-P1D'] },
};

for (const [format, { good, bad }] of Object.entries(bounds))
  test(`a ${format} is valid up to the bounds of its grammar`, (t) => {
    if (!isFormat(format)) return t.fail('unknown');
    for (const text of good) t.true(isOfFormat(format, text), text);
    for (const text of bad) t.false(isOfFormat(format, text), text);
  });

test('a format without a checked grammar is not in the list', (t) => {
  for (const name of ['date', 'toString', '__proto__', '']) t.false(isFormat(name), name);
});
