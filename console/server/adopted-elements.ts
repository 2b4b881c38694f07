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

/** So many elements the editor completes. */
const mostElements = 2_000;

/** The elements that a message of an adopted service may have, the outermost first; those of one name are one. */
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

/** The elements that a type's content names, and those that may stand in their places. */
function childrenOf({ content }: ComplexType): readonly ElementDeclaration[] {
  const walk = (particle: Particle): readonly ElementDeclaration[] => {
    if (particle.kind === 'any') return [];
    if (particle.kind !== 'element') return particle.particles.flatMap(walk);
    const { element } = particle;
    return element.abstract ? element.substitutes : [element, ...element.substitutes];
  };
  return content.kind === 'elements' ? walk(content.particle) : [];
}
