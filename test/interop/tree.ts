import { SaxesParser } from 'saxes';

/**
 * Content of an element, independent of the client's language: text; null for nil; a non-text value as the client
 * writes it; or children by name, in order per name. An empty element is the empty text, since XML does not distinguish
 * an empty text, list and record.
 */
export type Tree = string | null | { readonly is: string } | TreeRecord;

export interface TreeRecord {
  readonly [name: string]: readonly Tree[];
}

/** A difference that a client's API does not expose. */
export type Loss = 'nil is absent' | 'empty is absent' | 'nil is empty';

interface Open {
  readonly name: string;
  readonly children: Record<string, Tree[]>;
  readonly nil: boolean;
  text: string;
}

/**
 * Reads the content of an XML document's root element. Prefixes and namespaces are ignored. Throws if the text is not
 * well-formed.
 */
export function readTree(xml: string): Tree {
  const root: Open = { name: '', children: {}, nil: false, text: '' };
  const open = [root];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const nil = Object.entries(attributes).some(([key, value]) => key.endsWith(':nil') && value === 'true');
    open.push({ name: localPart(name), children: {}, nil, text: '' });
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += text;
  });
  parser.on('closetag', () => {
    const element = open.pop();
    const parent = open.at(-1);
    if (element === undefined || parent === undefined) return;
    parent.children[element.name] = [...(parent.children[element.name] ?? []), contentOf(element)];
  });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(xml).close();
  return Object.values(root.children)[0]?.[0] ?? '';
}

function localPart(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function contentOf({ children, nil, text }: Open): Tree {
  if (nil) return null;
  return Object.keys(children).length > 0 ? children : text;
}

/**
 * Returns the path and both values of the first difference, or undefined if the trees are equal apart from the losses.
 */
export function difference(expected: Tree, got: Tree, losses: readonly Loss[] = []): string | undefined {
  return differs('', fold(expected, losses), fold(got, losses));
}

/** Normalizes a tree so that values that the losses merge are equal. */
function fold(tree: Tree, losses: readonly Loss[]): Tree {
  if (tree === null) return losses.includes('nil is empty') ? '' : null;
  if (!isRecord(tree)) return tree;
  const members = Object.entries(tree).flatMap(([name, items]) => {
    const kept = items.map((item) => fold(item, losses)).filter((item) => !isLost(item, losses));
    return kept.length > 0 ? [[name, kept] as const] : [];
  });
  return members.length > 0 ? Object.fromEntries(members) : '';
}

function isLost(item: Tree, losses: readonly Loss[]): boolean {
  return (
    (item === null && losses.includes('nil is absent')) || (item === '' && losses.includes('empty is absent'))
  );
}

export function isRecord(tree: Tree): tree is TreeRecord {
  return typeof tree === 'object' && tree !== null && typeof Reflect.get(tree, 'is') !== 'string';
}

function differs(path: string, expected: Tree, got: Tree): string | undefined {
  if (!isRecord(expected) || !isRecord(got)) {
    return isSameValue(expected, got) ? undefined : sentence(path, expected, got);
  }
  for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
    const [expectedItems = [], gotItems = []] = [expected[name], got[name]];
    const at = path === '' ? name : `${path}.${name}`;
    if (expectedItems.length !== gotItems.length) return sentence(at, expectedItems, gotItems);
    for (const [index, item] of expectedItems.entries()) {
      const found = differs(expectedItems.length > 1 ? `${at}.${index}` : at, item, gotItems[index] ?? null);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function sentence(path: string, expected: unknown, got: unknown): string {
  return `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`;
}

const number = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?(?:[eE]([+-]?\d+))?$/;
const zoned = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** Compares texts by character, and other values as exact numbers or as instants. */
function isSameValue(expected: Tree, got: Tree): boolean {
  if (typeof expected === 'string' && typeof got === 'object' && got !== null && !isRecord(got)) {
    const [a, b] = [expected, got.is];
    if (zoned.test(a) && zoned.test(b)) return Date.parse(a) === Date.parse(b);
    return a === b || (number.test(a) && number.test(b) && digitsOf(a) === digitsOf(b));
  }
  return expected === got;
}

/** Returns a number's sign, digits and power of ten in a normal form. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = number.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const exponent = Number(power) - fraction.length + digits.length - significant.length;
  return `${sign === '-' ? '-' : ''}${significant}e${exponent}`;
}
