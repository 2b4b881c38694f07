import XMLBuilder from 'fast-xml-builder';

/** A node of a document to be written, in the form that fast-xml-builder takes. */
export type DocumentNode = Readonly<Record<string, unknown>>;

/** In the order of writing; an attribute whose value is undefined is left out. */
export type Attributes = Readonly<Record<string, string | undefined>>;

const layout = {
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  format: true,
  indentBy: '  ',
  tagValueProcessor: (_name: string, text: unknown) => legalText(String(text)),
  attributeValueProcessor: (_name: string, text: unknown) => legalText(String(text)),
} as const;

const xmlBuilder = new XMLBuilder({ ...layout, suppressEmptyNode: true });
const htmlBuilder = new XMLBuilder({ ...layout, unpairedTags: ['meta'] });

/** An element; a string among the children is text, undefined is nothing. */
export function element(
  name: string,
  attributes: Attributes,
  ...children: readonly (DocumentNode | string | undefined)[]
): DocumentNode {
  return {
    [name]: children
      .filter((child) => child !== undefined)
      .map((child) => (typeof child === 'string' ? { '#text': child } : child)),
    ':@': Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)),
  };
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
  const declaration = element('?xml', { version: '1.0', encoding: 'utf-8' });
  return `${xmlBuilder.build([declaration, root])}\n`;
}

/** The HTML document with this root. */
export function writeHtml(root: DocumentNode): string {
  return `<!doctype html>${htmlBuilder.build([root])}\n`;
}

/** The text with U+FFFD for what no XML document can hold, not even as a reference (XML 1.0, 2.2). */
function legalText(text: string): string {
  return text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');
}
