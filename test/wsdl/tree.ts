import { SaxesParser } from 'saxes';

/** An element of a parsed document. Names keep their prefix, and indentation is not text. */
export interface Tree {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Tree[];
  readonly text: string;
}

interface OpenTree extends Tree {
  readonly children: OpenTree[];
  text: string;
}

/** Reads a well-formed document. Throws with saxes' message for any other. */
export function readTree(xml: string): Tree {
  const parser = new SaxesParser({ xmlns: true });
  const top: OpenTree = { name: '', attributes: {}, children: [], text: '' };
  const open: OpenTree[] = [top];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    const attributes = Object.fromEntries(
      Object.values(tag.attributes).map((attribute) => [attribute.name, attribute.value]),
    );
    const tree: OpenTree = { name: tag.name, attributes, children: [], text: '' };
    open.at(-1)?.children.push(tree);
    open.push(tree);
  });
  parser.on('text', (text) => {
    const parent = open.at(-1);
    if (parent !== undefined) parent.text += text;
  });
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed !== undefined && closed.children.length > 0) closed.text = closed.text.trim();
  });
  parser.write(xml).close();
  return only(top, '');
}

/** Returns the only child with a name, or the only child if the name is empty. */
export function only(tree: Tree, name: string): Tree {
  const found = name === '' ? tree.children : all(tree, name);
  const [first] = found;
  if (first === undefined || found.length > 1) {
    throw new Error(`${tree.name}: expected one ${name}, got ${found.length}`);
  }
  return first;
}

export function all(tree: Tree, name: string): readonly Tree[] {
  return tree.children.filter((child) => child.name === name);
}

/** Returns the tree's elements at every depth in document order, itself first. */
export function descendants(tree: Tree): readonly Tree[] {
  return [tree, ...tree.children.flatMap(descendants)];
}
