import type { UnionType } from '../../contract/model.ts';
import { skipped } from '../../json/parts.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { type Reading, refuse, startReading } from '../problem.ts';
import { readMember } from '../read-element.ts';
import type { Codec, Setup } from '../readers.ts';
import { compileLook, type Look } from './fitting.ts';
import { recordCodec } from './record.ts';

/** A union: one element, whose name says of which type the value is. In JSON it is any value, since the last type takes all. */
export function unionCodec(setup: Setup, type: UnionType): Codec {
  const typesNamespace = setup.contract.namespaces.types;
  const refuseUnknown = setup.contract.settings.unknownElements === 'refuse';
  const codecs = new Map(
    type.variants.map(({ xml, type: inner, tag, rules }) => [
      xml,
      tag !== undefined && inner.kind === 'record'
        ? setup.ruled(recordCodec(setup, inner, { tag }), rules)
        : setup.codecOf(inner, rules),
    ]),
  );
  const json = type.variants.at(-1)?.xml;
  const look = lookOf(setup, type);
  const names = type.variants.map(({ xml }) => `<${xml}>`);
  const expected = `one of ${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}`;

  const read = (xml: XmlReader, reading: Reading): string | undefined => {
    let value: string | undefined;
    let filled = '';
    const none = reading.problems.length;
    while (xml.nextChild()) {
      const { local } = xml;
      const codec = xml.namespace === typesNamespace || xml.namespace === '' ? codecs.get(local) : undefined;
      if (codec === undefined) {
        if (refuseUnknown)
          refuse(reading, 'UnknownElement', `expected ${expected}, got <${local.slice(0, 64)}>`);
        else reading.ignored.push(local);
        xml.skip();
        continue;
      }
      reading.path.push(local);
      const before = reading.problems.length;
      const content = readMember(codec.read, undefined, xml, reading);
      if (local === json && content !== undefined && reading.problems.length === before)
        look?.(content, reading);
      reading.path.pop();
      // a nil variant is as absent: proxies write what isn't set so
      if (content === undefined && reading.problems.length === before) continue;
      if (filled !== '')
        refuse(reading, 'DuplicateElement', `expected one element, got <${local}> beside <${filled}>`);
      filled = local;
      value = content;
    }
    if (xml.stray) refuse(reading, 'InvalidType', `expected ${expected}, got text`);
    else if (filled === '' && reading.problems.length === none)
      refuse(reading, 'NotEmpty', `expected ${expected}, got none`);
    return value;
  };

  // the first that the text is one of; a string, which any is, the last to be asked
  const scalars = type.variants
    .filter(({ takes }) => takes !== 'object' && takes !== 'array' && takes !== 'any')
    .toSorted((a, b) => Number(a.takes === 'string') - Number(b.takes === 'string'))
    .flatMap(({ xml }) => codecs.get(xml)?.fromText ?? []);

  const fromText = (text: string, reading: Reading): string | undefined => {
    for (const convert of scalars) {
      const trial = startReading(reading.limit, reading.mostSteps);
      const value = convert(text, trial);
      if (trial.problems.length === 0) return value;
    }
    refuse(reading, 'InvalidType', `expected ${expected}, got other text`);
    return undefined;
  };

  return {
    read,
    pass: look === undefined ? (json) => json.skip() : (json, reading) => look(skipped(json), reading),
    fromText: scalars.length === 0 ? undefined : fromText,
    nil: 'null',
    nilItem: setup.nilItem,
  };
}

/** Under `validate: strict`, what looks at values that come as JSON. */
function lookOf({ plainOf, codecOf, limits }: Setup, { variants }: UnionType): Look | undefined {
  if (plainOf === undefined) return undefined;
  const typed = variants.filter(({ takes }) => takes !== 'any');
  return compileLook(
    typed.map(({ takes, type, rules }) => ({ takes, codec: codecOf(type, rules), plain: plainOf(type) })),
    limits,
  );
}
