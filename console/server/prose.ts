import { type Html, html, webAddress } from './html.ts';

// Renders descriptions written in CommonMark. It supports paragraphs, lists, code, emphasis and links to the web.
// Everything else, in particular HTML, is shown as text.

/** Maximum number of characters of a description. The rest is replaced by an ellipsis. */
const longest = 20_000;

/** Renders a description as paragraphs, lists and blocks of code; undefined for an empty description. */
export function prose(text: string): Html {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  if (cut.trim() === '') return undefined;
  const blocks: Html[] = [];
  let lines: string[] = [];
  let fence: string[] | undefined;
  const end = (): void => {
    if (lines.length > 0) blocks.push(blockOf(lines));
    lines = [];
  };
  for (const line of cut.split(/\r?\n/)) {
    if (line.startsWith('```')) {
      if (fence !== undefined) blocks.push(html`<pre tabindex="0"><code>${fence.join('\n')}</code></pre>`);
      else end();
      fence = fence === undefined ? [] : undefined;
    } else if (fence !== undefined) fence.push(line);
    else if (line.trim() === '') end();
    else {
      const startsList = isItem(line) && lines.length > 0 && !isItem(lines[0] ?? '');
      if (startsList) end();
      lines.push(line);
    }
  }
  if (fence !== undefined) blocks.push(html`<pre tabindex="0"><code>${fence.join('\n')}</code></pre>`);
  end();
  return html`<div class="prose" dir="auto">${blocks}</div>`;
}

/** Returns the first sentence of a description as plain text without CommonMark marks. */
export function summary(text: string, most = 140): string {
  const lines = text.slice(0, 4_000).trim().split('\n');
  const blank = lines.findIndex((each) => each.trim() === '');
  const paragraph = (blank === -1 ? lines : lines.slice(0, blank)).join('\n');
  // a summary is a separate line before the description
  const [line = '', next = ''] = paragraph.split('\n', 2);
  const first = /^[A-Z]/.test(next) && !/[,;:]$/.test(line) ? line : paragraph;
  const plain = first.slice(0, 1_000).replace(/\s+/g, ' ').replace(/[`*]/g, '');
  const stop = plain.indexOf('. ');
  const sentence = stop === -1 ? plain : plain.slice(0, stop + 1);
  return sentence.length > most ? `${sentence.slice(0, most - 1)}…` : sentence;
}

function isItem(line: string): boolean {
  return /^ {0,3}[-*] /.test(line);
}

function blockOf(lines: readonly string[]): Html {
  const [first = ''] = lines;
  if (isItem(first)) {
    const items: string[] = [];
    for (const line of lines) {
      if (isItem(line)) items.push(line.trim().slice(2));
      else items.push(`${items.pop() ?? ''}\n${line}`);
    }
    return html`<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`;
  }
  if (/^#{1,6} /.test(first)) {
    const rest = lines.slice(1);
    const heading = html`<p><strong>${inline(first.slice(first.indexOf(' ') + 1))}</strong></p>`;
    return rest.length === 0 ? heading : [heading, blockOf(rest)];
  }
  return html`<p>${inline(lines.join('\n'))}</p>`;
}

/** Maximum number of characters of a code span, a strong text, or a link's text or address. */
const longestMark = 1_000;

/** Renders code, emphasis and links in a text. Each mark is searched only within the maximum length. */
function inline(text: string): Html[] {
  const parts: Html[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const found = markAt(text, at);
    if (found === undefined) at++;
    else {
      if (at > from) parts.push(text.slice(from, at));
      parts.push(found.shown);
      at = found.end;
      from = at;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

/** Returns the mark that starts at a position and its end, or undefined for no mark. */
function markAt(text: string, at: number): { readonly shown: Html; readonly end: number } | undefined {
  const first = text[at];
  if (first === '`') {
    const code = between(text, at + 1, '`');
    return code === undefined ? undefined : { shown: html`<code>${code}</code>`, end: at + code.length + 2 };
  }
  if (first === '*' && text[at + 1] === '*') {
    const strong = between(text, at + 2, '**');
    return strong === undefined
      ? undefined
      : { shown: html`<strong>${strong}</strong>`, end: at + strong.length + 4 };
  }
  if (first === '*') {
    const stressed = between(text, at + 1, '*');
    const isOne = stressed !== undefined && stressed.trim() === stressed && text[at - 1] !== '*';
    return isOne ? { shown: html`<em>${stressed}</em>`, end: at + stressed.length + 2 } : undefined;
  }
  if (first !== '[') return undefined;
  const label = between(text, at + 1, '](');
  const target = label === undefined ? undefined : between(text, at + label.length + 3, ')');
  if (label === undefined || target === undefined || label.includes('[')) return undefined;
  const address = webAddress(target);
  if (address === undefined) return undefined;
  return {
    shown: html`<a href=${address} rel="noreferrer nofollow">${label}</a>`,
    end: at + label.length + target.length + 4,
  };
}

/**
 * Returns the text from a position to a delimiter on the same line. Returns undefined if the text is empty, too long,
 * or has no end.
 */
function between(text: string, from: number, end: string): string | undefined {
  const window = text.slice(from, from + longestMark);
  const [line = ''] = window.split('\n', 1);
  const length = line.indexOf(end);
  return length <= 0 ? undefined : line.slice(0, length);
}
