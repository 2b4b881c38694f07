import type { TupleType } from '../../contract/model.ts';
import type { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ReaderContext, ReplyWriter, RequestReader, WriterContext, WriterOf } from '../context.ts';
import {
  elementOf,
  enters,
  entersJson,
  passUnknown,
  readMember,
  refuseAgain,
  refuseText,
  writeElement,
} from '../element.ts';
import { pushItem } from '../json-scan.ts';
import { MismatchError, type Reading, refuse } from '../problem.ts';
import { someNames } from '../scalars/text.ts';

/** Codec of a tuple: an element for each position, and one for the items after them. */

const { list, record } = nodeKinds;

/** Returns the reader of a tuple: XML → JSON, and checks of JSON. Elements may have any order (W11). */
export function tupleReader(context: ReaderContext, type: TupleType): RequestReader {
  const typesNamespace = context.contract.namespaces.types;
  const positions = type.positions.map(({ xml, type: inner, rules }) => {
    return { xml, reader: context.readerOf(inner, rules) };
  });
  const rest = type.rest === undefined ? undefined : restReaders(context, type.rest);
  const elements = rest === undefined ? positions : [...positions, { xml: rest.xml, reader: rest.list }];
  const byXml = new Map(elements.map(({ xml }, index) => [xml, index]));
  const expected = someNames(elements.map(({ xml }) => `<${xml}>`));
  const restIndex = positions.length;

  const read = (xml: XmlReader, reading: Reading): string => {
    const values: (string | undefined)[] = [];
    const seen: boolean[] = [];
    while (xml.nextChild()) {
      const { local } = xml;
      const own = xml.namespace === typesNamespace || xml.namespace === '';
      const index = own ? byXml.get(local) : undefined;
      const element = index === undefined ? undefined : elements[index];
      reading.path.push(local.slice(0, 64));
      if (index === undefined || element === undefined) {
        passUnknown(context, xml, reading, () => ({ detail: `unknown element, expected ${expected}` }));
      } else if (seen[index] === true) {
        refuseAgain(xml, reading);
      } else {
        const before = reading.problems.length;
        const value = readMember(element.reader.read, index < restIndex ? 'null' : undefined, xml, reading);
        values[index] = value;
        seen[index] = value !== undefined || reading.problems.length > before;
      }
      reading.path.pop();
    }
    refuseText(xml, reading);
    const items = values[restIndex]?.slice(1, -1) ?? '';
    const last = items === '' ? seen.slice(0, restIndex).lastIndexOf(true) : restIndex;
    refuseGap(elements, seen, last, reading);
    const positioned = values.slice(0, items === '' ? last + 1 : restIndex);
    return `[${(items === '' ? positioned : [...positioned, items]).join()}]`;
  };

  const pass = (json: JsonReader, reading: Reading): void => {
    if (!entersJson(json, reading, 91)) return;
    let before = json.position;
    for (let index = 0; json.next(index === 0, 93); index++) {
      reading.path.push(index);
      const reader = positions[index]?.reader ?? rest?.item;
      if (reader !== undefined) reader.pass(json, reading);
      else passUnknownItem(context, json, reading, before, index, restIndex);
      before = json.position;
      reading.path.pop();
    }
  };

  return { read, pass, fromText: undefined, nil: 'null', nilItem: context.nilItem };
}

/** Passes an item that the tuple lacks. `before` is the end of the previous item. */
function passUnknownItem(
  { contract }: ReaderContext,
  json: JsonReader,
  reading: Reading,
  before: number,
  index: number,
  most: number,
): void {
  const { unknownElements } = contract.settings;
  if (unknownElements === 'refuse') refuse(reading, 'UnknownElement', { expected: `at most ${most} items` });
  else reading.ignored.push(`[${index}]`);
  json.skip();
  if (unknownElements === 'ignore') reading.edits.push({ start: before, end: json.position, text: '' });
}

/** Returns the readers of the items after the positions: of the whole list, and of one item. */
function restReaders({ readerOf }: ReaderContext, { xml, type, rules }: NonNullable<TupleType['rest']>) {
  return { xml, list: readerOf(type, rules), item: readerOf(type.item, rules?.items) };
}

/** Refuses missing items before the last one, because a JSON array cannot have gaps. */
function refuseGap(
  elements: readonly { readonly xml: string }[],
  seen: readonly boolean[],
  last: number,
  reading: Reading,
): void {
  for (let index = 0; index < last; index++) {
    if (seen[index] === true) continue;
    reading.path.push(elements[index]?.xml ?? '');
    refuse(reading, 'NotEmpty', {
      expected: `a value or xsi:nil before <${elements[last]?.xml}>`,
      got: 'none',
    });
    reading.path.pop();
  }
}

/**
 * JSON → XML: a slot on the tape per position, as in a record, then the node of a list of the items after them. The
 * list's node is empty if there are none.
 */
export function tupleWriter({ writerOf }: WriterContext, type: TupleType): ReplyWriter {
  const positions = type.positions.map(({ xml, type: inner }) => {
    const writer = writerOf(inner);
    return { writer, element: elementOf(xml, writer.declarations, true) };
  });
  const rest = type.rest === undefined ? undefined : restOf(type.rest, writerOf);
  const count = positions.length;
  const slots = count + 2;

  const scan = (tape: Tape): void => {
    if (!enters(tape, 91)) return;
    tape.reserve(1 + slots);
    const node = tape.top;
    tape.words[node] = record;
    for (let slot = node + 1; slot <= node + slots; slot++) tape.words[slot] = -1;
    tape.top = node + 1 + slots;
    let link = node + slots;
    let index = 0;
    try {
      for (; tape.next(index === 0, 93); index++) {
        const position = positions[index];
        if (position !== undefined) {
          tape.words[node + 1 + index] = tape.top;
          position.writer.scan(tape);
        } else if (rest !== undefined) {
          tape.words[node + 1 + count] = list;
          link = pushItem(tape, link);
          rest.item.scan(tape);
        } else {
          tape.dropped++;
          tape.skip();
        }
      }
    } catch (error) {
      throw error instanceof MismatchError ? error.at(index) : error;
    }
  };

  const write: ReplyWriter['write'] = (tape, node, output) => {
    for (const [index, { element, writer }] of positions.entries()) {
      const value = tape.words[node + 1 + index] as number;
      if (value === -1) return;
      writeElement(element, writer, tape, value, output);
    }
    const restNode = node + 1 + count;
    if (rest !== undefined && tape.words[restNode] === list)
      writeElement(rest.element, rest.writer, tape, restNode, output);
  };

  return { scan, write, declarations: '' };
}

/** Returns the writers of the items after the positions. */
function restOf({ xml, type }: NonNullable<TupleType['rest']>, writerOf: WriterOf) {
  const writer = writerOf(type);
  return { item: writerOf(type.item), writer, element: elementOf(xml, writer.declarations, false) };
}
