import test from 'ava';
import {
  describe,
  type Finding,
  findingsInCommits,
  findingsInPages,
  findingsInPageTexts,
  findingsInSources,
  findingsInSubject,
  findingsOfSource,
  phrasesIn,
} from './check.ts';
import { phrases } from './patterns.ts';
import { markdownProse } from './texts.ts';

const lines = (findings: readonly Finding[]): readonly string[] => findings.map(describe);

test('Markdown pages contain no forbidden phrase', (t) => {
  t.deepEqual(lines(findingsInPages()), []);
});

test('comments and messages contain no forbidden phrase', (t) => {
  t.deepEqual(lines(findingsInSources()), []);
});

test('English texts of the pages contain no forbidden phrase', (t) => {
  t.deepEqual(lines(findingsInPageTexts()), []);
});

test('subjects of commits have an area, at most 72 characters and no forbidden phrase', (t) => {
  const findings = findingsInCommits();
  if (typeof findings === 'string') t.log(`skipped: ${findings}`);
  t.deepEqual(typeof findings === 'string' ? [] : lines(findings), []);
});

test('there are 15 to 25 forbidden phrases, each with a reason and a better phrase', (t) => {
  t.true(phrases.length >= 15 && phrases.length <= 25, String(phrases.length));
  for (const { form, reason, better } of phrases) {
    t.true(reason.length > 0 && better.length > 0, form);
    t.deepEqual(lines(phrasesIn('better', better)), [], form);
  }
});

for (const [words, phrase] of [
  ['written anew', 'anew'],
  ['the service behind the gateway', 'service behind'],
  ['the request is told\nat start', 'is told'],
  ['a value that is none', 'that is none'],
  ['It gives way to others', 'gives way'],
] as const) {
  test(`the check finds "${phrase}"`, (t) => {
    const found = phrasesIn('page.md', `\n\n${words}\n`);
    t.deepEqual(
      found.map((each) => [each.place, each.words]),
      [['page.md:3', phrase]],
    );
  });
}

for (const words of [
  'cannot be told apart',
  'undefined if there are none',
  'like A, but for B',
  'a service',
]) {
  test(`the check accepts "${words}"`, (t) => {
    t.deepEqual(phrasesIn('page.md', words), []);
  });
}

test('the check ignores code, addresses and markup of Markdown', (t) => {
  const page = 'See `anew`, [a page](docs/anew.md) <!-- anew -->\n\n```sh\necho anew\n```\n\nDone anew.\n';
  t.deepEqual(
    phrasesIn('page.md', markdownProse(page)).map(({ place }) => place),
    ['page.md:7'],
  );
});

test('the check reads comments, and strings only if asked for', (t) => {
  const source = [
    "const a = 'read anew'; // mended",
    ['const b = /[/]anew amid/.exec(`amid $', '{anew} all`);'].join(''),
    "const c = 'anew';",
    '/**',
    ' * What a request is.',
    ' * @param beside `amid`',
    ' */',
    '// so',
    '// many',
  ].join('\n');
  const found = (withStrings: boolean) =>
    findingsOfSource('a.ts', source, withStrings).map(({ place, words }) => `${place} ${words}`);
  t.deepEqual(found(false), ['a.ts:1 mended', 'a.ts:8 so many', 'a.ts:4 What']);
  t.deepEqual(found(true), ['a.ts:1 mended', 'a.ts:8 so many', 'a.ts:4 What', 'a.ts:1 anew', 'a.ts:2 amid']);
});

for (const [subject, reason] of [
  ['Codec: reject empty dates', 'it has no area, or ends with a period'],
  ['reject empty dates', 'it has no area, or ends with a period'],
  ['codec: reject empty dates.', 'it has no area, or ends with a period'],
  [`codec: reject ${'x'.repeat(59)}`, 'it has 73 characters'],
  ['codec: read dates anew', 'an archaic word'],
] as const) {
  test(`the commit subject "${subject}" is a finding`, (t) => {
    t.deepEqual(
      findingsInSubject('abc', subject).map((each) => each.reason),
      [reason],
    );
  });
}

for (const subject of [
  'codec: reject empty dates',
  'gateway, test: clarify two comments',
  `codec: reject ${'x'.repeat(58)}`,
]) {
  test(`the commit subject "${subject}" is accepted`, (t) => {
    t.deepEqual(findingsInSubject('abc', subject), []);
  });
}
