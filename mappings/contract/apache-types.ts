import { anyType, builtInTypes, noFacets } from './built-in-types.ts';
import { namespaces } from './model.ts';
import {
  type ComplexType,
  type Content,
  type ElementDeclaration,
  type Particle,
  plainElement,
  type SchemaType,
  type SimpleType,
} from './type-graph.ts';

/**
 * The types of Apache SOAP 2.x that Axis, PHP and other stacks write without a schema: `Map`, `mapItem`, `Vector`,
 * `Element`, `DataHandler` (A23). PHP sends each associative array as a Map.
 */

function element(local: string, type: SchemaType): ElementDeclaration {
  return plainElement({ namespace: '', local }, type, true);
}

function complex(local: string, content: Content): ComplexType {
  return {
    ...anyType,
    name: { namespace: namespaces.apacheSoap, local },
    anyAttribute: false,
    content,
  };
}

const key = element('key', anyType);
const value = element('value', anyType);
const particles = [key, value].map((one): Particle => ({ kind: 'element', least: 0, most: 1, element: one }));
const mapItem = complex('mapItem', {
  kind: 'elements',
  particle: { kind: 'sequence', least: 1, most: 1, particles },
  mixed: false,
});

const dataHandler: SimpleType = {
  kind: 'simple',
  name: { namespace: namespaces.apacheSoap, local: 'DataHandler' },
  builtIn: 'base64Binary',
  base: builtInTypes.get('base64Binary'),
  variety: { kind: 'atomic' },
  facets: { ...noFacets, whiteSpace: 'collapse' },
  documentation: '',
};

/** The types by their local names. If a document declares a type of the same name, the declared type is used. */
export const apacheTypes: ReadonlyMap<string, SchemaType> = new Map<string, SchemaType>([
  ['Map', complex('Map', { kind: 'map', item: element('item', mapItem), key, value })],
  ['mapItem', mapItem],
  ['Vector', complex('Vector', { kind: 'encodedArray', item: anyType, dimensions: 1 })],
  ['Element', complex('Element', { kind: 'mixed' })],
  ['DataHandler', dataHandler],
]);

/** The content of a `Map` that a document declares itself, as Axis writes it; undefined for any other declaration. */
export function declaredMap({ name, content }: ComplexType): Content | undefined {
  if (name?.namespace !== namespaces.apacheSoap || name.local !== 'Map') return undefined;
  const item = elementsOf(content, 1)?.[0];
  if (item?.most === 1 || item?.element.type.kind !== 'complex') return undefined;
  const [first, second] = elementsOf(item.element.type.content, 2) ?? [];
  if (first?.element.name.local !== 'key' || second?.element.name.local !== 'value') return undefined;
  return { kind: 'map', item: item.element, key: first.element, value: second.element };
}

function elementsOf(
  content: Content,
  count: number,
): readonly { readonly most: number; readonly element: ElementDeclaration }[] | undefined {
  if (content.kind !== 'elements' || content.mixed) return undefined;
  const { particle } = content;
  const all = particle.kind === 'element' || particle.kind === 'any' ? [particle] : particle.particles;
  const elements = all.flatMap((one) => (one.kind === 'element' ? [one] : []));
  return elements.length === count && all.length === count ? elements : undefined;
}
