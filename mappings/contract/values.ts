// The parts of a contract that describe single values, whatever kind of contract has them. Nothing is imported here.

/** A place for values. */
export interface Ruled {
  /** What `validate: strict` asks of them beyond their type. */
  readonly rules?: Rules;
}

/** What the document asks of a value beyond its type (JSON Schema Validation 2020-12, 6 and 7). */
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
  /** How many characters, items or members there are. */
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

/** What the document says of a field to people. */
export interface Words {
  /** `''` where it has none. */
  readonly description: string;
  /** What its schema asks or promises beyond the type: `Default: 5. Length: 1 to 64.`; `''` for nothing. */
  readonly facts: string;
}

/** The kinds of JSON values; `any` for whatever no other variant takes. */
export type JsonKind = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'any';

/** What tells a variant of objects from the others: a member and its values, as JSON. */
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

/** What a contract demands and documents of a value at one place, beyond its type. */
export interface Demands extends Ruled {
  /** The document requires it of every reply; undefined where it doesn't. */
  readonly promised?: true;
  /** Refused when empty, for a required string. */
  readonly notEmpty?: boolean;
  /** True if the document forbids null although the element is nillable, so that nil means absent (`optionalValues: nillable`). */
  readonly nilIsAbsent?: true;
  /** Enum values this place takes, when fewer than its type has (W42). */
  readonly allowed?: readonly string[] | undefined;
  /** What the WSDL tells people of it; undefined where that is nothing but whether it is required. */
  readonly words?: Words;
  /** A value as JSON that the document gives as an example, or as the default; it may not be of the type. */
  readonly example?: string;
  /** What samples of it obey where requests are checked by types alone; undefined where `rules` say it, or nothing. */
  readonly hints?: Rules;
}
