import type { ArrayType } from '../../contract/model.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { type Reading, refuse } from '../problem.ts';
import { entersJson, readMember } from '../read-element.ts';
import type { Codec, Setup } from '../readers.ts';

/** Stands for an item with xsi:nil, whatever its type makes of it. */
const nilMark: unique symbol = Symbol('nil');

/** An array: a wrapper element with items of one name (W20). */
export function arrayCodec(setup: Setup, type: ArrayType, item = setup.codecOf(type.item)): Codec {
  const { types: typesNamespace, arrays: arraysNamespace } = setup.contract.namespaces;
  const refuseUnknown = setup.contract.settings.unknownElements === 'refuse';
  const { itemName } = type;

  const read = (xml: XmlReader, reading: Reading): string | undefined => {
    let json = '[';
    let count = 0;
    let nils = 0;
    let firstNil = 0;
    while (xml.nextChild()) {
      const { namespace } = xml;
      reading.path.push(count);
      count++;
      if (
        xml.local !== itemName ||
        !(namespace === typesNamespace || namespace === arraysNamespace || namespace === '')
      ) {
        if (refuseUnknown) {
          refuse(reading, 'UnknownElement', `expected <${itemName}>, got <${xml.local.slice(0, 64)}>`);
        } else {
          reading.ignored.push(xml.local);
        }
        xml.skip();
      } else {
        const value = readMember(item.read, nilMark, xml, reading);
        if (value === nilMark && nils++ === 0) firstNil = count - 1;
        const token = value === nilMark ? item.nilItem : value;
        if (token !== undefined) json += json.length === 1 ? token : `,${token}`;
      }
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', 'expected elements, got text');
    // soap4r leaves an array out by sending one nil item; where nulls are kept, that is an array of a null
    if (count === 1 && nils === 1 && setup.nilItem === undefined) return undefined;
    if (nils !== 0 && item.nilItem === undefined) {
      reading.path.push(firstNil);
      refuse(reading, 'InvalidType', `expected a value of <${itemName}>, got xsi:nil`);
      reading.path.pop();
    }
    return `${json}]`;
  };

  const pass = (json: JsonReader, reading: Reading): void => {
    if (!entersJson(json, reading, 91)) return;
    for (let index = 0; json.next(index === 0, 93); index++) {
      reading.path.push(index);
      item.pass(json, reading);
      reading.path.pop();
    }
  };

  return {
    read,
    pass,
    fromText: undefined,
    nil: 'null',
    nilItem: setup.nilItem,
  };
}
