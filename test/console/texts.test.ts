import { globSync, readFileSync } from 'node:fs';
import test from 'ava';
import { languageFor, languages } from '../../console/server/texts.ts';

const root = new URL('../../', import.meta.url);

test('every language has the same texts as English, with the same placeholders', (t) => {
  const [english, ...others] = languages();
  const all = english?.below('') ?? {};
  t.true(others.length > 0);
  for (const { language } of others) {
    const own: Record<string, string> = JSON.parse(
      readFileSync(new URL(`console/texts/${language}.json`, root), 'utf8'),
    );
    t.deepEqual(Object.keys(own).toSorted(), Object.keys(all).toSorted(), language);
    for (const [key, text] of Object.entries(own))
      t.deepEqual(text.match(/\{\w+\}/g)?.toSorted(), all[key]?.match(/\{\w+\}/g)?.toSorted(), key);
  }
});

test('every text that pages use exists', (t) => {
  const english = languages()[0];
  const asked = globSync('console/{server,client}/**/*.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(new URL(file, root), 'utf8').matchAll(/'((?:[a-z]+)\.[a-zA-Z]+)'/g)].map(
      ([, key]) => key ?? '',
    ),
  );
  const known = english?.below('') ?? {};
  const prefixes = new Set(Object.keys(known).map((key) => key.split('.')[0]));
  for (const key of asked)
    if (
      prefixes.has(key.split('.')[0]) &&
      !key.endsWith('.ts') &&
      !key.endsWith('.json') &&
      !key.endsWith('.css')
    )
      t.true(key in known, key);
});

test('the language that a link chose wins over the browser’s, and that over English', (t) => {
  t.is(languageFor('de', 'en').language, 'de');
  t.is(languageFor(null, 'de-CH, en;q=0.8').language, 'de');
  t.is(languageFor(null, 'en;q=0.2, de;q=0.9').language, 'de');
  t.is(languageFor(null, 'de;q=0, fr').language, 'en');
  t.is(languageFor('../etc', undefined).language, 'en');
});
