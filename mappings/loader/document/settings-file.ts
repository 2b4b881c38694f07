import { didYouMean } from '../../contract/nearest.ts';
import { pointerSegment, type Report } from './error.ts';
import { isNode, type Node, shown } from './node.ts';

/**
 * What a place in a file of settings may hold: of it the file's reader is made, the JSON Schema that editors complete
 * by, and the commented file that `init` writes. `description` is what the place decides, for the file's author.
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
}

/** One of some keywords. */
export interface KeywordSetting<Keywords = readonly string[]> extends Described {
  readonly kind: 'keyword';
  readonly keywords: Keywords;
}

/** A text. */
export interface TextSetting extends Described {
  readonly kind: 'text';
  /** What is expected there, in the words of an error. */
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
  /** What is counted, in the words of an error. */
  readonly expected: string;
  readonly least: number;
  readonly most: number;
}

/** A list of settings alike. */
export interface ListSetting<Inner = Setting> extends Described {
  readonly kind: 'list';
  /** What the items are, in the words of an error. */
  readonly holds: string;
  readonly of: Inner;
}

/** An object of keys that the author chooses. */
export interface MapSetting<Inner = Setting> extends Described {
  readonly kind: 'map';
  /** What a key and its value are, in the words of an error. */
  readonly holds: string;
  readonly of: Inner;
}

/** An object of these keys, none of which is a must. */
export interface RecordSetting<Keys = Readonly<Record<string, Setting>>> extends Described {
  readonly kind: 'record';
  readonly keys: Keys;
  /** Keys of which an object has one that is meant to be this one of several settings; undefined: any object is. */
  readonly tells?: readonly string[];
}

/** One of several settings, which differ by whether there is a list, an object or something else. */
export interface ChoiceSetting<Inner = readonly Setting[]> extends Described {
  readonly kind: 'choice';
  readonly of: Inner;
}

/** Any value at all. */
export interface ValueSetting extends Described {
  readonly kind: 'value';
}

/** A setting that may hold itself; the JSON Schema has it once, under its name. */
export interface NamedSetting<Inner = Setting> extends Described {
  readonly kind: 'named';
  readonly name: string;
  readonly of: () => Inner;
}

/** One of these keywords. */
export function keyword<const Keywords extends readonly string[]>(
  description: string,
  ...keywords: Keywords
): KeywordSetting<Keywords> {
  return { kind: 'keyword', keywords, description };
}

/** Text that matches `pattern`; `expected` is the word for it in errors. */
export function text(description: string, expected = 'text', pattern = /./): TextSetting {
  return { kind: 'text', expected, pattern, description };
}

/** True or false. */
export function flag(description: string): FlagSetting {
  return { kind: 'flag', description };
}

/** A whole number within bounds; `expected` is the word for it in errors. */
export function count(description: string, expected: string, least: number, most: number): CountSetting {
  return { kind: 'count', expected, least, most, description };
}

/** A list; `holds` is the word for its items in errors. */
export function list<Item extends Setting>(description: string, holds: string, of: Item): ListSetting<Item> {
  return { kind: 'list', holds, of, description };
}

/** An object of keys that the author chooses; `holds` is the words for them in errors. */
export function map<Value extends Setting>(description: string, holds: string, of: Value): MapSetting<Value> {
  return { kind: 'map', holds, of, description };
}

/** An object of these keys. */
export function record<const Keys extends Readonly<Record<string, Setting>>>(
  description: string,
  keys: Keys,
): RecordSetting<Keys> {
  return { kind: 'record', keys, description };
}

/** The first of these settings that fits. */
export function choice<const Either extends readonly Setting[]>(
  description: string,
  ...of: Either
): ChoiceSetting<Either> {
  return { kind: 'choice', of, description };
}

/** Any value at all. */
export function value(description: string): ValueSetting {
  return { kind: 'value', description };
}

/** A setting that may hold itself, asked for when it is needed. */
export function named<Inner extends Setting>(
  name: string,
  description: string,
  of: () => Inner,
): NamedSetting<Inner> {
  return { kind: 'named', name, of, description };
}

/** The value of a setting once it is read. */
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

/** The value at `pointer` as its setting allows it; what doesn't fit goes to `report` and is left out. */
export function readSettings<F extends Setting>(
  setting: F,
  value: unknown,
  pointer: string,
  report: Report,
): ValueOf<F> | undefined {
  return read(setting, withoutLoops(value, pointer, report), pointer, report) as ValueOf<F> | undefined;
}

/** A value without YAML aliases of what they stand in, each of which is reported where it stands. */
function withoutLoops(
  value: unknown,
  pointer: string,
  report: Report,
  around: ReadonlySet<unknown> = new Set(),
): unknown {
  if (!isNode(value) && !Array.isArray(value)) return value;
  if (around.has(value)) {
    report(pointer, 'expected a value, got an alias of what it stands in');
    return undefined;
  }
  const within = new Set(around).add(value);
  if (Array.isArray(value))
    return value.map((item, index) => withoutLoops(item, `${pointer}/${index}`, report, within));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      withoutLoops(inner, pointer + pointerSegment(key), report, within),
    ]),
  );
}

function read(setting: Setting, value: unknown, pointer: string, report: Report): unknown {
  if (value === undefined) return undefined;
  switch (setting.kind) {
    case 'keyword':
      if (setting.keywords.some((word) => word === value)) return value;
      break;
    case 'text':
      if (typeof value === 'string' && setting.pattern.test(value)) return value;
      break;
    case 'flag':
      if (typeof value === 'boolean') return value;
      break;
    case 'count':
      if (isCount(setting, value)) return value;
      break;
    case 'list':
      if (Array.isArray(value))
        return value
          .map((item, index) => read(setting.of, item, `${pointer}/${index}`, report))
          .filter((item) => item !== undefined);
      break;
    case 'map':
      if (isNode(value)) return readMap(setting, value, pointer, report);
      break;
    case 'record':
      if (isNode(value)) return readRecord(setting, value, pointer, report);
      break;
    case 'value':
      return value;
    case 'named':
      return read(setting.of(), value, pointer, report);
    case 'choice': {
      const fitting = setting.of.find((candidate) => takes(candidate, value));
      if (fitting !== undefined) return read(fitting, value, pointer, report);
    }
  }
  report(pointer, `expected ${expectedBy(setting)}, got ${shown(value)}`);
  return undefined;
}

/** Whether a value is a whole number within bounds, written as a number of any kind that the file has. */
function isCount({ least, most }: CountSetting, value: unknown): boolean {
  const size = typeof value === 'bigint' ? Number(value) : value;
  return typeof size === 'number' && Number.isInteger(size) && size >= least && size <= most;
}

function readMap({ of }: MapSetting, value: Node, pointer: string, report: Report): Map<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) {
    const known = read(of, inner, pointer + pointerSegment(key), report);
    if (known !== undefined) entries.set(key, known);
  }
  return entries;
}

function readRecord({ keys }: RecordSetting, value: Node, pointer: string, report: Report): Node {
  const known: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const at = pointer + pointerSegment(key);
    const setting = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (setting === undefined) report(at, unknownKey(key, Object.keys(keys)));
    else known[key] = read(setting, inner, at, report);
  }
  return known;
}

/** The message about a key that a file does not have, with the nearest known key or all of them. */
export function unknownKey(key: string, known: readonly string[]): string {
  const meant = didYouMean(key, known);
  return meant === ''
    ? `unknown key, expected one of ${known.join(', ')}`
    : `expected a known key, got ${shown(key)}${meant}`;
}

function takes(setting: Setting, value: unknown): boolean {
  const { kind } = setting;
  if (kind === 'value') return true;
  if (kind === 'named') return takes(setting.of(), value);
  if (kind === 'choice') return setting.of.some((candidate) => takes(candidate, value));
  if (kind === 'record' && isNode(value) && setting.tells !== undefined)
    return setting.tells.some((key) => Object.hasOwn(value, key) && mayTell(setting.keys[key], value[key]));
  if (kind === 'list') return Array.isArray(value);
  return (kind === 'map' || kind === 'record') === isNode(value) && !Array.isArray(value);
}

/** Whether a key with a value is meant as the key of a setting: a flag is `true` or `false`, any other value is of something else. */
function mayTell(setting: Setting | undefined, value: unknown): boolean {
  return setting?.kind !== 'flag' || typeof value === 'boolean';
}

function expectedBy(setting: Setting): string {
  switch (setting.kind) {
    case 'keyword':
      return `one of ${setting.keywords.join(', ')}`;
    case 'text':
      return setting.expected;
    case 'flag':
      return 'true or false';
    case 'count':
      return `${setting.expected} from ${setting.least} to ${setting.most}`;
    case 'list':
      return `a list of ${setting.holds}`;
    case 'map':
      return `an object with ${setting.holds}`;
    case 'record':
      return `an object with ${fewOf(Object.keys(setting.keys))}`;
    case 'choice':
      return setting.of.map(expectedBy).join(', or ');
    case 'value':
      return 'a value';
    case 'named':
      return expectedBy(setting.of());
  }
}

/** All keys of a few, the first ones of many. */
function fewOf(keys: readonly string[]): string {
  return keys.length > 6 ? `keys such as ${keys.slice(0, 3).join(', ')}` : keys.join(', ');
}

/** The JSON Schema (2020-12) of a file of this setting, by which editors complete and check it. */
export function schemaFileOf(setting: Setting): Node {
  const definitions = new Map<string, Node>();
  const schema = jsonSchemaOf(setting, definitions);
  const $defs = definitions.size === 0 ? {} : { $defs: Object.fromEntries(definitions) };
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema, ...$defs };
}

/** @param definitions the schemas of named settings, each added when it is first met */
function jsonSchemaOf(setting: Setting, definitions: Map<string, Node>): Node {
  const { description } = setting;
  const inner = (one: Setting): Node => jsonSchemaOf(one, definitions);
  switch (setting.kind) {
    case 'keyword':
      return { description, enum: setting.keywords };
    case 'text':
      return { description, type: 'string', pattern: setting.pattern.source };
    case 'flag':
      return { description, type: 'boolean' };
    case 'count':
      return { description, type: 'integer', minimum: setting.least, maximum: setting.most };
    case 'list':
      return { description, type: 'array', items: inner(setting.of) };
    case 'map':
      return { description, type: 'object', additionalProperties: inner(setting.of) };
    case 'record': {
      const properties = Object.fromEntries(
        Object.entries(setting.keys).map(([key, one]) => [key, inner(one)]),
      );
      return { description, type: 'object', additionalProperties: false, properties };
    }
    case 'choice':
      return { description, anyOf: setting.of.map(inner) };
    case 'value':
      return { description };
    case 'named':
      if (!definitions.has(setting.name)) {
        definitions.set(setting.name, {}); // it may hold itself
        definitions.set(setting.name, inner(setting.of()));
      }
      return { $ref: `#/$defs/${setting.name}` };
  }
}
