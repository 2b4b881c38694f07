import test from 'ava';
import { html, renderDocument, webAddress } from '../../console/server/html.ts';
import { prose, summary } from '../../console/server/prose.ts';

/** Renders a description as HTML. */
function shown(text: string): string {
  return renderDocument(html`<x>${prose(text)}</x>` as never)
    .replace(/^<!doctype html><x>(?:<div class="prose" dir="auto">)?/, '')
    .replace(/(?:<\/div>)?<\/x>$/, '');
}

test('code, strong text, links, lists and fences are rendered', (t) => {
  t.is(shown('Use `a<b` **now**.'), '<p>Use <code>a&lt;b</code> <strong>now</strong>.</p>');
  t.is(shown('All *about* pets.'), '<p>All <em>about</em> pets.</p>');
  t.is(shown('2 * 3 * 4, **a*, *b'), '<p>2 * 3 * 4, **a*, *b</p>');
  t.is(
    shown('[docs](https://example.com/x)'),
    '<p><a href="https://example.com/x" rel="noreferrer nofollow">docs</a></p>',
  );
  t.is(shown('Either:\n- one\n- two'), '<p>Either:</p><ul><li>one</li><li>two</li></ul>');
  t.is(shown('```\na  b\n```'), '<pre tabindex="0"><code>a  b</code></pre>');
  t.is(shown('  '), '');
});

test('a link leads to the web, or it stays text', (t) => {
  for (const target of ['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', '//host', 'relative'])
    t.is(shown(`[x](${target})`), `<p>[x](${target})</p>`);
  t.is(webAddress('JaVaScRiPt:alert(1)'), undefined);
  t.is(webAddress('https://example.com'), 'https://example.com/');
});

test('HTML markup is shown as text', (t) => {
  t.is(shown('<img src=x onerror=alert(1)>'), '<p>&lt;img src=x onerror=alert(1)></p>');
});

test('a summary is the first line or sentence, without markup', (t) => {
  t.is(summary('Get a search\nReturns one `search` with its results.'), 'Get a search');
  t.is(summary('Gives **one**. And more.'), 'Gives one.');
  t.is(summary('a'.repeat(300)).length, 140);
});
