import type { Limits } from '../contract/limits.ts';
import type { Contract, Field, RecordType, ScalarName, Type } from '../contract/model.ts';
import type { Tape } from '../json/tape.ts';
import type { Output } from '../xml/output.ts';
import { MismatchError } from './problem.ts';
import { type Scalars, scalarTable } from './scalars/table.ts';
import { escapeAttribute } from './scalars/text.ts';
import { enumWriter } from './types/enum.ts';
import { treeWriter } from './types/json-tree-writer.ts';
import { arrayWriter, mapWriter } from './types/list-writers.ts';
import { memberOf, recordWriter } from './types/record-writer.ts';
import { leaveOutMisfits, statusWriter } from './types/response-status-writer.ts';
import { scalarWriter } from './types/scalar.ts';
import { tupleWriter } from './types/tuple-writer.ts';
import { unionWriter } from './types/union-writer.ts';
import { type ReplyWriter, writeElement } from './write-element.ts';
import { valueWriter, type WriteValue } from './write-value.ts';

/** What writes the replies of one contract. */
export interface ReplyWriters {
  /** The writer of a type, compiled on first use. */
  readonly writerOf: (type: Type) => ReplyWriter;
  /** The writer of an operation's output; a responseStatus beside its members is looked at too (W30). */
  readonly outputOf: (type: RecordType) => ReplyWriter;
  /** One field's element, where the reply is that field's value alone. */
  readonly elementOf: (field: Field) => ElementWriter;
  readonly writeValue: WriteValue;
  /** A responseStatus's JSON as an element's content, for writing an error. */
  readonly writeStatus: (json: string) => string;
}

/** Writes a value's node with its tags, or what stands for it. */
export interface ElementWriter {
  readonly scan: (tape: Tape) => void;
  readonly write: (tape: Tape, node: number, output: Output) => void;
}

/** The writers of a contract's types. */
export function compileReplyWriters(contract: Contract, scalars: Scalars, limits: Limits): ReplyWriters {
  const { types, arrays } = contract.namespaces;
  const { nulls } = contract;
  const arrayPrefix = arrays === types ? '' : 'a:';
  const arrayDeclaration = arrays === types ? '' : ` xmlns:a="${escapeAttribute(arrays)}"`;
  const jsonTree = contract.settings.json === 'tree';
  // a value may hold a responseStatus, which is written with a pen of its own
  const writeValue = valueWriter(limits);
  const writeInner = valueWriter(limits);

  // A responseStatus as an ordinary record whose misfits are left out, then as it stands inside replies.
  const plainStatus = writersOf(new Map(), leaveOutMisfits)(contract.responseStatus);
  const status = statusWriter(contract, limits, (json) => writeInner(plainStatus, json));
  const writerOf = writersOf(
    new Map<Type, ReplyWriter>([[contract.responseStatus, status]]),
    (writer) => writer,
  );
  const statusBeside = contract.settings.soapErrors === 'in-band' ? status : undefined;

  /** Writers by type, each compiled once; `leaf` is what becomes of those of scalars and enums. */
  function writersOf(
    compiled: Map<Type, ReplyWriter>,
    leaf: (writer: ReplyWriter) => ReplyWriter,
  ): (type: Type) => ReplyWriter {
    const compiledScalars = new Map<ScalarName, ReplyWriter>();
    return ofType;

    function ofType(type: Type): ReplyWriter {
      if (type.kind === 'scalar') {
        const { scalar } = type;
        if (jsonTree && scalar === 'json') return treeWriter;
        const known =
          compiledScalars.get(scalar) ??
          leaf(scalarWriter(scalars[scalar], scalarTable[scalar].json, limits));
        compiledScalars.set(scalar, known);
        return known;
      }
      const known = compiled.get(type);
      if (known !== undefined) return known;
      // Stands in while the parts are compiled, so that a type may reach itself.
      let target: ReplyWriter | undefined;
      const forward = (): ReplyWriter => {
        if (target === undefined) throw new Error(`writer of ${type.name} used before it was compiled`);
        return target;
      };
      const inArrays = (type.kind === 'array' || type.kind === 'map') && type.namespace === 'arrays';
      const declarations = inArrays ? arrayDeclaration : '';
      compiled.set(type, {
        scan: (at) => forward().scan(at),
        write: (at, node, to) => forward().write(at, node, to),
        declarations,
      });
      target = compile(type, inArrays ? arrayPrefix : '', declarations);
      compiled.set(type, target);
      return target;
    }

    function compile(
      type: Exclude<Type, { kind: 'scalar' }>,
      prefix: string,
      declarations: string,
    ): ReplyWriter {
      switch (type.kind) {
        case 'record':
          return recordWriter(type, ofType, nulls, undefined);
        case 'union':
          return unionWriter(type, ofType);
        case 'tuple':
          return tupleWriter(type, ofType);
        case 'array':
          return arrayWriter(type, ofType(type.item), prefix, declarations);
        case 'map':
          return mapWriter(type, ofType(type.value), prefix, declarations);
        case 'enum':
          return leaf(enumWriter(type, contract.settings.unknownEnumValues === 'pass'));
      }
    }
  }

  return {
    writerOf,
    outputOf: (type) => recordWriter(type, writerOf, nulls, statusBeside),
    elementOf: (field) => {
      const { writer, element } = memberOf(field, writerOf, nulls);
      return {
        scan: (at) => {
          try {
            writer.scan(at);
          } catch (error) {
            throw error instanceof MismatchError ? error.at(field.json) : error;
          }
        },
        write: (at, node, to) => writeElement(element, writer, at, node, to),
      };
    },
    writeValue,
    writeStatus: (json) => writeValue(plainStatus, json).content ?? '',
  };
}
