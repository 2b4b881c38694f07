import test from 'ava';
import { markedTexts } from '../../../console/operators/marks.ts';
import { html, renderDocument } from '../../../console/server/html.ts';

/** Returns the HTML of both columns. */
function columns(first: string | undefined, second: string | undefined): readonly string[] {
  return markedTexts(first, second).map((part) =>
    renderDocument(html`<p>${part}</p>`).replace('<!doctype html><p>', '').replace('</p>', ''),
  );
}

test('G73: the differing part of two texts is marked in both columns', (t) => {
  const [a, b] = columns('Water Desk  ', 'Water Desk');
  t.is(a, '<code class="value">Water Desk<mark>  </mark></code>');
  t.is(b, '<code class="value">Water Desk</code>');
  t.deepEqual(columns('10.50', '10.51'), [
    '<code class="value">10.5<mark>0</mark></code>',
    '<code class="value">10.5<mark>1</mark></code>',
  ]);
});

test('G73: a common start and a common end do not overlap', (t) => {
  t.deepEqual(columns('aa', 'aaa'), [
    '<code class="value">aa</code>',
    '<code class="value">aa<mark>a</mark></code>',
  ]);
});

test('G73: a character of two code units is not cut', (t) => {
  t.deepEqual(columns('😀', '😁'), [
    '<code class="value"><mark>😀</mark></code>',
    '<code class="value"><mark>😁</mark></code>',
  ]);
});

test('G73: values are escaped, and a missing value is named', (t) => {
  t.deepEqual(columns(undefined, '<script>trap(1)</script>'), [
    '<em>no value</em>',
    '<code class="value"><mark>&lt;script>trap(1)&lt;/script></mark></code>',
  ]);
});
