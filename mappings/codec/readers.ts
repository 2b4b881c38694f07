import type { Limits } from '../contract/limits.ts';
import type { Contract, NamedType, RecordType, Rules, Type } from '../contract/model.ts';
import type { ReaderContext, ReaderOf, RequestReader } from './context.ts';
import type { Scalars } from './scalars/table.ts';
import { arrayReader } from './types/array.ts';
import { treeReader } from './types/json-tree.ts';
import { mapReader } from './types/map.ts';
import { recordReader, type Slots } from './types/record.ts';
import { ruledReader } from './types/rules.ts';
import { scalarReaders } from './types/scalar.ts';
import { type TypeCodec, typeTable } from './types/table.ts';

/** What reads the requests of one contract. */
export interface RequestReaders {
  readonly readerOf: ReaderOf;
  /** The reader of an operation's input, whose slotted members go to `Reading.slots` instead of the JSON. */
  readonly inputOf: (type: RecordType, slots: Slots) => RequestReader;
}

/**
 * The readers of a contract's types.
 *
 * @param strict false: types alone are looked at
 */
export function compileRequestReaders(
  contract: Contract,
  scalars: Scalars,
  limits: Limits,
  strict: boolean = contract.settings.validate === 'strict',
): RequestReaders {
  const compiled = new Map<Type, RequestReader>();
  const nilItem = contract.nulls === 'kept' ? 'null' : undefined;
  const plainReaderOf = strict ? compileRequestReaders(contract, scalars, limits, false).readerOf : undefined;
  const ruled: ReaderContext['ruled'] = (reader, rules) =>
    strict ? ruledReader(reader, rules, limits) : reader;
  const context: ReaderContext = { contract, limits, readerOf, plainReaderOf, ruled, nilItem };
  const scalarsOf = scalarReaders(context, scalars);
  const json =
    contract.settings.json === 'tree' ? treeReader(context, scalarsOf.json.fromText) : scalarsOf.json;

  function readerOf(type: Type, rules?: Rules): RequestReader {
    if (strict && rules !== undefined) return ruled(readerInside(type, rules), rules);
    if (type.kind === 'scalar') return type.scalar === 'json' ? json : scalarsOf[type.scalar];
    return compiled.get(type) ?? compile(type);
  }

  /** A reader that waits for itself stands in while the parts are compiled, so that a type may reach itself. */
  function compile(type: NamedType): RequestReader {
    let target: RequestReader | undefined;
    const forward = (): RequestReader => {
      if (target === undefined) throw new Error(`reader of ${type.name} used before it was compiled`);
      return target;
    };
    compiled.set(type, {
      read: (xml, reading) => forward().read(xml, reading),
      pass: (json, reading) => forward().pass(json, reading),
      fromText: undefined,
      nil: 'null',
      nilItem,
    });
    const codec: TypeCodec<NamedType> = typeTable[type.kind];
    target = codec.reader(context, type);
    compiled.set(type, target);
    return target;
  }

  /** The reader of a type whose items or values obey rules. */
  function readerInside(type: Type, { items, values }: Rules): RequestReader {
    if (type.kind === 'array' && items !== undefined)
      return arrayReader(context, type, readerOf(type.item, items));
    if (type.kind === 'map' && values !== undefined)
      return mapReader(context, type, readerOf(type.value, values));
    return readerOf(type);
  }

  return { readerOf, inputOf: (type, slots) => recordReader(context, type, { slots }) };
}
