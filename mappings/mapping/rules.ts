import type { Limits } from '../contract/limits.ts';
import { pointerSegment, type Report } from '../loader/document/error.ts';
import { isNode, shown } from '../loader/document/node.ts';
import { readSettings } from '../loader/document/settings-file.ts';
import { mappingSettings, ruleKeys } from './notation.ts';
import { type Path, parsePath } from './paths.ts';
import { Digits, numberForm, textOfScalar, type Value } from './value.ts';

/** A condition on the value at a path (M4). */
export interface Condition {
  readonly pointer: string;
  readonly path: Path;
  /** Required state, or the allowed texts. */
  readonly is: 'present' | 'absent' | readonly string[];
}

/** Rules by target path, in the author's order. */
export interface Group {
  readonly pointer: string;
  readonly rules: readonly { readonly pointer: string; readonly target: Path; readonly rule: Rule }[];
}

/** A rule of a mapping as written in the file (M2). */
export interface Rule {
  readonly pointer: string;
  readonly source:
    | { readonly kind: 'from'; readonly path: Path }
    | { readonly kind: 'each'; readonly path: Path }
    | { readonly kind: 'const'; readonly value: Value }
    | { readonly kind: 'header'; readonly name: string }
    /** A new UUID for each use. */
    | { readonly kind: 'uuid' }
    | { readonly kind: 'list'; readonly items: readonly Rule[] }
    /** Rules for members of the target, with unchanged source paths. */
    | { readonly kind: 'group' };
  readonly map: Group | undefined;
  readonly auto: boolean;
  readonly values: ReadonlyMap<string, Value> | undefined;
  readonly default: Value | undefined;
  readonly as: 'text' | 'number' | 'boolean' | 'first' | 'list' | undefined;
  readonly date: readonly [string, string] | undefined;
  readonly join: string | undefined;
  readonly split: string | undefined;
  readonly when: readonly Condition[];
  readonly else: Rule | undefined;
  readonly code: string | undefined;
}

/** A rule that converts an error response to a declared fault, as written in the file (M7). */
export interface FaultRule {
  readonly pointer: string;
  /** The key in the file: the name of the fault, or of its element. */
  readonly name: string;
  readonly when: readonly Condition[];
  readonly map: Group;
}

/** An entry of an operation, as written in the file (M1). */
export interface Entry {
  readonly pointer: string;
  readonly when: readonly Condition[];
  readonly forEach: Path | undefined;
  readonly method: string;
  readonly path: string;
  readonly at: Path;
  readonly to: Path;
  readonly from: Path;
  readonly auto: boolean;
  readonly autoReply: boolean;
  readonly request: Group;
  readonly omit: readonly { readonly pointer: string; readonly path: Path }[];
  readonly reply: Group;
  readonly error: Group | undefined;
  /** Fault rules in the order of the file. */
  readonly faults: readonly FaultRule[];
  readonly code: string | undefined;
}

/** The entries of a `mapping.yaml` by WSDL operation. The first entry with a matching `when` is used. */
export type Entries = ReadonlyMap<string, readonly Entry[]>;

/** Reads the rules of a parsed file. Errors are reported, and invalid parts are left out. */
export function readEntries(root: unknown, report: Report, limits: Limits): Entries {
  const file = readSettings(mappingSettings, root ?? {}, '', report) ?? new Map<string, unknown>();
  const reader = new RuleReader(report, limits);
  const entries = new Map<string, readonly Entry[]>();
  for (const [name, raw] of file) {
    const at = pointerSegment(name);
    entries.set(
      name,
      Array.isArray(raw)
        ? raw.map((one, index) => reader.entry(one, `${at}/${index}`))
        : [reader.entry(raw, at)],
    );
  }
  if (entries.size === 0) report('', 'expected at least one operation of the WSDL, got none');
  return entries;
}

/** Maximum number of rules of a mapping. Each use of a YAML alias counts. */
export const maxRules = 10_000;

type Raw = Readonly<Record<string, unknown>>;

class RuleReader {
  readonly #report: Report;
  readonly #limits: Limits;
  readonly #maxRules: number;
  #count = 0;

  constructor(report: Report, limits: Limits) {
    this.#report = report;
    this.#limits = limits;
    this.#maxRules = limits.mappingRules ?? maxRules;
  }

  entry(value: unknown, pointer: string): Entry {
    const raw = (value ?? {}) as Raw;
    const calls = raw.call instanceof Map ? [...raw.call] : [];
    const [call] = calls;
    if (call === undefined || calls.length > 1)
      this.#report(
        `${pointer}/call`,
        `expected one method with its path, such as POST: /orders, got ${calls.length}`,
      );
    const [method = '', path = ''] = call ?? [];
    return {
      pointer,
      when: this.#conditions(raw.when, `${pointer}/when`),
      forEach: raw.forEach === undefined ? undefined : this.#path(raw.forEach, `${pointer}/forEach`),
      method: method.toUpperCase(),
      path,
      at: this.#begin(raw.at, `${pointer}/at`),
      to: this.#begin(raw.to, `${pointer}/to`),
      from: this.#begin(raw.from, `${pointer}/from`),
      auto: raw.auto !== undefined,
      autoReply: raw.autoReply !== undefined,
      request: this.#group(raw.request, `${pointer}/request`, 0),
      omit: ((raw.omit ?? []) as readonly unknown[]).map((one, index) => ({
        pointer: `${pointer}/omit/${index}`,
        path: this.#path(one, `${pointer}/omit/${index}`),
      })),
      reply: this.#group(raw.reply, `${pointer}/reply`, 0),
      error: raw.error === undefined ? undefined : this.#group(raw.error, `${pointer}/error`, 0),
      faults: this.#faults(raw.fault, `${pointer}/fault`),
      code: raw.code as string | undefined,
    };
  }

  #faults(value: unknown, pointer: string): readonly FaultRule[] {
    if (!(value instanceof Map)) return [];
    return [...value].flatMap(([name, ways]) => {
      const at = pointer + pointerSegment(name);
      const isList = Array.isArray(ways);
      return (isList ? (ways as readonly Raw[]) : [ways as Raw]).map((raw, index) => {
        const place = isList ? `${at}/${index}` : at;
        const when = this.#conditions(raw.when, `${place}/when`);
        return { pointer: place, name, when, map: this.#group(raw.map, `${place}/map`, 0) };
      });
    });
  }

  #begin(value: unknown, pointer: string): Path {
    return value === undefined ? [] : this.#path(value, pointer);
  }

  #path(value: unknown, pointer: string): Path {
    const text = String(value);
    const path = parsePath(text);
    if (path === undefined) {
      this.#report(pointer, `expected a path such as a.b, a[0] or a[k=v], got ${shown(text)}`);
      return [];
    }
    if (path.length > this.#limits.jsonDepth)
      this.#report(pointer, `expected at most ${this.#limits.jsonDepth} steps in a path, got ${path.length}`);
    return path;
  }

  #group(value: unknown, pointer: string, depth: number): Group {
    const rules: { pointer: string; target: Path; rule: Rule }[] = [];
    for (const [text, inner] of value instanceof Map ? value : []) {
      const at = pointer + pointerSegment(text);
      const target = this.#path(text, at);
      if (target.some(({ kind }) => kind !== 'member'))
        this.#report(at, 'expected only names in a target path. Fill a list with each or list');
      else if (target.length === 0) this.#report(at, 'expected a member, got an empty path');
      else rules.push({ pointer: at, target, rule: this.#rule(inner, at, depth + 1) });
    }
    return { pointer, rules };
  }

  #rule(value: unknown, pointer: string, depth: number): Rule {
    this.#count++;
    if (this.#count === this.#maxRules + 1)
      this.#report(
        pointer,
        `expected at most ${this.#maxRules} rules, aliases counted each time, got more rules`,
      );
    if (depth > this.#limits.jsonDepth || this.#count > this.#maxRules) {
      if (depth > this.#limits.jsonDepth)
        this.#report(
          pointer,
          `expected at most ${this.#limits.jsonDepth} levels of nested rules, got more levels`,
        );
      return { ...emptyRule, pointer };
    }
    if (typeof value === 'string')
      return { ...emptyRule, pointer, source: { kind: 'from', path: this.#path(value, pointer) } };
    if (value instanceof Map) return { ...emptyRule, pointer, map: this.#group(value, pointer, depth) };
    const raw = (value ?? {}) as Raw;
    this.#refuseUnused(raw, pointer);
    return {
      pointer,
      source: this.#source(raw, pointer, depth),
      map: raw.map === undefined ? undefined : this.#group(raw.map, `${pointer}/map`, depth),
      auto: raw.auto !== undefined,
      values: this.#values(raw.values, `${pointer}/values`),
      default: raw.default === undefined ? undefined : this.#value(raw.default, `${pointer}/default`),
      as: raw.as as Rule['as'],
      date: this.#date(raw.date, `${pointer}/date`),
      join: raw.join as string | undefined,
      split: raw.split as string | undefined,
      when: this.#conditions(raw.when, `${pointer}/when`),
      else: raw.else === undefined ? undefined : this.#rule(raw.else, `${pointer}/else`, depth + 1),
      code: raw.code as string | undefined,
    };
  }

  /** Reports keywords that have no effect in combination with others. */
  #refuseUnused(raw: Raw, pointer: string): void {
    const deep = (['map', 'auto'] as const).filter((key) => raw[key] !== undefined);
    const whole = (['const', 'list', 'header', 'uuid'] as const).find((key) => raw[key] !== undefined);
    const changes = conversions.filter((key) => raw[key] !== undefined);
    const conflicting = deep[0] ?? (whole === 'header' || whole === 'uuid' ? undefined : whole);
    const unused = [
      ...(conflicting === undefined ? [] : changes.map((key) => [key, conflicting] as const)),
      ...(whole === undefined ? [] : deep.map((key) => [key, whole] as const)),
    ];
    for (const [key, other] of unused)
      this.#report(`${pointer}/${key}`, `expected no ${key} with ${other}, which ignores it`);
  }

  #source(raw: Raw, pointer: string, depth: number): Rule['source'] {
    const given = (['from', 'each', 'const', 'header', 'list', 'uuid'] as const).filter(
      (key) => raw[key] !== undefined,
    );
    if (given.length > 1)
      this.#report(
        pointer,
        `expected one of from, each, const, header, list and uuid, got ${given.join(' and ')}`,
      );
    const [key] = given;
    switch (key) {
      case 'from':
      case 'each':
        return { kind: key, path: this.#path(raw[key], `${pointer}/${key}`) };
      case 'const':
        return { kind: 'const', value: this.#value(raw.const, `${pointer}/const`) };
      case 'header':
        return { kind: 'header', name: String(raw.header).toLowerCase() };
      case 'uuid':
        if (raw.uuid !== true) this.#report(`${pointer}/uuid`, 'expected true, got false');
        return { kind: 'uuid' };
      case 'list': {
        const items = raw.list as readonly unknown[];
        return {
          kind: 'list',
          items: items.map((item, index) => this.#rule(item, `${pointer}/list/${index}`, depth + 1)),
        };
      }
      default:
        if (raw.map === undefined && raw.else === undefined && raw.code === undefined)
          this.#report(pointer, `expected one of ${Object.keys(ruleKeys).slice(0, 7).join(', ')}, got none`);
        return raw.code === undefined ? { kind: 'group' } : { kind: 'from', path: [] };
    }
  }

  #values(value: unknown, pointer: string): ReadonlyMap<string, Value> | undefined {
    if (!(value instanceof Map)) return undefined;
    const table = new Map<string, Value>();
    for (const [key, inner] of value) table.set(key, this.#value(inner, pointer + pointerSegment(key)));
    return table;
  }

  #date(value: unknown, pointer: string): readonly [string, string] | undefined {
    if (!Array.isArray(value)) return undefined;
    const [from, to, ...more] = value as readonly string[];
    if (from !== undefined && to !== undefined && more.length === 0) return [from, to];
    this.#report(pointer, `expected two patterns, the source's and the target's, got ${value.length}`);
    return undefined;
  }

  #conditions(value: unknown, pointer: string): readonly Condition[] {
    if (!(value instanceof Map)) return [];
    return [...value].map(([text, wanted]) => {
      const at = pointer + pointerSegment(text);
      const path = this.#path(text, at);
      if (wanted === 'present' || wanted === 'absent') return { pointer: at, path, is: wanted };
      const texts = Array.isArray(wanted) ? wanted : [wanted];
      if (texts.some((one) => typeof one === 'object'))
        this.#report(at, `expected present, absent, a value or a list of values, got ${shown(wanted)}`);
      return { pointer: at, path, is: texts.map((one) => textOfScalar(this.#value(one, at)) ?? '') };
    });
  }

  /** Reads a constant, with numbers as text. A number that JavaScript would have rounded is rejected. */
  #value(value: unknown, pointer: string): Value {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') {
      const text = String(value);
      if (numberForm.test(text) && text.replaceAll(/\D/g, '').length <= 15) return new Digits(text);
      this.#report(pointer, `expected a number of at most 15 digits, or its text in quotes, got ${text}`);
      return new Digits('0');
    }
    if (Array.isArray(value)) return value.map((item, index) => this.#value(item, `${pointer}/${index}`));
    const members = new Map<string, Value>();
    if (isNode(value))
      for (const [key, inner] of Object.entries(value))
        members.set(key, this.#value(inner, pointer + pointerSegment(key)));
    return members;
  }
}

/** Keywords that convert a value. */
const conversions = ['code', 'split', 'values', 'date', 'as', 'join'] as const;

const emptyRule: Rule = {
  pointer: '',
  source: { kind: 'group' },
  map: undefined,
  auto: false,
  values: undefined,
  default: undefined,
  as: undefined,
  date: undefined,
  join: undefined,
  split: undefined,
  when: [],
  else: undefined,
  code: undefined,
};
