import type { ElementDeclaration, QName, SchemaType } from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { type Output, piece } from '../../xml/output.ts';
import { elementNamed, hasContent, noContent, refuseElement, writeElement } from '../element.ts';
import { refuse } from '../problem.ts';
import { collapse } from '../scalars/numbers.ts';
import { nilAttribute } from '../schema-instance.ts';
import type { AdoptedContext, Tags, ValueCodec } from './context.ts';
import { follow, type References, referenceIn } from './references.ts';

/** Elements of declarations: what they are called, whether they are nil, and their tags around a node. */

const { made } = nodeKinds;

/** The content of an element without any. */
export const leaf = { scan: noContent, write: noContent, declarations: '' };

/** A declaration of an element that the schema has none of. */
export function undeclared(name: QName, type: SchemaType, nillable: boolean): ElementDeclaration {
  return {
    name,
    type,
    nillable,
    global: false,
    abstract: false,
    value: undefined,
    substitutes: [],
    documentation: '',
  };
}

/** A type's name as messages have it; of an anonymous one `xs:anyType`. */
export function qualifiedName(context: AdoptedContext, { name }: SchemaType): string {
  return name === undefined ? 'xsd:anyType' : context.prefixOf(name.namespace) + name.local;
}

/** What reads an element of a declaration: xsi:nil first (A25), then its type. */
export function elementReader(
  context: AdoptedContext,
  element: ElementDeclaration,
  value: ValueCodec,
  needed: boolean,
): ValueCodec['read'] {
  const readElement: ValueCodec['read'] = (xml, reading) => {
    if (xml.attributeCount === 0) return value.read(xml, reading);
    const href = context.encoded ? referenceIn(xml) : undefined;
    if (href !== undefined) {
      if (hasContent(xml)) refuse(reading, 'InvalidType', { expected: 'no content in an element with href' });
      return follow(context.references ?? nowhere, href, context.limits, reading, (target) =>
        readElement(target, reading),
      );
    }
    const nil = nilAttribute(xml);
    const word = nil === undefined ? 'false' : collapse(nil);
    if (word === 'false' || word === '0') return value.read(xml, reading);
    if (word !== 'true' && word !== '1')
      return refuseElement(xml, reading, {
        expected: 'true, false, 1 or 0 in xsi:nil',
        got: 'another value',
      });
    if (element.nillable || context.encoded) return value.readNil(xml, reading);
    if (needed) refuse(reading, 'NotEmpty', { expected: 'a value', got: 'xsi:nil' });
    if (hasContent(xml))
      refuse(reading, 'InvalidType', { expected: 'no content in an element with xsi:nil' });
    return undefined;
  };
  return readElement;
}

const nowhere: References = { targets: new Map(), active: new Set(), again: 0 };

/**
 * The tags of an element; only a nillable one is written for a null (A25). In SOAP's encoding they say the type (A30).
 *
 * @param declarations of the prefixes in it, where it is a body's element; elsewhere they stand further out
 */
export function tagsOf(context: AdoptedContext, element: ElementDeclaration, declarations = ''): Tags {
  if (declarations !== '') return makeTags(context, element, declarations);
  const known = tagsKnown.get(context) ?? new Map<ElementDeclaration, Tags>();
  tagsKnown.set(context, known);
  const tags = known.get(element) ?? makeTags(context, element, '');
  known.set(element, tags);
  return tags;
}

/** By declaration: a base's elements are those of all types that extend it. */
const tagsKnown = new WeakMap<AdoptedContext, Map<ElementDeclaration, Tags>>();

function makeTags(
  context: AdoptedContext,
  { name, nillable, type }: ElementDeclaration,
  declarations: string,
): Tags {
  const qualified = context.prefixOf(name.namespace) + name.local;
  const start = `<${qualified}${declarations}`;
  const isTyped = context.encoded && type.kind === 'simple' && type.name !== undefined;
  const typed = isTyped ? `${start} i:type="${qualifiedName(context, type)}"` : start;
  return tagsNamed(qualified, start, typed, nillable || context.encoded);
}

/**
 * The tags of a name.
 *
 * @param start `<name`, with declarations where it has its own
 * @param typed the same, with the type where it is said
 */
export function tagsNamed(qualified: string, start: string, typed: string, isNillable: boolean): Tags {
  return { start: piece(start), ...elementNamed(qualified, typed, isNillable ? start : undefined) };
}

/** Writes the element around a node that isn't an object's. */
export function writeLeaf(tags: Tags, tape: Tape, node: number, output: Output): void {
  const { words } = tape;
  if (words[node] !== made || words[node + 2] === 0) {
    writeElement(tags, leaf, tape, node, output);
    return;
  }
  output.reserve(tags.room);
  output.piece(tags.start);
  output.text(tape.made[(words[node + 2] as number) - 1] ?? '');
  output.text(`>${tape.made[words[node + 1] as number] ?? ''}`);
  output.reserve(tags.room);
  output.piece(tags.close);
}
