/**
 * A value of a settings file, as data. The file's reader, its JSON Schema and the file that `init` writes derive from it.
 * `description` is the documentation of the value for the author of the file.
 */
export type Setting =
  | KeywordSetting
  | TextSetting
  | FlagSetting
  | CountSetting
  | ListSetting
  | MapSetting
  | RecordSetting
  | ChoiceSetting
  | ValueSetting
  | NamedSetting;

interface Described {
  readonly description: string;
  /** The value if the file lacks the key. Absent for no value. */
  readonly default?: unknown;
  /** A sample value, in YAML. */
  readonly example?: string;
}

/** A keyword. */
export interface KeywordSetting<Keywords = readonly string[]> extends Described {
  readonly kind: 'keyword';
  readonly keywords: Keywords;
}

/** Text. */
export interface TextSetting extends Described {
  readonly kind: 'text';
  /** Noun phrase for an error: `expected <phrase>`. */
  readonly expected: string;
  readonly pattern: RegExp;
}

/** True or false. */
export interface FlagSetting extends Described {
  readonly kind: 'flag';
}

/** A whole number. */
export interface CountSetting extends Described {
  readonly kind: 'count';
  /** Noun phrase for an error: `expected <phrase> from 1 to 9`. */
  readonly expected: string;
  readonly least: number;
  readonly most: number;
}

/** A list of values of one setting. */
export interface ListSetting<Inner = Setting> extends Described {
  readonly kind: 'list';
  /** Noun phrase for an error: `expected a list of <phrase>`. */
  readonly holds: string;
  readonly of: Inner;
}

/** An object with keys of the author's choice. */
export interface MapSetting<Inner = Setting> extends Described {
  readonly kind: 'map';
  /** Sample key and value for an error: `expected an object with <sample>`. */
  readonly holds: string;
  readonly of: Inner;
}

/** An object with these keys. All keys are optional. */
export interface RecordSetting<Keys = Readonly<Record<string, Setting>>> extends Described {
  readonly kind: 'record';
  readonly keys: Keys;
  /** In a choice, an object is read as this record if it has one of these keys. Undefined: every object is. */
  readonly distinctKeys?: readonly string[];
  readonly elsewhere?: Elsewhere;
}

/** Keys that a record of another purpose has. An error about such a key names that purpose. */
export interface Elsewhere {
  readonly keys: readonly string[];
  readonly of: string;
}

/** The first setting that accepts the value. The settings differ by list, object or scalar. */
export interface ChoiceSetting<Inner = readonly Setting[]> extends Described {
  readonly kind: 'choice';
  readonly of: Inner;
}

/** Any value. */
export interface ValueSetting extends Described {
  readonly kind: 'value';
  /** True if the value is a secret that no output may contain. */
  readonly isSecret?: boolean;
}

/** A setting that may contain itself. The JSON Schema defines it once, under its name. */
export interface NamedSetting<Inner = Setting> extends Described {
  readonly kind: 'named';
  readonly name: string;
  readonly of: () => Inner;
}

/** Creates a setting for one of these keywords. */
export function keyword<const Keywords extends readonly string[]>(
  description: string,
  ...keywords: Keywords
): KeywordSetting<Keywords> {
  return { kind: 'keyword', keywords, description };
}

/** Creates a setting for text that matches `pattern`. */
export function text(description: string, expected = 'text', pattern = /./): TextSetting {
  return { kind: 'text', expected, pattern, description };
}

/** Creates a setting for true or false. */
export function flag(description: string): FlagSetting {
  return { kind: 'flag', description };
}

/** Creates a setting for a whole number from `least` to `most`. */
export function count(description: string, expected: string, least: number, most: number): CountSetting {
  return { kind: 'count', expected, least, most, description };
}

/** Creates a setting for a list. */
export function list<Item extends Setting>(description: string, holds: string, of: Item): ListSetting<Item> {
  return { kind: 'list', holds, of, description };
}

/** Creates a setting for an object with keys of the author's choice. */
export function map<Value extends Setting>(description: string, holds: string, of: Value): MapSetting<Value> {
  return { kind: 'map', holds, of, description };
}

/** Creates a setting for an object with these keys. */
export function record<const Keys extends Readonly<Record<string, Setting>>>(
  description: string,
  keys: Keys,
  elsewhere?: Elsewhere,
): RecordSetting<Keys> {
  return { kind: 'record', keys, description, ...(elsewhere !== undefined && { elsewhere }) };
}

/** Creates a setting that accepts what any of these settings accepts. */
export function choice<const Either extends readonly Setting[]>(
  description: string,
  ...of: Either
): ChoiceSetting<Either> {
  return { kind: 'choice', of, description };
}

/** Creates a setting for any value. */
export function value(description: string): ValueSetting {
  return { kind: 'value', description };
}

/** Creates a setting that may contain itself. `of` is called on use. */
export function named<Inner extends Setting>(
  name: string,
  description: string,
  of: () => Inner,
): NamedSetting<Inner> {
  return { kind: 'named', name, of, description };
}

/** The type of a setting's value after reading. */
export type ValueOf<F> = F extends { kind: 'keyword'; keywords: readonly (infer Keyword)[] }
  ? Keyword
  : F extends { kind: 'text' }
    ? string
    : F extends { kind: 'flag' }
      ? boolean
      : F extends { kind: 'count' }
        ? number
        : F extends { kind: 'list'; of: infer Item }
          ? readonly ValueOf<Item>[]
          : F extends { kind: 'map'; of: infer Value }
            ? ReadonlyMap<string, ValueOf<Value>>
            : F extends { kind: 'record'; keys: infer Keys }
              ? { readonly [Key in keyof Keys]?: ValueOf<Keys[Key]> | undefined }
              : F extends { kind: 'choice'; of: readonly (infer Either)[] }
                ? ValueOf<Either>
                : unknown;
