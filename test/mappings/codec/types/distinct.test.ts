import { createHash } from 'node:crypto';
import test from 'ava';
import { Distinct } from '../../../../mappings/codec/types/distinct.ts';

const long = (end: string): string => 'k'.repeat(16_400) + end;

test('texts are distinguished, long and short', (t) => {
  const texts = new Distinct(['there']);
  for (const text of ['', 'a', long('a'), long('b'), long('a').slice(1), long('\ud800'), long('\ud801')]) {
    t.true(texts.add(text));
    t.false(texts.add(text));
  }
  t.false(texts.add('there'));
});

test('a text differs from its digest', (t) => {
  const texts = new Distinct();
  t.true(texts.add(long('a')));
  t.true(texts.add(createHash('sha256').update(long('a'), 'utf16le').digest('base64')));
});
