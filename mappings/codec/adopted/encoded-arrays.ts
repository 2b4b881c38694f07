import { namespaces } from '../../contract/model.ts';
import type { SchemaType } from '../../contract/schema-components.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import { hasContent, refuseElement, writeElement } from '../element.ts';
import { refuse } from '../problem.ts';
import { scanItems } from '../types/entries.ts';
import type { AdoptedContext, ValueCodec } from './context.ts';
import { elementReader, leaf, qualifiedName, tagsOf, undeclared } from './elements.ts';

/** Arrays of SOAP's encoding (SOAP 1.1, 5.4.2) as JSON arrays (A30). */

const { list } = nodeKinds;

/**
 * The codec of an array: read with items of any name, written with `item` elements; without attributes of the encoding where
 * the binding says literal. `itemOf` gives the codec of an item, once it is compiled. Longer than others: both directions share
 * the item's declaration.
 */
export function itemsCodec(context: AdoptedContext, item: SchemaType, itemOf: () => ValueCodec): ValueCodec {
  const declared = undeclared({ namespace: '', local: 'item' }, item, true);
  const tags = tagsOf(context, declared);
  const arrayType = ` i:type="soapenc:Array" soapenc:arrayType="${qualifiedName(context, item)}[`;

  const scan = (tape: Tape): void => scanItems(tape, itemOf().scan);

  const write: ValueCodec['write'] = (outer, tape, node, output: Output) => {
    const { words } = tape;
    if (words[node] !== list) {
      writeElement(outer, leaf, tape, node, output);
      return;
    }
    output.tags(outer.start);
    if (context.encoded) {
      let count = 0;
      for (let entry = words[node + 1] as number; entry !== -1; entry = words[entry] as number) count++;
      output.text(`${arrayType}${count}]"`);
    }
    output.text('>');
    for (let entry = tape.words[node + 1] as number; entry !== -1; entry = tape.words[entry] as number)
      itemOf().write(tags, tape, entry + 1, output);
    output.tags(outer.close);
  };

  return {
    read: (xml, reading) => {
      for (const local of ['offset', 'position']) {
        if (xml.attribute(namespaces.soap11Encoding, local) === undefined) continue;
        return refuseElement(xml, reading, `expected all items of the array, got ${local}`);
      }
      let json = '[';
      const read = elementReader(context, declared, itemOf(), true);
      for (let index = 0; xml.nextChild(); index++) {
        reading.path.push(index);
        const token = read(xml, reading);
        reading.path.pop();
        if (token !== undefined) json += json.length === 1 ? token : `,${token}`;
      }
      if (xml.stray) refuse(reading, 'InvalidType', 'expected elements, got text');
      return `${json}]`;
    },
    readNil: (xml, reading) => {
      if (hasContent(xml)) refuse(reading, 'InvalidType', 'expected no content in an element with xsi:nil');
      return 'null';
    },
    scan,
    write,
    isLeaf: false,
    defaultOf: undefined,
  };
}
