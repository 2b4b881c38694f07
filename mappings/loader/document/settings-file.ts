import { didYouMean } from '../../contract/nearest.ts';
import type {
  CountSetting,
  Elsewhere,
  MapSetting,
  RecordSetting,
  Setting,
  ValueOf,
} from '../../contract/setting.ts';
import { pointerSegment, type Report } from './error.ts';
import { isNode, type Node, shown } from './node.ts';

/** Reads the value at `pointer`. Values that the setting does not accept are reported and left out. */
export function readSettings<F extends Setting>(
  setting: F,
  value: unknown,
  pointer: string,
  report: Report,
): ValueOf<F> | undefined {
  return read(setting, withoutLoops(value, pointer, report), pointer, report) as ValueOf<F> | undefined;
}

/** Removes YAML aliases that refer to an enclosing value, and reports them. */
function withoutLoops(
  value: unknown,
  pointer: string,
  report: Report,
  around: ReadonlySet<unknown> = new Set(),
): unknown {
  if (!isNode(value) && !Array.isArray(value)) return value;
  if (around.has(value)) {
    report(pointer, 'expected a value, got an alias of its own parent');
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
  const meant = setting.kind === 'keyword' ? didYouMean(String(value), setting.keywords) : '';
  report(pointer, `expected ${expectedBy(setting)}, got ${shown(value)}${meant}`);
  return undefined;
}

/** Returns true for a whole number within the bounds: a number or a bigint. */
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

function readRecord({ keys, elsewhere }: RecordSetting, value: Node, pointer: string, report: Report): Node {
  const known: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const at = pointer + pointerSegment(key);
    const setting = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (setting === undefined) report(at, unknownKey(key, Object.keys(keys), elsewhere));
    else known[key] = read(setting, inner, at, report);
  }
  return known;
}

/** Returns the message about an unknown key, with the files that allow it, the nearest known key or all known keys. */
export function unknownKey(key: string, known: readonly string[], elsewhere?: Elsewhere): string {
  if (elsewhere?.keys.includes(key) === true)
    return `expected a known key, got ${shown(key)}; it is only for ${elsewhere.of}`;
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
  if (kind === 'record' && isNode(value) && setting.distinctKeys !== undefined)
    return setting.distinctKeys.some(
      (key) => Object.hasOwn(value, key) && mayBelong(setting.keys[key], value[key]),
    );
  if (kind === 'list') return Array.isArray(value);
  return (kind === 'map' || kind === 'record') === isNode(value) && !Array.isArray(value);
}

/** Returns true if a key and its value may belong to a setting: the value of a flag is `true` or `false`. */
function mayBelong(setting: Setting | undefined, value: unknown): boolean {
  return setting?.kind !== 'flag' || typeof value === 'boolean';
}

/** Returns the noun phrase for the values that a setting accepts, for messages. */
export function expectedBy(setting: Setting): string {
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

/** Returns all keys, or only the first three if there are more than six. */
function fewOf(keys: readonly string[]): string {
  return keys.length > 6 ? `keys such as ${keys.slice(0, 3).join(', ')}` : keys.join(', ');
}

/** Returns the JSON Schema (2020-12) of a file with this setting, for editors. */
export function schemaFileOf(setting: Setting): Node {
  const definitions = new Map<string, Node>();
  const schema = jsonSchemaOf(setting, definitions);
  const $defs = definitions.size === 0 ? {} : { $defs: Object.fromEntries(definitions) };
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema, ...$defs };
}

/** @param definitions the schemas of named settings. New ones are added. */
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
        definitions.set(setting.name, {}); // the setting may contain itself
        definitions.set(setting.name, inner(setting.of()));
      }
      return { $ref: `#/$defs/${setting.name}` };
  }
}
