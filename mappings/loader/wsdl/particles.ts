import { anyType } from '../../contract/built-in-types.ts';
import { namespaces } from '../../contract/model.ts';
import {
  type ElementDeclaration,
  type Particle,
  plainElement,
  type Wildcard,
} from '../../contract/type-graph.ts';
import { shown } from '../document/node.ts';
import type { Schema } from './documents.ts';
import {
  constraintOf,
  documentationOf,
  isQualified,
  isTrue,
  type SchemaContext,
  xsdChild,
  xsdChildren,
} from './schema-context.ts';
import { attributeOf, stepAt, type XmlElement } from './xml-tree.ts';

/** Names of the elements that contain a type's particle. */
export const particleNames = ['group', 'all', 'choice', 'sequence'] as const;

/** Sizes of particles: the number of particles inside, with groups expanded at each reference. */
const sizes = new WeakMap<object, number>();

/** Returns the size of a particle; 1 for a single element. */
export function sizeOf(particle: Particle): number {
  return sizes.get(particle) ?? 1;
}

/**
 * Reads the particle of an `xs:sequence`, `choice`, `all` or `group` (XSD 1.0, part 1, 3.8 and 3.9). Undefined if it is
 * empty.
 */
export function readParticle(
  context: SchemaContext,
  element: XmlElement,
  schema: Schema,
): Particle | undefined {
  const occurs = readOccurs(context, element);
  if (occurs.most === 0) return undefined;
  if (element.local === 'group') {
    const group = readGroup(context, element, schema);
    if (group === undefined || group.kind === 'element' || group.kind === 'any') return undefined;
    return sized({ kind: group.kind, ...occurs, particles: group.particles });
  }
  const particles: Particle[] = [];
  for (const child of xsdChildren(element, 'element', 'any', ...particleNames)) {
    const particle = readTerm(context, child, schema);
    if (particle !== undefined) particles.push(particle);
  }
  if (particles.length === 0) return undefined;
  return sized({ kind: element.local as 'sequence' | 'choice' | 'all', ...occurs, particles });
}

function readTerm(context: SchemaContext, child: XmlElement, schema: Schema): Particle | undefined {
  if (child.local !== 'element' && child.local !== 'any') return readParticle(context, child, schema);
  const occurs = readOccurs(context, child);
  if (occurs.most === 0) return undefined;
  if (child.local === 'any') return { kind: 'any', ...occurs, wildcard: readWildcard(child, schema) };
  const ref = attributeOf(child, 'ref');
  if (ref === undefined) {
    const element = readLocalElement(context, child, schema);
    return element === undefined ? undefined : { kind: 'element', ...occurs, element };
  }
  const name = context.symbols.nameOf(child, ref, schema);
  if (name === undefined) return undefined;
  // A reference to xs:schema, as in a DataSet, accepts any XML.
  if (name.namespace === namespaces.xsd)
    return {
      kind: 'any',
      ...occurs,
      wildcard: { namespaces: { kind: 'list', list: [namespaces.xsd] }, process: 'lax' },
    };
  const element = context.elementOf(name, child, schema);
  return element === undefined ? undefined : { kind: 'element', ...occurs, element };
}

/** Returns a sequence of a base's content and the content of its extension. */
export function following(base: Particle, own: Particle): Particle {
  return sized({ kind: 'sequence', least: 1, most: 1, particles: [base, own] });
}

function sized(particle: Particle & { readonly particles: readonly Particle[] }): Particle {
  let size = 1;
  for (const one of particle.particles) size += sizeOf(one);
  sizes.set(particle, size);
  return particle;
}

function readGroup(context: SchemaContext, at: XmlElement, schema: Schema): Particle | undefined {
  const declared = context.symbols.referred('group', at, 'ref', schema);
  const model = declared === undefined ? undefined : xsdChild(declared.element, 'all', 'choice', 'sequence');
  if (declared === undefined || model === undefined) return undefined;
  return context.groupOf(declared, () =>
    context.depth.within(at, () => readParticle(context, model, declared.schema)),
  );
}

function readOccurs(
  context: SchemaContext,
  element: XmlElement,
): { readonly least: number; readonly most: number } {
  const number = (attribute: string): number => {
    const text = attributeOf(element, attribute)?.trim() ?? '1';
    if (text === 'unbounded' && attribute === 'maxOccurs') return Number.POSITIVE_INFINITY;
    if (/^\+?\d{1,15}$/.test(text)) return Number(text);
    context.findings.problem(element, `expected ${attribute} as a number, got ${shown(text)}`);
    return 1;
  };
  const [least, most] = [number('minOccurs'), number('maxOccurs')];
  if (least > most)
    context.findings.problem(element, `expected minOccurs of at most maxOccurs (${most}), got ${least}`);
  return { least, most };
}

/** Reads a wildcard (XSD 1.0, part 1, 3.10). */
function readWildcard(element: XmlElement, schema: Schema): Wildcard {
  const process = attributeOf(element, 'processContents');
  const text = attributeOf(element, 'namespace')?.trim() ?? '##any';
  const one = (word: string): string =>
    word === '##targetNamespace' ? schema.namespace : word === '##local' ? '' : word;
  return {
    namespaces:
      text === '##any'
        ? { kind: 'any' }
        : text === '##other'
          ? { kind: 'other', than: schema.namespace }
          : { kind: 'list', list: text.split(/\s+/).map(one) },
    process: process === 'lax' || process === 'skip' ? process : 'strict',
  };
}

function readLocalElement(
  context: SchemaContext,
  element: XmlElement,
  schema: Schema,
): ElementDeclaration | undefined {
  const local = attributeOf(element, 'name');
  if (local === undefined) {
    context.findings.problem(element, 'expected a name or a ref, got an element without both');
    return undefined;
  }
  const qualified = isQualified(element, schema, 'elementFormDefault');
  stepAt(context.allowance, element);
  const type = context.typeOfElement(element, schema) ?? anyType;
  return {
    ...plainElement(
      { namespace: qualified ? schema.namespace : '', local },
      type,
      isTrue(element, 'nillable'),
    ),
    value: constraintOf(element),
    documentation: documentationOf(element),
  };
}
