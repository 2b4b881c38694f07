import { readFileSync } from 'node:fs';
import test from 'ava';
import { excerptPages, withExcerpts } from './excerpts.ts';

for (const page of excerptPages()) {
  test(`the code of ${page.name} is part of the tested program`, (t) => {
    const text = readFileSync(page.file, 'utf8');
    t.regex(text, /^<!-- from /m);
    t.is(text, withExcerpts(text), '`npm run golden` writes it');
  });
}

test('an excerpt that is missing from its source is an error that names both', (t) => {
  const page = '<!-- from test/interop/php/quick-start.php: nothing -->\n```php\n```\n';
  t.throws(() => withExcerpts(page), {
    message:
      'test/interop/php/quick-start.php: expected lines between "docs:begin nothing" and "docs:end nothing", got none',
  });
});
