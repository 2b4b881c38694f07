import type { JsonReader } from '../json/reader.ts';
import type { MapType } from '../model.ts';
import type { XmlReader } from '../xml/reader.ts';
import type { Codec, Setup } from './codec.ts';
import { readMember, refuseJsonKind, writeNull } from './element.ts';
import { MismatchError, type Reading, refuse } from './problem.ts';
import { escapeXml } from './text.ts';

/** A map: repeated entries of Key and Value, in the JSON's order (W20). */
export function mapCodec(setup: Setup, type: MapType): Codec {
  const { types: typesNamespace, arrays: arraysNamespace } = setup.contract.namespaces;
  const keyCodec = setup.codecOf({ kind: 'scalar', scalar: 'string' });
  const value = setup.codecOf(type.value);
  const prefix = type.namespace === 'arrays' ? setup.arrayPrefix : '';
  const { entryName } = type;
  const entryOpen = `<${prefix}${entryName}><${prefix}Key>`;
  const entryMiddle = `</${prefix}Key>`;
  const entryClose = `</${prefix}${entryName}>`;
  const valueOpen = `<${prefix}Value${value.declarations}>`;
  const valueClose = `</${prefix}Value>`;
  const valueNil = `<${prefix}Value i:nil="true"/>`;
  const inNamespace = (xml: XmlReader): boolean =>
    xml.namespace === typesNamespace || xml.namespace === arraysNamespace || xml.namespace === '';

  const readEntry = (xml: XmlReader, reading: Reading): [string | undefined, string | undefined] => {
    let key: string | undefined;
    let content: string | undefined;
    let keys = 0;
    let values = 0;
    while (xml.nextChild()) {
      reading.path.push(xml.local.slice(0, 64));
      if (xml.local === 'Key' && inNamespace(xml) && keys++ === 0) {
        key = readMember(keyCodec, undefined, xml, reading);
        if (key === undefined) refuse(reading, 'NotEmpty', 'expected a key, got none');
      } else if (xml.local === 'Value' && inNamespace(xml) && values++ === 0) {
        content = readMember(value, 'null', xml, reading);
      } else {
        refuse(
          reading,
          keys > 1 || values > 1 ? 'DuplicateElement' : 'UnknownElement',
          'expected <Key> and <Value>, once each',
        );
        xml.skip();
      }
      reading.path.pop();
    }
    if (keys === 0) refuse(reading, 'NotEmpty', 'expected <Key>, got none');
    return [key, content ?? 'null'];
  };

  const read = (xml: XmlReader, reading: Reading): string => {
    const keys = new Set<string>();
    let json = '{';
    for (let index = 0; xml.nextChild(); index++) {
      reading.path.push(index);
      if (xml.local !== entryName || !inNamespace(xml)) {
        refuse(reading, 'UnknownElement', `expected <${entryName}>, got <${xml.local.slice(0, 64)}>`);
        xml.skip();
      } else {
        const [key, content] = readEntry(xml, reading);
        if (key !== undefined) {
          if (keys.has(key)) refuse(reading, 'DuplicateElement', 'expected each key once, got one again');
          keys.add(key);
          json += json.length === 1 ? `${key}:${content}` : `,${key}:${content}`;
        }
      }
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', 'expected elements, got text');
    return `${json}}`;
  };

  const write = (json: JsonReader): string | null => {
    const code = json.peek();
    if (code !== 123) return writeNull(json, code, 'an object');
    json.enter();
    const keys = new Set<string>();
    let xml = '';
    for (let first = true; json.next(first, 125); first = false) {
      const key = json.name();
      if (keys.has(key)) throw new MismatchError('expected each key once, got one again');
      keys.add(key);
      const content = value.write(json);
      xml += entryOpen + escapeXml(key, json) + entryMiddle;
      xml += (content === null ? valueNil : valueOpen + content + valueClose) + entryClose;
    }
    return xml;
  };

  const pass = (json: JsonReader, reading: Reading): void => {
    const code = json.peek();
    if (code === 110) {
      json.literal();
      return;
    }
    if (code !== 123) {
      refuseJsonKind(json, reading, 'an object');
      return;
    }
    json.enter();
    const keys = new Set<string>();
    for (let first = true; json.next(first, 125); first = false) {
      const key = json.name();
      reading.path.push(key.slice(0, 64));
      if (keys.has(key)) refuse(reading, 'DuplicateElement', 'expected each key once, got it again');
      keys.add(key);
      value.pass(json, reading);
      reading.path.pop();
    }
  };

  return {
    read,
    write,
    pass,
    fromText: undefined,
    nil: 'null',
    nilItem: undefined,
    declarations: type.namespace === 'arrays' ? setup.arrayDeclaration : '',
  };
}
