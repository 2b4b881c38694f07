import { childOf, isNode, type Node, textOf } from '../document/node.ts';
import { classIdentifier, pascal } from './names.ts';

/** Characters of a name made of a title: enough for any name, too few for a paragraph. */
const longest = 64;

/**
 * What a contract's service is called when its overlay doesn't say: the document's `info.title` in PascalCase without
 * accents, else the host of its first server, else `Api`.
 */
export function serviceNameOf(document: Node): string {
  const title = textOf(childOf(document, 'info').title) ?? '';
  const name = [title, hostOf(document), 'Api'].map(named).find((candidate) => candidate !== '');
  return classIdentifier(name ?? '');
}

function named(text: string): string {
  return pascal(text.normalize('NFD').replace(/\p{M}/gu, '')).slice(0, longest);
}

function hostOf({ servers }: Node): string {
  const [first]: readonly unknown[] = Array.isArray(servers) ? servers : [];
  const url = isNode(first) ? URL.parse(textOf(first.url) ?? '') : null;
  return url?.hostname ?? '';
}
