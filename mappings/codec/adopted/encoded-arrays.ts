import { namespaces } from '../../contract/model.ts';
import type { Reason } from '../../contract/reason.ts';
import { plainElement, type SchemaType } from '../../contract/type-graph.ts';
import { nodeKinds } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { endNil, refuseElement, refuseText, writeElement } from '../element.ts';
import { scanItems } from '../json-scan.ts';
import type { AdoptedContext, ValueCodec } from './context.ts';
import { elementReader, leaf, qualifiedName, tagsOf } from './elements.ts';

/** Arrays of SOAP's encoding (SOAP 1.1, 5.4.2) as JSON arrays (A30). */

const { list } = nodeKinds;

export const noDimensions: Reason = { expected: 'an array of one dimension, which alone are served' };

/**
 * Returns the codec of an array, or of a `Vector` of Apache SOAP. Items are read with any name and written as `item`.
 * If the binding is literal, arrays have no attributes of the encoding. `itemOf` returns the codec of an item after it
 * is compiled.
 */
export function itemsCodec(
  context: AdoptedContext,
  type: SchemaType,
  item: SchemaType,
  itemOf: () => ValueCodec,
): ValueCodec {
  const declared = plainElement({ namespace: '', local: 'item' }, item, true);
  const tags = tagsOf(context, declared);
  const isVector = type.name?.namespace === namespaces.apacheSoap;
  const typed = isVector
    ? ` xmlns:apache="${namespaces.apacheSoap}" i:type="apache:${type.name?.local}"`
    : ` i:type="soapenc:Array" soapenc:arrayType="${qualifiedName(context, item)}[`;

  const write: ValueCodec['write'] = (outer, tape, node, output: Output) => {
    const { words } = tape;
    if (words[node] !== list) {
      writeElement(outer, leaf, tape, node, output);
      return;
    }
    output.tags(outer.start);
    if (isVector && context.encoded) output.text(typed);
    else if (context.encoded) {
      let count = 0;
      for (let entry = words[node + 1] as number; entry !== -1; entry = words[entry] as number) count++;
      output.text(`${typed}${count}]"`);
    }
    output.text('>');
    for (let entry = tape.words[node + 1] as number; entry !== -1; entry = tape.words[entry] as number)
      itemOf().write(tags, tape, entry + 1, output);
    output.tags(outer.close);
  };

  return {
    read: (xml, reading) => {
      const refusal = orderRefusal(xml);
      if (refusal !== undefined) return refuseElement(xml, reading, refusal);
      let json = '[';
      const read = elementReader(context, declared, itemOf(), true);
      for (let index = 0; xml.nextChild(); index++) {
        reading.path.push(index);
        const its = positionRefusal(xml, 'position');
        const token = its === undefined ? read(xml, reading) : refuseElement(xml, reading, its);
        reading.path.pop();
        if (token !== undefined) json += json.length === 1 ? token : `,${token}`;
      }
      refuseText(xml, reading);
      return `${json}]`;
    },
    readNil: (xml, reading) => {
      endNil(xml, reading);
      return 'null';
    },
    scan: (tape) => scanItems(tape, itemOf().scan),
    write,
    isLeaf: false,
  };
}

/**
 * Returns the reason why an element's children are not items in document order; undefined if they are (SOAP 1.1, 5.4.2;
 * SOAP 1.2, part 2, 3.1.6).
 */
function orderRefusal(xml: XmlReader): Reason | undefined {
  if (xml.attributeCount === 0) return undefined;
  const type = xml.attribute(namespaces.soap11Encoding, 'arrayType') ?? '';
  const size = xml.attribute(namespaces.soap12Encoding, 'arraySize') ?? '';
  if (type.includes(',', type.lastIndexOf('[')) || size.trim().includes(' ')) return noDimensions;
  return positionRefusal(xml, 'offset') ?? positionRefusal(xml, 'position');
}

/** Returns the reason to refuse an attribute that states an item's position, which may differ from document order. */
function positionRefusal(xml: XmlReader, local: 'offset' | 'position'): Reason | undefined {
  const isPositioned =
    xml.attributeCount > 0 && xml.attribute(namespaces.soap11Encoding, local) !== undefined;
  return isPositioned ? { expected: 'all items of the array', got: local } : undefined;
}
