import type { MapType } from '../../contract/model.ts';
import { quoteElement } from '../../contract/reason.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { Tape } from '../../json/tape.ts';
import { type Output, piece } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import {
  prefixOf,
  type ReaderContext,
  type ReplyWriter,
  type RequestReader,
  type WriterContext,
} from '../context.ts';
import {
  elementOf,
  enters,
  entersJson,
  opens,
  passUnknown,
  readMember,
  refuseAgain,
  refuseText,
  writeElement,
} from '../element.ts';
import { pushEntry, pushList } from '../json-scan.ts';
import { MismatchError, type Reading, refuse } from '../problem.ts';
import { isReference } from '../scalars/table.ts';
import { Distinct } from './distinct.ts';

/** Codec of a map: repeated entries, each with a key and a value (W20). */

/** Reads the entries of a map as JSON members, without braces. `keys` has the existing keys as JSON strings. */
export type ReadEntries = (xml: XmlReader, reading: Reading, keys: Distinct) => string;

/** Returns the reader of the entries, with Key and Value, in document order (W20). */
export function entriesReader(context: ReaderContext, type: MapType, value: RequestReader): ReadEntries {
  const { types: typesNamespace, arrays: arraysNamespace } = context.contract.namespaces;
  const keyReader = context.readerOf({ kind: 'scalar', scalar: 'string' });
  const { entryName } = type;
  // a nil or missing number, boolean, date or enum makes no entry if the document does not allow null (W13)
  const keepsNulls = context.contract.nulls === 'kept' && type.takesNull === true;
  const nil = keepsNulls || isReference(type.value) ? 'null' : undefined;
  const inNamespace = (xml: XmlReader): boolean =>
    xml.namespace === typesNamespace || xml.namespace === arraysNamespace || xml.namespace === '';

  const readUnknown = (xml: XmlReader, expected: string, reading: Reading): void =>
    passUnknown(context, xml, reading, () => ({ expected, got: quoteElement(xml.local) }));

  const readEntry = (xml: XmlReader, reading: Reading): [string | undefined, string | undefined] => {
    let key: string | undefined;
    let content: string | undefined;
    let keys = 0;
    let values = 0;
    if (!opens(xml, reading)) return [undefined, undefined];
    while (xml.nextChild()) {
      reading.path.push(xml.local.slice(0, 64));
      const isKey = xml.local === 'Key' && inNamespace(xml);
      if (!isKey && !(xml.local === 'Value' && inNamespace(xml))) {
        readUnknown(xml, '<Key> and <Value>', reading);
      } else if ((isKey ? keys++ : values++) !== 0) {
        refuseAgain(xml, reading);
      } else if (isKey) {
        key = readMember(keyReader.read, undefined, xml, reading);
        if (key === undefined) refuse(reading, 'NotEmpty', { expected: 'a key', got: 'none' });
      } else {
        content = readMember(value.read, nil, xml, reading);
      }
      reading.path.pop();
    }
    refuseText(xml, reading);
    if (keys === 0) refuse(reading, 'NotEmpty', { expected: '<Key>', got: 'none' });
    return [key, content ?? nil];
  };

  return (xml, reading, keys) => {
    let json = '';
    for (let index = 0; xml.nextChild(); index++) {
      reading.path.push(index);
      if (xml.local !== entryName || !inNamespace(xml)) {
        readUnknown(xml, `<${entryName}>`, reading);
      } else {
        const [key, content] = readEntry(xml, reading);
        if (key !== undefined) {
          if (!keys.add(key))
            refuse(reading, 'DuplicateElement', { expected: 'each key once', got: 'one again' });
          if (content !== undefined) json += json === '' ? `${key}:${content}` : `,${key}:${content}`;
        }
      }
      reading.path.pop();
    }
    refuseText(xml, reading);
    return json;
  };
}

/** Returns the reader of a map: XML → JSON, and checks of JSON. Duplicate keys are refused. */
export function mapReader(
  context: ReaderContext,
  type: MapType,
  value = context.readerOf(type.value),
): RequestReader {
  const readEntries = entriesReader(context, type, value);

  const pass = (json: JsonReader, reading: Reading): void => {
    if (!entersJson(json, reading, 123)) return;
    const keys = new Distinct();
    for (let first = true; json.next(first, 125); first = false) {
      const key = json.name();
      reading.path.push(key.slice(0, 64));
      if (!keys.add(key)) refuse(reading, 'DuplicateElement', { expected: 'each key once', got: 'it again' });
      value.pass(json, reading);
      reading.path.pop();
    }
  };

  return {
    read: (xml, reading) => `{${readEntries(xml, reading, new Distinct())}}`,
    pass,
    fromText: undefined,
    nil: 'null',
    nilItem: context.nilItem,
  };
}

/** JSON → XML: a linked list on the tape, with the key between the link and the value's node. */
export function mapWriter({ contract, writerOf }: WriterContext, type: MapType): ReplyWriter {
  const { prefix, declarations } = prefixOf(contract, type);
  const value = writerOf(type.value);
  const entryOpen = piece(`<${prefix}${type.entryName}>`);
  const entryClose = piece(`</${prefix}${type.entryName}>`);
  const key = elementOf(`${prefix}Key`, '', false);
  const element = elementOf(`${prefix}Value`, value.declarations, true);
  const scan = (tape: Tape): void => {
    if (!enters(tape, 123)) return;
    const keys = new Set<string>();
    let link = pushList(tape);
    for (let first = true; tape.next(first, 125); first = false) {
      if (tape.bytes[tape.position] !== 34) tape.fail('a member name');
      const start = tape.position + 1;
      const asIs = tape.scanString();
      const end = tape.position - 1;
      const name = asIs ? tape.slice(start, end) : tape.decode(start, end);
      if (keys.has(name)) throw new MismatchError({ expected: 'each key once', got: 'one again' });
      keys.add(name);
      tape.colon();
      link = pushEntry(tape, link, start, end, asIs);
      value.scan(tape);
    }
  };
  const write = (tape: Tape, node: number, output: Output): void => {
    for (let entry = tape.words[node + 1] as number; entry !== -1; entry = tape.words[entry] as number) {
      output.reserve(entryOpen.length);
      output.piece(entryOpen);
      writeElement(key, value, tape, entry + 1, output);
      writeElement(element, value, tape, entry + 4, output);
      output.reserve(entryClose.length);
      output.piece(entryClose);
    }
  };
  return { scan, write, declarations };
}
