import { JsonError, JsonReader } from '../json/reader.ts';
import { defaultLimits, type Limits } from '../limits.ts';
import type { Contract, RecordType, Type } from '../model.ts';
import type { XmlReader } from '../xml/reader.ts';
import { arrayCodec } from './array.ts';
import { mapCodec } from './map.ts';
import type { Reading } from './problem.ts';
import { recordCodec } from './record.ts';
import { writeStatus } from './response-status.ts';
import { compileScalars } from './scalars.ts';
import { escapeAttribute } from './text.ts';
import { enumCodec, scalarCodecs } from './value.ts';

/** One type, all ways, compiled from the contract at start. */
export interface Codec {
  /** XML → JSON: from the element's start tag past its end tag; undefined when the member is as absent (W13). */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
  /** JSON → XML: the value that starts here as an element's content; null for a JSON null (W19). Throws MismatchError. */
  readonly write: (json: JsonReader) => string | null;
  /** JSON → JSON: checks the value of a request and notes what must be replaced (W37). */
  readonly pass: (json: JsonReader, reading: Reading) => void;
  /** A parameter's text → JSON (W38); undefined where the type is no scalar. */
  readonly fromText: ((text: string, reading: Reading) => string | undefined) | undefined;
  /** What an xsi:nil member is: JSON null, or absent (W13). */
  readonly nil: 'null' | undefined;
  /** What an xsi:nil array item is; undefined where it is refused (W13). */
  readonly nilItem: 'null' | undefined;
  /** Namespace declarations on every element of this type (W20). */
  readonly declarations: string;
}

/** Where a record's members go that don't travel in the body object: JSON name → slot. */
export type Slots = ReadonlyMap<string, number>;

export interface Codecs {
  /** The codec of a type, compiled on first use; call it at start, not per request. */
  readonly codecOf: (type: Type) => Codec;
  /** The contract's responseStatus as an ordinary record, for writing an error. */
  readonly status: Codec;
  /** The codec of an operation's input, whose slotted members go to `Reading.slots` instead of the JSON. */
  readonly inputOf: (type: RecordType, slots: Slots) => Codec;
}

/** What every codec of a contract shares. */
export interface Setup {
  readonly contract: Contract;
  readonly limits: Limits;
  readonly codecOf: (type: Type) => Codec;
  /** Prefix of elements in the arrays namespace, with its colon, and its declaration; '' where the two namespaces are one. */
  readonly arrayPrefix: string;
  readonly arrayDeclaration: string;
}

/** The codecs of a contract. Recursive types are registered before their fields are compiled. */
export function compileCodecs(contract: Contract, limits: Limits = defaultLimits): Codecs {
  const { types, arrays } = contract.namespaces;
  const compiled = new Map<Type, Codec>();
  const oneNamespace = arrays === types;
  const setup: Setup = {
    contract,
    limits,
    codecOf,
    arrayPrefix: oneNamespace ? '' : 'a:',
    arrayDeclaration: oneNamespace ? '' : ` xmlns:a="${escapeAttribute(arrays)}"`,
  };
  const scalars = scalarCodecs(
    setup,
    compileScalars(contract.settings, (text) => jsonFault(text, limits)),
  );

  function codecOf(type: Type): Codec {
    if (type.kind === 'scalar') return scalars[type.scalar];
    const known = compiled.get(type);
    if (known !== undefined) return known;
    if (type.kind === 'enum') return register(type, enumCodec(setup, type, type.values));
    // A forward codec stands in while the fields are compiled, so that a type may reach itself.
    let target: Codec | undefined;
    const forward = (): Codec => {
      if (target === undefined) throw new Error(`codec of ${type.name} used before it was compiled`);
      return target;
    };
    register(type, {
      read: (xml, reading) => forward().read(xml, reading),
      write: (json) => forward().write(json),
      pass: (json, reading) => forward().pass(json, reading),
      fromText: undefined,
      nil: 'null',
      nilItem: undefined,
      declarations: type.kind !== 'record' && type.namespace === 'arrays' ? setup.arrayDeclaration : '',
    });
    if (type === contract.responseStatus) target = watched(type, status);
    else if (type.kind === 'record') target = recordCodec(setup, type, new Map());
    else if (type.kind === 'array') target = arrayCodec(setup, type);
    else target = mapCodec(setup, type);
    return register(type, target);
  }

  /** A responseStatus inside a reply: nothing in it makes the reply fail, and an errorCode is noticed (W30). */
  function watched(type: RecordType, plain: Codec): Codec {
    return { ...plain, write: (json) => writeStatus(json, type, plain.write, limits, contract.settings) };
  }

  function register(type: Type, codec: Codec): Codec {
    compiled.set(type, codec);
    return codec;
  }

  const status = recordCodec(setup, contract.responseStatus, new Map());
  return { codecOf, status, inputOf: (type, slots) => recordCodec(setup, type, slots) };
}

/** What keeps a text from being JSON, in words; undefined when it is. */
function jsonFault(text: string, limits: Limits): string | undefined {
  try {
    const json = new JsonReader(text, limits);
    json.skip();
    json.end();
    return undefined;
  } catch (error) {
    if (error instanceof JsonError) return `text that is none (${error.message})`;
    throw error;
  }
}
