import type { Limits } from '../../contract/limits.ts';
import { quoteValue } from '../../contract/reason.ts';
import type { Wildcard } from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { findIllegal, isCharacter } from '../../xml/characters.ts';
import { XmlError } from '../../xml/error.ts';
import type { Declaration } from '../../xml/namespaces.ts';
import { XmlReader } from '../../xml/reader.ts';
import { scanNull } from '../element.ts';
import { MismatchError, maxRereadCharacters, type Reading, refuse, tryAddCharacters } from '../problem.ts';
import { quoteJson } from '../scalars/text.ts';
import { canonicalXml } from './canonical.ts';
import type { AdoptedContext } from './context.ts';

/** Elements and content that are represented as XML text, in both directions (A22, A24). */

/** Returns true if a wildcard accepts elements of a namespace (XSD 1.0, part 1, 3.10.1). */
export function takesElement(wildcards: readonly Wildcard[], namespace: string): boolean {
  return wildcards.some(({ namespaces }) => {
    if (namespaces.kind === 'any') return true;
    if (namespaces.kind === 'other') return namespace !== namespaces.than && namespace !== '';
    return namespaces.list.includes(namespace);
  });
}

/** Reads the current element, past its end tag, as the JSON string of its exclusive canonical form. */
export function readOpenElement(
  context: AdoptedContext,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  const start = xml.startOffset;
  xml.skip();
  return canonicalToken(context, xml, xml.source(start, xml.position), [], reading);
}

/** Reads the content of the current element, past its end tag, as the JSON string of its exclusive canonical form. */
export function readInnerXml(context: AdoptedContext, xml: XmlReader, reading: Reading): string | undefined {
  const { declarations, position: start, empty } = xml;
  xml.skip();
  if (empty) return '""';
  const source = xml.source(start, xml.position);
  return canonicalToken(context, xml, source.slice(0, source.lastIndexOf('</')), declarations, reading);
}

/**
 * Converts XML to the JSON string of its canonical form. Returns undefined, and records the reason, if the limit is
 * exceeded.
 */
export function canonicalToken(
  { limits }: AdoptedContext,
  xml: XmlReader,
  source: string,
  declarations: readonly Declaration[],
  reading: Reading,
): string | undefined {
  const take = (characters: number): boolean => tryAddCharacters(reading, limits, characters);
  const text = canonicalXml(source, (prefix) => xml.resolve(prefix), declarations, take);
  if (text !== undefined) return quoteJson(text);
  return refuse(reading, 'OutOfRange', {
    expected: `at most ${limits.rereadText ?? maxRereadCharacters} characters of XML as text in all`,
    got: 'more',
  });
}

/**
 * Scans a reply's string that holds one well-formed element. It is written unchanged. Throws MismatchError, JsonError.
 */
export function scanOpenElement({ limits }: AdoptedContext, tape: Tape): void {
  scanXml(
    tape,
    (text) => {
      if (text.startsWith('<?')) return 'a declaration';
      return faultOf(text, limits);
    },
    'one well-formed XML element',
  );
}

/** Scans a reply's string of well-formed content. Throws MismatchError, JsonError. */
export function scanInnerXml({ limits }: AdoptedContext, tape: Tape): void {
  scanXml(tape, (text) => (/[<&>]/.test(text) ? contentFault(text, limits) : undefined), 'well-formed XML');
}

function scanXml(tape: Tape, faultIn: (text: string) => string | undefined, expected: string): void {
  if (scanNull(tape)) return;
  if (tape.peek() !== 34) throw new MismatchError({ expected: `${expected} as a string`, got: tape.kind() });
  const text = tape.string();
  const fault = faultIn(text);
  if (fault !== undefined) throw new MismatchError({ expected, got: quoteValue(`other text (${fault})`) });
  if (text === '') tape.pushKind(nodeKinds.empty);
  else tape.pushMade(findIllegal(text) === -1 ? text : withoutIllegal(text, tape));
}

/** Replaces the characters that XML does not allow in text without markup (W21). */
function withoutIllegal(text: string, tape: Tape): string {
  return Array.from(text, (character) => {
    if (isCharacter(character.codePointAt(0) as number)) return character;
    tape.replaced++;
    return '\ufffd';
  }).join('');
}

/** Returns the position of the first error of a text as the content of an element; undefined if it is well-formed. */
export function contentFault(text: string, limits: Limits): string | undefined {
  return faultOf(`<x>${text}</x>`, limits);
}

/**
 * Returns the position of the first error of a text as a document, without quoting the text; undefined if it is
 * well-formed.
 */
function faultOf(text: string, limits: Limits): string | undefined {
  try {
    const xml = new XmlReader(text, limits);
    xml.drain();
    return undefined;
  } catch (error) {
    if (error instanceof XmlError) return `line ${error.line}, column ${error.column}`;
    throw error;
  }
}
