import { quoteElement, quoteValue } from '../contract/reason.ts';
import { names } from './names.ts';
import { invalid, SecurityProblem } from './problem.ts';
import type { TreeElement } from './tree.ts';

// Readers of the elements of a Security block, which have no text but blanks, and attributes that no rule names.

/** An expanded name. */
export type Name = readonly [namespace: string, local: string];

/** Returns names of XML Signature. */
export function ds<const Locals extends readonly string[]>(
  ...locals: Locals
): { readonly [Index in keyof Locals]: Name } {
  return locals.map((local): Name => [names.ds, local]) as { readonly [Index in keyof Locals]: Name };
}

/** Returns the child elements of an element with blanks as its only text. Throws SecurityProblem. */
export function elementsIn(element: TreeElement): readonly TreeElement[] {
  if (/[^ \t\r\n]/.test(element.text))
    invalid({ expected: `only elements in ${element.local}`, got: 'text' }, 'shape');
  return element.children;
}

/**
 * Returns elements that have some names, in this order. Throws SecurityProblem.
 *
 * @param expected describes the elements, for the error
 */
export function inOrder<const Names extends readonly Name[]>(
  elements: readonly TreeElement[],
  expected: string,
  all: Names,
): { readonly [Index in keyof Names]: TreeElement } {
  if (elements.length !== all.length || !all.every((name, index) => elements[index]?.is(...name)))
    invalid({ expected }, 'shape');
  return elements as { readonly [Index in keyof Names]: TreeElement };
}

/** Returns the only child element. Throws SecurityProblem. */
export function onlyIn(element: TreeElement, expected: string): TreeElement {
  const [child, ...others] = elementsIn(element);
  return child === undefined || others.length > 0 ? invalid({ expected }, 'shape') : child;
}

/** Returns the Algorithm of an element. An attribute in a namespace is not the Algorithm (X5). */
export function algorithmOf(element: TreeElement): string {
  const uri = element.attribute('', 'Algorithm');
  if (uri === undefined) invalid({ expected: `an Algorithm on ${element.local}`, got: 'none' }, 'shape');
  return uri;
}

/** Throws `UnsupportedAlgorithm`, with the accepted algorithms. */
export function refuseAlgorithm(uri: string, accepted: readonly string[]): never {
  throw new SecurityProblem(
    'UnsupportedAlgorithm',
    { expected: accepted.join(', '), got: quoteValue(uri.slice(0, 100)) },
    'algorithm',
  );
}

/** Throws `InvalidSecurity` for an element that is not expected. */
export function refuseElement(element: TreeElement, expected: string): never {
  return invalid({ expected, got: quoteElement(element.local) }, 'shape');
}

/** Returns the bytes of an element with base64 (X6). Throws SecurityProblem. */
export function base64In(element: TreeElement): Buffer {
  const letters = element.text.replace(/[ \t\r\n]/g, '');
  const bytes = Buffer.from(letters, 'base64');
  const isWhole = letters.length % 4 === 0 && bytes.length === sizeOf(letters);
  if (element.children.length > 0 || letters === '' || !isWhole || !/^[A-Za-z0-9+/]*={0,2}$/.test(letters))
    invalid({ expected: `base64 in ${element.local}`, got: 'other text' }, 'shape');
  return bytes;
}

function sizeOf(letters: string): number {
  const padding = letters.endsWith('==') ? 2 : letters.endsWith('=') ? 1 : 0;
  return (letters.length / 4) * 3 - padding;
}
