/** A tag, or the text between two tags. */
type Part =
  | { readonly kind: 'open' | 'close' | 'whole'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

/**
 * Indents XML: one element per line, two blanks per level. An element with text between its tags stays on one line,
 * because added blanks would change the value.
 *
 * @param xml well-formed, without comments, CDATA and processing instructions
 */
export function indentXml(xml: string): string {
  const parts = partsOf(xml);
  const lines: string[] = [];
  let depth = 0;
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as Part;
    if (part.kind === 'close') depth--;
    const indent = '  '.repeat(Math.max(depth, 0));
    if (part.kind !== 'open') {
      lines.push(indent + part.text);
      continue;
    }
    const end = endOf(parts, at);
    if (end === undefined) {
      lines.push(indent + part.text);
      depth++;
      continue;
    }
    lines.push(
      indent +
        parts
          .slice(at, end + 1)
          .map(({ text }) => text)
          .join(''),
    );
    at = end;
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Returns the index of the end tag of the element that starts here, or undefined if it contains only elements. An
 * element that is empty or contains text stays on one line.
 */
function endOf(parts: readonly Part[], from: number): number | undefined {
  let depth = 0;
  let hasText = parts[from + 1]?.kind === 'close';
  for (let at = from; at < parts.length; at++) {
    const { kind } = parts[at] as Part;
    if (kind === 'text' && depth === 1) hasText = true;
    if (kind === 'open') depth++;
    if (kind === 'close' && --depth === 0) return hasText ? at : undefined;
    // only elements so far, and another one follows, so most documents need no further search
    if (kind === 'close' && depth === 1 && !hasText && parts[at + 1]?.kind !== 'text') return undefined;
  }
  return undefined;
}

function partsOf(xml: string): readonly Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < xml.length) {
    const isTag = xml[at] === '<';
    const end = isTag ? tagEnd(xml, at) : xml.indexOf('<', at);
    const text = xml.slice(at, end < 0 ? xml.length : end);
    at += text.length;
    if (!isTag) parts.push({ kind: 'text', text });
    else parts.push({ kind: text.startsWith('</') ? 'close' : text.endsWith('/>') ? 'whole' : 'open', text });
  }
  return parts;
}

/** Returns the index after a tag. Quoted values may contain `>`. */
function tagEnd(xml: string, from: number): number {
  for (let at = from; at < xml.length; at++) {
    const character = xml[at];
    if (character === '>') return at + 1;
    if (character !== '"' && character !== "'") continue;
    const end = xml.indexOf(character, at + 1);
    if (end < 0) return xml.length;
    at = end;
  }
  return xml.length;
}

/** Indents JSON: one member per line. Numbers keep their digits. */
export function indentJson(json: string): string {
  let made = '';
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const character = json[at] as string;
    if (character === '"') {
      const from = at++;
      while (json[at] !== '"' && at < json.length) at += json[at] === '\\' ? 2 : 1;
      made += json.slice(from, at + 1);
    } else if ((character === '{' || character === '[') && '}]'.includes(json[at + 1] ?? '')) {
      made += character + (json[++at] ?? '');
    } else if (character === '{' || character === '[') made += `${character}\n${'  '.repeat(++depth)}`;
    else if (character === '}' || character === ']') made += `\n${'  '.repeat(--depth)}${character}`;
    else if (character === ',') made += `,\n${'  '.repeat(depth)}`;
    else if (character === ':') made += ': ';
    else if (!/\s/.test(character)) made += character;
  }
  return `${made}\n`;
}
