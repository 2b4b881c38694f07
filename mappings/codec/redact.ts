import type { Limits } from '../contract/limits.ts';
import type { Contract, Field, RecordType, Type } from '../contract/model.ts';
import { JsonReader } from '../json/reader.ts';
import { scalarTable } from './scalars/table.ts';
import { foldAscii, type Hide } from './scalars/text.ts';

/**
 * Returns the part of a value's JSON that a log may show, as JSON: members that the contract knows by name and type.
 * Personal members, the credentials, a responseStatus (its texts may quote other values) and JSON without a type are
 * hidden. For unknown members, the names are hidden too. Throws JsonError.
 *
 * @param hide replaces the caller's secrets in a text (W25)
 */
export type Redact = (json: string, type: Type, hide: Hide) => string;

const hidden = '"***"';
/** Maximum number of characters that are shown of one string. */
const longestText = 256;

/** Maximum number of characters that are logged of one message, with `SOAPBRIDGE_LOG_MESSAGES`. */
export const maxLoggedCharacters = 16 * 1024;

/** The text was parsed before, so depth and number of members are not limited here. */
const unbounded = { jsonDepth: Number.POSITIVE_INFINITY, jsonMembers: Number.POSITIVE_INFINITY };

/** Compiles the redaction of a contract's values. A text that exceeds the limit ends with `…`. */
export function compileRedact(contract: Contract, limits: Limits): Redact {
  const { personal, credentials, responseStatus } = contract;
  const names = credentials?.member === undefined ? personal : [...personal, credentials.member];
  const hiddenNames = new Set(names.map(foldAscii));
  const terms: Terms = { limits, responseStatus, hiddenNames, fieldsOf: fieldTables() };
  return (json, type, hide) => new Redaction(json, hide, terms).valueText([type]);
}

/** State that the redactions of a contract share. */
interface Terms {
  readonly limits: Limits;
  readonly responseStatus: Contract['responseStatus'];
  readonly hiddenNames: ReadonlySet<string>;
  readonly fieldsOf: (type: RecordType) => ReadonlyMap<string, Field>;
}

/** Redacts one text. */
class Redaction {
  readonly #text: string;
  readonly #hide: Hide;
  readonly #terms: Terms;
  readonly #json: JsonReader;
  /** Number of characters that may still be written. */
  #left: number;

  constructor(text: string, hide: Hide, terms: Terms) {
    this.#text = text;
    this.#hide = hide;
    this.#terms = terms;
    this.#json = new JsonReader(text, { ...terms.limits, ...unbounded });
    this.#left = terms.limits.loggedMessage ?? maxLoggedCharacters;
  }

  valueText(types: readonly Type[]): string {
    const open = openUnions(types);
    const code = this.#json.peek();
    if (code === 110) return this.#json.literal();
    if (code === 123) return this.#objectOf(open);
    if (code === 91) return this.#arrayOf(open);
    return code === 34 ? this.#textOf(open) : this.#tokenOf(open);
  }

  #objectOf(types: readonly Type[]): string {
    const json = this.#json;
    const { responseStatus, hiddenNames } = this.#terms;
    const holders = types.filter(({ kind }) => kind === 'record' || kind === 'map');
    if (holders.length === 0 || holders.includes(responseStatus)) return this.#skipped();
    const members: string[] = [];
    let unknown = 0;
    json.enter();
    for (let first = true; this.#left > 0 && json.next(first, 125); first = false) {
      const name = json.name();
      const inner = holders.flatMap((holder) => this.#memberTypes(holder, name));
      if (inner.length === 0) {
        json.skip();
        unknown++;
      } else {
        const key = this.#shown(name);
        members.push(`${key}:${hiddenNames.has(foldAscii(name)) ? this.#skipped() : this.valueText(inner)}`);
      }
    }
    if (unknown > 0) members.push(`${hidden}:${unknown}`);
    if (this.#left <= 0) members.push('"…":"…"');
    return `{${members.join(',')}}`;
  }

  #arrayOf(types: readonly Type[]): string {
    const holders = types.filter(({ kind }) => kind === 'array' || kind === 'tuple');
    if (holders.length === 0) return this.#skipped();
    const items: string[] = [];
    this.#json.enter();
    for (let index = 0; this.#left > 0 && this.#json.next(index === 0, 93); index++)
      items.push(this.valueText(holders.flatMap((holder) => itemTypes(holder, index))));
    if (this.#left <= 0) items.push('"…"');
    return `[${items.join(',')}]`;
  }

  #textOf(types: readonly Type[]): string {
    const isText = types.some(
      (each) =>
        each.kind === 'enum' || (each.kind === 'scalar' && scalarTable[each.scalar].json === 'string'),
    );
    return isText ? this.#shown(this.#json.string()) : this.#skipped();
  }

  #tokenOf(types: readonly Type[]): string {
    const start = this.#json.position;
    this.#json.skip();
    const isScalar = types.some((each) => each.kind === 'scalar' && each.scalar !== 'json');
    const token = this.#text.slice(start, this.#json.position);
    this.#left -= token.length;
    return isScalar && this.#hide(token) === token ? token : hidden;
  }

  #memberTypes(type: Type, name: string): readonly Type[] {
    if (type.kind === 'map') return [type.value];
    if (type.kind !== 'record') return [];
    const field = this.#terms.fieldsOf(type).get(foldAscii(name));
    if (field !== undefined) return [field.type];
    const { typed, untyped } = type.additional ?? {};
    return [typed, untyped].flatMap((others) => (others === undefined ? [] : [others.type.value]));
  }

  #shown(text: string): string {
    const clear = this.#hide(text, longestText + 1);
    const cut = clear.length > longestText ? `${clear.slice(0, longestText)}…` : clear;
    this.#left -= cut.length;
    return JSON.stringify(cut);
  }

  #skipped(): string {
    this.#json.skip();
    this.#left -= hidden.length;
    return hidden;
  }
}

/** Returns the type of the item at an index; none after the end of a tuple. */
function itemTypes(type: Type, index: number): readonly Type[] {
  if (type.kind === 'array') return [type.item];
  if (type.kind !== 'tuple') return [];
  const item = type.positions[index]?.type ?? type.rest?.type.item;
  return item === undefined ? [] : [item];
}

/** Returns the possible types of a value. A union is replaced by all its variants, because any of them may apply. */
function openUnions(types: readonly Type[]): readonly Type[] {
  const open = new Set(types);
  for (const type of open) {
    if (type.kind === 'union') for (const { type: variant } of type.variants) open.add(variant);
  }
  return [...open];
}

/** Returns a function that maps a record's case-folded JSON names to fields. Each table is built on first use. */
function fieldTables(): (type: RecordType) => ReadonlyMap<string, Field> {
  const tables = new Map<RecordType, ReadonlyMap<string, Field>>();
  return (type) => {
    const table = tables.get(type) ?? new Map(type.fields.map((field) => [foldAscii(field.json), field]));
    tables.set(type, table);
    return table;
  };
}
