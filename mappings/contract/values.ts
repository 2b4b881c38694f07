// The parts of a contract that describe single values, whatever kind of contract has them. Nothing is imported here.

/** A place for values. */
export interface Ruled {
  /** Rules of `validate: strict` beyond their type. */
  readonly rules?: Rules;
}

/** Rules of the document for a value beyond its type (JSON Schema Validation 2020-12, 6 and 7). */
export interface Rules {
  /** Each is about JSON values of one kind, and takes those of another. */
  readonly checks: readonly Check[];
  /** Of a list's items. */
  readonly items: Rules | undefined;
  /** Of a map's values. */
  readonly values: Rules | undefined;
}

/** One thing that `validate: strict` asks of a value; values of JSON stand as their texts. */
export type Check =
  | { readonly kind: 'readOnly' }
  /** One of these values, as JSON. */
  | { readonly kind: 'values'; readonly tokens: readonly string[] }
  /** The number of characters, items or members. */
  | {
      readonly kind: 'length' | 'items' | 'members';
      readonly least: number;
      readonly most: number | undefined;
    }
  /** ECMAScript's syntax, as far as RE2 has it. */
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'format'; readonly name: FormatName }
  | { readonly kind: 'bound'; readonly bound: Bound; readonly number: string }
  | { readonly kind: 'multipleOf'; readonly number: string }
  | { readonly kind: 'unique' };

/** Formats of strings whose grammar is known here. */
export type FormatName = 'uuid' | 'ipv4' | 'ipv6' | 'hostname' | 'email' | 'uri' | 'time' | 'duration';

/** JSON Schema's bounds of numbers (Validation 2020-12, 6.2). */
export type Bound = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum';

/** The documentation of a field for people. */
export interface Words {
  /** `''` where it has none. */
  readonly description: string;
  /** The rules of its schema beyond the type, such as `Default: 5. Length: 1 to 64.`; `''` for none. */
  readonly facts: string;
}

/** The kinds of JSON values; `any` for whatever no other variant takes. */
export type JsonKind = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'any';

/** The member, and its JSON values, that identify a variant of objects. */
export interface Tag {
  /** A JSON member of the variant's objects. */
  readonly member: string;
  /** The JSON tokens it may be. */
  readonly values: readonly string[];
}

/** The scalars, whose rows stand in codec/scalars/table.ts; `guid` is a string that replies write in one form (W21), `json` any JSON value as its text. */
export type ScalarName =
  | 'string'
  | 'guid'
  | 'json'
  | 'boolean'
  | 'byte'
  | 'unsignedByte'
  | 'short'
  | 'unsignedShort'
  | 'int'
  | 'unsignedInt'
  | 'long'
  | 'unsignedLong'
  | 'integer'
  | 'decimal'
  | 'float'
  | 'double'
  | 'dateTime'
  | 'date'
  | 'duration'
  | 'base64Binary';

/** Rules and documentation of a value at one place, beyond its type. */
export interface Demands extends Ruled {
  /** The document requires it of every reply; undefined where it doesn't. */
  readonly promised?: true;
  /** Refused when empty, for a required string. */
  readonly notEmpty?: boolean;
  /** True if the document forbids null although the element is nillable, so that nil means absent (`optionalValues: nillable`). */
  readonly nilIsAbsent?: true;
  /** Enum values this place takes, when fewer than its type has (W42). */
  readonly allowed?: readonly string[] | undefined;
  /** Its documentation in the WSDL; undefined if the WSDL only states whether it is required. */
  readonly words?: Words;
  /** A value as JSON that the document gives as an example, or as the default; it may not be of the type. */
  readonly example?: string;
  /** Rules for samples if requests are checked by types only; undefined if `rules` has them, or if there are none. */
  readonly hints?: Rules;
}
