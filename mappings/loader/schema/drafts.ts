import type {
  EnumType,
  Field,
  NamedType,
  RecordType,
  ScalarType,
  TupleType,
  Type,
  UnionType,
} from '../../contract/model.ts';
import { type Allowance, stepsPerMember } from '../document/allowance.ts';
import { nameAt } from '../names/schema-name.ts';
import type { Nameless, NamelessElement } from '../names/type-names.ts';
import type { Overlay } from '../overlay/overlay.ts';
import { Collections } from './collections.ts';

/** A part of the model with members that can still be set. */
export type Draft<T> = { -readonly [key in keyof T]: T[key] };

/** A field with members that can still be set. */
export type FieldDraft = Draft<Field>;

/**
 * Facts that determine whether a field is nillable. The result also depends on the messages that reach its record
 * (W33).
 */
export interface FieldFacts {
  readonly field: FieldDraft;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
}

/** The fields of a record with their facts. */
export interface RecordFacts {
  /** The record's own list, which is sorted into wire order later. */
  readonly fields: FieldDraft[];
  readonly ofFields: readonly FieldFacts[];
}

/** The types of a contract before they are named and frozen. */
export class TypeDrafts {
  readonly collections: Collections;
  readonly facts: Map<RecordType, RecordFacts> = new Map();
  /** All types that need their own names, in the order of discovery. */
  readonly nameless: Nameless[] = [];
  /** Elements of records and unions that need names. */
  readonly elements: Map<Type, readonly NamelessElement[]> = new Map();
  /** Wrappers with the names of their elements. */
  readonly wrappers: Map<Type, string> = new Map();
  /** Types that are named even if no operation reaches them. */
  readonly alwaysNamed: Set<Type> = new Set();
  /** Objects and tuples in alternatives by name and pointer, because a pointer does not identify them. */
  readonly amongAlternatives: Map<string, Type> = new Map();
  /** Reasons for JSON text, by pointer. */
  readonly notes: Map<string, string> = new Map();
  /** Contradictions between two parts of the document, by pointer. */
  readonly contradictions: Map<string, string> = new Map();
  /** XML properties in schemas that are ignored, by pointer. */
  readonly ownXml: Map<string, string> = new Map();
  /** Numbers that may exceed the range of client types, by pointer. */
  readonly unbounded: Map<string, string> = new Map();
  readonly #pointers = new Map<Type, string>();
  /** Functions that fill types. They run later so that types can be recursive. */
  #unfilled: (() => void)[] = [];
  /** Number of functions that have run. */
  #filled = 0;

  readonly #allowance: Allowance;

  constructor(overlay: Overlay, allowance: Allowance) {
    this.#allowance = allowance;
    this.collections = new Collections(overlay);
  }

  /** Returns the type of JSON text and notes the reason. */
  asJson(pointer: string, why: string): ScalarType {
    this.notes.set(pointer, why);
    return this.collections.scalar('json');
  }

  /**
   * Registers a type that needs a name; until it gets one, it has the wanted name. Counts the steps of a member. Throws
   * OverLimit.
   */
  register<T extends Draft<RecordType | UnionType | TupleType | EnumType>>(type: T, pointer: string): T {
    this.#allowance.step(pointer, stepsPerMember);
    const wanted = type.name;
    const key = nameAt(pointer) === wanted ? pointer : `${pointer}#${wanted}`;
    const set = (name: string): void => {
      type.name = name;
    };
    this.nameless.push({ key, name: wanted, type, set });
    this.#pointers.set(type, pointer);
    return type;
  }

  /** Returns the pointer of a registered type; `''` for any other type. */
  pointerOf(type: NamedType): string {
    return this.#pointers.get(type) ?? '';
  }

  /** Defers filling a type until `fillAll`. */
  fillLater(fill: () => void): void {
    this.#unfilled.push(fill);
  }

  /** Runs the deferred functions in order, including those added meanwhile. */
  fillAll(): void {
    for (let next = this.#unfilled[this.#filled]; next !== undefined; next = this.#unfilled[this.#filled]) {
      this.#filled++;
      next();
    }
    this.#unfilled = [];
    this.#filled = 0;
  }
}
