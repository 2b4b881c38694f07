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
import { type Collections, createCollections } from './collections.ts';

/** A part of the model while it is built: its members may still be set. */
export type Draft<T> = { -readonly [key in keyof T]: T[key] };

/** A field while its record is built. */
export type FieldDraft = Draft<Field>;

/** What decides whether a field is nillable, once it is known who reaches its record (W33). */
export interface FieldFacts {
  readonly field: FieldDraft;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
}

/** The fields of a record, with what decides whether each is nillable. */
export interface RecordFacts {
  /** The record's own list, to be put in the order of the wire. */
  readonly fields: FieldDraft[];
  readonly ofFields: readonly FieldFacts[];
}

/** The types of one contract from when their shape is known until they are named and frozen. */
export class TypeDrafts {
  readonly collections: Collections;
  readonly facts: Map<RecordType, RecordFacts> = new Map();
  /** Every type that wants a name of its own, in the order in which they were met. */
  readonly nameless: Nameless[] = [];
  /** The elements of records and unions, which want names too. */
  readonly elements: Map<Type, readonly NamelessElement[]> = new Map();
  /** Wrappers with the names of their elements. */
  readonly wrappers: Map<Type, string> = new Map();
  /** Types that are named though no operation may reach them. */
  readonly asked: Set<Type> = new Set();
  /** Objects and tuples among alternatives, by name and place: they have no place of their own to be known by. */
  readonly amongAlternatives: Map<string, Type> = new Map();
  /** What travels as JSON text and why, by pointer. */
  readonly notes: Map<string, string> = new Map();
  /** Where two parts of the document can't both hold, by pointer. */
  readonly contradictions: Map<string, string> = new Map();
  /** What schemas say of XML of the service's own, which isn't followed. */
  readonly ownXml: Map<string, string> = new Map();
  /** Numbers that may be larger than readers can hold, by pointer. */
  readonly unbounded: Map<string, string> = new Map();
  readonly #pointers = new Map<Type, string>();
  /** Types still to be filled: by and by, so that a type may reach itself, however far away. */
  #unfilled: (() => void)[] = [];
  /** So many of them were filled. */
  #filled = 0;

  readonly #allowance: Allowance;

  constructor(overlay: Overlay, allowance: Allowance) {
    this.#allowance = allowance;
    this.collections = createCollections(overlay);
  }

  /** The type of what no closed type fits, noted with the reason. */
  asJson(pointer: string, why: string): ScalarType {
    this.notes.set(pointer, why);
    return this.collections.scalar('json');
  }

  /** Keeps a type to be named; its name until then is the one it wants. It counts what a member does. Throws OverLimit. */
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

  /** Where a registered type stands; `''` for any other. */
  pointerOf(type: NamedType): string {
    return this.#pointers.get(type) ?? '';
  }

  /** Puts off what fills a type until `fillAll`. */
  fillLater(fill: () => void): void {
    this.#unfilled.push(fill);
  }

  /** Fills what waits, in the order in which it was put off, and what comes up meanwhile. */
  fillAll(): void {
    for (let next = this.#unfilled[this.#filled]; next !== undefined; next = this.#unfilled[this.#filled]) {
      this.#filled++;
      next();
    }
    this.#unfilled = [];
    this.#filled = 0;
  }
}
