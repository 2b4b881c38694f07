import type { MapType } from '../../contract/model.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { type Reading, refuse } from '../problem.ts';
import { entersJson, opens, readMember } from '../read-element.ts';
import type { Codec, Setup } from '../readers.ts';
import { Distinct } from './distinct.ts';

/** Reads the entries of a map as JSON members, without braces; `keys` are JSON strings that were there already. */
export type ReadEntries = (xml: XmlReader, reading: Reading, keys: Distinct) => string;

/** Entries of Key and Value, in the JSON's order (W20). */
export function entriesReader(setup: Setup, type: MapType, value: Codec): ReadEntries {
  const { types: typesNamespace, arrays: arraysNamespace } = setup.contract.namespaces;
  const refuseUnknown = setup.contract.settings.unknownElements === 'refuse';
  const keyCodec = setup.codecOf({ kind: 'scalar', scalar: 'string' });
  const { entryName } = type;
  const inNamespace = (xml: XmlReader): boolean =>
    xml.namespace === typesNamespace || xml.namespace === arraysNamespace || xml.namespace === '';

  const readUnknown = (xml: XmlReader, expected: string, reading: Reading): void => {
    const got = xml.local.slice(0, 64);
    if (refuseUnknown) refuse(reading, 'UnknownElement', `expected ${expected}, got <${got}>`);
    else reading.ignored.push(xml.local);
    xml.skip();
  };

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
        refuse(reading, 'DuplicateElement', 'expected the element once, got it again');
        xml.skip();
      } else if (isKey) {
        key = readMember(keyCodec.read, undefined, xml, reading);
        if (key === undefined) refuse(reading, 'NotEmpty', 'expected a key, got none');
      } else {
        content = readMember(value.read, 'null', xml, reading);
      }
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', 'expected elements, got text');
    if (keys === 0) refuse(reading, 'NotEmpty', 'expected <Key>, got none');
    return [key, content ?? 'null'];
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
          if (!keys.add(key)) refuse(reading, 'DuplicateElement', 'expected each key once, got one again');
          json += json === '' ? `${key}:${content}` : `,${key}:${content}`;
        }
      }
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', 'expected elements, got text');
    return json;
  };
}

/** A map: repeated entries (W20). */
export function mapCodec(setup: Setup, type: MapType, value = setup.codecOf(type.value)): Codec {
  const readEntries = entriesReader(setup, type, value);

  const pass = (json: JsonReader, reading: Reading): void => {
    if (!entersJson(json, reading, 123)) return;
    const keys = new Distinct();
    for (let first = true; json.next(first, 125); first = false) {
      const key = json.name();
      reading.path.push(key.slice(0, 64));
      if (!keys.add(key)) refuse(reading, 'DuplicateElement', 'expected each key once, got it again');
      value.pass(json, reading);
      reading.path.pop();
    }
  };

  return {
    read: (xml, reading) => `{${readEntries(xml, reading, new Distinct())}}`,
    pass,
    fromText: undefined,
    nil: 'null',
    nilItem: setup.nilItem,
  };
}
