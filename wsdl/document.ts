/** An element of a document to be written. A string among the children is text. */
export interface DocumentNode {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: readonly (DocumentNode | string)[];
}

/** Attributes in the order of writing. An attribute whose value is undefined is left out. */
export type Attributes = Readonly<Record<string, string | undefined>>;

/** Returns an element. A child that is undefined is left out. */
export function element(
  name: string,
  attributes: Attributes,
  ...children: readonly (DocumentNode | string | undefined)[]
): DocumentNode {
  return { name, attributes, children: children.filter((child) => child !== undefined) };
}

/**
 * `<…:documentation> text </…:documentation>`. Axis copies it into comments of Java as it is, where the end of a
 * comment and `\u` without four hex digits are errors: a blank parts them.
 */
export function documentation(prefix: 'wsdl' | 'xs', text: string): DocumentNode {
  const harmless = text
    .replaceAll('*/', '* /')
    .replace(/\\(u+[\dA-Fa-f]{0,4})/g, (all, rest: string) =>
      /u[\dA-Fa-f]{4}$/.test(rest) ? all : `\\ ${rest}`,
    );
  return element(`${prefix}:documentation`, {}, harmless);
}

/** The XML document with this root: declaration, two blanks a level, a newline at the end. */
export function writeXml(root: DocumentNode): string {
  return `<?xml version="1.0" encoding="utf-8"?>${writeElement(root, '\n', 'xml')}\n`;
}

/** The HTML document with this root. */
export function writeHtml(root: DocumentNode): string {
  return `<!doctype html>${writeElement(root, '\n', 'html')}\n`;
}

/** Elements of HTML that have no end tag. */
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

/** Text with references for markup, and with U+FFFD for characters that no XML document can hold (XML 1.0, 2.2). */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => references[character] ?? character);
}
