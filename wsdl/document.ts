/** An element to be written. Strings among the children are text. */
export interface DocumentNode {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: readonly (DocumentNode | string)[];
}

/** Attributes in the order of writing. An attribute with the value undefined is omitted. */
export type Attributes = Readonly<Record<string, string | undefined>>;

/** Creates an element. Children that are undefined are omitted. */
export function element(
  name: string,
  attributes: Attributes,
  ...children: readonly (DocumentNode | string | undefined)[]
): DocumentNode {
  return { name, attributes, children: children.filter((child) => child !== undefined) };
}

/**
 * Creates `<…:documentation> text </…:documentation>`. Axis copies the text into Java comments, where the end of a
 * comment and an incomplete Unicode escape are errors, so a blank is inserted into both.
 */
export function documentation(prefix: 'wsdl' | 'xs', text: string): DocumentNode {
  const harmless = text
    .replaceAll('*/', '* /')
    .replace(/\\(u+[\dA-Fa-f]{0,4})/g, (all, rest: string) =>
      /u[\dA-Fa-f]{4}$/.test(rest) ? all : `\\ ${rest}`,
    );
  return element(`${prefix}:documentation`, {}, harmless);
}

/** Writes an XML document: declaration, two blanks of indentation per level, a newline at the end. */
export function writeXml(root: DocumentNode): string {
  return `<?xml version="1.0" encoding="utf-8"?>${writeElement(root, '\n', 'xml')}\n`;
}

/** Writes an HTML document. */
export function writeHtml(root: DocumentNode): string {
  return `<!doctype html>${writeElement(root, '\n', 'html')}\n`;
}

/** HTML elements without an end tag. */
const voidElements: ReadonlySet<string> = new Set(['meta']);

/** @param indent a newline and the blanks before the element */
function writeElement(
  { name, attributes, children }: DocumentNode,
  indent: string,
  syntax: 'xml' | 'html',
): string {
  let start = `${indent}<${name}`;
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined) start += ` ${key}="${escaped(value)}"`;
  if (syntax === 'html' && voidElements.has(name)) return `${start}>`;
  const content = writeChildren(children, `${indent}  `, syntax);
  if (content === '' && syntax === 'xml') return `${start}/>`;
  const last = children.at(-1);
  const endsInElement = last !== undefined && typeof last !== 'string';
  return `${start}>${content}${endsInElement ? indent : ''}</${name}>`;
}

function writeChildren(children: DocumentNode['children'], indent: string, syntax: 'xml' | 'html'): string {
  let written = '';
  let isAfterElement = false;
  for (const child of children) {
    const isElement = typeof child !== 'string';
    if (isElement) written += writeElement(child, indent, syntax);
    else written += `${isAfterElement ? indent : ''}${escaped(child)}`;
    isAfterElement = isElement;
  }
  return written;
}

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Escapes markup, and replaces characters that XML forbids with U+FFFD (XML 1.0, 2.2). */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => references[character] ?? character);
}
