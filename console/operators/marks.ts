import { type Html, html } from '../server/html.ts';

/** Returns two texts for two columns. The part between their common start and their common end is marked. */
export function markedTexts(first: string | undefined, second: string | undefined): readonly [Html, Html] {
  if (first === undefined || second === undefined) return [whole(first), whole(second)];
  const [a, b] = [[...first], [...second]]; // characters, so that no surrogate pair is cut
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [marked(a, start, end), marked(b, start, end)];
}

function marked(characters: readonly string[], start: number, end: number): Html {
  const stop = characters.length - end;
  const [before, middle, after] = [
    characters.slice(0, start),
    characters.slice(start, stop),
    characters.slice(stop),
  ].map((part) => part.join(''));
  return html`<code class="value">${before}${middle !== '' && html`<mark>${middle}</mark>`}${after}</code>`;
}

function whole(text: string | undefined): Html {
  return text === undefined ? html`<em>no value</em>` : html`<code class="value"><mark>${text}</mark></code>`;
}
