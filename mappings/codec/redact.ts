import type { Limits } from '../contract/limits.ts';
import type { Contract, Field, RecordType, Type } from '../contract/model.ts';
import { JsonReader } from '../json/reader.ts';
import { scalarTable } from './scalars/table.ts';
import { foldAscii, type Hide } from './scalars/text.ts';

/**
 * What a log may show of a value's JSON, as JSON again: values of members that the contract knows by that name and type.
 * Hidden are those it calls personal, the credentials, a responseStatus, whose texts may quote any of it, JSON of no
 * type, and of members that the contract lacks the names too. Throws JsonError.
 *
 * @param hide takes the caller's secrets out of a text, wherever they stand (W25)
 */
export type Redact = (json: string, type: Type, hide: Hide) => string;

const hidden = '"***"';
/** Characters of one string that are shown. */
const longestText = 256;

/** Characters of one message in the log, with `SOAPBRIDGE_LOG_MESSAGES`. */
export const maxLoggedCharacters = 16 * 1024;

/** Reads what was read before, so neither depth nor number of members is bounded here. */
const unbounded = { jsonDepth: Number.POSITIVE_INFINITY, jsonMembers: Number.POSITIVE_INFINITY };

/**
 * The redaction of a contract's values; one that got longer than the limit ends with `…`. One function: its parts read one
 * another's values, and share what is left of the limit.
 */
export function compileRedact(contract: Contract, limits: Limits): Redact {
  const { personal, credentials, responseStatus } = contract;
  const names = credentials?.member === undefined ? personal : [...personal, credentials.member];
  const hiddenNames = new Set(names.map(foldAscii));
  const fieldsOf = fieldTables();
  return (text, type, hide) => {
    const json = new JsonReader(text, { ...limits, ...unbounded });
    let left = limits.loggedMessage ?? maxLoggedCharacters;
    return valueText([type]);

    function valueText(types: readonly Type[]): string {
      const open = openUnions(types);
      const code = json.peek();
      if (code === 110) return json.literal();
      if (code === 123) return objectOf(open);
      if (code === 91) return arrayOf(open);
      return code === 34 ? textOf(open) : tokenOf(open);
    }

    function objectOf(types: readonly Type[]): string {
      const holders = types.filter(({ kind }) => kind === 'record' || kind === 'map');
      if (holders.length === 0 || holders.includes(responseStatus)) return skipped();
      const members: string[] = [];
      let unknown = 0;
      json.enter();
      for (let first = true; left > 0 && json.next(first, 125); first = false) {
        const name = json.name();
        const inner = holders.flatMap((holder) => memberTypes(holder, name));
        if (inner.length === 0) {
          json.skip();
          unknown++;
        } else {
          const key = shown(name);
          members.push(`${key}:${hiddenNames.has(foldAscii(name)) ? skipped() : valueText(inner)}`);
        }
      }
      if (unknown > 0) members.push(`${hidden}:${unknown}`);
      if (left <= 0) members.push('"…":"…"');
      return `{${members.join(',')}}`;
    }

    function arrayOf(types: readonly Type[]): string {
      const holders = types.filter(({ kind }) => kind === 'array' || kind === 'tuple');
      if (holders.length === 0) return skipped();
      const items: string[] = [];
      json.enter();
      for (let index = 0; left > 0 && json.next(index === 0, 93); index++)
        items.push(valueText(holders.flatMap((holder) => itemTypes(holder, index))));
      if (left <= 0) items.push('"…"');
      return `[${items.join(',')}]`;
    }

    function textOf(types: readonly Type[]): string {
      const isText = types.some(
        (each) =>
          each.kind === 'enum' || (each.kind === 'scalar' && scalarTable[each.scalar].json === 'string'),
      );
      return isText ? shown(json.string()) : skipped();
    }

    function tokenOf(types: readonly Type[]): string {
      const start = json.position;
      json.skip();
      const isScalar = types.some((each) => each.kind === 'scalar' && each.scalar !== 'json');
      const token = text.slice(start, json.position);
      left -= token.length;
      return isScalar && hide(token) === token ? token : hidden;
    }

    function memberTypes(type: Type, name: string): readonly Type[] {
      if (type.kind === 'map') return [type.value];
      if (type.kind !== 'record') return [];
      const field = fieldsOf(type).get(foldAscii(name));
      if (field !== undefined) return [field.type];
      const { typed, untyped } = type.additional ?? {};
      return [typed, untyped].flatMap((others) => (others === undefined ? [] : [others.type.value]));
    }

    function shown(text: string): string {
      const clear = hide(text, longestText + 1);
      const cut = clear.length > longestText ? `${clear.slice(0, longestText)}…` : clear;
      left -= cut.length;
      return JSON.stringify(cut);
    }

    function skipped(): string {
      json.skip();
      left -= hidden.length;
      return hidden;
    }
  };
}

/** The type of the item at an index; none where a list ends before it. */
function itemTypes(type: Type, index: number): readonly Type[] {
  if (type.kind === 'array') return [type.item];
  if (type.kind !== 'tuple') return [];
  const item = type.positions[index]?.type ?? type.rest?.type.item;
  return item === undefined ? [] : [item];
}

/** The types that a value may be of: of a union its variants, for which of them it is doesn't matter here. */
function openUnions(types: readonly Type[]): readonly Type[] {
  const open = new Set(types);
  for (const type of open) {
    if (type.kind === 'union') for (const { type: variant } of type.variants) open.add(variant);
  }
  return [...open];
}

/** A record's fields by their folded JSON names, put together when they are first asked for. */
function fieldTables(): (type: RecordType) => ReadonlyMap<string, Field> {
  const tables = new Map<RecordType, ReadonlyMap<string, Field>>();
  return (type) => {
    const table = tables.get(type) ?? new Map(type.fields.map((field) => [foldAscii(field.json), field]));
    tables.set(type, table);
    return table;
  };
}
