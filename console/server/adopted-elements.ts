import {
  type AdoptedMessage,
  type ComplexType,
  type ElementDeclaration,
  expanded,
  type Particle,
  type SchemaType,
  textTypeOf,
} from '../../mappings/contract/type-graph.ts';
import type { ElementDescription } from '../description.ts';

/** Maximum number of elements for completion. */
const mostElements = 2_000;

/**
 * Returns the elements that a message of an adopted service may contain, outermost first. Elements with the same name
 * are merged.
 */
export function elementsOf({ headers, body }: AdoptedMessage): readonly ElementDescription[] {
  const found = new Map<string, { children: Set<string>; values: Set<string> }>();
  const add = (
    name: string,
    children: readonly ElementDeclaration[],
    values: readonly string[] = [],
  ): void => {
    const known = found.get(name) ?? { children: new Set(), values: new Set() };
    for (const child of children) known.children.add(expanded(child.name));
    for (const value of values) known.values.add(value);
    found.set(name, known);
  };
  const seen = new Set<SchemaType>();
  const waiting = [...headers];
  if (body.kind === 'element') waiting.unshift(body.element);
  if (body.kind === 'rpc') {
    add(expanded(body.wrapper), body.parts);
    waiting.unshift(...body.parts);
  }
  for (const element of waiting) {
    if (found.size >= mostElements) break;
    const { name, type } = element;
    const inner = type.kind === 'complex' ? [type, ...type.derived].flatMap(childrenOf) : [];
    add(expanded(name), inner, textTypeOf(type)?.facets.enumeration);
    if (seen.has(type)) continue;
    seen.add(type);
    for (const one of inner) waiting.push(one);
  }
  return [...found].map(([name, { children, values }]) => ({
    name,
    children: [...children],
    values: [...values],
  }));
}

/** Returns the elements of a type's content, including substitutes. */
function childrenOf({ content }: ComplexType): readonly ElementDeclaration[] {
  const walk = (particle: Particle): readonly ElementDeclaration[] => {
    if (particle.kind === 'any') return [];
    if (particle.kind !== 'element') return particle.particles.flatMap(walk);
    const { element } = particle;
    return element.abstract ? element.substitutes : [element, ...element.substitutes];
  };
  return content.kind === 'elements' ? walk(content.particle) : [];
}
