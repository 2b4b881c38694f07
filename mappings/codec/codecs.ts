import type { Limits } from '../contract/limits.ts';
import {
  type Contract,
  errorMembers,
  type Field,
  type NamedType,
  type RecordType,
  type Rules,
  type ScalarName,
  type Type,
} from '../contract/model.ts';
import type {
  ReaderContext,
  ReaderOf,
  ReplyWriter,
  RequestReader,
  WriterContext,
  WriterOf,
} from './context.ts';
import { valueWriter, type WriteValue, writeElement } from './element.ts';
import { MismatchError } from './problem.ts';
import { type Scalars, scalarTable } from './scalars/table.ts';
import { arrayReader } from './types/array.ts';
import { treeReader, treeWriter } from './types/json-tree.ts';
import { mapReader } from './types/map.ts';
import { recordReader, recordWriter, type Slots } from './types/record.ts';
import { fieldWriter } from './types/record-fields.ts';
import { omitMismatches, statusWriter } from './types/response-status.ts';
import { ruledReader } from './types/rules.ts';
import { scalarReaders, scalarWriter } from './types/scalar.ts';
import { type TypeCodec, typeTable } from './types/table.ts';

/** Compiles the codecs of a contract's types, once per type and direction. */

/**
 * Returns the function that compiles the codec of each type once.
 *
 * @param forward returns the codec that is used while the parts of a type are compiled, because a type may contain itself
 */
function onceEach<Codec>(
  compiled: Map<Type, Codec>,
  compile: (type: NamedType) => Codec,
  forward: (target: () => Codec) => Codec,
): (type: NamedType) => Codec {
  return (type) => {
    const known = compiled.get(type);
    if (known !== undefined) return known;
    let target: Codec | undefined;
    const forwarding = forward(() => {
      if (target === undefined) throw new Error(`codec of ${type.name} used before it was compiled`);
      return target;
    });
    compiled.set(type, forwarding);
    target = compile(type);
    compiled.set(type, target);
    return target;
  };
}

// --- requests ----------------------------------------------------------------------------------------

/** The readers for requests of one contract. */
export interface RequestReaders {
  readonly readerOf: ReaderOf;
  /**
   * Returns the reader of an operation's input. Its slotted members are stored in `Reading.slots` and not in the JSON.
   */
  readonly inputOf: (type: RecordType, slots: Slots) => RequestReader;
}

const dateHint = ' (node-soap writes a JavaScript Date like this: pass it as an ISO string)';

/**
 * Compiles the readers of a contract's types.
 *
 * @param strict false to check only types
 */
export function compileRequestReaders(
  contract: Contract,
  scalars: Scalars,
  limits: Limits,
  strict: boolean = contract.settings.validate === 'strict',
): RequestReaders {
  const nilItem = contract.nulls === 'kept' ? 'null' : undefined;
  const plainReaderOf = strict ? compileRequestReaders(contract, scalars, limits, false).readerOf : undefined;
  const ruled: ReaderContext['ruled'] = (reader, rules) =>
    strict ? ruledReader(reader, rules, limits) : reader;
  const context: ReaderContext = {
    contract,
    limits,
    settings: contract.settings,
    decodesText: true,
    adviceFor: (expected) =>
      `leave the element out where no value is meant${expected.startsWith('xs:date') ? dateHint : ''}`,
    readerOf,
    plainReaderOf,
    ruled,
    nilItem,
  };
  const scalarsOf = scalarReaders(context, scalars);
  const json =
    contract.settings.json === 'tree' ? treeReader(context, scalarsOf.json.fromText) : scalarsOf.json;

  const compile = onceEach<RequestReader>(
    new Map(),
    (type) => {
      const codec: TypeCodec<NamedType> = typeTable[type.kind];
      return codec.reader(context, type);
    },
    (target) => ({
      read: (xml, reading) => target().read(xml, reading),
      pass: (value, reading) => target().pass(value, reading),
      fromText: undefined,
      nil: 'null',
      nilItem,
    }),
  );

  function readerOf(type: Type, rules?: Rules): RequestReader {
    if (strict && rules !== undefined) return ruled(readerInside(type, rules), rules);
    if (type.kind === 'scalar') return type.scalar === 'json' ? json : scalarsOf[type.scalar];
    return compile(type);
  }

  /** Returns the reader of a type with rules for its items or values. */
  function readerInside(type: Type, { items, values }: Rules): RequestReader {
    if (type.kind === 'array' && items !== undefined)
      return arrayReader(context, type, readerOf(type.item, items));
    if (type.kind === 'map' && values !== undefined)
      return mapReader(context, type, readerOf(type.value, values));
    return readerOf(type);
  }

  return { readerOf, inputOf: (type, slots) => recordReader(context, type, { slots }) };
}

// --- replies -----------------------------------------------------------------------------------------

/** The writers for replies of one contract. */
export interface ReplyWriters {
  readonly writerOf: WriterOf;
  /**
   * Returns the writer of an operation's output. It also reads a responseStatus that the type does not declare (W30).
   */
  readonly outputOf: (type: RecordType) => ReplyWriter;
  /**
   * Returns the writer of one field's element, if the reply is only that field's value.
   *
   * @param bodies JSON names of the members with the upstream's body, if the value is a record of status, headers and
   * body
   */
  readonly elementOf: (field: Field, bodies: ReadonlySet<string>) => ElementWriter;
  readonly writeValue: WriteValue;
  /** Converts a responseStatus's JSON to an element's content, for an error. */
  readonly writeStatus: (json: string) => string;
}

/** Writes a value's node with its tags. */
export type ElementWriter = Pick<ReplyWriter, 'scan' | 'write'>;

/** Compiles the writers of a contract's types. */
export function compileReplyWriters(contract: Contract, scalars: Scalars, limits: Limits): ReplyWriters {
  // a value may contain a responseStatus, which needs its own scratch buffers
  const writeValue = valueWriter(limits);
  const writeInner = valueWriter(limits);

  // The responseStatus as an ordinary record that omits mismatches, then its writer inside replies.
  const plainStatus = compileWriters(contract, scalars, limits, new Map(), omitMismatches).writerOf(
    contract.responseStatus,
  );
  const status = statusWriter(contract, limits, (json) => writeInner(plainStatus, json));
  const known = new Map<Type, ReplyWriter>([[contract.responseStatus, status]]);
  const context = compileWriters(contract, scalars, limits, known, (writer) => writer);
  const payloads = new Map<Type, ReplyWriter>();
  const undeclaredStatus = contract.settings.soapErrors === 'in-band' ? status : undefined;

  return {
    writerOf: context.writerOf,
    outputOf: (type) => payloadWriter(context, type, envelopeMembers, undeclaredStatus),
    elementOf: (field, bodies) => {
      const known = bodies.size === 0 ? payloads.get(field.type) : undefined;
      const payload = known ?? payloadWriter(context, field.type, bodies);
      if (bodies.size === 0) payloads.set(field.type, payload);
      const { writer, element } = fieldWriter(context, field, payload);
      return {
        scan: (tape) => {
          try {
            writer.scan(tape);
          } catch (error) {
            throw error instanceof MismatchError ? error.at(field.json) : error;
          }
        },
        write: (tape, node, output) => writeElement(element, writer, tape, node, output),
      };
    },
    writeValue,
    writeStatus: (json) => writeValue(plainStatus, json).content ?? '',
  };
}

/** The member with the payload of an output that is an envelope. */
const envelopeMembers: ReadonlySet<string> = new Set([errorMembers.data]);
const noMembers: ReadonlySet<string> = new Set();

/**
 * Returns the writer of a reply's payload. Only there, an object without any member of its type is a mismatch (W20).
 *
 * @param envelopes JSON names of its members that are payloads too
 */
function payloadWriter(
  context: WriterContext,
  type: Type,
  envelopes: ReadonlySet<string>,
  undeclaredStatus?: ReplyWriter,
): ReplyWriter {
  if (type.kind !== 'record' || type === context.contract.responseStatus) return context.writerOf(type);
  const fields = type.fields.filter(({ json }) => envelopes.has(json));
  const inner = new Map(
    fields.map((field) => [field.json, payloadWriter(context, field.type, noMembers)] as const),
  );
  return recordWriter(context, type, { undeclaredStatus, isPayload: true, inner });
}

/** Returns the writers by type, each compiled once. `leaf` wraps those of scalars and enums. */
function compileWriters(
  contract: Contract,
  scalars: Scalars,
  limits: Limits,
  compiled: Map<Type, ReplyWriter>,
  leaf: (writer: ReplyWriter) => ReplyWriter,
): WriterContext {
  const context: WriterContext = { contract, limits, writerOf };
  const compiledScalars = new Map<ScalarName, ReplyWriter>();
  const jsonTree = contract.settings.json === 'tree';

  function writerOf(type: Type): ReplyWriter {
    if (type.kind === 'scalar') return scalarOf(type.scalar);
    return compile(type);
  }

  function scalarOf(name: ScalarName): ReplyWriter {
    if (jsonTree && name === 'json') return treeWriter;
    const known =
      compiledScalars.get(name) ?? leaf(scalarWriter(scalars[name], scalarTable[name].json, limits));
    compiledScalars.set(name, known);
    return known;
  }

  const compile = onceEach<ReplyWriter>(
    compiled,
    (type) => {
      const codec: TypeCodec<NamedType> = typeTable[type.kind];
      const writer = codec.writer(context, type);
      return type.kind === 'enum' ? leaf(writer) : writer;
    },
    (target) => ({
      scan: (tape) => target().scan(tape),
      write: (tape, node, output) => target().write(tape, node, output),
      declarations: '', // only collections of strings have declarations, and they do not contain themselves
    }),
  );

  return context;
}
