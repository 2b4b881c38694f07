import { createZone, type Zone, zoneNamed } from '../codec/scalars/zone.ts';
import type { Contract, Operation } from '../contract/model.ts';
import { suggestion } from '../contract/nearest.ts';
import { expectedInstant, readInstant } from '../contract/times.ts';
import { type Decimal, decimalOf } from '../json/decimal.ts';
import { pointerSegment, type Report } from '../loader/document/error.ts';
import { isNode, type Node, shown } from '../loader/document/node.ts';
import { advance, isAtEnd, type Pattern, parsePattern } from './paths.ts';
import { type Shape, Shapes } from './shapes.ts';

// Rules that explain differences, or change how values are compared (G43).

/** Classes of differences between texts that `text` explains (G40). */
export const textClasses = ['lineEnds', 'whitespace', 'case', 'normalization', 'truncated', 'empty'] as const;

/** States of a value that `absence` treats as equal (G35). */
export const absenceStates = ['absent', 'nil', 'empty'] as const;

/** The largest difference that a rule explains: of numbers, in percent of the legacy value, or of times in ms. */
export type Tolerance =
  | { readonly kind: 'number' | 'percent'; readonly of: Decimal }
  | { readonly kind: 'ms'; readonly of: number };

/** The action of a rule (G43). */
export type RuleAction =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'tolerance'; readonly most: Tolerance }
  /** Values of the new reply by values of the legacy reply. */
  | { readonly kind: 'map'; readonly values: ReadonlyMap<string, string> }
  | { readonly kind: 'absence'; readonly states: ReadonlySet<string> }
  | { readonly kind: 'text'; readonly classes: ReadonlySet<string> }
  /** `key` is undefined for a multiset. */
  | { readonly kind: 'sameSet'; readonly key: string | undefined }
  | { readonly kind: 'timeZone'; readonly zone: Zone };

/** A rule of `migration.compare.rules`. */
export interface CompareRule {
  /** Undefined for all operations. */
  readonly operation: string | undefined;
  readonly path: Pattern;
  readonly pathText: string;
  readonly reason: string;
  /** Instant in ms after which the rule has no effect; undefined for none. */
  readonly until: number | undefined;
  readonly action: RuleAction;
}

/** The checked settings `compare.rules` and `compare.strict` (G36, G43). */
export interface CompareSettings {
  /** In order of precedence. A difference names a rule by its index. */
  readonly rules: readonly CompareRule[];
  readonly strict: boolean;
}

/** The settings of a contract without rules. */
export const noCompareRules: CompareSettings = { rules: [], strict: false };

/** Maximum number of rules of a contract. */
export const maxCompareRules = 1_000;

/** The data that rules are checked against. */
export interface RuleFacts {
  readonly contract: Contract;
}

const actions = ['ignore', 'tolerance', 'map', 'absence', 'text', 'sameSet', 'timeZone'] as const;
const keys: readonly string[] = ['operation', 'path', 'reason', 'until', ...actions];

const noRule: CompareRule = {
  operation: undefined,
  path: [],
  pathText: '',
  reason: '',
  until: undefined,
  action: { kind: 'ignore' },
};

/** Returns true if a rule has an effect on an operation at a time in ms (G43, G44). */
export function hasEffect(rule: CompareRule, operation: string, now: number): boolean {
  return !isExpired(rule, now) && (rule.operation === undefined || rule.operation === operation);
}

/** Returns true after the `until` of a rule. */
export function isExpired({ until }: CompareRule, now: number): boolean {
  return until !== undefined && now > until;
}

/** Checks the list `compare.rules` of a contract, and reports all problems (G3, G43). */
export function compileRules(
  stated: readonly unknown[],
  at: string,
  { contract }: RuleFacts,
  report: Report,
): readonly CompareRule[] {
  if (stated.length > maxCompareRules)
    report(at, `expected at most ${maxCompareRules} rules, got ${stated.length}`);
  const reader = new RuleReader(contract, report);
  return stated.slice(0, maxCompareRules).map((rule, index) => reader.rule(rule, `${at}/${index}`));
}

class RuleReader {
  readonly #operations: readonly Operation[];
  readonly #shapes: Shapes;
  readonly #report: Report;

  constructor(contract: Contract, report: Report) {
    this.#operations = contract.operations;
    this.#shapes = new Shapes(contract);
    this.#report = report;
  }

  rule(node: unknown, at: string): CompareRule {
    if (!isNode(node)) {
      this.#report(at, `expected an object with path, reason and an action, got ${shown(node)}`);
      return noRule;
    }
    for (const key of Object.keys(node))
      if (!keys.includes(key))
        this.#report(
          at + pointerSegment(key),
          `expected ${keys.join(', ')}, got ${key}${suggestion(key, keys)}`,
        );
    const { reason, operation, until } = node;
    if (typeof reason !== 'string' || reason.trim() === '')
      this.#report(at, `expected reason, got ${reason === undefined ? 'none' : shown(reason)}`);
    const own = this.#operationsOf(operation, `${at}/operation`);
    const pathText = typeof node.path === 'string' ? node.path : '';
    const path = this.#path(node.path, own, at);
    const action = this.#action(node, at);
    if (action.kind === 'sameSet' && path !== undefined)
      this.#checkSet(action.key, path, pathText, own, `${at}/sameSet`);
    return {
      operation: typeof operation === 'string' ? operation : undefined,
      path: path ?? [],
      pathText,
      reason: typeof reason === 'string' ? reason : '',
      until: until === undefined ? undefined : this.#until(until, `${at}/until`),
      action,
    };
  }

  #operationsOf(name: unknown, at: string): readonly Operation[] {
    if (name === undefined) return this.#operations;
    const found = this.#operations.filter((operation) => operation.name === name);
    if (found.length > 0) return found;
    const known = this.#operations.map((operation) => operation.name);
    const near = typeof name === 'string' ? name + suggestion(name, known) : shown(name);
    this.#report(at, `expected an operation of the contract, got ${near}`);
    return [];
  }

  #path(given: unknown, own: readonly Operation[], at: string): Pattern | undefined {
    if (given === undefined) {
      this.#report(at, 'expected path, got none');
      return undefined;
    }
    const pattern = typeof given === 'string' ? parsePattern(given) : undefined;
    if (pattern === undefined)
      this.#report(
        `${at}/path`,
        `expected a path without positions, such as Line[].Price, got ${shown(given)}`,
      );
    else if (own.length > 0 && !own.some((operation) => !this.#endsOf(pattern, operation).next().done)) {
      const names = own.map(({ name }) => name);
      const all = names.length > 5 ? `${names.slice(0, 5).join(', ')}, …` : names.join(', ');
      this.#report(`${at}/path`, `expected a path in the reply of ${all}, got ${String(given)}`);
    }
    return pattern;
  }

  /** Reports `sameSet` at a path without a list, or with a key that no item has. */
  #checkSet(
    key: string | undefined,
    path: Pattern,
    pathText: string,
    own: readonly Operation[],
    at: string,
  ): void {
    const ends = own.flatMap((operation) => [...this.#endsOf(path, operation)]);
    const lists = ends.filter((shape) => shape.kind === 'list');
    if (ends.some(({ kind }) => kind === 'any')) return;
    if (lists.length === 0) this.#report(at, `expected a path to a list, got ${pathText}`);
    else if (key !== undefined) {
      const known = lists.flatMap(({ item }) => stepsOf(item(), this.#shapes).map(([name]) => String(name)));
      if (!known.includes(key))
        this.#report(at, `expected a member of the items, got ${key}${suggestion(key, known)}`);
    }
  }

  /** Yields the places of an operation's replies that a pattern matches. */
  *#endsOf(pattern: Pattern, operation: Operation): Generator<Shape> {
    const seen = new Map<Shape, Set<number>>();
    const open: (readonly [Shape, number])[] = [[this.#shapes.replyOf(operation), 0]];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [shape, at] = next;
      const places = seen.get(shape) ?? new Set();
      if (places.has(at)) continue;
      seen.set(shape, places.add(at));
      // `**` must lead to a declared member, so that a misspelt name is found
      if (isAtEnd(pattern, at) || (shape.kind === 'any' && pattern[at]?.kind !== 'any')) yield shape;
      for (const [step, inner] of stepsOf(shape, this.#shapes))
        for (const after of advance(pattern, at, step)) open.push([inner, after]);
    }
  }

  #until(given: unknown, at: string): number | undefined {
    const time = readInstant(given);
    if (time !== undefined) return time;
    this.#report(at, `expected ${expectedInstant}, got ${shown(given)}`);
    return undefined;
  }

  #action(node: Node, at: string): RuleAction {
    const stated = actions.filter((name) => node[name] !== undefined);
    const [name] = stated;
    if (name !== undefined && stated.length === 1)
      return readers[name](node[name], (message) => this.#report(`${at}/${name}`, message));
    this.#report(at, `expected exactly one of ${actions.join(', ')}, got ${stated.join(' and ') || 'none'}`);
    return { kind: 'ignore' };
  }
}

/** Returns the members and items of a shape, also of derived types. */
function stepsOf(shape: Shape, shapes: Shapes): readonly (readonly [string | number, Shape])[] {
  if (shape.kind === 'list') return [[0, shape.item()]];
  if (shape.kind !== 'object') return [];
  return shapes.membersOf(shape);
}

type Complain = (message: string) => void;

/** The readers of actions. Each reports a wrong value. */
const readers: {
  readonly [name in (typeof actions)[number]]: (given: unknown, complain: Complain) => RuleAction;
} = {
  ignore: (given, complain) => {
    if (given !== true) complain(`expected true, got ${shown(given)}`);
    return { kind: 'ignore' };
  },
  tolerance: (given, complain) => {
    const most = toleranceOf(given);
    if (most === undefined) complain(`expected a number, a percentage or a duration, got ${shown(given)}`);
    return { kind: 'tolerance', most: most ?? { kind: 'ms', of: 0 } };
  },
  map: (given, complain) => {
    const values = new Map<string, string>();
    if (!isNode(given) || Object.keys(given).length === 0)
      complain(`expected an object with \`legacy value: new value\`, got ${shown(given)}`);
    else
      for (const [legacy, value] of Object.entries(given)) {
        const text = scalarText(value);
        if (text === undefined) complain(`expected a text for ${legacy}, got ${shown(value)}`);
        else values.set(legacy, text);
      }
    return { kind: 'map', values };
  },
  absence: (given, complain) => {
    const states = wordsOf(given, absenceStates);
    if (states === undefined || states.size < 2)
      complain(`expected a list of at least two of ${absenceStates.join(', ')}, got ${shown(given)}`);
    return { kind: 'absence', states: states ?? new Set() };
  },
  text: (given, complain) => {
    const classes = wordsOf(given, textClasses);
    if (classes === undefined || classes.size === 0)
      complain(`expected a list of ${textClasses.join(', ')}, got ${shown(given)}`);
    return { kind: 'text', classes: classes ?? new Set() };
  },
  sameSet: (given, complain) => {
    const isKey = typeof given === 'string' && given !== '';
    if (!isKey && given !== true) complain(`expected true or a member of the items, got ${shown(given)}`);
    return { kind: 'sameSet', key: isKey ? given : undefined };
  },
  timeZone: (given, complain) => {
    const zone = typeof given === 'string' ? zoneNamed(given) : undefined;
    if (zone === undefined) complain(`expected an IANA time zone, got ${shown(given)}`);
    return { kind: 'timeZone', zone: zone ?? createZone('UTC') };
  },
};

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function toleranceOf(given: unknown): Tolerance | undefined {
  const text = scalarText(given);
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?(?:e-?\d{1,3})?) ?(%|ms|s|m|h|d)?$/i.exec(text ?? '') ?? [];
  const of = number === undefined ? undefined : decimalOf(number);
  if (of === undefined || typeof given === 'boolean') return undefined;
  const ms = unitMs[unit];
  return ms === undefined
    ? { kind: unit === '%' ? 'percent' : 'number', of }
    : { kind: 'ms', of: Number(number) * ms };
}

function scalarText(value: unknown): string | undefined {
  const isScalar = ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
  return isScalar ? String(value) : undefined;
}

/** Returns the words of a list, or of one word; undefined for other values and other words. */
function wordsOf(given: unknown, known: readonly string[]): ReadonlySet<string> | undefined {
  const all: readonly unknown[] = Array.isArray(given) ? given : [given];
  const words = all.flatMap((word) => (typeof word === 'string' && known.includes(word) ? [word] : []));
  return words.length === all.length ? new Set(words) : undefined;
}
