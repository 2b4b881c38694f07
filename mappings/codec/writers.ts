import type { Limits } from '../contract/limits.ts';
import type { Contract, Field, NamedType, RecordType, ScalarName, Type } from '../contract/model.ts';
import type { Tape } from '../json/tape.ts';
import type { Output } from '../xml/output.ts';
import type { ReplyWriter, WriterContext, WriterOf } from './context.ts';
import { MismatchError } from './problem.ts';
import { type Scalars, scalarTable } from './scalars/table.ts';
import { treeWriter } from './types/json-tree.ts';
import { recordWriter } from './types/record.ts';
import { fieldWriter } from './types/record-fields.ts';
import { leaveOutMisfits, statusWriter } from './types/response-status.ts';
import { scalarWriter } from './types/scalar.ts';
import { type TypeCodec, typeTable } from './types/table.ts';
import { writeElement } from './write-element.ts';
import { valueWriter, type WriteValue } from './write-value.ts';

/** What writes the replies of one contract. */
export interface ReplyWriters {
  readonly writerOf: WriterOf;
  /** The writer of an operation's output; a responseStatus beside its members is looked at too (W30). */
  readonly outputOf: (type: RecordType) => ReplyWriter;
  /** One field's element, where the reply is that field's value alone. */
  readonly elementOf: (field: Field) => ElementWriter;
  readonly writeValue: WriteValue;
  /** A responseStatus's JSON as an element's content, for writing an error. */
  readonly writeStatus: (json: string) => string;
}

/** Writes a value's node with its tags, or what stands for it. */
export type ElementWriter = Pick<ReplyWriter, 'scan' | 'write'>;

/** The writers of a contract's types. */
export function compileReplyWriters(contract: Contract, scalars: Scalars, limits: Limits): ReplyWriters {
  // a value may hold a responseStatus, which is written with scratch buffers of its own
  const writeValue = valueWriter(limits);
  const writeInner = valueWriter(limits);

  // A responseStatus as an ordinary record whose misfits are left out, then as it stands inside replies.
  const plainStatus = compileWriters(contract, scalars, limits, new Map(), leaveOutMisfits).writerOf(
    contract.responseStatus,
  );
  const status = statusWriter(contract, limits, (json) => writeInner(plainStatus, json));
  const known = new Map<Type, ReplyWriter>([[contract.responseStatus, status]]);
  const context = compileWriters(contract, scalars, limits, known, (writer) => writer);
  const statusBeside = contract.settings.soapErrors === 'in-band' ? status : undefined;

  return {
    writerOf: context.writerOf,
    outputOf: (type) => recordWriter(context, type, statusBeside),
    elementOf: (field) => {
      const { writer, element } = fieldWriter(context, field);
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

/** Writers by type, each compiled once; `leaf` is what becomes of those of scalars and enums. */
function compileWriters(
  contract: Contract,
  scalars: Scalars,
  limits: Limits,
  compiled: Map<Type, ReplyWriter>,
  leaf: (writer: ReplyWriter) => ReplyWriter,
): WriterContext {
  const context: WriterContext = { contract, writerOf };
  const compiledScalars = new Map<ScalarName, ReplyWriter>();
  const jsonTree = contract.settings.json === 'tree';

  function writerOf(type: Type): ReplyWriter {
    if (type.kind === 'scalar') return scalarOf(type.scalar);
    return compiled.get(type) ?? compile(type);
  }

  function scalarOf(name: ScalarName): ReplyWriter {
    if (jsonTree && name === 'json') return treeWriter;
    const known =
      compiledScalars.get(name) ?? leaf(scalarWriter(scalars[name], scalarTable[name].json, limits));
    compiledScalars.set(name, known);
    return known;
  }

  /** A writer that waits for itself stands in while the parts are compiled, so that a type may reach itself. */
  function compile(type: NamedType): ReplyWriter {
    let target: ReplyWriter | undefined;
    const forward = (): ReplyWriter => {
      if (target === undefined) throw new Error(`writer of ${type.name} used before it was compiled`);
      return target;
    };
    compiled.set(type, {
      scan: (tape: Tape) => forward().scan(tape),
      write: (tape: Tape, node: number, output: Output) => forward().write(tape, node, output),
      declarations: '', // which collections of strings alone have, and those don't reach themselves
    });
    const codec: TypeCodec<NamedType> = typeTable[type.kind];
    const writer = codec.writer(context, type);
    target = type.kind === 'enum' ? leaf(writer) : writer;
    compiled.set(type, target);
    return target;
  }

  return context;
}
