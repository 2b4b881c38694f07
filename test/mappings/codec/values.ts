import { isReference } from '../../../mappings/codec/scalars/table.ts';
import type { Contract, Field, ScalarName, Type, Variant } from '../../../mappings/contract/model.ts';
import { isCharacter } from '../../../mappings/xml/characters.ts';
import { fc } from '../../property.ts';
import { pull, type Seen } from '../json/values.ts';

/** A JSON value of a type, with numbers as text. The members of a record may be written in any order. */
export type Value =
  | { readonly kind: 'token'; readonly text: string; readonly quotable: boolean }
  | { readonly kind: 'list'; readonly items: readonly Value[] }
  | { readonly kind: 'record' | 'map'; readonly members: readonly (readonly [name: string, value: Value])[] };

export interface ValueOptions {
  /** True if null is generated where the WSDL allows nil, or for a value that is then omitted (W19). */
  readonly nulls: boolean;
}

const nothing: Value = { kind: 'token', text: 'null', quotable: false };

/** Texts that XML allows (W21), including characters that need escapes in JSON or XML. */
export const texts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'a',
        'Z',
        ' ',
        '\n',
        '\r',
        '\t',
        '&',
        '<',
        '>',
        ']]>',
        '"',
        '\\',
        '/',
        '😀',
        '\u2028',
        'é',
      ),
      fc.nat(0xffff).map((code) => (isCharacter(code) ? String.fromCharCode(code) : '\ufffd')),
    ),
    { maxLength: 6 },
  )
  .map((list) => list.join(''));

const integers = (min: bigint, max: bigint) => fc.bigInt(min, max).map(String);
const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });
const decimals = fc
  .tuple(fc.boolean(), digits(20), fc.option(digits(20)))
  .map(([negative, integer, fraction]) => {
    const whole = integer.replace(/^0+(?=\d)/, '');
    return `${negative ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}`;
  });
const instants = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
const doubles = fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => JSON.stringify(value));
const days = instants.map((ms) => new Date(ms).toISOString());

/** JSON tokens of each scalar that survive a round trip unchanged. Dates have the contract's format. */
function tokensOf(scalar: ScalarName, { settings }: Contract): fc.Arbitrary<string> {
  switch (scalar) {
    case 'string':
    case 'guid':
      return texts.map((text) => JSON.stringify(text));
    case 'json':
      return fc.jsonValue().map((value) => JSON.stringify(value ?? 0));
    case 'boolean':
      return fc.boolean().map(String);
    case 'byte':
      return integers(-128n, 127n);
    case 'unsignedByte':
      return integers(0n, 255n);
    case 'short':
      return integers(-32768n, 32767n);
    case 'unsignedShort':
      return integers(0n, 65535n);
    case 'int':
      return integers(-(2n ** 31n), 2n ** 31n - 1n);
    case 'unsignedInt':
      return integers(0n, 2n ** 32n - 1n);
    case 'long':
      return integers(-(2n ** 63n), 2n ** 63n - 1n);
    case 'unsignedLong':
      return integers(0n, 2n ** 64n - 1n);
    case 'integer':
      return integers(-(10n ** 60n), 10n ** 60n);
    case 'decimal':
      return decimals;
    case 'float':
      return fc.float({ noDefaultInfinity: true, noNaN: true }).map((value) => JSON.stringify(value));
    case 'double':
      return doubles;
    case 'dateTime':
      if (settings.dates === 'wcf') return instants.map((ms) => `"/Date(${ms}-0000)/"`);
      return days.map((text) => `"${text.replace(/\.?0+Z$/, 'Z')}"`);
    case 'date':
      return days.map((text) => `"${text.slice(0, 10)}"`);
    case 'duration':
      return fc.tuple(fc.nat(), fc.nat()).map(([days, ms]) => `"P${days}DT${ms / 1000}S"`);
    case 'base64Binary':
      return fc.uint8Array({ maxLength: 8 }).map((bytes) => `"${Buffer.from(bytes).toString('base64')}"`);
  }
}

/** Returns a field's type with its enum restricted to the operation's values (W42). */
function narrowed({ type, allowed }: Field): Type {
  return type.kind === 'enum' && allowed !== undefined ? { ...type, values: allowed } : type;
}

/** Generates values of a type from the model. `depth` limits nested records. */
export function valuesOf(
  type: Type,
  contract: Contract,
  options: ValueOptions,
  depth = 4,
): fc.Arbitrary<Value> {
  switch (type.kind) {
    case 'scalar': {
      const quotable = /^(?:boolean|byte|short|int|long|integer|decimal|float|double|unsigned\w+)$/.test(
        type.scalar,
      );
      return tokensOf(type.scalar, contract).map((text) => ({ kind: 'token', text, quotable }));
    }
    case 'enum':
      return fc
        .constantFrom(...type.values)
        .map((value) => ({ kind: 'token', text: JSON.stringify(value), quotable: false }));
    case 'union': {
      const variants = type.variants.filter(({ type: inner }) => depth > 0 || inner.kind === 'scalar');
      return fc.oneof(...variants.map((variant) => ofVariant(variant, contract, options, depth)));
    }
    case 'array': {
      if (depth <= 0) return fc.constant({ kind: 'list', items: [] });
      const item = valuesOf(type.item, contract, options, depth - 1);
      const isString = type.item.kind === 'scalar' && type.item.scalar === 'string';
      const takesNull =
        contract.nulls === 'kept' ? type.takesNull === true || isReference(type.item) : isString;
      return (
        fc
          .array(takesNull && options.nulls ? fc.option(item, { nil: nothing }) : item, { maxLength: 3 })
          // an array whose only item is nil counts as absent (W13), unless nulls are kept
          .map((items) => ({
            kind: 'list',
            items: contract.nulls === 'by-kind' && items.length === 1 && items[0] === nothing ? [] : items,
          }))
      );
    }
    case 'tuple': {
      if (depth <= 0) return fc.constant({ kind: 'list', items: [] });
      const itemOf = (inner: Type, takesNull = true) => {
        const item = valuesOf(inner, contract, options, depth - 1);
        return options.nulls && takesNull ? fc.option(item, { nil: nothing }) : item;
      };
      const { item, takesNull } = type.rest?.type ?? {};
      const rest =
        item === undefined
          ? fc.constant([])
          : fc.array(itemOf(item, takesNull === true || isReference(item)), { maxLength: 2 });
      const whole = fc.tuple(fc.tuple(...type.positions.map((position) => itemOf(position.type))), rest);
      return fc.oneof(
        whole.map(([items, others]) => ({ kind: 'list' as const, items: [...items, ...others] })),
        fc
          .tuple(whole, fc.nat(type.positions.length))
          .map(([[items], count]) => ({ kind: 'list' as const, items: items.slice(0, count) })),
      );
    }
    case 'map': {
      if (depth <= 0) return fc.constant({ kind: 'map', members: [] });
      const value = valuesOf(type.value, contract, options, depth - 1);
      const takesNull = isReference(type.value) || (contract.nulls === 'kept' && type.takesNull === true);
      const entry = fc.tuple(texts, options.nulls && takesNull ? fc.option(value, { nil: nothing }) : value);
      return fc
        .uniqueArray(entry, { maxLength: 3, selector: ([key]) => key })
        .map((members) => ({ kind: 'map', members }));
    }
    case 'record': {
      const fields = type.fields.filter(({ type: inner }) => depth > 1 || inner.kind !== 'record');
      // an errorCode would make the reply a failure (W30); a stackTrace is never returned (W29)
      const inReply = type === contract.responseStatus;
      const members = fields.map((field) => {
        if (inReply && field.json === 'stackTrace') return fc.constant(undefined);
        const value: fc.Arbitrary<Value> =
          inReply && field.json === 'errorCode'
            ? fc.constant({ kind: 'token', text: '""', quotable: false })
            : valuesOf(narrowed(field), contract, options, depth - 1);
        const taken =
          options.nulls && field.nillable && (contract.nulls === 'kept' || isReference(field.type));
        return fc.option(taken ? fc.option(value, { nil: nothing }) : value, { nil: undefined, freq: 2 });
      });
      return fc.tuple(...members).map((values) => ({
        kind: 'record',
        members: fields.flatMap((field, index) => {
          const value = values[index];
          return value === undefined ? [] : [[field.json, value] as const];
        }),
      }));
    }
  }
}

/** Generates values of one variant of a union, with its tag as a member. */
function ofVariant(
  { type, tag }: Variant,
  contract: Contract,
  options: ValueOptions,
  depth: number,
): fc.Arbitrary<Value> {
  const values = valuesOf(type, contract, options, depth - 1);
  if (tag === undefined) return values;
  return fc.tuple(values, fc.constantFrom(...tag.values)).map(([value, text]) => {
    if (value.kind !== 'record') return value;
    const members = value.members.filter(([name]) => name !== tag.member);
    return { kind: 'record', members: [[tag.member, { kind: 'token', text, quotable: false }], ...members] };
  });
}

/** Returns the next pseudorandom number below `n`, determined by the seed. */
export type Pick = (n: number) => number;

export const inOrder: Pick = () => 0;

export function picker(seed: number): Pick {
  let state = seed;
  return (n) => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n;
  };
}

export function shuffle<Item>(items: readonly Item[], pick: Pick): Item[] {
  const rest = [...items];
  return items.map(() => rest.splice(pick(rest.length), 1)[0] as Item);
}

/** Variations in writing a value: blanks, the order of a record's members, the form of names and numbers. */
export interface Telling {
  readonly pick: Pick;
  readonly name: (name: string) => string;
  readonly token: (text: string, quotable: boolean) => string;
}

export const canonical: Telling = { pick: inOrder, name: JSON.stringify, token: (text) => text };

/** Writes a value as JSON text. */
export function tell(value: Value, telling: Telling = canonical): string {
  const { pick } = telling;
  const blank = () => ['', '', '', ' ', '\r\n\t'][pick(5)] ?? '';
  const write = (inner: Value): string => {
    if (inner.kind === 'token') return telling.token(inner.text, inner.quotable);
    if (inner.kind === 'list') {
      return `[${inner.items.map((item) => blank() + write(item) + blank()).join(',')}${inner.items.length === 0 ? blank() : ''}]`;
    }
    const members = inner.kind === 'record' ? shuffle(inner.members, pick) : inner.members;
    const name = inner.kind === 'record' ? telling.name : JSON.stringify;
    return `{${members.map(([key, member]) => `${blank()}${name(key)}${blank()}:${blank()}${write(member)}${blank()}`).join(',')}}`;
  };
  return write(value);
}

/** Converts a JSON text so that equal texts are deeply equal: members by name, numbers by digits. */
export function comparable(text: string): unknown {
  const of = (seen: Seen): unknown => {
    if ('items' in seen) return seen.items.map(of);
    if ('members' in seen) return new Map(seen.members.map(([name, member]) => [name, of(member)]));
    return seen;
  };
  return of(pull(text));
}
