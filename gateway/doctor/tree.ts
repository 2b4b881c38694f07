/** An element of a well-formed document, with its places in the text. */
export interface TreeElement {
  readonly prefix: string;
  readonly local: string;
  readonly namespace: string;
  /** Of `<`, and past the `>` of the start tag. */
  readonly start: number;
  readonly opened: number;
  /** Of `</`, and past the end tag; both are `opened` for an empty-element tag. */
  closing: number;
  end: number;
  /** Whether it is `<a/>`. */
  readonly isEmptyTag: boolean;
  readonly attributes: readonly TreeAttribute[];
  /** Its namespace declarations; `local` is the prefix, `''` for the default one. */
  readonly declarations: readonly TreeAttribute[];
  readonly children: TreeElement[];
  readonly parent: TreeElement | undefined;
}

/** An attribute, with its places. */
export interface TreeAttribute {
  readonly name: string;
  readonly local: string;
  readonly namespace: string;
  /** As it stands between the quotes. */
  readonly raw: string;
  /** Of the name, and past the closing quote. */
  readonly start: number;
  readonly end: number;
}

/**
 * The root of a document that the strict reader took, which bounds its depth and size; undefined where there is none. Names
 * of unbound prefixes have the namespace `''`.
 */
export function treeOf(text: string): TreeElement | undefined {
  const scopes: ReadonlyMap<string, string>[] = [];
  let root: TreeElement | undefined;
  let open: TreeElement | undefined;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const passed = pastOther(text, at);
    if (passed !== undefined) {
      at = passed;
      continue;
    }
    if (text[at + 1] === '/') {
      const end = text.indexOf('>', at) + 1;
      if (open === undefined || end === 0) return root;
      open.closing = at;
      open.end = end;
      open = open.parent;
      scopes.pop();
      at = end;
      continue;
    }
    const tag = readTag(text, at, scopes.at(-1) ?? none);
    if (tag === undefined) return root;
    const element: TreeElement = { ...tag.element, parent: open, children: [] };
    if (open === undefined) root ??= element;
    else open.children.push(element);
    if (!element.isEmptyTag) {
      open = element;
      scopes.push(tag.scope);
    }
    at = element.opened;
  }
  return root;
}

const none: ReadonlyMap<string, string> = new Map([['xml', 'http://www.w3.org/XML/1998/namespace']]);

/** Past a comment, CDATA section, instruction or DTD; undefined at a tag. */
function pastOther(text: string, at: number): number | undefined {
  for (const [start, end] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?', '?>'],
    ['<!', '>'],
  ] as const) {
    if (!text.startsWith(start, at)) continue;
    const found = text.indexOf(end, at + start.length);
    return found < 0 ? text.length : found + end.length;
  }
  return undefined;
}

interface Tag {
  readonly element: Omit<TreeElement, 'parent' | 'children'>;
  readonly scope: ReadonlyMap<string, string>;
}

const nameCharacters = /[^\s/>=<]+/y;

function readTag(text: string, start: number, outer: ReadonlyMap<string, string>): Tag | undefined {
  nameCharacters.lastIndex = start + 1;
  const name = nameCharacters.exec(text)?.[0];
  if (name === undefined) return undefined;
  let at = start + 1 + name.length;
  const found: { name: string; raw: string; start: number; end: number }[] = [];
  for (;;) {
    while (/\s/.test(text[at] ?? '')) at++;
    const character = text[at];
    if (character === undefined) return undefined;
    if (character === '>' || text.startsWith('/>', at)) break;
    nameCharacters.lastIndex = at;
    const attribute = nameCharacters.exec(text)?.[0];
    if (attribute === undefined) return undefined;
    const from = at;
    at += attribute.length;
    while (/[\s=]/.test(text[at] ?? '')) at++;
    const close = text.indexOf(text[at] ?? '"', at + 1);
    if (close < 0) return undefined;
    found.push({ name: attribute, raw: text.slice(at + 1, close), start: from, end: close + 1 });
    at = close + 1;
  }
  const isEmptyTag = text[at] === '/';
  const opened = at + (isEmptyTag ? 2 : 1);
  const isDeclaration = ({ name: one }: { readonly name: string }): boolean =>
    one === 'xmlns' || one.startsWith('xmlns:');
  const declarations = found
    .filter(isDeclaration)
    .map((one) => ({ ...one, local: one.name.slice(6), namespace: '' }));
  const scope =
    declarations.length === 0
      ? outer
      : new Map([...outer, ...declarations.map(({ local, raw }) => [local, raw] as const)]);
  const attributes = found
    .filter((one) => !isDeclaration(one))
    .map((one) => {
      const { prefix, local } = split(one.name);
      return { ...one, local, namespace: prefix === '' ? '' : (scope.get(prefix) ?? '') };
    });
  const { prefix, local } = split(name);
  const namespace = scope.get(prefix) ?? '';
  return {
    element: {
      prefix,
      local,
      namespace,
      start,
      opened,
      closing: opened,
      end: opened,
      isEmptyTag,
      attributes,
      declarations,
    },
    scope,
  };
}

function split(name: string): { readonly prefix: string; readonly local: string } {
  const colon = name.indexOf(':');
  return { prefix: colon < 0 ? '' : name.slice(0, colon), local: name.slice(colon + 1) };
}

/** The attribute of a name. */
export function attributeOf(
  element: TreeElement,
  namespace: string,
  local: string,
): TreeAttribute | undefined {
  return element.attributes.find((one) => one.namespace === namespace && one.local === local);
}

/** What stands between the tags, references resolved and CDATA taken out; children's markup is as it stands. */
export function textOf(text: string, { opened, closing }: TreeElement): string {
  return plainText(text.slice(opened, closing));
}

/** Character data as the text that it stands for. */
export function plainText(raw: string): string {
  let text = '';
  for (let at = 0; at < raw.length; ) {
    const start = raw.indexOf('<![CDATA[', at);
    if (start < 0) return text + resolved(raw.slice(at));
    const found = raw.indexOf(']]>', start);
    const end = found < 0 ? raw.length : found;
    text += resolved(raw.slice(at, start)) + raw.slice(start + 9, end);
    at = end + 3;
  }
  return text;
}

/** Text without its comments. */
export function withoutComments(text: string): string {
  let kept = '';
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('<!--', at);
    if (start < 0) return kept + text.slice(at);
    const end = text.indexOf('-->', start);
    kept += text.slice(at, start);
    at = end < 0 ? text.length : end + 3;
  }
  return kept;
}

const predefined: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Text with its references resolved; those that are unknown stay. */
export function resolved(raw: string): string {
  return raw.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{1,8}));/g, (all, decimal, hex, name) => {
    if (name !== undefined) return predefined[name as string] ?? all;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex as string, 16);
    return code > 0x10ffff ? all : String.fromCodePoint(code);
  });
}

/** A text as character data. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Offsets of an element's name, its prefix with it, in its start tag and its end tag. */
export function nameSpans(text: string, element: TreeElement): readonly (readonly [number, number])[] {
  const length = element.local.length + (element.prefix === '' ? 0 : element.prefix.length + 1);
  const spans: (readonly [number, number])[] = [[element.start + 1, element.start + 1 + length]];
  if (!element.isEmptyTag && text.startsWith('</', element.closing))
    spans.push([element.closing + 2, element.closing + 2 + length]);
  return spans;
}

/** Names of elements for people, a dozen at most. */
export function listed(names: readonly string[]): string {
  return (
    names
      .slice(0, 12)
      .map((name) => `<${name}>`)
      .join(', ') + (names.length > 12 ? ', …' : '')
  );
}
