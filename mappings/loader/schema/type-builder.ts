// Schemas become the types of the model here, in passes: `resolve.ts`, `members.ts` and `alternatives.ts` say what a
// schema comes to, `shape.ts` which type that is, `names/type-names.ts` what it is called, `freeze.ts` what stays of it.
// Nothing here knows of operations, parameters or HTTP, nor reads a file.
import type { ArrayType, MapType, Operation, RecordType, Type } from '../../contract/model.ts';
import { type Note, notesOf } from '../document/error.ts';
import type { Located, References } from '../document/references.ts';
import { type KeptNames, keptNames, type Wanted } from '../names/names.ts';
import { nameAt } from '../names/schema-name.ts';
import { createAlternatives } from './alternatives.ts';
import { TypeDrafts } from './drafts.ts';
import {
  componentPointer,
  componentSchemas,
  type FinishedTypes,
  type FreezeSource,
  finishTypes,
  reached,
} from './freeze.ts';
import { MergePatches } from './merge-patch.ts';
import { recordOf, type TypedField, type WrapperField } from './records.ts';
import { SchemaRules } from './rules.ts';
import { SchemaTypes } from './shape.ts';
import { typeOfAny } from './unions.ts';

/** What types are built from. */
export interface TypeBuilderSource extends Omit<FreezeSource, 'own' | 'allowance'> {
  readonly references: References;
}

/** Builds the model's types from a document's schemas, each once. All but `finish` throw OverLimit. */
export class TypeBuilder {
  /** What is called as it was. */
  readonly kept: KeptNames;
  readonly #source: TypeBuilderSource;
  readonly #drafts: TypeDrafts;
  readonly #schemas: SchemaTypes;
  readonly #patches: MergePatches;
  /** Records that the document has no schema for. */
  readonly #made = new Map<string, RecordType>();

  constructor(source: TypeBuilderSource) {
    const { document, references, overlay, pinned } = source;
    this.#source = source;
    this.kept = keptNames(pinned);
    this.#drafts = new TypeDrafts(overlay, references.allowance);
    this.#schemas = new SchemaTypes({
      references,
      overlay,
      drafts: this.#drafts,
      alternatives: createAlternatives(document, references, this.kept),
      rules: new SchemaRules(references, overlay.settings.validate),
    });
    this.#patches = new MergePatches(this.#schemas);
  }

  /** A record of an operation's wrapper, made of fields that the caller lists. */
  wrapper(name: string, documentation: string, fields: readonly (WrapperField | TypedField)[]): RecordType {
    const type = recordOf(this.#schemas, name, documentation, fields);
    this.#drafts.wrappers.set(type, name);
    return type;
  }

  /** A named record that the document has no schema for, made at `pointer` of fields that the caller lists. */
  record(name: string, pointer: string, fields: readonly (WrapperField | TypedField)[]): RecordType {
    const key = `${pointer}#${name}`;
    const known =
      this.#made.get(key) ?? this.#drafts.register(recordOf(this.#schemas, name, '', fields), pointer);
    this.#made.set(key, known);
    return known;
  }

  arrayOf(item: Type): ArrayType {
    return this.#drafts.collections.arrayOf(this.#known(item));
  }

  mapOf(value: Type): MapType {
    return this.#drafts.collections.mapOf(this.#known(value));
  }

  /** A type that was made elsewhere as the one that is known here. */
  #known(type: Type): Type {
    return type.kind === 'scalar' ? this.#drafts.collections.scalar(type.scalar) : type;
  }

  /** The type of the values of any of these schemas; `name` is what an inline one is called. */
  oneOf(schemas: readonly Located[], name: string): Type {
    const type = typeOfAny(this.#schemas, schemas, name);
    this.#drafts.fillAll();
    return type;
  }

  /**
   * The same of merge patches (RFC 7396): no member is a must, and each may be null. Types that others may use too have
   * one beside them, `{Type}Patch`; what stands in arrays is whole.
   */
  patchOf(schemas: readonly Located[], name: string): Type {
    return this.#patches.patchOf(this.oneOf(schemas, name), schemas);
  }

  /** The type of a component that the document has under this name. */
  component(name: string): Type | undefined {
    const schemas = componentSchemas(this.#source.document);
    if (!Object.hasOwn(schemas, name)) return undefined;
    const pointer = componentPointer(name);
    const { type } = this.#schemas.usageOf(schemas[name], pointer, nameAt(pointer));
    this.#drafts.fillAll();
    for (const one of reached([type])) this.#drafts.asked.add(one);
    return type;
  }

  /** Names what the operations reach, and what the gateway adds of its own, and says what is nillable. */
  finish(operations: readonly Pick<Operation, 'input' | 'output'>[], own: readonly Wanted[]): FinishedTypes {
    const { allowance } = this.#source.references;
    return finishTypes(this.#drafts, operations, { ...this.#source, own, allowance });
  }

  /** What there is to say of the schemas, as `LoadedContract` has it. */
  notes(): Record<'notes' | 'contradictions' | 'ownXml' | 'unbounded' | 'unchecked', readonly Note[]> {
    const { notes, contradictions, ownXml, unbounded } = this.#drafts;
    return {
      notes: notesOf(notes),
      contradictions: notesOf(contradictions),
      ownXml: notesOf(ownXml),
      unbounded: notesOf(unbounded),
      unchecked: this.#schemas.rules.unchecked(),
    };
  }
}
