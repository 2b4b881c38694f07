// Parts of a contract that describe single values, for all kinds of contracts. This file imports nothing.

/** A position of values with rules. */
export interface Ruled {
  /** Rules of `validate: strict` beyond their type. */
  readonly rules?: Rules;
}

/** Rules of the document for a value beyond its type (JSON Schema Validation 2020-12, 6 and 7). */
export interface Rules {
  /** Each check applies to JSON values of one kind and accepts values of other kinds. */
  readonly checks: readonly Check[];
  /** Rules for the items of a list. */
  readonly items: Rules | undefined;
  /** Rules for the values of a map. */
  readonly values: Rules | undefined;
}

/** A check of `validate: strict`. Values of JSON are represented by their texts. */
export type Check =
  | { readonly kind: 'readOnly' }
  /** One of these values, as JSON tokens. */
  | { readonly kind: 'values'; readonly tokens: readonly string[] }
  /** The number of characters, items or members. */
  | {
      readonly kind: 'length' | 'items' | 'members';
      readonly least: number;
      readonly most: number | undefined;
    }
  /** ECMAScript's syntax, as far as RE2 supports it. */
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'format'; readonly name: FormatName }
  | { readonly kind: 'bound'; readonly bound: Bound; readonly number: string }
  | { readonly kind: 'multipleOf'; readonly number: string }
  | { readonly kind: 'unique' };

/** Formats of strings that the gateway can check. */
export type FormatName = 'uuid' | 'ipv4' | 'ipv6' | 'hostname' | 'email' | 'uri' | 'time' | 'duration';

/** JSON Schema's bounds of numbers (Validation 2020-12, 6.2). */
export type Bound = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum';

/** The human-readable documentation of a field. */
export interface Words {
  /** `''` for none. */
  readonly description: string;
  /** The rules of its schema beyond the type, such as `Default: 5. Length: 1 to 64.`; `''` for none. */
  readonly facts: string;
}

/** The kinds of JSON values; `any` for all values that no other variant accepts. */
export type JsonKind = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'any';

/** The member, and its JSON values, that identify a variant of objects. */
export interface Tag {
  /** A JSON member of the variant's objects. */
  readonly member: string;
  /** The JSON tokens of its possible values. */
  readonly values: readonly string[];
}

/**
 * The scalars, defined in codec/scalars/table.ts. `guid` is a string that replies normalize (W21), `json` is any JSON
 * value as text.
 */
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
  /** The document requires it in each reply; undefined if it does not. */
  readonly promised?: true;
  /** True if a required string must not be empty. */
  readonly notEmpty?: boolean;
  /** True if the document forbids null although the element is nillable, so that nil means absent (`optionalValues: nillable`). */
  readonly nilIsAbsent?: true;
  /** The accepted enum values, if fewer than the type has (W42). */
  readonly allowed?: readonly string[] | undefined;
  /** Its documentation in the WSDL; undefined if the WSDL only states whether it is required. */
  readonly words?: Words;
  /** A value as JSON that the document gives as an example or default. It may not match the type. */
  readonly example?: string;
  /** Rules for samples if requests are checked by types only; undefined if `rules` has them, or if there are none. */
  readonly hints?: Rules;
}
