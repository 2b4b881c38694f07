import { anyType } from '../../../../mappings/contract/built-in-types.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import type {
  AdoptedBody,
  AttributeUse,
  ComplexType,
  ElementDeclaration,
  Particle,
  QName,
  SimpleType,
  Wildcard,
} from '../../../../mappings/contract/type-graph.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';

/** Returns a deterministic random integer from 0 up to a bound (mulberry32). */
export type Pick = (bound: number) => number;

export function picker(seed: number): Pick {
  let state = seed | 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** Depth from which messages are kept short, and maximum depth. */
const shallow = 5;
const deepest = 40;

/** Thrown for a type that seems to have no finite message. */
export class TooDeep extends Error {}

/** Returns a random message of a body, valid except for patterns and bounds. Throws TooDeep. */
export function randomBody(body: AdoptedBody, pick: Pick): string | undefined {
  if (body.kind === 'empty') return undefined;
  if (body.kind === 'element') return element(body.element, pick, 0, false);
  const parts = body.parts.map((part) => element(part, pick, 1, true)).join('');
  return tag(body.wrapper, '', parts);
}

function tag({ namespace, local }: QName, attributes: string, content: string): string {
  const name = namespace === '' ? local : `e:${local}`;
  const declaration = namespace === '' ? '' : ` xmlns:e="${escaped(namespace)}"`;
  return `<${name}${declaration}${attributes}>${content}</${name}>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const xsi = ` xmlns:xsi="${namespaces.xsi}"`;

function element(declared: ElementDeclaration, pick: Pick, depth: number, mayBeNil: boolean): string {
  if (depth > deepest) throw new TooDeep();
  const { name, type, nillable } = declared;
  const needs = type.kind === 'complex' && type.attributes.some(({ required }) => required);
  if (nillable && mayBeNil && !needs && pick(depth > shallow ? 2 : 8) === 0)
    return tag(name, `${xsi} xsi:nil="true"`, '');
  if (type.kind === 'simple') return tag(name, '', simple(type, pick));
  if (type === anyType)
    return tag(
      name,
      `${xsi} xmlns:xs="${namespaces.xsd}" xsi:type="xs:${pick(2) === 0 ? 'int' : 'string'}"`,
      '5',
    );
  const choices = concrete(type);
  const actual =
    type.abstract || (choices.length > 0 && depth <= shallow && pick(3) === 0)
      ? choices[pick(Math.max(1, choices.length))]
      : type;
  if (actual === undefined) throw new TooDeep();
  let attributes = '';
  if (actual !== type && actual.name !== undefined) {
    const { namespace, local } = actual.name;
    attributes =
      namespace === ''
        ? `${xsi} xsi:type="${local}"`
        : `${xsi} xmlns:y="${escaped(namespace)}" xsi:type="y:${local}"`;
  }
  for (const use of actual.attributes)
    if (use.required || (depth <= shallow && pick(2) === 0)) attributes += attribute(use, pick);
  return tag(name, attributes, content(actual, pick, depth));
}

/** Returns the non-abstract derived types of a type. */
function concrete(type: ComplexType): readonly ComplexType[] {
  return type.derived.flatMap((one) => [...(one.abstract ? [] : [one]), ...concrete(one)]).slice(0, 40);
}

function attribute({ name, type }: AttributeUse, pick: Pick): string {
  const value = escaped(simple(type, pick).replace(/&amp;/g, '&').replace(/&lt;/g, '<'));
  if (name.namespace === '') return ` ${name.local}="${value}"`;
  if (name.namespace === 'http://www.w3.org/XML/1998/namespace') return ` xml:${name.local}="${value}"`;
  const prefix = `b${name.local}`;
  return ` xmlns:${prefix}="${escaped(name.namespace)}" ${prefix}:${name.local}="${value}"`;
}

function content({ content: model }: ComplexType, pick: Pick, depth: number): string {
  if (model.kind === 'text') return simple(model.type, pick);
  if (model.kind === 'elements')
    return (model.mixed ? 'so ' : '') + particle(model.particle, pick, depth + 1);
  if (model.kind === 'mixed') return 'a <b xmlns="urn:mixed">c</b>';
  if (model.kind === 'encodedArray') {
    const item: ElementDeclaration = {
      name: { namespace: '', local: 'item' },
      global: false,
      type: model.item,
      nillable: false,
      abstract: false,
      value: undefined,
      substitutes: [],
      documentation: '',
    };
    return depth > shallow ? '' : element(item, pick, depth + 1, false).repeat(pick(3));
  }
  return '';
}

function particle(model: Particle, pick: Pick, depth: number): string {
  const { least, most } = model;
  const extra = depth > shallow ? 0 : pick(3);
  const count = Math.min(Math.max(least, Math.min(most, least + extra)), 20);
  let text = '';
  for (let round = 0; round < count; round++) {
    if (model.kind === 'element') {
      const { element: head } = model;
      const all = head.abstract ? head.substitutes : [head, ...head.substitutes];
      const chosen = all[pick(Math.max(1, all.length))];
      if (chosen === undefined) throw new TooDeep();
      text += element(chosen, pick, depth, true);
    } else if (model.kind === 'any') text += open(model.wildcard);
    else if (model.kind === 'choice') {
      const branch = model.particles[pick(model.particles.length)];
      if (branch !== undefined) text += particle(branch, pick, depth);
    } else for (const part of model.particles) text += particle(part, pick, depth);
  }
  return text;
}

function open({ namespaces: taken }: Wildcard): string {
  const namespace = taken.kind === 'list' ? (taken.list[0] ?? '') : 'urn:open';
  return tag({ namespace, local: 'Open' }, '', 'x &lt; y');
}

const texts: Readonly<Record<string, readonly string[]>> = {
  boolean: ['true', 'false'],
  decimal: ['1.50', '-3', '0.001'],
  float: ['1.5', '2e3'],
  double: ['1.5', '-2E-3'],
  integer: ['123456789012345678901234567890', '-1'],
  nonPositiveInteger: ['0', '-5'],
  negativeInteger: ['-5'],
  nonNegativeInteger: ['0', '5'],
  positiveInteger: ['5'],
  dateTime: ['2024-01-31T12:00:00', '2024-01-31T12:00:00.5+02:00'],
  date: ['2024-02-29', '2024-02-28Z'],
  time: ['12:00:00'],
  duration: ['P1DT2H'],
  gYear: ['2024'],
  gYearMonth: ['2024-02'],
  gMonthDay: ['--02-29'],
  gDay: ['---31'],
  gMonth: ['--12'],
  NMTOKEN: ['x', 'y-1'],
  NCName: ['x', 'y-1'],
  language: ['de'],
  hexBinary: ['0aF0', ''],
  base64Binary: ['AAEC', ''],
};

function simple(type: SimpleType, pick: Pick): string {
  const { facets, variety, builtIn } = type;
  const given = facets.enumeration;
  if (given !== undefined && given.length > 0 && builtIn !== 'QName')
    return escaped(given[pick(given.length)] ?? '');
  if (variety.kind === 'list')
    return Array.from({ length: 1 + pick(3) }, () => simple(variety.item, pick).replace(/\s/g, '')).join(' ');
  if (variety.kind === 'union') {
    const member = variety.members[pick(Math.max(1, variety.members.length))];
    return member === undefined ? 'x' : simple(member, pick);
  }
  if (builtIn === 'QName') return 'xml:lang';
  const some =
    texts[builtIn] ??
    (/int|short|byte|long/i.test(builtIn) ? ['7', '100', '0'] : ['a &amp; b', 'é\ud83d\ude00', 'x']);
  return some[pick(some.length)] ?? '';
}

/**
 * Normalizes a document: prefixes and the order of attributes are ignored. With SOAP encoding, declared types are
 * ignored too.
 */
export function comparable(text: string, encoded = false): string {
  const xml = new XmlReader(text, { ...defaultLimits, xmlDepth: 500 });
  xml.readRoot();
  return node(xml, encoded);
}

function node(xml: XmlReader, encoded: boolean): string {
  const attributes: string[] = [];
  for (let index = 0; index < xml.attributeCount; index++) {
    let value = xml.attributeValue(index);
    const namespace = xml.attributeNamespace(index);
    const isOfEncoding = namespace === namespaces.soap11 || namespace === namespaces.soap11Encoding;
    if (encoded && (isOfEncoding || (namespace === namespaces.xsi && xml.attributeLocal(index) === 'type')))
      continue;
    if (namespace === namespaces.xsi && xml.attributeLocal(index) === 'type') {
      const [first = '', second] = value.split(':');
      value = second === undefined ? first : `{${xml.resolve(first) ?? ''}}${second}`;
    }
    attributes.push(`{${namespace}}${xml.attributeLocal(index)}=${JSON.stringify(value)}`);
  }
  const name = `{${xml.namespace}}${xml.local}[${attributes.toSorted().join(' ')}]`;
  const { position } = xml;
  let children = '';
  let hasChildren = false;
  if (xml.empty) {
    xml.skip();
    return `${name}()`;
  }
  while (xml.nextChild()) {
    hasChildren = true;
    children += node(xml, encoded);
  }
  const source = xml.source(position, xml.position);
  return hasChildren
    ? `${name}(${children})`
    : `${name}(${source.slice(0, source.lastIndexOf('</')).trim()})`;
}
