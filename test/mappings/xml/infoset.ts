import { SaxesParser } from 'saxes';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';

/** The information in which two readers of a document must agree. */
export interface Element {
  readonly name: string;
  readonly attributes: readonly string[];
  readonly children: readonly Element[];
  /** Character data of an element without children. */
  readonly text: string | undefined;
  /** True if an element with children contains character data other than blanks. */
  readonly stray: boolean;
}

/** Returns the infoset as XmlReader reads it. Throws the reader's errors. */
export function readInfoset(text: string): Element {
  // A pull reader cannot look ahead, so a first pass finds the elements with children.
  const shape = new XmlReader(text, defaultLimits);
  shape.readRoot();
  const root = readShape(shape);
  shape.finish();
  const reader = new XmlReader(text, defaultLimits);
  reader.readRoot();
  const element = readElement(reader, root);
  reader.finish();
  return element;
}

interface Shape {
  readonly children: readonly Shape[];
}

function readShape(reader: XmlReader): Shape {
  const children: Shape[] = [];
  while (reader.nextChild()) children.push(readShape(reader));
  return { children };
}

function readElement(reader: XmlReader, shape: Shape): Element {
  const name = expandedName(reader.namespace, reader.local);
  const attributes: string[] = [];
  for (let index = 0; index < reader.attributeCount; index++) {
    const attribute = expandedName(reader.attributeNamespace(index), reader.attributeLocal(index));
    attributes.push(`${attribute}=${reader.attributeValue(index)}`);
  }
  if (shape.children.length === 0) {
    return { name, attributes, children: [], text: reader.readText(Infinity, false), stray: false };
  }
  const children: Element[] = [];
  for (const child of shape.children) {
    if (!reader.nextChild()) throw new Error(`expected a child of ${name}`);
    children.push(readElement(reader, child));
  }
  if (reader.nextChild()) throw new Error(`expected no more children of ${name}`);
  return { name, attributes, children, text: undefined, stray: reader.hasText };
}

/** Thrown for documents that saxes is known to misread. */
export class Misreading extends Error {}

/** Returns the infoset as saxes reads it, with the restrictions of SOAP: XML 1.0, no DTD, no processing instruction. */
export function saxesInfoset(text: string): Element {
  type Building = { name: string; attributes: string[]; children: Element[]; text: string };
  const parser = new SaxesParser({ xmlns: true, position: false, defaultXMLVersion: '1.0' });
  const open: Building[] = [];
  let root: Element | undefined;
  const refuse = (what: string) => () => {
    throw new Error(what);
  };
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', refuse('a DTD'));
  parser.on('processinginstruction', refuse('a processing instruction'));
  parser.on('xmldecl', (declaration) => {
    if (declaration.version !== '1.0') throw new Error('another version');
  });
  if (text.startsWith('\uFEFF')) throw new Misreading('a mark is cut off, as if decodeXml had not done that');
  if (!text.isWellFormed()) throw new Misreading('half a surrogate pair is joined with whatever follows');
  parser.on('attribute', ({ prefix, name, local, value }) => {
    const declares = prefix === 'xmlns' || name === 'xmlns';
    if (declares && value !== value.trim()) throw new Misreading('namespace names are trimmed');
    checkLocalName(local);
  });
  parser.on('opentag', (tag) => {
    checkLocalName(tag.local);
    const attributes: string[] = [];
    for (const { uri, local, prefix, name, value } of Object.values(tag.attributes)) {
      if (prefix !== 'xmlns' && name !== 'xmlns') attributes.push(`${expandedName(uri, local)}=${value}`);
    }
    open.push({ name: expandedName(tag.uri, tag.local), attributes, children: [], text: '' });
  });
  const addText = (data: string) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += data;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const { name, attributes, children, text: data } = open.pop() as Building;
    const element: Element =
      children.length === 0
        ? { name, attributes, children, text: data, stray: false }
        : { name, attributes, children, text: undefined, stray: /[^ \t\r\n]/.test(data) };
    const outer = open.at(-1);
    if (outer === undefined) root = element;
    else outer.children.push(element);
  });
  parser.write(text).close();
  if (root === undefined) throw new Error('no root');
  return root;
}

function expandedName(namespace: string, local: string): string {
  return namespace === '' ? local : `{${namespace}}${local}`;
}

function checkLocalName(local: string): void {
  if (/^[-.·\d\p{Mn}]/u.test(local)) throw new Misreading('a local name begins like the middle of a name');
}
