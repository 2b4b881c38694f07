// Builds the types of the model from schemas in several passes. `resolve.ts`, `members.ts` and `alternatives.ts` read
// the schemas; `shape.ts` determines the types, `names/type-names.ts` their names. `freeze.ts` finishes them. This
// folder does not depend on operations, parameters or HTTP, and reads no files.
import type { ArrayType, MapType, Operation, RecordType, Type } from '../../contract/model.ts';
import { type Note, notesOf } from '../document/error.ts';
import type { Located, References } from '../document/references.ts';
import { type KeptNames, keptNames, type Wanted } from '../names/names.ts';
import { nameAt } from '../names/schema-name.ts';
import { AlternativesReader } from './alternatives.ts';
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

/** Input of the type builder. */
export interface TypeBuilderSource extends Omit<FreezeSource, 'own' | 'allowance'> {
  readonly references: References;
}

/** Builds the types of a document's schemas, each once. All methods except `finish` throw OverLimit. */
export class TypeBuilder {
  /** Names from `names.lock`. */
  readonly kept: KeptNames;
  readonly #source: TypeBuilderSource;
  readonly #drafts: TypeDrafts;
  readonly #schemas: SchemaTypes;
  readonly #patches: MergePatches;
  /** Records without a schema in the document. */
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
      alternatives: new AlternativesReader(document, references, this.kept),
      rules: new SchemaRules(references, overlay.settings.validate),
    });
    this.#patches = new MergePatches(this.#schemas);
  }

  /** Creates the record of an operation's wrapper from the given fields. */
  wrapper(name: string, documentation: string, fields: readonly (WrapperField | TypedField)[]): RecordType {
    const type = recordOf(this.#schemas, name, documentation, fields);
    this.#drafts.wrappers.set(type, name);
    return type;
  }

  /** Creates a named record without a schema in the document. `pointer` is its location in the document. */
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

  /** Replaces a scalar created elsewhere with the scalar instance of this contract. */
  #known(type: Type): Type {
    return type.kind === 'scalar' ? this.#drafts.collections.scalar(type.scalar) : type;
  }

  /** Returns the type of values that match any of the schemas. `name` is the name for an inline type. */
  oneOf(schemas: readonly Located[], name: string): Type {
    const type = typeOfAny(this.#schemas, schemas, name);
    this.#drafts.fillAll();
    return type;
  }

  /**
   * Returns the type for merge patches (RFC 7396): no member is required, and each may be null. A shared type gets a
   * second type `{Type}Patch`. Arrays are not patched but replaced.
   */
  patchOf(schemas: readonly Located[], name: string): Type {
    return this.#patches.patchOf(this.oneOf(schemas, name), schemas);
  }

  /** Returns the type of a named component. */
  component(name: string): Type | undefined {
    const schemas = componentSchemas(this.#source.document);
    if (!Object.hasOwn(schemas, name)) return undefined;
    const pointer = componentPointer(name);
    const { type } = this.#schemas.usageOf(schemas[name], pointer, nameAt(pointer));
    this.#drafts.fillAll();
    for (const one of reached([type])) this.#drafts.alwaysNamed.add(one);
    return type;
  }

  /** Names the types that operations reach and the types that the gateway adds, and determines nillable fields. */
  finish(operations: readonly Pick<Operation, 'input' | 'output'>[], own: readonly Wanted[]): FinishedTypes {
    const { allowance } = this.#source.references;
    return finishTypes(this.#drafts, operations, { ...this.#source, own, allowance });
  }

  /** Returns the notes about the schemas, as in `LoadedContract`. */
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
