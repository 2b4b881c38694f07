import { scalarTable } from '../mappings/codec/scalars/table.ts';
import { jsonFormOf } from '../mappings/contract/members.ts';
import { type Contract, namespaces, type Operation } from '../mappings/contract/model.ts';
import type { ElementDeclaration, QName, SchemaType } from '../mappings/contract/type-graph.ts';
import { typeGraphOf } from '../mappings/type-graph.ts';
import { type DocumentNode, element, writeXml } from './document.ts';

/** Maximum depth of records, arrays and maps. Types may be recursive, and a sample must stay readable. */
const deepest = 4;

/** Maximum number of elements. Records that contain each other would otherwise produce millions. */
const largest = 2_000;

/** State of writing one sample. */
interface Sampling {
  readonly contract: Contract;
  /** Number of elements that may still be written. */
  left: number;
}

/**
 * Writes a SOAP 1.1 request of an OpenAPI contract, with a value for every field, up to the maximum depth and number of
 * elements. It is valid against the WSDL's schemas.
 */
export function writeSample(contract: Contract, operation: Operation): string {
  const type = typeGraphOf(contract).nodeOf(operation.input);
  const children = content({ contract, left: largest }, type, 0);
  const wrapper = element(operation.name, { xmlns: contract.namespaces.types }, ...children);
  return writeXml(
    element('soap:Envelope', { 'xmlns:soap': namespaces.soap11 }, element('soap:Body', {}, wrapper)),
  );
}

/** Returns an element with a sample value, or nothing if the maximum number of elements is reached. */
function sampleOf(
  sampling: Sampling,
  { name, type }: ElementDeclaration,
  depth: number,
): readonly DocumentNode[] {
  if (sampling.left === 0) return [];
  sampling.left--;
  return [element(name.local, {}, ...content(sampling, type, depth))];
}

/** Returns the content of an element of the type. */
function content(sampling: Sampling, type: SchemaType, depth: number): readonly (DocumentNode | string)[] {
  if (type.kind === 'simple') {
    const { scalar, facets } = type;
    if (scalar === undefined) return [facets.enumeration?.[0] ?? ''];
    const isTree = scalar === 'json' && sampling.contract.settings.json === 'tree';
    return isTree ? [element('map', { xmlns: namespaces.jsonTree })] : [scalarTable[scalar].sample];
  }
  const inner = (child: ElementDeclaration) => sampleOf(sampling, child, depth + 1);
  const form = jsonFormOf(type, false);
  if (form.kind === 'union') return form.variants.slice(0, 1).flatMap((variant) => inner(variant.element));
  if (form.kind === 'object')
    return form.members.members.flatMap((member) => {
      if (member.kind !== 'element') return [];
      return depth + 1 < deepest || member.element.type.kind === 'simple' ? inner(member.element) : [];
    });
  if (depth >= deepest) return [];
  if (form.kind === 'tuple')
    return [...form.positions, ...(form.rest === undefined ? [] : [form.rest])].flatMap(inner);
  if (type.content.kind === 'map') {
    const { item, key, value } = type.content;
    const valueContent = content(sampling, value.type, depth + 1);
    const keyElement = element(tagOf(sampling, key.name), {}, 'key');
    return [part(sampling, item, [keyElement, element(tagOf(sampling, value.name), {}, ...valueContent)])];
  }
  if (form.kind !== 'list' || form.item.kind !== 'element') return [];
  const { element: item } = form.item;
  return [part(sampling, item, content(sampling, item.type, depth + 1))];
}

/** Creates an item or entry in the namespace of its array or map. */
function part(
  sampling: Sampling,
  { name }: ElementDeclaration,
  children: readonly (DocumentNode | string)[],
): DocumentNode {
  const tag = tagOf(sampling, name);
  const { arrays } = sampling.contract.namespaces;
  return element(tag, tag === name.local ? {} : { 'xmlns:arr': arrays }, ...children);
}

/** Returns the qualified name of an element. The types namespace is the default namespace. */
function tagOf({ contract }: Sampling, { namespace, local }: QName): string {
  return namespace === contract.namespaces.types ? local : `arr:${local}`;
}
