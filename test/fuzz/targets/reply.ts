import { MismatchError } from '../../../mappings/codec/problem.ts';
import { compileScalars, isReference } from '../../../mappings/codec/scalars/table.ts';
import { escapeAttribute, escapeXml } from '../../../mappings/codec/scalars/text.ts';
import { type CompiledOperation, compileContract } from '../../../mappings/compile.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { type Contract, type Field, namespaces, type Type } from '../../../mappings/contract/model.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import { JsonReader } from '../../../mappings/json/reader.ts';
import { depot, screening, textOf } from '../../mappings/codec/contracts.ts';
import { pull, type Seen } from '../../mappings/json/values.ts';
import type { Random } from '../random.ts';
import { shapeOf, target } from '../target.ts';
import { makeNumber, makeString, makeValue } from './json.ts';

interface Writer {
  readonly contract: Contract;
  readonly operation: CompiledOperation;
}

const writers: readonly [string, Writer][] = [screening, depot].flatMap((contract) =>
  [...compileContract(contract, defaultLimits).operations].map(([name, operation]): [string, Writer] => [
    name,
    { contract, operation },
  ]),
);
const byName = new Map(writers);

export type Outcome =
  | { readonly kind: 'no operation' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'refused'; readonly text: string; readonly error: MismatchError | JsonError }
  | { readonly kind: 'written'; readonly text: string; readonly xml: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Converts a reply from bytes to bytes. The input is an operation's name, a line feed and the reply's JSON. The oracle
 * writes the reply from a tree, value by value, with the rules of each scalar.
 */
export const reply = target<Outcome>({
  name: 'reply',
  words: [
    ...[
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'null',
      'true',
      '0',
      '-1',
      '1.50',
      '1e3',
      '""',
      '{}',
      '[]',
      '\\u000b',
    ],
    ...[
      '"data":',
      '"responseStatus":',
      '"errorCode":"x"',
      '"id":',
      '"\\/Date(0-0000)\\/"',
      '"/Date(1)/"',
      '\\ud800',
    ],
    ...[
      '"2026-01-02T03:04:05Z"',
      '"AAAA"',
      '"QQ=="',
      '\\u0041',
      '<&>',
      '\ufffe',
      'é',
      '😀',
      '\\r',
      ' ',
      '\n',
      '}}',
    ],
    ...writers.map(([name]) => `${name}\n`),
  ],
  make: makeReply,
  readings: 3,
  run: (input) => {
    const end = input.indexOf('\n');
    const writer = byName.get(input.toString('latin1', 0, Math.max(end, 0)));
    const body = input.subarray(end + 1);
    let text: string;
    try {
      text = utf8.decode(body);
    } catch {
      return { kind: 'no operation' }; // replies are checked for UTF-8 before conversion
    }
    if (writer === undefined || text.length !== body.toString().length) return { kind: 'no operation' };
    try {
      const { failed, xml } = writer.operation.writeReply(body, { before: '', after: '' });
      if (failed || xml === undefined) return { kind: 'failed' };
      return { kind: 'written', text, xml: textOf(xml) };
    } catch (error) {
      if (error instanceof MismatchError || error instanceof JsonError)
        return { kind: 'refused', text, error };
      throw error;
    }
  },
  kind: (outcome) => (outcome.kind === 'refused' ? shapeOf(outcome.error.message) : outcome.kind),
  judge: (input, outcome) => {
    const writer = byName.get(input.toString('latin1', 0, Math.max(input.indexOf('\n'), 0)));
    if (writer === undefined || outcome.kind === 'no operation' || outcome.kind === 'failed')
      return undefined;
    if (
      outcome.kind === 'refused' &&
      outcome.error instanceof JsonError &&
      outcome.error.limit !== undefined
    ) {
      return undefined;
    }
    const expected = modelReply(writer, outcome.text);
    if (expected === unknown) return undefined;
    if (outcome.kind === 'refused' && isStrangersOnly(outcome.text, outcome.error.message)) return undefined;
    if (outcome.kind === 'refused') {
      return expected === undefined ? undefined : `refused, which is to be written: ${outcome.error.message}`;
    }
    const written = outcome.xml.replace(statusElement, '<ResponseStatus/>');
    return written === expected ? undefined : `expected ${expected ?? 'a refusal'}, got ${written}`;
  },
});

/** A responseStatus follows its own rules (W30), which other tests check. */
const statusElement = /<ResponseStatus(?: [^>]*)?(?:\/>|>.*?<\/ResponseStatus>)/gs;

/** Marks replies that the model cannot predict: JSON kept as text, whose blanks the tree has lost. */
const unknown = Symbol('unknown');
class Unknown extends Error {}

const scalarsOfContract = new Map(
  [screening, depot].map((contract) => [
    contract,
    compileScalars({ settings: contract.settings, limits: defaultLimits }),
  ]),
);

/** Returns the reply's element, or undefined if the reply must be rejected. */
function modelReply({ contract, operation }: Writer, text: string): string | undefined | typeof unknown {
  const { name, output, upstream } = operation.operation;
  const member = upstream.reply.kind === 'member' ? upstream.reply.name : undefined;
  const field = output.fields.find(({ json }) => json === member);
  try {
    const seen = pull(text);
    const content =
      field === undefined ? writeContent(contract, output, seen) : writeField(contract, field, seen);
    const data = 'members' in seen ? seen.members.find(([key]) => key === 'data')?.[1] : undefined;
    if (contract.settings.soapErrors === 'in-band' && !(data !== undefined && 'members' in data))
      return undefined;
    const types = escapeAttribute(contract.namespaces.types);
    return `<${name}Response xmlns="${types}" xmlns:i="${namespaces.xsi}">${content ?? ''}</${name}Response>`;
  } catch (error) {
    if (error instanceof Unknown) return unknown;
    if (error instanceof MismatchError || error instanceof JsonError) return undefined;
    throw error;
  }
}

function writeField(contract: Contract, { xml, type, nillable }: Field, seen: Seen): string {
  if (type === contract.responseStatus) return '<ResponseStatus/>';
  const nil = nillable && (contract.nulls === 'kept' || isReference(type));
  return element(contract, xml, type, seen, nil);
}

/** W19: null becomes nil if allowed, otherwise no element. */
function element(contract: Contract, name: string, type: Type, seen: Seen, nillable: boolean): string {
  const content = writeContent(contract, type, seen);
  if (content === null) return nillable ? `<${name} i:nil="true"/>` : '';
  const tag = name + declarationsOf(contract, type);
  return content === '' ? `<${tag}/>` : `<${tag}>${content}</${name}>`;
}

function declarationsOf({ namespaces: { types, arrays } }: Contract, type: Type): string {
  const inArrays = (type.kind === 'array' || type.kind === 'map') && type.namespace === 'arrays';
  return inArrays && arrays !== types ? ` xmlns:a="${escapeAttribute(arrays)}"` : '';
}

function writeContent(contract: Contract, type: Type, seen: Seen): string | null {
  const prefix = declarationsOf(contract, type) === '' ? '' : 'a:';
  if (type.kind !== 'scalar' && 'literal' in seen && seen.literal === 'null') return null;
  switch (type.kind) {
    case 'scalar': {
      if (type.scalar === 'json') throw new Unknown();
      if ('literal' in seen && seen.literal === 'null') return null;
      const scalar = scalarsOfContract.get(contract)?.[type.scalar];
      return scalar?.toXml(new JsonReader(tell(seen), defaultLimits)) ?? null;
    }
    case 'enum': {
      const value = 'string' in seen ? seen.string : misfit();
      if (value === '' && !type.values.includes('')) return null;
      if (!type.values.includes(value) && contract.settings.unknownEnumValues === 'refuse') misfit();
      return escapeXml(value, { replaced: 0 });
    }
    case 'union':
    case 'tuple':
      throw new Unknown();
    case 'array': {
      const items = 'items' in seen ? seen.items : misfit();
      return items.map((item) => element(contract, prefix + type.itemName, type.item, item, true)).join('');
    }
    case 'map': {
      const members = 'members' in seen ? seen.members : misfit();
      if (new Set(members.map(([key]) => key)).size < members.length) misfit();
      return members
        .map(([key, value]) => {
          const text = escapeXml(key, { replaced: 0 });
          const name = text === '' ? `<${prefix}Key/>` : `<${prefix}Key>${text}</${prefix}Key>`;
          const entry = name + element(contract, `${prefix}Value`, type.value, value, true);
          return `<${prefix}${type.entryName}>${entry}</${prefix}${type.entryName}>`;
        })
        .join('');
    }
    case 'record': {
      if (type.additional !== undefined) throw new Unknown();
      const members = 'members' in seen ? seen.members : misfit();
      return type.fields
        .map((field) => {
          const found = members.filter(([key]) => key === field.json);
          const [first] = found;
          if (found.length > 1) misfit();
          return first === undefined ? '' : writeField(contract, field, first[1]);
        })
        .join('');
    }
  }
}

function misfit(): never {
  throw new MismatchError({ expected: 'another value' });
}

/** Writes a value as JSON again. */
function tell(seen: Seen): string {
  if ('number' in seen) return seen.number;
  if ('string' in seen) return JSON.stringify(seen.string);
  if ('literal' in seen) return seen.literal;
  if ('items' in seen) return `[${seen.items.map(tell).join()}]`;
  return `{${seen.members.map(([name, value]) => `${JSON.stringify(name)}:${tell(value)}`).join()}}`;
}

function makeReply(random: Random): string {
  const [name, { contract, operation }] = writers[random.below(writers.length)] ?? writers[0] ?? misfit();
  const { output, upstream } = operation.operation;
  const member = upstream.reply.kind === 'member' ? upstream.reply.name : undefined;
  const type = output.fields.find(({ json }) => json === member)?.type ?? output;
  return `${name}\n${makeOf(random, contract, type, 5)}`;
}

/** Returns JSON for a type, mostly a valid one. */
function makeOf(random: Random, contract: Contract, type: Type, depth: number): string {
  if (random.once(60)) return makeValue(random, 1);
  if (random.once(20)) return random.pick('null', '""');
  switch (type.kind) {
    case 'scalar':
      return makeScalar(random, type.scalar);
    case 'enum':
      return JSON.stringify(type.values[random.below(type.values.length)] ?? '');
    case 'union':
      return makeOf(
        random,
        contract,
        type.variants[random.below(type.variants.length)]?.type ?? misfit(),
        depth - 1,
      );
    case 'tuple': {
      const items = type.positions.slice(0, random.below(type.positions.length + 1));
      return `[${items.map((item) => makeOf(random, contract, item.type, depth - 1)).join()}]`;
    }
    case 'array':
      return `[${depth < 1 ? '' : random.many(3, () => makeOf(random, contract, type.item, depth - 1), ',')}]`;
    case 'map':
      return `{${random.many(3, () => `${makeString(random)}:${makeOf(random, contract, type.value, depth - 1)}`, ',')}}`;
    case 'record': {
      if (type === contract.responseStatus)
        return random.pick('{}', '{}', 'null', '{"message":"m"}', '{"errorCode":"c"}');
      const all = random.once(3);
      const fields = type.fields.filter(({ json }) => json === 'data' || all || random.once(4));
      if (random.once(2)) fields.reverse();
      const told =
        depth < 1
          ? []
          : fields.map(({ json, type: inner }) => member(json, makeOf(random, contract, inner, depth - 1)));
      if (random.once(9)) told.push(member('unheard of', makeValue(random, 2)));
      if (random.once(40)) told.push(...told.slice(0, 1));
      return `{${told.join(random.pick(',', ', ', ',\n'))}}`;
    }
  }
}

function member(name: string, value: string): string {
  return `${JSON.stringify(name)}:${value}`;
}

function makeScalar(random: Random, scalar: string): string {
  if (scalar === 'string' || scalar === 'json') return makeString(random);
  if (scalar === 'guid')
    return JSON.stringify(random.pick('6F9619FF8B86D011B42D00CF4FC964FF', '{x}', guid, `(${guid})`));
  if (scalar === 'boolean') return random.pick('true', 'false', '"true"');
  if (scalar === 'base64Binary')
    return JSON.stringify(random.pick('AAAA', 'QQ==', 'QR==', 'QUI=', 'AA/+'.repeat(30)));
  if (scalar === 'dateTime' || scalar === 'date') {
    return JSON.stringify(
      random.pick(
        `/Date(${random.digits(13)}-0000)/`,
        `/Date(-${random.digits(13)})/`,
        '2026-11-21T10:00:00.5Z',
        '2026-11-21',
      ),
    );
  }
  const number = random.pick(random.digits(2).replace(/^0+(?=\d)/, ''), makeNumber(random));
  return random.once(6) ? `"${number}"` : number;
}

const guid = '6f9619ff-8b86-d011-b42d-00cf4fc964ff';

const strangers =
  /^(?:([^:]*): )?expected an object with members of [^ ]+ \(([^)]*)\), got one that has none of them/;

/**
 * Returns true if an object was rejected because it has members but no known one, as the message says (`replies:
 * note`).
 */
function isStrangersOnly(text: string, message: string): boolean {
  const [, path = '', names = ''] = strangers.exec(message) ?? [];
  if (names === '') return false;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return true; // the rest is not JSON, so it is rejected in any case
  }
  for (const [, name = '', index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g))
    value = (value as Record<string, unknown> | undefined)?.[index ?? name];
  if (value === undefined) return true; // the path contains a map key that it cannot express
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const given = Object.keys(value);
  const known = new Set(names.split(', '));
  return given.length > 0 && given.every((name) => !known.has(name));
}
