import { foldAscii } from '../codec/scalars/text.ts';
import type { Zone } from '../codec/scalars/zone.ts';
import type { SimpleType } from '../contract/type-graph.ts';
import type { Part } from '../json/parts.ts';
import type { Comparison, Difference, DifferenceKind, Explained, Note } from './comparison.ts';
import { matches, type ReplyPath, replyPathText } from './paths.ts';
import { type CompareRule, type CompareSettings, hasEffect, type RuleAction } from './rules.ts';
import { isWithin, scalarKey } from './scalars.ts';
import { type Sensitive, sensitivityOf } from './sensitivity.ts';
import type { Shape } from './shapes.ts';

/** Maximum number of differences, of explained differences and of notes that a comparison keeps (G40). */
export const maxDifferences = 200;

/** Maximum number of characters of a value in a difference (G40). */
export const maxValueCharacters = 256;

/** Maximum number of steps of a comparison (G40). */
export const maxCompareSteps = 20_000_000;

/** Thrown by a comparison that takes too many steps. */
export class TooMuchWork extends Error {}

/** A value, or none. */
export type Value = Part | undefined;

/** State of a value (G35). An array, an object or a text without content is `empty`. */
export type State = 'absent' | 'nil' | 'empty' | 'present';

/** Returns the state of a value. An object may have the attributes of a nil element (A25). */
export function stateOf(value: Value): State {
  if (value === undefined) return 'absent';
  if (value.kind === 'null') return 'nil';
  if (value.kind === 'text') return value.text === '' ? 'empty' : 'present';
  if (value.kind === 'list') return value.items.length === 0 ? 'empty' : 'present';
  if (value.members.length === 0) return 'empty';
  return value.members[0]?.[0] === '@nil' ? 'nil' : 'present';
}

/** A difference before its rules are known. */
export interface Found {
  readonly kind: DifferenceKind;
  readonly class?: string | undefined;
  readonly legacy?: Value;
  readonly new?: Value;
  /** Texts of a side that are no values of the reply, for example the name of a type. */
  readonly texts?: Pick<Difference, 'legacy' | 'new'>;
  /** Type of two scalars. */
  readonly type?: SimpleType;
  /** Shape of the values; undefined for an unknown one. */
  readonly shape?: Shape;
}

/** A rule that has an effect now, with its index in the settings. */
interface Effective {
  readonly rule: CompareRule;
  readonly index: number;
}

/**
 * The differences that a comparison keeps. If there is no place left, a difference of a new finding (G45) replaces one
 * of a finding with several.
 */
class Kept<One extends Difference> {
  readonly all: One[] = [];
  /** Number of differences that were not kept. */
  more = 0;
  /** The finding of each kept difference. */
  readonly #names: string[] = [];
  readonly #counts = new Map<string, number>();

  get isFull(): boolean {
    return this.all.length >= maxDifferences;
  }

  /** Makes a place for a difference of a finding. Counts it and returns false if it has no place. */
  hasPlaceFor(name: string): boolean {
    if (!this.isFull) return true;
    this.more++;
    if (this.#counts.has(name)) return false;
    const at = this.#names.findLastIndex((one) => (this.#counts.get(one) ?? 0) > 1);
    const other = this.#names[at];
    if (other === undefined) return false;
    this.#counts.set(other, (this.#counts.get(other) ?? 0) - 1);
    this.#names.splice(at, 1);
    this.all.splice(at, 1);
    return true;
  }

  add(name: string, one: One): void {
    this.all.push(one);
    this.#names.push(name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}

/** Collects the differences and notes of one comparison, explains them, and counts steps (G36, G40, G44). */
export class Sink {
  /** The path of the current value. */
  readonly path: ReplyPath[number][] = [];
  /** Number of objects without a declared type around the current value. */
  openDepth = 0;
  /** True if a rule has a time zone. */
  readonly hasZones: boolean;
  readonly #rules: readonly Effective[];
  readonly #strict: boolean;
  readonly #sensitive: readonly Sensitive[];
  readonly #differences = new Kept<Difference>();
  readonly #explained = new Kept<Explained>();
  readonly #notes = new Map<string, Note>();
  #isDifferent = false;
  #steps = 0;

  /** @param now time in ms, for `until` of rules */
  constructor(
    operation: string,
    { rules, strict }: CompareSettings,
    sensitive: readonly Sensitive[],
    now: number,
  ) {
    const all = rules.map((rule, index) => ({ rule, index }));
    this.#rules = all.filter(({ rule }) => hasEffect(rule, operation, now));
    this.hasZones = this.#rules.some(({ rule }) => rule.action.kind === 'timeZone');
    this.#strict = strict;
    this.#sensitive = sensitive;
  }

  /** Counts steps. Throws TooMuchWork. */
  take(steps: number): void {
    this.#steps += steps;
    if (this.#steps > maxCompareSteps) throw new TooMuchWork();
  }

  /** Returns the action of this kind of the first rule at the current path; undefined for none. */
  actionAt<Kind extends RuleAction['kind']>(kind: Kind): Extract<RuleAction, { kind: Kind }> | undefined {
    for (const { rule } of this.#rules) {
      const { action } = rule;
      if (isAction(action, kind) && this.#matches(rule)) return action;
    }
    return undefined;
  }

  #matches({ path }: CompareRule): boolean {
    this.take(path.length + this.path.length);
    return matches(path, this.path);
  }

  /** Adds a difference at the current path. */
  add(found: Found): void {
    this.take(1);
    const rule = this.#rules.find((one) => this.#matches(one.rule) && this.#explains(one.rule, found));
    this.#isDifferent ||= rule === undefined;
    if (rule === undefined) this.#keepOne(this.#differences, found, (one) => one);
    else this.#keepOne(this.#explained, found, (one) => ({ ...one, rule: rule.index }));
  }

  #keepOne<One extends Difference>(kept: Kept<One>, found: Found, made: (one: Difference) => One): void {
    if (kept.isFull) this.take(this.path.length);
    const name = `${this.path.map((step) => (typeof step === 'string' ? step : '[]')).join('.')} ${found.kind}`;
    if (kept.hasPlaceFor(name)) kept.add(name, made(this.#difference(found)));
  }

  #difference(found: Found): Difference {
    const { kind, class: its, texts } = found;
    const legacy = texts?.legacy ?? ('legacy' in found ? shownValue(found.legacy) : undefined);
    const fresh = texts?.new ?? ('new' in found ? shownValue(found.new) : undefined);
    const sensitivity = this.#sensitivityOf(found);
    return {
      path: replyPathText(this.path),
      kind,
      ...(its !== undefined && { class: its }),
      ...(legacy !== undefined && { legacy: legacy.slice(0, maxValueCharacters) }),
      ...(fresh !== undefined && { new: fresh.slice(0, maxValueCharacters) }),
      ...(sensitivity !== undefined && { sensitivity }),
    };
  }

  #explains({ action }: CompareRule, { kind, class: its = '', type, ...values }: Found): boolean {
    if (action.kind === 'ignore') return true;
    if (action.kind === 'absence')
      return kind === 'absence' && its.split(' ').every((state) => action.states.has(state));
    if (kind !== 'value') return false;
    if (action.kind === 'text') return action.classes.has(its);
    const [legacy, fresh] = [values.legacy, values.new];
    if (legacy?.kind !== 'text' || fresh?.kind !== 'text') return false;
    if (action.kind === 'map') return isMapped(action.values, type, legacy.text, fresh.text);
    if (action.kind !== 'tolerance' || type === undefined) return false;
    return isWithin(type, legacy.text, fresh.text, action.most, this.zone());
  }

  /** Returns the zone of a dateTime without an offset at the current path (G43). */
  zone(): Zone | undefined {
    return this.actionAt('timeZone')?.zone;
  }

  /** Returns true if a difference at the current path, or around it, is kept. */
  hasDifference(): boolean {
    const path = replyPathText(this.path);
    const isAround = ({ path: one }: Difference): boolean =>
      path.startsWith(one) && (path.length === one.length || /[.[]/.test(path[one.length] ?? ''));
    return this.#differences.all.some(isAround) || this.#explained.all.some(isAround);
  }

  /** Returns true in a list that is compared without its order. */
  isInSet(): boolean {
    return this.#rules.some(
      ({ rule }) =>
        rule.action.kind === 'sameSet' &&
        this.path.some((_, at) => matches(rule.path, this.path.slice(0, at + 1))),
    );
  }

  /** Adds a note at the current path. With `strict` it is a difference (G36). */
  note(note: Note['note'], values: Pick<Found, 'legacy' | 'new' | 'shape'>): void {
    if (this.#strict) this.add({ kind: 'value', class: note, ...values });
    else this.#keep({ path: replyPathText(this.path), note });
  }

  /** Adds a violation of the contract at the current path, once. With `strict` it is a difference (G34, G36). */
  violation(code: string): void {
    const path = replyPathText(this.path);
    if (this.#strict) this.add({ kind: 'value', class: 'offContract', texts: { legacy: code } });
    else if (!this.#notes.has(`${path} offContract`)) this.#keep({ path, note: 'offContract', code });
  }

  #keep(note: Note): void {
    if (this.#notes.size < maxDifferences) this.#notes.set(`${note.path} ${note.note}`, note);
  }

  #sensitivityOf({ legacy, new: fresh, shape }: Found): Difference['sensitivity'] {
    if (this.#sensitive.length === 0) return undefined;
    const names = this.path.flatMap((step) => (typeof step === 'string' ? [foldAscii(step)] : []));
    return sensitivityOf(this.#sensitive, [legacy, fresh], { names, shape, isOpen: this.openDepth > 0 });
  }

  /** Returns the result so far. */
  comparison(): Comparison {
    const isExplained = this.#explained.all.length > 0;
    return {
      result: this.#isDifferent ? 'different' : isExplained ? 'explained' : 'equal',
      differences: this.#differences.all,
      explained: this.#explained.all,
      notes: [...this.#notes.values()],
      more: this.#differences.more + this.#explained.more,
    };
  }
}

function isAction<Kind extends RuleAction['kind']>(
  action: RuleAction,
  kind: Kind,
): action is Extract<RuleAction, { kind: Kind }> {
  return action.kind === kind;
}

/** Returns true if the rule maps the legacy value to the new one. Numbers are compared by value. */
function isMapped(
  values: ReadonlyMap<string, string>,
  type: SimpleType | undefined,
  legacy: string,
  fresh: string,
): boolean {
  const keyOf = (text: string): string => (type === undefined ? text : scalarKey(type, text, undefined));
  for (const [from, to] of values)
    if ((from === legacy || keyOf(from) === keyOf(legacy)) && (to === fresh || keyOf(to) === keyOf(fresh)))
      return true;
  return false;
}

/** Returns the text of a value in a difference (G40). */
function shownValue(value: Value): string {
  if (value === undefined) return '(absent)';
  if (value.kind === 'text') return value.text === '' ? '(empty)' : value.text;
  return stateOf(value) === 'nil' || value.kind === 'null' ? '(nil)' : value.json;
}
