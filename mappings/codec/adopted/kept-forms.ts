import type { Limits } from '../../contract/limits.ts';
import type { BuiltIn, SimpleType } from '../../contract/type-graph.ts';
import { JsonReader } from '../../json/reader.ts';
import { nodeKinds } from '../../json/tape.ts';
import { collapse } from '../scalars/numbers.ts';
import { type Conversion, quote } from '../scalars/scalar.ts';
import { quoteJson } from '../scalars/text.ts';
import { numbers } from './facets.ts';
import type { ChangeCodec, SimpleCodec } from './simple-types.ts';

// Values that keep their text from XML to JSON and back, for replies that are made of a legacy reply (G29).

const { made } = nodeKinds;

const others: ReadonlySet<BuiltIn> = new Set(['boolean', 'gMonth']);

/** Returns true if values of a type have several texts that JSON does not tell apart. */
function hasSeveralForms({ builtIn, variety }: SimpleType): boolean {
  return variety.kind === 'atomic' && (numbers.has(builtIn) || others.has(builtIn));
}

/** Floating values that JSON has no number for (XSD Part 2, 3.2.4). */
const special: ReadonlySet<string> = new Set(['INF', '-INF', 'NaN']);

/** Texts that JSON keeps. With `offsets`, dates in UTC have `+00:00`, which the writer for `dates: utc` writes as `Z`. */
export type KeptForms = 'texts' | 'offsets';

/** Returns the change of codecs after which JSON has the text of numbers, booleans and months. */
export function keepingForms(limits: Limits, kept: KeptForms): ChangeCodec {
  return (codec, type) => {
    if (hasSeveralForms(type)) return keepingForm(codec, type, limits);
    return kept === 'offsets' && type.builtIn === 'dateTime' ? keepingOffset(codec, type) : codec;
  };
}

function keepingOffset(codec: SimpleCodec, { variety }: SimpleType): SimpleCodec {
  if (variety.kind !== 'atomic') return codec;
  return {
    ...codec,
    fromXml: (text, resolve) => {
      const converted = codec.fromXml(text, resolve);
      if (typeof converted !== 'string' || !converted.endsWith('Z"')) return converted;
      return `${converted.slice(0, -2)}+00:00"`;
    },
  };
}

/** Returns a codec whose JSON is the text of the XML, without surrounding blanks. It also writes other JSON. */
function keepingForm(codec: SimpleCodec, { builtIn, facets }: SimpleType, limits: Limits): SimpleCodec {
  const { judge } = codec;
  const isFloating = builtIn === 'float' || builtIn === 'double';
  const hasSpecial = isFloating && facets.enumeration === undefined;
  const textOf = (token: string): string =>
    token.startsWith('"') ? new JsonReader(token, limits).string() : token;
  const fromXml: SimpleCodec['fromXml'] = (text, resolve): Conversion => {
    const converted = codec.fromXml(text, resolve);
    const collapsed = collapse(text);
    const isKept = typeof converted === 'string' || (hasSpecial && special.has(collapsed));
    return isKept ? quoteJson(collapsed) : converted;
  };
  const isKeptText = (text: string): boolean => typeof fromXml(text, unbound) === 'string';
  return {
    ...codec,
    fromXml,
    toXml: (json, declared, stem) => {
      if (json.peek() !== quote) return codec.toXml(json, declared, stem);
      const text = json.string();
      if (isKeptText(text)) return collapse(text);
      return codec.toXml(new JsonReader(quoteJson(text), limits), declared, stem);
    },
    scan: (tape, stem) => {
      const start = tape.position;
      if (tape.peek() === quote) {
        const text = tape.string();
        if (isKeptText(text)) {
          tape.pushRange(made, tape.made.length, 0);
          tape.made.push(collapse(text));
          return;
        }
        tape.position = start;
      }
      codec.scan(tape, stem);
    },
    judge:
      judge &&
      ((token, reading) => {
        const converted = codec.fromXml(textOf(token), unbound);
        if (typeof converted === 'string') judge(converted, reading);
      }),
  };
}

const unbound = (): undefined => undefined;
