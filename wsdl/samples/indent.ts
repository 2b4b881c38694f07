/** A tag, a text between tags, or the rest after a tag without an end. Quoted values may contain `>`. */
const part = /<(?:[^>"']|"[^"]*"|'[^']*')*>|[^<]+|<[\s\S]*/g;

/** An open element: its offset and its first line, and what is between its tags. */
interface Open {
  readonly start: number;
  readonly line: number;
  hasText: boolean;
  hasElements: boolean;
}

/**
 * Indents XML: one element per line, two blanks per level. An element with text between its tags stays on one line,
 * because added blanks would change the value.
 *
 * @param xml well-formed, without comments, CDATA and processing instructions
 */
export function indentXml(xml: string): string {
  const lines: string[] = [];
  const open: Open[] = [];
  for (const { 0: text, index: start } of xml.matchAll(part)) {
    const closed = text.startsWith('</') ? open.pop() : undefined;
    const indent = '  '.repeat(open.length);
    if (closed !== undefined && (closed.hasText || !closed.hasElements)) {
      lines.length = closed.line;
      lines.push(indent + xml.slice(closed.start, start + text.length));
      continue;
    }
    const outer = open.at(-1);
    const isTag = text.startsWith('<');
    if (outer !== undefined && closed === undefined) outer[isTag ? 'hasElements' : 'hasText'] = true;
    if (isTag && !text.endsWith('/>') && !text.startsWith('</'))
      open.push({ start, line: lines.length, hasText: false, hasElements: false });
    lines.push(indent + text);
  }
  return `${lines.join('\n')}\n`;
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
