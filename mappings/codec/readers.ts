import type { Limits } from '../contract/limits.ts';
import type { Contract, RecordType, Rules, Type } from '../contract/model.ts';
import type { JsonReader } from '../json/reader.ts';
import type { XmlReader } from '../xml/reader.ts';
import type { Reading } from './problem.ts';
import type { Scalars } from './scalars/table.ts';
import { arrayCodec } from './types/array.ts';
import { enumCodec } from './types/enum.ts';
import { treeCodec } from './types/json-tree.ts';
import { mapCodec } from './types/map.ts';
import { recordCodec } from './types/record.ts';
import { ruledCodec } from './types/rules.ts';
import { scalarCodecs } from './types/scalar.ts';
import { tupleCodec } from './types/tuple.ts';
import { unionCodec } from './types/union.ts';

/** One type of a request, from XML and from JSON, compiled from the contract at start. Replies are in ../reply. */
export interface Codec {
  /** XML → JSON: from the element's start tag past its end tag; undefined when the member is as absent (W13). */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
  /** JSON → JSON: checks the value of a request and notes what must be replaced (W37). */
  readonly pass: (json: JsonReader, reading: Reading) => void;
  /** A parameter's text → JSON (W38); undefined where the type is no scalar. */
  readonly fromText: ((text: string, reading: Reading) => string | undefined) | undefined;
  /** What an xsi:nil member is: JSON null, or absent (W13). */
  readonly nil: 'null' | undefined;
  /** What an xsi:nil array item is; undefined where it is refused (W13). */
  readonly nilItem: 'null' | undefined;
}

/** Where a record's members go that don't travel in the body object: JSON name → slot. */
export type Slots = ReadonlyMap<string, number>;

/** The codec of a type's values, or of those that obey rules too. */
export type CodecOf = (type: Type, rules?: Rules) => Codec;

export interface Codecs {
  /** The codec of a type, compiled on first use; call it at start, not per request. */
  readonly codecOf: CodecOf;
  /** The codec of an operation's input, whose slotted members go to `Reading.slots` instead of the JSON. */
  readonly inputOf: (type: RecordType, slots: Slots) => Codec;
}

/** What every codec of a contract shares. */
export interface Setup {
  readonly contract: Contract;
  readonly limits: Limits;
  readonly codecOf: CodecOf;
  /** Codecs of types alone, where others ask more of values (`validate: strict`); undefined where none do. */
  readonly plainOf: CodecOf | undefined;
  /** The codec of values that obey rules too. */
  readonly ruled: (codec: Codec, rules: Rules | undefined) => Codec;
  /** What an xsi:nil item is that isn't text (W13). */
  readonly nilItem: 'null' | undefined;
}

/**
 * The codecs of a contract for requests. Recursive types are registered before their fields are compiled.
 *
 * @param strict false: types alone are looked at
 */
export function compileCodecs(
  contract: Contract,
  scalarTypes: Scalars,
  limits: Limits,
  strict: boolean = contract.settings.validate === 'strict',
): Codecs {
  const compiled = new Map<Type, Codec>();
  const nilItem = contract.nulls === 'kept' ? 'null' : undefined;
  const plainOf = strict ? compileCodecs(contract, scalarTypes, limits, false).codecOf : undefined;
  const ruled: Setup['ruled'] = (codec, rules) => (strict ? ruledCodec(codec, rules, limits) : codec);
  const setup: Setup = { contract, limits, codecOf, plainOf, ruled, nilItem };
  const plain = scalarCodecs(setup, scalarTypes);
  const scalars =
    contract.settings.json === 'tree' ? { ...plain, json: treeCodec(setup, plain.json.fromText) } : plain;

  function codecOf(type: Type, rules?: Rules): Codec {
    if (strict && rules !== undefined) return ruled(codecInside(type, rules), rules);
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
      pass: (json, reading) => forward().pass(json, reading),
      fromText: undefined,
      nil: 'null',
      nilItem,
    });
    if (type.kind === 'record') target = recordCodec(setup, type);
    else if (type.kind === 'union') target = unionCodec(setup, type);
    else if (type.kind === 'tuple') target = tupleCodec(setup, type);
    else if (type.kind === 'array') target = arrayCodec(setup, type);
    else target = mapCodec(setup, type);
    return register(type, target);
  }

  /** The codec of a type whose items or values obey rules. */
  function codecInside(type: Type, { items, values }: Rules): Codec {
    if (type.kind === 'array' && items !== undefined)
      return arrayCodec(setup, type, codecOf(type.item, items));
    if (type.kind === 'map' && values !== undefined)
      return mapCodec(setup, type, codecOf(type.value, values));
    return codecOf(type);
  }

  function register(type: Type, codec: Codec): Codec {
    compiled.set(type, codec);
    return codec;
  }

  return { codecOf, inputOf: (type, slots) => recordCodec(setup, type, { slots }) };
}
