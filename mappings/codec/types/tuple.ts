import type { TupleType } from '../../contract/model.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { type Reading, refuse } from '../problem.ts';
import { entersJson, readMember } from '../read-element.ts';
import type { Codec, Setup } from '../readers.ts';

/** A tuple: an element for each of its positions, in any order (W11), and one for the items behind them. */
export function tupleCodec(setup: Setup, type: TupleType): Codec {
  const typesNamespace = setup.contract.namespaces.types;
  const refuseUnknown = setup.contract.settings.unknownElements === 'refuse';
  const positions = type.positions.map(({ xml, type: inner, rules }) => {
    return { xml, codec: setup.codecOf(inner, rules) };
  });
  const rest =
    type.rest === undefined
      ? undefined
      : {
          xml: type.rest.xml,
          list: setup.codecOf(type.rest.type, type.rest.rules),
          item: setup.codecOf(type.rest.type.item, type.rest.rules?.items),
        };
  const elements = rest === undefined ? positions : [...positions, { xml: rest.xml, codec: rest.list }];
  const byXml = new Map(elements.map(({ xml }, index) => [xml, index]));
  const names = elements.map(({ xml }) => `<${xml}>`);
  const expected = `${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}`;
  const behind = positions.length;

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
        if (refuseUnknown) refuse(reading, 'UnknownElement', `unknown element, expected ${expected}`);
        else reading.ignored.push(local);
        xml.skip();
      } else if (seen[index] === true) {
        refuse(reading, 'DuplicateElement', 'expected the element once, got it again');
        xml.skip();
      } else {
        const before = reading.problems.length;
        const value = readMember(element.codec.read, index < behind ? 'null' : undefined, xml, reading);
        values[index] = value;
        seen[index] = value !== undefined || reading.problems.length > before;
      }
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', 'expected elements, got text');
    const items = values[behind]?.slice(1, -1) ?? '';
    refuseGap(seen, items !== '', reading);
    const told = values.slice(0, behind);
    return `[${(items === '' ? told : [...told, items]).join()}]`;
  };

  /** In JSON no item can be missing before another one. */
  const refuseGap = (seen: readonly boolean[], hasRest: boolean, reading: Reading): void => {
    const last = hasRest ? behind : seen.slice(0, behind).lastIndexOf(true);
    for (let index = 0; index < last; index++) {
      if (seen[index] === true) continue;
      reading.path.push(elements[index]?.xml ?? '');
      refuse(reading, 'NotEmpty', `expected a value or xsi:nil before <${elements[last]?.xml}>, got none`);
      reading.path.pop();
    }
  };

  const pass = (json: JsonReader, reading: Reading): void => {
    if (!entersJson(json, reading, 91)) return;
    for (let index = 0; json.next(index === 0, 93); index++) {
      reading.path.push(index);
      const codec = positions[index]?.codec ?? rest?.item;
      if (codec !== undefined) codec.pass(json, reading);
      else {
        if (refuseUnknown) refuse(reading, 'UnknownElement', `expected at most ${behind} items`);
        else reading.ignored.push(`[${index}]`);
        json.skip();
      }
      reading.path.pop();
    }
  };

  return { read, pass, fromText: undefined, nil: 'null', nilItem: setup.nilItem };
}
