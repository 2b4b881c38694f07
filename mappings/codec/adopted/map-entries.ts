import { anyType } from '../../contract/built-in-types.ts';
import type { Content } from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { type Element, endNil, refuseAgain, refuseText } from '../element.ts';
import { type ObjectMembers, objectMembers, pushItem, type ScanOther, scanObject } from '../json-scan.ts';
import { MismatchError, type Reading, refuse, twice } from '../problem.ts';
import type { AdoptedContext, ValueCodec } from './context.ts';
import { elementReader, tagsOf } from './elements.ts';

/**
 * The entries of an Apache SOAP `Map` (A23): an object if each key is a plain string that occurs once, else a list of
 * `{"key":…,"value":…}`. A key that begins with `@` makes a list too, because these names are reserved for the gateway.
 */

const { nothing, record } = nodeKinds;

/** Words of an entry: the link to the next entry, then an object with the nodes of its key and its value. */
const keyWord = 2;
const valueWord = 3;

/** The members or items of a map, in both directions. */
export interface MapEntries {
  /**
   * Reads the children of the current element, past its end tag.
   *
   * @param start beginning of the object form: `{`, or `{"@type":"…"` if the object states its type
   * @param listStart beginning of the object around the list form; `''` for the list without an object
   */
  readonly read: (xml: XmlReader, reading: Reading, start: string, listStart: string) => string;
  /**
   * Moves past an object or array and links its entries, starting at a word of the tape. Returns true for an object
   * with `@nil`.
   */
  readonly scan: (tape: Tape, link: number) => boolean;
  /** Writes the entries that a word links to. */
  readonly write: (tape: Tape, link: number, output: Output) => void;
}

type MapContent = Content & { readonly kind: 'map' };

export function mapEntries(context: AdoptedContext, content: MapContent): MapEntries {
  const { item, key, value } = content;
  const keys = context.elementOf(key, true);
  const values = value.type === anyType ? context.mapValues() : context.elementOf(value, true);
  const tags = { item: tagsOf(context, item), key: tagsOf(context, key), value: tagsOf(context, value) };

  const write: MapEntries['write'] = (tape, start, output) => {
    const { words } = tape;
    for (let entry = words[start] as number; entry !== -1; entry = words[entry] as number) {
      open(tags.item, output);
      keys.write(tags.key, tape, words[entry + keyWord] as number, output);
      values.write(tags.value, tape, words[entry + valueWord] as number, output);
      output.tags(tags.item.close);
    }
  };
  return { read: entriesReader(context, content, keys, values), scan: entriesScanner(keys, values), write };
}

function entriesReader(
  context: AdoptedContext,
  { item, key, value }: MapContent,
  keys: ValueCodec,
  values: ValueCodec,
): MapEntries['read'] {
  const readEntry = entryReader(
    elementReader(context, key, keys, false),
    elementReader(context, value, values, false),
  );
  return (xml, reading, start, listStart) => {
    const entries: Entry[] = [];
    const one: ValueCodec = {
      ...values,
      read: (its, noted) => {
        entries.push(readEntry(its, noted));
        return '';
      },
      readNil: (its, noted) => {
        endNil(its, noted);
        return refuse(noted, 'NotEmpty', { expected: 'key and value', got: 'xsi:nil' }) ?? '';
      },
    };
    const readItem = elementReader(context, item, one, false);
    for (let index = 0; xml.nextChild(); index++) {
      reading.path.push(xml.local.slice(0, 64), index);
      readItem(xml, reading);
      reading.path.length -= 2;
    }
    refuseText(xml, reading);
    return entriesJson(entries, start, listStart);
  };
}

type ReadElement = ReturnType<typeof elementReader>;

function entryReader(
  readKey: ReadElement,
  readValue: ReadElement,
): (xml: XmlReader, reading: Reading) => Entry {
  return (xml, reading) => {
    const entry: Entry = { key: undefined, value: undefined };
    while (xml.nextChild()) {
      const name = xml.local === 'key' || xml.local === 'value' ? xml.local : undefined;
      reading.path.push(xml.local.slice(0, 64));
      if (name === undefined) {
        refuse(reading, 'UnknownElement', { expected: 'key or value', got: 'another element' });
        xml.skip();
      } else if (entry[name] !== undefined) refuseAgain(xml, reading);
      else if (name === 'value') entry.value = readValue(xml, reading) ?? 'null';
      else entry.key = readKey(xml, reading) ?? 'null';
      reading.path.pop();
    }
    refuseText(xml, reading);
    return entry;
  };
}

function entriesScanner(keys: ValueCodec, values: ValueCodec): MapEntries['scan'] {
  const pair = objectMembers(1, ['key', 'value'], [keys.scan, values.scan]);

  const scanNamed = (tape: Tape, start: number, name: string, link: number): number => {
    const entry = pushEntry(tape, link);
    // the name is a JSON string, so it is scanned as a value
    tape.position = start;
    tape.words[entry + keyWord] = tape.top;
    keys.scan(tape);
    tape.colon();
    tape.words[entry + valueWord] = tape.top;
    within(name, () => values.scan(tape));
    return entry;
  };

  const scanListed = (tape: Tape, start: number): number => {
    let link = start;
    tape.enter();
    for (let index = 0; tape.next(index === 0, 93); index++) {
      link = pushItem(tape, link);
      within(index, () => scanPair(pair, tape, link));
    }
    return link;
  };

  return (tape, start) => {
    let link = start;
    let isNil = false;
    if (tape.peek() === 91) {
      scanListed(tape, link);
      return false;
    }
    tape.enter();
    const names = new Set<string>();
    for (let first = true; tape.next(first, 125); first = false) {
      if (tape.bytes[tape.position] !== 34) tape.fail('a member name');
      const at = tape.position;
      const name = tape.string();
      if (names.has(name)) throw twice(name);
      names.add(name);
      if (!name.startsWith('@')) {
        link = scanNamed(tape, at, name, link);
        continue;
      }
      tape.colon();
      if (name === '@items' && tape.peek() === 91) link = within(name, () => scanListed(tape, link));
      else if (name === '@nil' || name === '@type') {
        isNil ||= name === '@nil' && tape.peek() === 116;
        tape.skip();
      } else
        throw new MismatchError({
          expected: 'a key that begins with @ in "@items", a list of keys and values',
          got: 'a member',
        }).at(name);
    }
    return isNil;
  };
}

interface Entry {
  key: string | undefined;
  value: string | undefined;
}

function entriesJson(entries: readonly Entry[], start: string, listStart: string): string {
  const keys = new Set(entries.map(({ key }) => key));
  const isObject =
    keys.size === entries.length && entries.every(({ key }) => key !== undefined && isName(key));
  if (isObject) {
    let json = start;
    for (const { key, value } of entries) json += `${json.length === 1 ? '' : ','}${key}:${value ?? 'null'}`;
    return `${json}}`;
  }
  const items = entries.map(({ key, value }) => `{"key":${key ?? 'null'},"value":${value ?? 'null'}}`);
  return listStart === '' ? `[${items.join(',')}]` : `${listStart},"@items":[${items.join(',')}]}`;
}

/** Returns true for the JSON of a string that may be a member's name. */
function isName(token: string): boolean {
  return token.startsWith('"') && !token.startsWith('"@');
}

/** Begins an entry whose key and value are pushed next. */
function pushEntry(tape: Tape, link: number): number {
  const entry = pushItem(tape, link);
  tape.reserve(3);
  tape.words[entry + 1] = record;
  tape.top = entry + 4;
  return entry;
}

/** Scans an item of the list form. A missing key or value is null. */
function scanPair(pair: ObjectMembers, tape: Tape, entry: number): void {
  if (tape.peek() !== 123) throw new MismatchError({ expected: 'an object', got: tape.kind() });
  tape.enter();
  scanObject(pair, tape, refuseOther, undefined);
  for (const word of [keyWord, valueWord]) {
    if (tape.words[entry + word] !== -1) continue;
    tape.words[entry + word] = tape.top;
    tape.pushKind(nothing);
  }
}

const refuseOther: ScanOther<undefined> = (name) => {
  throw new MismatchError({ expected: 'key and value only', got: 'another member' }).at(name);
};

function within<T>(step: string | number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof MismatchError ? error.at(step) : error;
  }
}

function open(tags: Element, output: Output): void {
  output.tags(tags.start);
  output.text('>');
}
