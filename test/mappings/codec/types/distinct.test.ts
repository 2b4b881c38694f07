import { createHash } from 'node:crypto';
import test from 'ava';
import { Distinct } from '../../../../mappings/codec/types/distinct.ts';

const long = (end: string): string => 'k'.repeat(16_400) + end;

test('texts are told apart, whether they are long or short', (t) => {
  const texts = new Distinct(['there']);
  for (const text of ['', 'a', long('a'), long('b'), long('a').slice(1), long('\ud800'), long('\ud801')]) {
    t.true(texts.add(text));
    t.false(texts.add(text));
  }
  t.false(texts.add('there'));
});

test('a text is another one than its digest', (t) => {
  const texts = new Distinct();
  t.true(texts.add(long('a')));
  t.true(texts.add(createHash('sha256').update(long('a'), 'utf16le').digest('base64')));
});

test('texts of one length that differ at their ends cost about what a digest of each does', (t) => {
  const texts = Array.from({ length: 1_500 }, (_, index) => long(String(10_000 + index)));
  const timeOf = (run: () => void): number => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 4 && least > 5; time++) {
    const digests = timeOf(() => texts.map((text) => createHash('sha256').update(text).digest('base64')));
    const distinct = new Distinct();
    least = Math.min(least, timeOf(() => texts.every((text) => distinct.add(text))) / digests);
  }
  t.true(least <= 5, `${least.toFixed(1)} times`);
});
