import { type Html, html, webAddress } from './html.ts';

// Descriptions of documents are CommonMark. What of it people use in them is shown: paragraphs, lists, code, emphasis and
// links to the web. Anything else, markup of HTML above all, stays the text that it is.

/** So many characters of one description are shown; the rest is cut, with an ellipsis. */
const longest = 20_000;

/** A description as paragraphs, lists and blocks of code; nothing for an empty one. */
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

/** The first sentence or so of a description, as plain text without marks of CommonMark. */
export function summary(text: string, most = 140): string {
  const [paragraph = ''] = text.trim().split(/\r?\n\s*\r?\n/, 1);
  // a summary stands on a line of its own, before the description
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

/** Code, strong words and links in a text; one pass, in which each mark is looked for once. */
function inline(text: string): Html[] {
  const parts: Html[] = [];
  const marks = /`([^`\n]{1,500})`|\*\*([^*\n]{1,500})\*\*|\[([^[\]\n]{1,300})\]\(([^()\s]{1,1000})\)/g;
  let from = 0;
  for (const match of text.matchAll(marks)) {
    const [whole, code, strong, label, target] = match;
    parts.push(text.slice(from, match.index));
    from = match.index + whole.length;
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (strong !== undefined) parts.push(html`<strong>${strong}</strong>`);
    else {
      const address = webAddress(target ?? '');
      parts.push(
        address === undefined ? whole : html`<a href=${address} rel="noreferrer nofollow">${label}</a>`,
      );
    }
  }
  parts.push(text.slice(from));
  return parts;
}
