import { childOf, isNode, type Node, textOf } from '../document/node.ts';
import { classIdentifier, pascal } from './names.ts';

/** Maximum number of characters and words of a title that is used as a name. A longer title is a sentence. */
const longest = 30;
const mostWords = 4;

/**
 * Returns the default name of a service. It is a short `info.title` in PascalCase without accents, or the owner of the
 * first server's host. Otherwise it is made of the first words of the title, or is `Api`.
 */
export function serviceNameOf(document: Node): string {
  const title = textOf(childOf(document, 'info').title) ?? '';
  const words = wordsOf(title);
  const isShort = words.length <= mostWords && words.join('').length <= longest;
  const names = [isShort ? pascal(words.join(' ')) : '', ownerOf(hostOf(document)), firstOf(words), 'Api'];
  return classIdentifier(names.find((name) => name !== '') ?? '');
}

function wordsOf(text: string): readonly string[] {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
}

function firstOf(words: readonly string[]): string {
  let name = '';
  for (const word of words) {
    if (name !== '' && name.length + word.length > longest) break;
    name += pascal(word.slice(0, longest));
  }
  return name;
}

/** Generic labels of hosts, which do not identify the owner. */
const generic = new Set(
  'www api apis rest gateway gw services service dev test staging sandbox prod'.split(' '),
);

/**
 * Returns the owner label of a host: `Github` for `api.github.com`. `''` for an IP address and for local or reserved
 * hosts.
 */
function ownerOf(host: string): string {
  if (
    /^[\d.]*$/.test(host) ||
    host.includes(':') ||
    host.includes('{') ||
    /(?:^|\.)(?:localhost|invalid|test|local)(?:\.|$)/.test(host)
  )
    return '';
  const labels = host.split('.');
  const country = labels.at(-1)?.length === 2 && (labels.at(-2)?.length ?? 0) <= 3 && labels.length > 2;
  const own = labels.slice(0, country ? -2 : -1).findLast((label) => !generic.has(label));
  return pascal(own ?? '');
}

function hostOf({ servers }: Node): string {
  const [first]: readonly unknown[] = Array.isArray(servers) ? servers : [];
  const url = isNode(first) ? URL.parse(textOf(first.url) ?? '') : null;
  return url?.hostname ?? '';
}
