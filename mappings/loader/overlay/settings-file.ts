import { pointerSegment, type Report } from '../document/error.ts';
import { isNode, type Node, shown } from '../document/node.ts';

/**
 * What a place in a file of settings may hold. One value says it for the reader, for the JSON Schema that editors
 * complete by, and for the commented file that `init` writes. `says` is what the place decides, for its author.
 */
export type Form = WordsForm | TextForm | FlagForm | ListForm | MapForm | RecordForm | ChoiceForm;

/** One of some words. */
export interface WordsForm<Words = readonly string[]> {
  readonly kind: 'words';
  readonly words: Words;
  readonly says: string;
}

export interface TextForm {
  readonly kind: 'text';
  /** What is expected there, in the words of an error. */
  readonly expected: string;
  readonly pattern: RegExp;
  readonly says: string;
}

/** True or false. */
export interface FlagForm {
  readonly kind: 'flag';
  readonly says: string;
}

export interface ListForm<Inner = Form> {
  readonly kind: 'list';
  /** What the items are, in the words of an error. */
  readonly holds: string;
  readonly of: Inner;
  readonly says: string;
}

/** An object of keys that the author chooses. */
export interface MapForm<Inner = Form> {
  readonly kind: 'map';
  /** What a key and its value are, in the words of an error. */
  readonly holds: string;
  readonly of: Inner;
  readonly says: string;
}

/** An object of these keys, none of which is a must. */
export interface RecordForm<Keys = Readonly<Record<string, Form>>> {
  readonly kind: 'record';
  readonly keys: Keys;
  readonly says: string;
}

/** One of several forms, told apart by whether there is a list, an object or something else. */
export interface ChoiceForm<Inner = readonly Form[]> {
  readonly kind: 'choice';
  readonly of: Inner;
  readonly says: string;
}

export function words<const Words extends readonly string[]>(
  says: string,
  ...choices: Words
): WordsForm<Words> {
  return { kind: 'words', words: choices, says };
}

export function text(says: string, expected = 'text', pattern = /./): TextForm {
  return { kind: 'text', expected, pattern, says };
}

export function flag(says: string): FlagForm {
  return { kind: 'flag', says };
}

export function list<Item extends Form>(says: string, holds: string, of: Item): ListForm<Item> {
  return { kind: 'list', holds, of, says };
}

export function map<Value extends Form>(says: string, holds: string, of: Value): MapForm<Value> {
  return { kind: 'map', holds, of, says };
}

export function record<const Keys extends Readonly<Record<string, Form>>>(
  says: string,
  keys: Keys,
): RecordForm<Keys> {
  return { kind: 'record', keys, says };
}

export function choice<const Either extends readonly Form[]>(
  says: string,
  ...of: Either
): ChoiceForm<Either> {
  return { kind: 'choice', of, says };
}

/** The value of a form once it is read. */
export type ValueOf<F> = F extends { kind: 'words'; words: readonly (infer Word)[] }
  ? Word
  : F extends { kind: 'text' }
    ? string
    : F extends { kind: 'flag' }
      ? boolean
      : F extends { kind: 'list'; of: infer Item }
        ? readonly ValueOf<Item>[]
        : F extends { kind: 'map'; of: infer Value }
          ? ReadonlyMap<string, ValueOf<Value>>
          : F extends { kind: 'record'; keys: infer Keys }
            ? { readonly [Key in keyof Keys]?: ValueOf<Keys[Key]> | undefined }
            : F extends { kind: 'choice'; of: readonly (infer Either)[] }
              ? ValueOf<Either>
              : never;

/** The value at `pointer` as its form has it; what doesn't fit goes to `report` and is left out. */
export function readForm<F extends Form>(
  form: F,
  value: unknown,
  pointer: string,
  report: Report,
): ValueOf<F> | undefined {
  return read(form, value, pointer, report) as ValueOf<F> | undefined;
}

function read(form: Form, value: unknown, pointer: string, report: Report): unknown {
  if (value === undefined) return undefined;
  switch (form.kind) {
    case 'words':
      if (form.words.some((word) => word === value)) return value;
      break;
    case 'text':
      if (typeof value === 'string' && form.pattern.test(value)) return value;
      break;
    case 'flag':
      if (typeof value === 'boolean') return value;
      break;
    case 'list':
      if (Array.isArray(value)) return readList(form, value, pointer, report);
      break;
    case 'map':
      if (isNode(value)) return readMap(form, value, pointer, report);
      break;
    case 'record':
      if (isNode(value)) return readRecord(form, value, pointer, report);
      break;
    case 'choice': {
      const chosen = form.of.find((candidate) => takes(candidate, value));
      if (chosen !== undefined) return read(chosen, value, pointer, report);
    }
  }
  report(pointer, `expected ${expectedBy(form)}, got ${shown(value)}`);
  return undefined;
}

function readList({ of }: ListForm, value: readonly unknown[], pointer: string, report: Report): unknown[] {
  return value
    .map((item, index) => read(of, item, `${pointer}/${index}`, report))
    .filter((item) => item !== undefined);
}

function readMap({ of }: MapForm, value: Node, pointer: string, report: Report): Map<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) {
    const known = read(of, inner, pointer + pointerSegment(key), report);
    if (known !== undefined) entries.set(key, known);
  }
  return entries;
}

function readRecord({ keys }: RecordForm, value: Node, pointer: string, report: Report): Node {
  const known: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const at = pointer + pointerSegment(key);
    const form = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (form === undefined) report(at, `unknown key, expected one of ${Object.keys(keys).join(', ')}`);
    else known[key] = read(form, inner, at, report);
  }
  return known;
}

function takes({ kind }: Form, value: unknown): boolean {
  if (kind === 'list') return Array.isArray(value);
  return (kind === 'map' || kind === 'record') === isNode(value) && !Array.isArray(value);
}

function expectedBy(form: Form): string {
  switch (form.kind) {
    case 'words':
      return `one of ${form.words.join(', ')}`;
    case 'text':
      return form.expected;
    case 'flag':
      return 'true or false';
    case 'list':
      return `a list of ${form.holds}`;
    case 'map':
      return `an object with ${form.holds}`;
    case 'record':
      return `an object with ${someOf(Object.keys(form.keys))}`;
    case 'choice':
      return form.of.map(expectedBy).join(', or ');
  }
}

/** All keys of a few, the first ones of many. */
function someOf(keys: readonly string[]): string {
  return keys.length > 6 ? `keys such as ${keys.slice(0, 3).join(', ')}` : keys.join(', ');
}

/** The JSON Schema (2020-12) of a file of this form, which editors complete and check it by. */
export function schemaFileOf(form: Form): Node {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...jsonSchemaOf(form) };
}

function jsonSchemaOf(form: Form): Node {
  const told = { description: form.says };
  switch (form.kind) {
    case 'words':
      return { ...told, enum: form.words };
    case 'text':
      return { ...told, type: 'string', pattern: form.pattern.source };
    case 'flag':
      return { ...told, type: 'boolean' };
    case 'list':
      return { ...told, type: 'array', items: jsonSchemaOf(form.of) };
    case 'map':
      return { ...told, type: 'object', additionalProperties: jsonSchemaOf(form.of) };
    case 'record': {
      const properties = Object.fromEntries(
        Object.entries(form.keys).map(([key, inner]) => [key, jsonSchemaOf(inner)]),
      );
      return { ...told, type: 'object', additionalProperties: false, properties };
    }
    case 'choice':
      return { ...told, anyOf: form.of.map(jsonSchemaOf) };
  }
}
