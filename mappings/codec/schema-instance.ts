import { namespaces } from '../contract/model.ts';
import type { XmlReader } from '../xml/reader.ts';
import { collapse } from './scalars/numbers.ts';

/** Attributes of XML Schema instance (`xsi:nil`, `xsi:type`), read from the final namespace and from those of the drafts (W13). */

type Attributes = Pick<
  XmlReader,
  'attributeCount' | 'attributeLocal' | 'attributeNamespace' | 'attributeValue'
>;

const instanceNamespaces: ReadonlySet<string> = new Set([
  namespaces.xsi,
  'http://www.w3.org/1999/XMLSchema-instance',
  'http://www.w3.org/2000/10/XMLSchema-instance',
]);

/** Namespaces of XML Schema's own types in drafts, which mean those of the final one. */
const draftSchemas: ReadonlySet<string> = new Set([
  'http://www.w3.org/1999/XMLSchema',
  'http://www.w3.org/2000/10/XMLSchema',
]);

/** Built-in types of the drafts that have another name in XSD 1.0. */
const renamedTypes: ReadonlyMap<string, string> = new Map([
  ['ur-type', 'anyType'],
  ['timeInstant', 'dateTime'],
  ['timeDuration', 'duration'],
  ['uriReference', 'anyURI'],
  ['CDATA', 'normalizedString'],
]);

/** Returns true for the namespace of XML Schema instance, final or of a draft. */
export function isInstanceNamespace(namespace: string): boolean {
  return instanceNamespaces.has(namespace);
}

/** Returns the value of `xsi:nil`, which drafts call `xsi:null`, on the current start tag; undefined if it has none. */
export function nilAttribute(xml: Attributes): string | undefined {
  for (let index = 0; index < xml.attributeCount; index++) {
    const local = xml.attributeLocal(index);
    if ((local === 'nil' || local === 'null') && isInstanceNamespace(xml.attributeNamespace(index)))
      return xml.attributeValue(index);
  }
  return undefined;
}

/** Returns true if the current start tag has `xsi:nil` with the value true. */
export function isNil(xml: Attributes): boolean {
  const word = collapse(nilAttribute(xml) ?? '');
  return word === 'true' || word === '1';
}

/** Returns the value of `xsi:type` on the current start tag; undefined if it has none. */
export function typeAttribute(xml: Attributes): string | undefined {
  for (let index = 0; index < xml.attributeCount; index++) {
    if (xml.attributeLocal(index) === 'type' && isInstanceNamespace(xml.attributeNamespace(index)))
      return xml.attributeValue(index);
  }
  return undefined;
}

/** Returns the name of a type with a draft's built-in types replaced by those of XSD 1.0. */
export function finalTypeName(
  namespace: string,
  local: string,
): { readonly namespace: string; readonly local: string } {
  if (!draftSchemas.has(namespace)) return { namespace, local };
  return { namespace: namespaces.xsd, local: renamedTypes.get(local) ?? local };
}
