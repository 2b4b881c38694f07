import { SaxesParser } from 'saxes';

/**
 * An element's content as a client's API may give it, whatever its language: text; null where it is nil; a value of
 * another type than text, as the client writes it; or the children by name, each name's in their order. Nothing at all
 * is the empty text: XML has one form for it, whether of a text, a list or a record.
 */
export type Tree = string | null | { readonly is: string } | TreeRecord;

export interface TreeRecord {
  readonly [name: string]: readonly Tree[];
}

/** What a client's API doesn't tell apart. */
export type Loss = 'nil is absent' | 'empty is absent' | 'nil is empty';

interface Open {
  readonly name: string;
  readonly children: Record<string, Tree[]>;
  readonly nil: boolean;
  text: string;
}

/** The content of an XML text's root element; prefixes and namespaces don't count. Throws for what isn't well-formed. */
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

/** Where a client read something else than it must: the path and both; undefined where all is the same but for the losses. */
export function difference(expected: Tree, got: Tree, losses: readonly Loss[] = []): string | undefined {
  return differs('', fold(expected, losses), fold(got, losses));
}

/** A tree in which what these losses make one is one. */
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

/** Texts are the same to the character; other values when they are one number, digit for digit, or one instant. */
function isSameValue(expected: Tree, got: Tree): boolean {
  if (typeof expected === 'string' && typeof got === 'object' && got !== null && !isRecord(got)) {
    const [a, b] = [expected, got.is];
    if (zoned.test(a) && zoned.test(b)) return Date.parse(a) === Date.parse(b);
    return a === b || (number.test(a) && number.test(b) && digitsOf(a) === digitsOf(b));
  }
  return expected === got;
}

/** A number's sign, digits and power of ten, the same for all ways of writing it. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = number.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const exponent = Number(power) - fraction.length + digits.length - significant.length;
  return `${sign === '-' ? '-' : ''}${significant}e${exponent}`;
}
