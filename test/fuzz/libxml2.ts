import { XmlCData, XmlDocument, XmlElement, XmlParseError, XmlText } from 'libxml2-wasm';
import type { Element } from '../mappings/xml/infoset.ts';

/** Result of reading a document with libxml2. `alone` is a rejection that the recommendations do not require. */
export type Reading =
  | { readonly kind: 'read'; readonly root: Element }
  | { readonly kind: 'refused'; readonly refusal: string }
  | { readonly kind: 'alone' };

/** Namespaces in XML 1.0, 2.2, requires URIs but does not make other names an error. */
const alone = /is not a valid URI/;

/** Reads a decoded document and ignores its declared encoding. Decoding is checked separately. */
export function readByLibxml2(text: string): Reading {
  const undeclared = text.replace(
    /^(<\?xml\s+version\s*=\s*(?:"[^"]*"|'[^']*'))\s+encoding\s*=\s*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*')/,
    '$1',
  );
  let document: XmlDocument;
  try {
    document = XmlDocument.fromBuffer(Buffer.from(undeclared));
  } catch (error) {
    if (!(error instanceof XmlParseError)) throw error;
    const refusal = error.message.trim();
    return alone.test(refusal) ? { kind: 'alone' } : { kind: 'refused', refusal };
  }
  try {
    return { kind: 'read', root: elementOf(document.root) };
  } finally {
    document.dispose();
  }
}

function elementOf(node: XmlElement): Element {
  const children: Element[] = [];
  let text = '';
  for (let child = node.firstChild; child !== null; child = child.next) {
    if (child instanceof XmlElement) children.push(elementOf(child));
    else if (child instanceof XmlText || child instanceof XmlCData) text += child.content;
  }
  return {
    name: expandedName(node.namespaceUri, node.name),
    attributes: node.attrs.map(
      ({ namespaceUri, name, content }) => `${expandedName(namespaceUri, name)}=${content}`,
    ),
    children,
    text: children.length === 0 ? text : undefined,
    stray: children.length > 0 && /[^ \t\r\n]/.test(text),
  };
}

function expandedName(namespace: string, local: string): string {
  return namespace === '' ? local : `{${namespace}}${local}`;
}
