import type { ElementDeclaration, SchemaType } from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import {
  type Element,
  elementNamed,
  endNil,
  hasContent,
  nilState,
  noContent,
  writeElement,
} from '../element.ts';
import { refuse } from '../problem.ts';
import type { AdoptedContext, ValueCodec } from './context.ts';
import { follow, type References, referenceIn } from './references.ts';

/** Elements by their declarations: names, nil, and the tags around a node. */

const { made } = nodeKinds;

/** The content of an empty element. */
export const leaf = { scan: noContent, write: noContent, declarations: '' };

/** Returns a type's qualified name in messages; `xsd:anyType` for an anonymous type. */
export function qualifiedName(context: AdoptedContext, { name }: SchemaType): string {
  return name === undefined ? 'xsd:anyType' : context.prefixOf(name.namespace) + name.local;
}

/** Returns the reader of a declared element. It handles `xsi:nil` first (A25), then the type. */
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
    const state = nilState(xml, reading);
    if (state === 'content') return value.read(xml, reading);
    if (state === 'refused') {
      xml.skip();
      return undefined;
    }
    if (element.nillable || context.encoded) return value.readNil(xml, reading);
    if (needed || reading.keepsRefused) refuse(reading, 'NotEmpty', { expected: 'a value', got: 'xsi:nil' });
    endNil(xml, reading);
    return reading.keepsRefused ? 'null' : undefined;
  };
  return readElement;
}

const nowhere: References = { targets: new Map(), active: new Set(), again: 0 };

/**
 * Returns the tags of an element. A null is written only for a nillable element (A25). In SOAP's encoding the tags
 * state the type (A30).
 *
 * @param declarations declarations of all prefixes in the element if it is the body's element; otherwise an ancestor
 * has them
 */
export function tagsOf(context: AdoptedContext, element: ElementDeclaration, declarations = ''): Element {
  if (declarations !== '') return makeTags(context, element, declarations);
  const known = tagsKnown.get(context) ?? new Map<ElementDeclaration, Element>();
  tagsKnown.set(context, known);
  const tags = known.get(element) ?? makeTags(context, element, '');
  known.set(element, tags);
  return tags;
}

/** Cached by declaration, because all types that extend a base share its elements. */
const tagsKnown = new WeakMap<AdoptedContext, Map<ElementDeclaration, Element>>();

function makeTags(
  context: AdoptedContext,
  { name, nillable, type }: ElementDeclaration,
  declarations: string,
): Element {
  const qualified = context.prefixOf(name.namespace) + name.local;
  const start = `<${qualified}${declarations}`;
  const isTyped = context.encoded && type.kind === 'simple' && type.name !== undefined;
  const typed = isTyped ? `${start} i:type="${qualifiedName(context, type)}"` : start;
  return elementNamed(qualified, start, nillable || context.encoded ? start : undefined, typed);
}

/** Writes the element around a node that is not an object's. */
export function writeLeaf(tags: Element, tape: Tape, node: number, output: Output): void {
  const { words } = tape;
  if (words[node] !== made || words[node + 2] === 0) {
    writeElement(tags, leaf, tape, node, output);
    return;
  }
  output.reserve(tags.tagBytes);
  output.piece(tags.start);
  output.text(tape.made[(words[node + 2] as number) - 1] ?? '');
  output.text(`>${tape.made[words[node + 1] as number] ?? ''}`);
  output.reserve(tags.tagBytes);
  output.piece(tags.close);
}
