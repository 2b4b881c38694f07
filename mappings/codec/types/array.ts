import type { ArrayType } from '../../contract/model.ts';
import { quoteElement } from '../../contract/reason.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import {
  prefixOf,
  type ReaderContext,
  type ReplyWriter,
  type RequestReader,
  type WriterContext,
} from '../context.ts';
import { elementOf, entersJson, passUnknown, readMember, refuseText, writeElement } from '../element.ts';
import { scanItems } from '../json-scan.ts';
import { type Reading, refuseAt } from '../problem.ts';
import { isReference } from '../scalars/table.ts';

/** Codec of an array: a wrapper element with items of one name (W20). */

/** Represents an item with `xsi:nil` until its type is considered. */
const nilMark: unique symbol = Symbol('nil');

/** Returns the reader of an array: XML → JSON, and checks of JSON. Items that count as absent are left out. */
export function arrayReader(
  context: ReaderContext,
  type: ArrayType,
  item = context.readerOf(type.item),
): RequestReader {
  const { types: typesNamespace, arrays: arraysNamespace } = context.contract.namespaces;
  const { itemName } = type;
  const keepsNulls = context.nilItem !== undefined;
  // a nil number, boolean, date or enum counts as absent if the document does not allow null (W13)
  const omitsNils = keepsNulls && type.takesNull !== true && !isReference(type.item);
  const nilItem = omitsNils ? undefined : item.nilItem;

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
        passUnknown(context, xml, reading, () => ({
          expected: `<${itemName}>`,
          got: quoteElement(xml.local),
        }));
      } else {
        const value = readMember(item.read, nilMark, xml, reading);
        if (value === nilMark && nils++ === 0) firstNil = count - 1;
        const token = value === nilMark ? nilItem : value;
        if (token !== undefined) json += json.length === 1 ? token : `,${token}`;
      }
      reading.path.pop();
    }
    refuseText(xml, reading);
    // soap4r sends one nil item for an absent array; if nulls are kept, that is an array with a null
    if (count === 1 && nils === 1 && !keepsNulls) return undefined;
    if (nils !== 0 && nilItem === undefined && !omitsNils) {
      refuseAt(reading, firstNil, 'InvalidType', { expected: `a value of <${itemName}>`, got: 'xsi:nil' });
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

  return { read, pass, fromText: undefined, nil: 'null', nilItem: context.nilItem };
}

/** JSON → XML: a linked list on the tape (`scanItems`). */
export function arrayWriter({ contract, writerOf }: WriterContext, type: ArrayType): ReplyWriter {
  const { prefix, declarations } = prefixOf(contract, type);
  const item = writerOf(type.item);
  const element = elementOf(prefix + type.itemName, item.declarations, true);
  const scan = (tape: Tape): void => {
    scanItems(tape, item.scan);
  };
  const write = (tape: Tape, node: number, output: Output): void => {
    for (let entry = tape.words[node + 1] as number; entry !== -1; entry = tape.words[entry] as number) {
      writeElement(element, item, tape, entry + 1, output);
    }
  };
  return { scan, write, declarations };
}
