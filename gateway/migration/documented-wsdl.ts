import type { Limits } from '../../mappings/contract/limits.ts';
import { namespaces } from '../../mappings/contract/model.ts';
import { Allowance } from '../../mappings/loader/document/allowance.ts';
import { wsdlChildren } from '../../mappings/loader/wsdl/definitions.ts';
import {
  attributeOf,
  contentSpan,
  elementSpan,
  readSource,
  readTree,
  type XmlElement,
} from '../../mappings/loader/wsdl/xml-tree.ts';
import { asciiText, inEncodingOf } from '../../wsdl/adopted.ts';

/** Returns the key of an operation of a port type in the texts of `addDocumentation`. */
export function documentedKey(portType: string, operation: string): string {
  return `${portType} ${operation}`;
}

/**
 * Adds texts to the documentation of operations in a served document of an adopted WSDL. All other bytes stay as they are.
 *
 * @param texts texts by the keys of the operations
 */
export function addDocumentation(
  bytes: Uint8Array,
  texts: ReadonlyMap<string, string>,
  limits: Limits,
): Uint8Array {
  const { source } = readSource('', bytes);
  const root = readTree(source, new Allowance(limits));
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const portType of wsdlChildren(root, 'portType'))
    for (const operation of wsdlChildren(portType, 'operation')) {
      const key = documentedKey(attributeOf(portType, 'name') ?? '', attributeOf(operation, 'name') ?? '');
      const text = texts.get(key);
      const place = text === undefined ? undefined : placeOf(operation, asciiText(text));
      if (place === undefined) continue;
      pieces.push(bytes.subarray(from, place.from), inEncodingOf(bytes, place.text));
      from = place.to;
    }
  return Buffer.concat([...pieces, bytes.subarray(from)]);
}

/** Returns the bytes of an operation that are replaced, and their replacement. */
function placeOf(
  operation: XmlElement,
  text: string,
): { readonly from: number; readonly to: number; readonly text: string } | undefined {
  const element = `<documentation xmlns="${namespaces.wsdl}">${text}</documentation>`;
  const [own] = wsdlChildren(operation, 'documentation');
  if (own === undefined) {
    const content = contentSpan(operation);
    return content === undefined ? undefined : { from: content.from, to: content.from, text: element };
  }
  const content = contentSpan(own);
  if (content === undefined) return { ...elementSpan(own), text: element };
  return { from: content.to, to: content.to, text: ` ${text}` };
}
