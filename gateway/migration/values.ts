import { numbers } from '../../mappings/codec/adopted/facets.ts';
import { movedHeadersOf } from '../../mappings/contract/credentials.ts';
import { jsonFormOf, objectForm } from '../../mappings/contract/members.ts';
import type { Contract, Operation } from '../../mappings/contract/model.ts';
import type {
  AdoptedMessage,
  ComplexType,
  JsonForm,
  Member,
  SchemaType,
  SimpleType,
} from '../../mappings/contract/type-graph.ts';
import type { Path, Step } from '../../mappings/mapping/paths.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';
import type { ValueCondition } from './routing.ts';

// Values of a request for conditions (G8). A request is the JSON text that the codec of its operation writes.

/** A place of a request that may have a value. */
interface Place {
  /** True for numbers, which are compared by value. */
  readonly isNumber: boolean;
}

const other: Place = { isNumber: false };

/** Returns the place at a path in requests of the operation; undefined if no request has a value there. */
export function placeAt(contract: Contract, operation: Operation, path: Path): Place | undefined {
  const { input } = typeGraphOf(contract).messagesOf(operation);
  const [first, ...rest] = path;
  if (first?.kind !== 'member') return undefined;
  if (first.name === '@headers') return isMoved(contract, rest) ? undefined : inHeader(input, rest);
  const { body } = input;
  if (body.kind === 'empty') return undefined;
  if (body.kind === 'rpc') {
    const part = body.parts.find(({ name }) => name.local === first.name);
    return part && inType(part.type, true, rest);
  }
  const { type } = body.element;
  return (type.kind === 'complex' ? inObject(type, path) : undefined) ?? inType(type, true, path);
}

/** Returns true for the path of a credential in a header block, which is not in the request's JSON (A8). */
function isMoved({ credentials }: Contract, path: Path): boolean {
  const names = path.map((step) => (step.kind === 'member' ? step.name : ''));
  return movedHeadersOf(credentials).some((one) => [one.block, ...one.path].join('\n') === names.join('\n'));
}

function inHeader({ headers }: AdoptedMessage, path: Path): Place | undefined {
  const [first, ...rest] = path;
  if (first?.kind !== 'member') return undefined;
  const block = headers.find(({ name }) => name.local === first.name);
  return block && inType(block.type, true, rest);
}

/** @param once true if the element occurs at most once, see `jsonFormOf` */
function inType(type: SchemaType, once: boolean, path: Path): Place | undefined {
  const form = jsonFormOf(type, once);
  if (form.kind === 'object' && type.kind === 'complex') return inObject(type, path);
  return inForm(form, path);
}

/** Finds a path in a type, or in a type that is derived from it. */
function inObject(type: ComplexType, path: Path): Place | undefined {
  const found = inForm(objectForm(type), path);
  if (found !== undefined) return found;
  for (const derived of type.derived) {
    const inDerived = inObject(derived, path);
    if (inDerived !== undefined) return inDerived;
  }
  return undefined;
}

function inForm(form: JsonForm, path: Path): Place | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return form.kind === 'scalar' ? placeOf(form.type) : other;
  if (form.kind === 'scalar' || form.kind === 'xml' || form.kind === 'refused') return undefined;
  if (form.kind === 'list') return step.kind === 'member' ? undefined : inItem(form.item, rest);
  if (form.kind !== 'object') return other; // maps, tuples and unions exist only in OpenAPI contracts
  if (step.kind !== 'member') return undefined;
  const { attributes, members, value } = form;
  const isEnd = rest.length === 0;
  if (step.name === value?.json) return isEnd ? placeOf(value.type) : undefined;
  const attribute = attributes.find(({ json }) => json === step.name);
  if (attribute !== undefined) return isEnd ? placeOf(attribute.use.type) : undefined;
  if (step.name === '@type') return isEnd ? other : undefined;
  return inMembers(members.members, step.name, rest);
}

function inMembers(members: readonly Member[], name: string, path: Path): Place | undefined {
  const member = members.find(({ json }) => json === name);
  if (member === undefined || !member.repeats) return member && inItem(member, path);
  const [step, ...rest] = path;
  if (step === undefined) return other;
  return step.kind === 'member' ? undefined : inItem(member, rest);
}

function inItem(member: Member, path: Path): Place | undefined {
  if (member.kind === 'element') return inType(member.element.type, !member.repeats, path);
  const [step, ...rest] = path;
  if (member.kind === 'any' || step === undefined) return other;
  return step.kind === 'member' ? inMembers(member.content.members, step.name, rest) : undefined;
}

function placeOf(type: SimpleType | undefined): Place {
  return { isNumber: type !== undefined && numbers.has(type.builtIn) };
}

/** Parses the JSON of a request. Numbers that a double does not represent exactly become their text. */
export function parseRequest(json: string): unknown {
  return JSON.parse(json, (_key, value, context?: { readonly source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) ? (context?.source ?? String(value)) : value,
  );
}

/** Returns the texts of the scalars at a path, without surrounding white space. A null is no value. */
export function textsAt(request: unknown, path: Path): readonly string[] {
  let values: readonly unknown[] = [request];
  for (const step of path) values = values.flatMap((value) => stepInto(value, step));
  return values.flatMap((value) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [String(value).trim()]
      : [],
  );
}

/** Returns true if there is a value other than null at a path. */
function isPresent(request: unknown, path: Path): boolean {
  let values: readonly unknown[] = [request];
  for (const step of path) values = values.flatMap((value) => stepInto(value, step));
  return values.some((value) => value !== undefined && value !== null);
}

function stepInto(value: unknown, step: Step): readonly unknown[] {
  if (step.kind === 'member')
    return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
  if (!Array.isArray(value)) return [];
  if (step.kind === 'every') return value;
  if (step.kind === 'index') return step.index < value.length ? [value[step.index]] : [];
  const found = value.find((item) => isObject(item) && String(item[step.name] ?? '').trim() === step.text);
  return found === undefined ? [] : [found];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true if a request of an operation fulfils a condition. */
export function fulfils(
  request: unknown,
  { path, test, numericIn }: ValueCondition,
  operation: string,
): boolean {
  if (test.kind === 'present') return isPresent(request, path);
  if (test.kind === 'absent') return !isPresent(request, path);
  const texts = textsAt(request, path);
  if (test.kind === 'startsWith')
    return texts.some((text) => test.texts.some((start) => text.startsWith(start)));
  const isNumber = numericIn.has(operation);
  return texts.some((text) =>
    test.texts.some((wanted) => text === wanted || (isNumber && isSame(text, wanted))),
  );
}

const numberForm = /^([+-]?)(\d*)(?:\.(\d*))?(?:[Ee]([+-]?\d{1,9}))?$/;

/**
 * Returns the canonical text of a number: its digits without zeros at either end, and the exponent of the last digit. For
 * example `-105e-1` for `-010.50`; undefined for other texts.
 */
function canonicalNumber(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = numberForm.exec(text) ?? [];
  const digits = whole + fraction;
  if (digits === '') return undefined;
  let from = 0;
  let to = digits.length;
  while (from < to && digits[from] === '0') from++;
  while (to > from && digits[to - 1] === '0') to--;
  if (from === to) return '0';
  const power = Number(exponent) - fraction.length + digits.length - to;
  return `${sign === '-' ? '-' : ''}${digits.slice(from, to)}e${power}`;
}

/** Returns true for texts of the same number (G8). */
function isSame(text: string, wanted: string): boolean {
  const number = canonicalNumber(text);
  return number !== undefined && number === canonicalNumber(wanted);
}
