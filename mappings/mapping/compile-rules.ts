import { randomUUID } from 'node:crypto';
import { type Reason, sentence } from '../contract/reason.ts';
import type { Report } from '../loader/document/error.ts';
import { someOf } from '../loader/document/node.ts';
import { Cover } from './cover.ts';
import { compileDates, keepsAll } from './dates.ts';
import { type Path, pathText, valueAtPath, type WhereStep } from './paths.ts';
import type { Condition, Group, Rule } from './rules.ts';
import type { Maker, Scope } from './run.ts';
import type { Kind, Shape } from './schemas.ts';
import { ByText, Digits, isItems, isMembers, numberForm, textOfScalar, type Value } from './value.ts';

/** Compiles the rules of one side, request or reply, to functions that create target values (M2, M3). */

/**
 * A function of the operation's module. It makes the value for a target path (M5). Throws CodeError.
 *
 * @param most maximum number of values in the result, counted like `mappingValues`. The default is `mappingValues`.
 */
export type CodeFunction = (value: Value, at: string, most?: number) => Value | undefined;

/** A module function failed or exceeded the time limit. The reason contains its name and error. */
export class CodeError extends Error {
  override readonly name = 'CodeError';
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(sentence(reason));
    this.reason = reason;
  }
}

/** Context for compiling the rules of one side. */
export interface Side {
  readonly side: 'request' | 'reply';
  readonly problem: Report;
  /** Reports a source value that cannot be reconstructed from the target. */
  readonly oneWay: Report;
  /** Functions of the module. Undefined: the operation names no module. */
  readonly functions: ReadonlyMap<string, CodeFunction> | undefined;
  /** True for the replies of several calls, which are merged by concatenating lists (M4). */
  readonly isGathered: boolean;
}

/** Root of source paths: its shape, and the parts that rules read. */
export interface Source {
  readonly shape: Shape;
  readonly cover: Cover;
  /** True inside an object or item of a response. The document may not describe its members. */
  readonly isInner?: true;
  /**
   * True for an error response. `status` and `header.x` refer to the response even if its body has members with these
   * names.
   */
  readonly isError?: true;
}

/** A target location: the rules of its members, its own rule, and the source of `auto` for the rest. */
interface Place {
  readonly members: Map<string, Place>;
  rule: Rule | undefined;
  auto: Auto | undefined;
  /** True if it is made from one source object. An empty object then gives an empty object. */
  isOfOne?: true;
}

function newPlace(): Place {
  return { members: new Map(), rule: undefined, auto: undefined };
}

/** Source of `auto: same`. */
interface Auto {
  readonly pointer: string;
  /** Path from the root of source paths. */
  readonly path: Path;
  readonly source: Source;
  /** Paths to leave out. */
  readonly omit: Cover;
}

const noOmit = new Cover();

/** The result of `auto` for a source, and the source parts that it reads. */
interface Same {
  readonly make: Maker;
  readonly cover: Cover;
}

/** Shape of any value. */
export const anyShape: Shape = {
  kinds: new Set<Kind>(['object', 'array', 'string', 'number', 'boolean', 'null']),
  members: new Map(),
  others: undefined,
  open: true,
  items: undefined,
  values: undefined,
  base64: false,
};

/** Shape of a response without a documented body. */
export const noBody: Shape = { ...anyShape, open: false, kinds: new Set<Kind>(['null']) };
/** Shape of a text response. */
export const bodyText: Shape = { ...anyShape, open: false, kinds: new Set<Kind>(['string']) };
/** Shape of a binary response, as base64. */
export const bodyBytes: Shape = { ...bodyText, base64: true };

const scalarKinds: readonly Kind[] = ['string', 'number', 'boolean'];

/** Compiles the rules of one side. */
export class RuleCompiler {
  readonly #side: Side;
  #callsFunctions = false;
  readonly #autos = new Map<Shape, Map<Shape, Same>>();
  /** True if compiled lists are concatenated with those of other replies. False inside an item. */
  #isGathered: boolean;
  /** Target lists to which each call adds its own items. */
  readonly #placeLists: string[] = [];
  readonly #filled = new Set<string>();

  constructor(side: Side) {
    this.#side = side;
    this.#isGathered = side.isGathered;
  }

  /** Returns the lists to which each call adds its own items, except lists that rules of `other` also fill. */
  placeListsBeside(other: RuleCompiler): readonly string[] {
    return this.#placeLists.filter((at) => !other.#filled.has(at));
  }

  /** True if a compiled rule calls a function of the module. */
  get callsFunctions(): boolean {
    return this.#callsFunctions;
  }

  /**
   * Compiles rules to a function that makes the whole body.
   *
   * @param prefix target path that the group's targets are relative to
   * @param auto the source of `auto` for the location at the prefix
   */
  body(
    group: Group,
    target: Shape,
    source: Source,
    prefix: Path,
    auto: Pick<Auto, 'pointer' | 'omit'> | undefined,
  ): Maker {
    const root = newPlace();
    const start = this.#placeAt(root, prefix);
    if (auto !== undefined) start.auto = { ...auto, path: [], source };
    this.#fill(start, group);
    return this.#place(root, target, source, '', group.pointer);
  }

  #placeAt(place: Place, path: Path): Place {
    let at = place;
    for (const step of path) {
      if (step.kind !== 'member') continue;
      const inner = at.members.get(step.name) ?? newPlace();
      at.members.set(step.name, inner);
      at = inner;
    }
    return at;
  }

  /** Adds the rules of a rule's `map` to their locations. `auto` fills the rest. */
  #fillBy(place: Place, { map, auto, pointer }: Rule, source: Source): void {
    if (map !== undefined) this.#fill(place, map);
    if (auto) place.auto = { pointer, path: [], source, omit: noOmit };
  }

  #fill(place: Place, group: Group): void {
    for (const { pointer, target, rule } of group.rules) {
      const at = this.#placeAt(place, target);
      if (at.rule !== undefined)
        this.#side.problem(pointer, `expected one rule for ${pathText(target)}, got another`);
      at.rule = rule;
    }
  }

  /** Compiles the rule of a location, or an object made from the rules of its members. */
  #place(place: Place, target: Shape, source: Source, at: string, pointer: string): Maker {
    const { rule, members, auto } = place;
    if (rule !== undefined) {
      const nested = rule.source.kind === 'group' && rule.map !== undefined && rule.when.length === 0;
      if (!nested) {
        if (members.size > 0)
          this.#side.problem(rule.pointer, `expected ${at} to be filled whole or by members, got both`);
        return this.rule(rule, target, source, at);
      }
      this.#fillBy(place, rule, source);
      place.rule = undefined;
      return this.#place(place, target, source, at, rule.pointer);
    }
    if (members.size === 0 && auto !== undefined) return this.#autoAt(auto, target, at);
    return this.#record(place, target, source, at, pointer);
  }

  /** Compiles an object. Members made by rules and by `auto` are in the target's order. */
  #record(place: Place, target: Shape, source: Source, at: string, pointer: string): Maker {
    const { problem } = this.#side;
    if (!target.kinds.has('object')) {
      problem(pointer, `expected members of an object, got ${at || 'a body'}, which is ${kindsText(target)}`);
      return nothing;
    }
    const { auto } = place;
    const names = new Set([
      ...target.members.keys(),
      ...place.members.keys(),
      ...(target.others === undefined ? [] : (auto?.source.shape.members.keys() ?? [])),
    ]);
    const makers = new Map<string, Maker>();
    for (const name of names) {
      const inner = place.members.get(name);
      const member = target.members.get(name)?.shape ?? target.others ?? (target.open ? anyShape : undefined);
      const path = joined(at, name);
      const where = inner?.rule?.pointer ?? pointer;
      if (member === undefined) {
        problem(where, `expected a path of the target, got ${path}; there are ${someNames(target)}`);
        continue;
      }
      const within = auto === undefined || target.open ? undefined : this.#autoMember(auto, name, member);
      if (inner !== undefined) {
        if (inner.rule === undefined && within !== undefined) inner.auto ??= within;
        makers.set(name, this.#place(inner, member, source, path, where));
      } else if (within !== undefined) makers.set(name, this.#autoAt(within, member, path));
    }
    const others = auto === undefined ? undefined : this.#autoOthers(auto, target, names, at);
    const required: string[] = [];
    for (const [name, member] of target.members) {
      if (!member.required) continue;
      if (makers.has(name)) required.push(name);
      else this.#requiredMissing(auto, pointer, at, name);
    }
    return recordMaker(makers, others, required, at, place.isOfOne === true ? [] : auto?.path);
  }

  /**
   * Returns the additional members that `auto` copies, except those in `names`. Undefined if source or target has no
   * additional members, or their values differ in kind.
   */
  #autoOthers(auto: Auto, target: Shape, names: ReadonlySet<string>, at: string): OtherMembers | undefined {
    const { others } = auto.source.shape;
    if (others === undefined || target.others === undefined || !isOfOneKind(others, target.others))
      return undefined;
    const source: Source = { shape: others, cover: new Cover() };
    const make = this.#autoAt({ ...auto, path: [], source, omit: noOmit }, target.others, `${at}.*`);
    return { path: auto.path, names, make };
  }

  #requiredMissing(auto: Auto | undefined, pointer: string, at: string, name: string): void {
    const taken =
      auto === undefined
        ? ''
        : `, and auto finds none of its kind at ${pathText([...auto.path, { kind: 'member', name }])}`;
    this.#side.problem(
      auto?.pointer ?? pointer,
      `expected a rule for ${joined(at, name)}, which the ${this.#side.side === 'request' ? 'call' : 'reply'} requires, got none${taken}`,
    );
  }

  /**
   * Returns the source of `auto` for a member. Undefined if the source has none of the same kind, or it is left out.
   */
  #autoMember(auto: Auto, name: string, target: Shape): Auto | undefined {
    const member = auto.source.shape.members.get(name)?.shape;
    const [omit] = auto.omit.ofMember(name);
    if (member === undefined || omit?.whole === true || !isOfOneKind(member, target)) return undefined;
    const step = [{ kind: 'member', name }] as const;
    return {
      pointer: auto.pointer,
      path: [...auto.path, ...step],
      source: { shape: member, cover: auto.source.cover.at(step) },
      omit: omit ?? noOmit,
    };
  }

  #autoAt({ pointer, path, source, omit }: Auto, target: Shape, at: string): Maker {
    const { make, cover } = this.#same(source.shape, target, pointer, at, omit);
    source.cover.also.push(cover);
    return (scope) => {
      const value = valueAtPath(scope.value, path);
      if (isNothing(value)) return isArray(target) ? noItems(target, value, scope) : nullIn(target, value);
      refuseOther(source.shape, value, scope, path);
      return make(scope.inner(value, path));
    };
  }

  /**
   * Returns the `auto` conversion for a source and target of the same kind. It is compiled once for each pair without
   * omissions, because types can be recursive.
   */
  #same(source: Shape, target: Shape, pointer: string, at: string, omit: Cover): Same {
    const cover = new Cover();
    if (omit.members.size + omit.ofItems.length > 0)
      return { make: this.#sameMaker({ shape: source, cover }, target, pointer, at, omit), cover };
    const byTarget = this.#autos.get(source) ?? new Map();
    this.#autos.set(source, byTarget);
    const known = byTarget.get(target);
    if (known !== undefined) return known;
    let make: Maker = nothing;
    const same = { make: (scope: Scope) => make(scope), cover };
    byTarget.set(target, same);
    make = this.#sameMaker({ shape: source, cover }, target, pointer, at, noOmit);
    return same;
  }

  #sameMaker(source: Source, target: Shape, pointer: string, at: string, omit: Cover): Maker {
    const { shape, cover } = source;
    if (isObject(shape) && isObject(target) && shape.members.size > 0 && !target.open) {
      const place: Place = { ...newPlace(), auto: { pointer, path: [], source, omit } };
      return this.#record(place, target, source, at, pointer);
    }
    if (isArray(shape) && isArray(target) && shape.items !== undefined && target.items !== undefined) {
      const every = cover.at([{ kind: 'every' }]);
      const [inner] = omit.ofItems;
      const item = this.#autoAt(
        { pointer, path: [], source: { shape: shape.items, cover: every }, omit: inner ?? noOmit },
        target.items,
        `${at}[]`,
      );
      return eachMaker([], target, item);
    }
    cover.whole = true;
    return fitMaker((scope) => scope.value, [], target);
  }

  /** Compiles one rule. `else` and `default` are chained to its conversion. */
  rule(rule: Rule, target: Shape, source: Source, at: string): Maker {
    this.#filled.add(at);
    const conditions = this.conditions(rule.when, source);
    const value = this.#value(rule, target, source, at);
    const other = rule.else === undefined ? undefined : this.rule(rule.else, target, source, at);
    const constant = rule.default;
    const fallback =
      constant === undefined
        ? undefined
        : constantMaker(this.#constant(constant, target, `${rule.pointer}/default`, at));
    if (constant !== undefined)
      this.#side.oneWay(rule.pointer, `${at}: a default can't be told from a value`);
    if (conditions === undefined && other === undefined && fallback === undefined) return value;
    const isSaid = nullIsSaid(rule);
    return (scope) => {
      const made = conditions === undefined || conditions(scope) ? value(scope) : undefined;
      if (made !== undefined && (made !== null || isSaid(scope))) return made;
      const otherwise = other?.(scope);
      const given = otherwise ?? fallback?.(scope);
      return given === undefined && (otherwise === null || made === null) ? null : given;
    };
  }

  /**
   * Compiles conditions to a function that tests if all are true (M4). Undefined without conditions. Values that are
   * compared or must be absent count as read.
   */
  conditions(when: readonly Condition[], source: Source): ((scope: Scope) => boolean) | undefined {
    if (when.length === 0) return undefined;
    const tests = when.map(({ pointer, path, is }) => {
      const inAnswer = this.#ofAnswer(path, source);
      const get: Maker = inAnswer ?? ((scope) => valueAtPath(scope.value, path));
      const shape = inAnswer === undefined ? this.shapeAt(source.shape, path, pointer) : textShape;
      if (is === 'present') return (scope: Scope) => !isNothing(get(scope));
      if (inAnswer === undefined) source.cover.at(path).whole = true;
      if (is === 'absent') return (scope: Scope) => isNothing(get(scope));
      this.#checkCompared(shape, is, pointer, pathText(path));
      const texts = new ByText(is.map((text) => [text, true]));
      return (scope: Scope) => texts.get(get(scope)) === true;
    });
    return (scope) => tests.every((test) => test(scope));
  }

  #value(rule: Rule, target: Shape, source: Source, at: string): Maker {
    switch (rule.source.kind) {
      case 'const':
        return constantMaker(this.#constant(rule.source.value, target, `${rule.pointer}/const`, at));
      case 'header': {
        const { name } = rule.source;
        if (this.#side.side === 'request')
          this.#side.problem(
            rule.pointer,
            'expected a path, got a header: a request has none that are mapped',
          );
        return this.#converted(rule, (scope) => scope.run.headers[name], textShape, target, at, []);
      }
      case 'uuid':
        return this.#converted(rule, () => randomUUID(), textShape, target, at, []);
      case 'list':
        return this.#list(rule, rule.source.items, target, source, at);
      case 'each':
        return this.#each(rule, rule.source.path, target, source, at);
      case 'group': {
        if (rule.map === undefined && !rule.auto) return nothing; // only `else`
        const place = newPlace();
        this.#fillBy(place, rule, source);
        return this.#place(place, target, source, at, rule.pointer);
      }
      case 'from':
        return this.#from(rule, rule.source.path, target, source, at);
    }
  }

  #from(rule: Rule, path: Path, target: Shape, source: Source, at: string): Maker {
    const inAnswer = this.#ofAnswer(path, source);
    if (inAnswer !== undefined) return this.#converted(rule, inAnswer, textShape, target, at, path);
    const shape = this.shapeAt(source.shape, path, rule.pointer);
    this.#refuseNoBody(shape, rule.pointer);
    const cover = source.cover.at(path);
    if (rule.map !== undefined || rule.auto) {
      const inner: Source = { shape, cover, isInner: true };
      const place: Place = { ...newPlace(), isOfOne: true };
      this.#fillBy(place, rule, inner);
      const before = this.#placeLists.length;
      const make = this.#place(place, target, inner, at, rule.pointer);
      const hasPlaces = this.#placeLists.length > before;
      return (scope) => {
        const value = valueAtPath(scope.value, path);
        if (isNothing(value))
          return hasPlaces || scope.run.isOfNone ? make(scope.inner(undefined, path)) : nullIn(target, value);
        refuseOther(shape, value, scope, path);
        return make(scope.inner(value, path));
      };
    }
    const isWhole =
      rule.values === undefined &&
      rule.date === undefined &&
      rule.join === undefined &&
      rule.split === undefined &&
      rule.code === undefined;
    if (isWhole && rule.as === undefined && isDeep(shape) && isDeep(target)) {
      const get = this.#deepAt(rule.pointer, path, { shape, cover }, target, at);
      if (get !== undefined) return get;
      this.#side.problem(rule.pointer, unlike(at, target, pathText(path), shape));
      return nothing;
    }
    // With `list` or `first`, an object is converted member by member like everywhere else.
    if (isWhole && rule.as === 'list' && target.items !== undefined) {
      const get = this.#deepAt(rule.pointer, path, { shape, cover }, target.items, `${at}[]`);
      if (get !== undefined) return this.#converted(rule, get, target.items, target, at, path);
    }
    if (isWhole && rule.as === 'first' && shape.items !== undefined) {
      const item: Source = { shape: shape.items, cover: cover.at([{ kind: 'every' }]) };
      const get = this.#deepAt(rule.pointer, [...path, { kind: 'index', index: 0 }], item, target, at);
      if (get !== undefined) {
        this.#side.oneWay(rule.pointer, behindFirst(at));
        return get;
      }
    }
    cover.whole = true;
    const single = rule.as === 'list' ? (target.items ?? anyShape) : target;
    if (shape === bodyText && isWhole && (rule.as ?? 'list') === 'list' && single.base64)
      return this.#converted(rule, bytesOfBody, bodyBytes, target, at, path);
    return this.#converted(rule, (scope) => valueAtPath(scope.value, path), shape, target, at, path);
  }

  /** Reports a rule that reads the body of a response without a body. */
  #refuseNoBody(shape: Shape, pointer: string): void {
    if (shape === noBody)
      this.#side.problem(
        pointer,
        'expected a rule without the body of the answer, as the document describes none',
      );
  }

  /**
   * Returns the `auto` conversion of an object or list. Undefined if source or target is neither, or they differ in
   * kind.
   */
  #deepAt(pointer: string, path: Path, source: Source, target: Shape, at: string): Maker | undefined {
    if (!isDeep(source.shape) || !isDeep(target) || !isOfOneKind(source.shape, target)) return undefined;
    return this.#autoAt({ pointer, path, source, omit: noOmit }, target, at);
  }

  /**
   * Returns the maker for `status` or `header.x` of a response (M1). Undefined if the body has a member with this name,
   * or if an inner object may have one.
   */
  #ofAnswer(path: Path, { shape, isInner, isError }: Source): Maker | undefined {
    const [first, second] = path;
    if (isInner && (shape.open || shape.others !== undefined)) return undefined;
    if (this.#side.side !== 'reply' || first?.kind !== 'member') return undefined;
    if (shape.members.has(first.name) && !isError) return undefined;
    if (first.name === 'status' && path.length === 1)
      return ({ run }) => (run.status === undefined ? undefined : new Digits(String(run.status)));
    if (first.name === 'header' && second?.kind === 'member' && path.length === 2)
      return ({ run }) => run.headers[second.name.toLowerCase()];
    return undefined;
  }

  /** Compiles the conversions of a rule in their order, and reports a result that does not fit the target. */
  #converted(rule: Rule, get: Maker, from: Shape, target: Shape, at: string, path: Path): Maker {
    const { oneWay } = this.#side;
    const items = target.items ?? anyShape;
    const single = rule.as === 'list' ? items : target;
    const { code, split, as, values, date, join } = rule;
    const conversion = new Conversion(get, from);
    if (code !== undefined) this.#callCode(conversion, rule, code, single, at, path);
    if (split !== undefined) splitText(conversion, split, items, path);
    if (as === 'first') {
      oneWay(rule.pointer, behindFirst(at));
      conversion.step(conversion.shape.items ?? anyShape, (value) => (isItems(value) ? value[0] : value));
    }
    if (values !== undefined) this.#lookUp(conversion, rule, values, single, at, path);
    if (date !== undefined) this.#writeDate(conversion, rule, date, at, path);
    if (as === 'text' || as === 'number' || as === 'boolean') {
      if (as === 'boolean') oneWay(rule.pointer, `${at}: true and 1 become one`);
      convertScalar(conversion, as, path);
    }
    if (join !== undefined) {
      oneWay(rule.pointer, `${at}: a separator in a text can't be told from one between texts`);
      joinTexts(conversion, join, path);
    }
    const isBytes = conversion.shape === bodyBytes && !single.base64 && !single.open;
    if (as === 'list') this.#listItem(conversion, rule, items, at);
    if (this.#isGathered && !target.kinds.has('array'))
      oneWay(rule.pointer, `${at}: what replies behind the first have there is left out`);
    this.#checkFit(rule, conversion.shape, isBytes, target, at, path);
    return fitMaker(conversion.make, path, target);
  }

  #checkFit(rule: Rule, shape: Shape, isBytes: boolean, target: Shape, at: string, path: Path): void {
    const { problem } = this.#side;
    const items = target.items ?? anyShape;
    const isTable = rule.values !== undefined;
    if (isBytes)
      problem(
        rule.pointer,
        `expected a target of xs:base64Binary for the bytes of the answer, got ${at}; say as: text for their base64`,
      );
    else if (shape !== codeShape && !isTable && !isOfOneKind(shape, target))
      problem(rule.pointer, unlike(at, target, pathText(path), shape));
    else if (only(shape, 'array') && shape.items !== undefined && !isOfOneKind(shape.items, items))
      problem(rule.pointer, unlike(`${at}[]`, items, pathText(path), shape.items));
  }

  #callCode(conversion: Conversion, rule: Rule, name: string, single: Shape, at: string, path: Path): void {
    const { problem, oneWay } = this.#side;
    const run = this.#side.functions?.get(name);
    this.#callsFunctions = true;
    oneWay(rule.pointer, `${at}: made by ${name}()`);
    if (run === undefined)
      problem(
        `${rule.pointer}/code`,
        `expected a function that the module of the operation exports, got ${name}`,
      );
    else
      conversion.step(codeShape, (value, scope) => {
        if (scope.run.isProbe) return value;
        const given = called(run, value, at, scope, path);
        if (given === undefined) return undefined;
        scope.run.made.count(scope, weightOf(given) - 1);
        return asKind(given, single);
      });
  }

  /** Replaces values according to a table. */
  #lookUp(
    conversion: Conversion,
    rule: Rule,
    rows: ReadonlyMap<string, Value>,
    single: Shape,
    at: string,
    path: Path,
  ): void {
    this.#checkTable(rule, rows, conversion.shape, single, at, path);
    const table = new ByText([...rows].map(([key, value]) => [key, constantMaker(asKind(value, single))]));
    const hasDefault = rule.default !== undefined;
    const { kinds, values, items: inner } = single;
    conversion.step({ ...anyShape, open: false, kinds, values, items: inner }, (value, scope) => {
      const found = table.get(value);
      if (found === undefined && !hasDefault)
        throw scope.error(path, {
          expected: `one of ${table.texts.slice(0, 20).join(', ')}`,
          got: 'a value that no rule has',
        });
      return found?.(scope);
    });
  }

  #writeDate(
    conversion: Conversion,
    rule: Rule,
    [one, other]: NonNullable<Rule['date']>,
    at: string,
    path: Path,
  ): void {
    const { problem, oneWay } = this.#side;
    const write = compileDates(one, other);
    if (typeof write === 'string') problem(`${rule.pointer}/date`, write);
    else {
      if (!keepsAll(one, other)) oneWay(rule.pointer, `${at}: ${other} says less than ${one}`);
      conversion.step(textShape, (value, scope) => {
        const written = typeof value === 'string' ? write(value) : undefined;
        if (written === undefined)
          throw scope.error(path, { expected: `a date as ${one} writes it`, got: 'another value' });
        return written;
      });
    }
  }

  /** Wraps a value in a list. */
  #listItem(conversion: Conversion, rule: Rule, items: Shape, at: string): void {
    const hasOther = rule.else !== undefined || rule.default !== undefined;
    const empty = this.#emptyItem(items, at);
    const before = conversion.make;
    conversion.make = (scope) => {
      if (scope.run.isOfNone) return [];
      const value = before(scope);
      if (!isNothing(value)) return [value];
      const item = hasOther ? undefined : empty(scope);
      return item === undefined ? value : [item];
    };
    conversion.shape = { ...anyShape, open: false, kinds: new Set(['array']), items: conversion.shape };
  }

  /**
   * Reports a table that lacks a row for a source value and has no default, or that gives values unknown to the target
   * (M3).
   */
  #checkTable(
    { pointer, default: otherwise }: Rule,
    table: ReadonlyMap<string, Value>,
    source: Shape,
    target: Shape,
    at: string,
    path: Path,
  ): void {
    const { problem, oneWay } = this.#side;
    const known = source.values ?? (only(source, 'boolean') ? ['true', 'false'] : undefined);
    const lacking = (known ?? []).filter((value) => !table.has(value));
    if (lacking.length > 0 && otherwise === undefined)
      problem(
        `${pointer}/values`,
        `expected a row for each value of ${pathText(path)}, or a default, for ${at}; there is none for ${lacking.slice(0, 20).join(', ')}`,
      );
    if (known !== undefined)
      for (const key of table.keys())
        if (!known.includes(key))
          problem(`${pointer}/values`, `expected values of ${pathText(path)}, which has no ${key}`);
    for (const value of table.values()) this.#constant(value, target, `${pointer}/values`, at);
    const texts = [...table.values()].map((value) => textOfScalar(value));
    if (new Set(texts).size < texts.length) oneWay(pointer, `${at}: several values become one`);
  }

  #list(rule: Rule, items: readonly Rule[], target: Shape, source: Source, at: string): Maker {
    if (!target.kinds.has('array')) {
      this.#side.problem(rule.pointer, `expected a list to fill, got ${at}, which is ${kindsText(target)}`);
      return nothing;
    }
    const shape = target.items ?? anyShape;
    const hasOther = rule.else !== undefined || rule.default !== undefined;
    const empty = this.#emptyItem(shape, at);
    const makers = this.#inItem(() =>
      items.map((item) => {
        // An item with a `when` that is false is left out intentionally.
        const isOfWhen = item.else === undefined && item.default === undefined;
        const conditions = isOfWhen ? this.conditions(item.when, source) : undefined;
        const make = this.rule(isOfWhen ? { ...item, when: [] } : item, shape, source, `${at}[]`);
        return { conditions, make };
      }),
    );
    return (scope) => {
      if (scope.run.isOfNone) return [];
      const made: (Value | undefined)[] = [];
      for (const { conditions, make } of makers) {
        countItem(scope);
        if (conditions === undefined || conditions(scope)) made.push(make(scope));
      }
      const isNone = made.every((value) => value === undefined);
      if (isNone && hasOther) return undefined;
      const whole = made.map((value) => (value === undefined ? empty(scope) : value));
      const given = whole.filter((value) => value !== undefined);
      return given.length === 0 && makers.length > 0 ? undefined : given;
    };
  }

  /**
   * Returns the placeholder for an empty item, so that later items keep their positions: null, or an empty object if
   * the target allows it. Otherwise the maker throws MappingError. Lists that are not concatenated need no placeholder.
   */
  #emptyItem({ kinds, members }: Shape, at: string): Maker {
    if (!this.#isGathered) return nothing;
    this.#placeLists.push(at);
    if (kinds.has('null')) return () => null;
    const needsNone = [...members.values()].every(({ required }) => !required);
    if (kinds.has('object') && needsNone) return () => new Map();
    return (scope) => {
      throw scope.error(
        [],
        { expected: `what ${at}[] is made of, as each call has its item`, got: 'none' },
        true,
      );
    };
  }

  /** Compiles rules inside an item. */
  #inItem<T>(compile: () => T): T {
    const around = this.#isGathered;
    this.#isGathered = false;
    const made = compile();
    this.#isGathered = around;
    return made;
  }

  #each(rule: Rule, path: Path, target: Shape, source: Source, at: string): Maker {
    const shape = this.shapeAt(source.shape, path, rule.pointer);
    this.#refuseNoBody(shape, rule.pointer);
    if (!target.kinds.has('array')) {
      this.#side.problem(rule.pointer, `expected a list to fill, got ${at}, which is ${kindsText(target)}`);
      return nothing;
    }
    const isList = isArray(shape) || shape.open;
    const cover = source.cover.at(isList ? [...path, { kind: 'every' }] : path);
    const inner: Source = { shape: (isArray(shape) ? shape.items : shape) ?? anyShape, cover, isInner: true };
    const { default: _, else: __, when: ___, ...item } = rule;
    const plain: Rule = {
      ...item,
      default: undefined,
      else: undefined,
      when: [],
      source: { kind: 'from', path: [] },
    };
    const make = this.#inItem(() => this.#value(plain, target.items ?? anyShape, inner, `${at}[]`));
    return eachMaker(path, target, make);
  }

  /** Converts a constant to the kind of the target. */
  #constant(value: Value, target: Shape, pointer: string, at: string): Value {
    const made = asKind(value, target);
    const why = misfit(made, target, at);
    if (why !== undefined) this.#side.problem(pointer, why);
    return made;
  }

  /** Checks the member and text of `[name=text]` against the items. */
  #checkWhere(item: Shape, { name, text }: WhereStep, pointer: string, here: string): void {
    const member = item.members.get(name)?.shape ?? item.others ?? (item.open ? anyShape : undefined);
    if (member === undefined)
      this.#side.problem(
        pointer,
        `expected a member of the items of ${here}, got ${name}; there are ${someNames(item)}`,
      );
    else this.#checkCompared(member, [text], pointer, `${here}.${name}`);
  }

  /** Reports comparison texts that the source can never equal. */
  #checkCompared(shape: Shape, texts: readonly string[], pointer: string, here: string): void {
    if (!scalarKinds.some((kind) => shape.kinds.has(kind))) {
      this.#side.problem(pointer, `expected a value to compare at ${here}, which is ${kindsText(shape)}`);
      return;
    }
    const values = shape.values ?? (only(shape, 'boolean') ? ['true', 'false'] : undefined);
    if (values === undefined) return;
    const known = new ByText(values.map((value) => [value, true]));
    for (const text of texts)
      if (known.get(text) === undefined && known.get(new Digits(text)) === undefined)
        this.#side.problem(pointer, `expected values of ${here}, which has no ${text}`);
  }

  /** Returns the shape at a source path. An unknown path is reported with the known members. */
  shapeAt(from: Shape, path: Path, pointer: string): Shape {
    const every = path.findIndex(({ kind }) => kind === 'every');
    if (every >= 0 && every < path.length - 1)
      this.#side.problem(
        pointer,
        `expected a path of one place, got ${pathText(path)}, which is one of each item; say each, with rules for what is in it`,
      );
    let at = from;
    for (let index = 0; index < path.length; index++) {
      const step = path[index];
      if (at.open) return anyShape;
      const here = pathText(path.slice(0, index + 1));
      if (step?.kind === 'member') {
        const inner = at.members.get(step.name)?.shape ?? at.others;
        if (inner === undefined) {
          const there =
            at === noBody
              ? 'the document describes no body of the answer'
              : at.members.size > 0
                ? `there are ${someNames(at)}`
                : `what is there is ${kindsText(at)}`;
          this.#side.problem(pointer, `expected a path of the source, got ${here}; ${there}`);
          return anyShape;
        }
        at = inner;
      } else if (isArray(at)) {
        at = at.items ?? anyShape;
        if (step?.kind === 'where') this.#checkWhere(at, step, pointer, here);
      } else {
        this.#side.problem(pointer, `expected a list at ${here}, got ${kindsText(at)}`);
        return anyShape;
      }
    }
    return at;
  }
}

// --- makers ----------------------------------------------------------------------------------------

function nothing(): undefined {}

/** Returns the received bytes of a text body as base64. */
function bytesOfBody({ value, run: { bytes } }: Scope): Value | undefined {
  return value === undefined || bytes === undefined ? value : base64Of(bytes);
}

/** The base64 of bytes (RFC 4648 §4). */
export function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** Number of characters in a constant or function result that count as one more value. */
export const textPart = 64;

/** Returns a maker for a constant of the file. Its content counts on each use. */
function constantMaker(constant: Value): Maker {
  const more = weightOf(constant) - 1;
  if (more === 0) return () => constant;
  return (scope) => {
    scope.run.made.count(scope, more);
    return constant;
  };
}

/**
 * Returns the number of values that a value counts as: one for each member and item, and one for each 64 characters of
 * a text or name.
 */
function weightOf(value: Value): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / textPart);
  let sum = 1;
  if (isItems(value)) for (const item of value) sum += weightOf(item);
  else if (isMembers(value))
    for (const [name, inner] of value) sum += Math.floor(name.length / textPart) + weightOf(inner);
  return sum;
}

function countItem(scope: Scope): void {
  const { made } = scope.run;
  made.count(scope);
  made.step(1);
}

/** Calls a module function. Throws MappingError. */
function called(run: CodeFunction, value: Value, at: string, scope: Scope, path: Path): Value | undefined {
  try {
    return run(value, at, scope.run.made.left + 1);
  } catch (error) {
    if (error instanceof CodeError) throw scope.error(path, error.reason);
    throw error;
  }
}

/** Additional members that `auto` copies from the source. */
interface OtherMembers {
  /** Path of their object in the source. */
  readonly path: Path;
  /** Names that are not copied. */
  readonly names: ReadonlySet<string>;
  readonly make: Maker;
}

/** @param of path of the source object. An empty object gives an empty object. */
function recordMaker(
  makers: ReadonlyMap<string, Maker>,
  others: OtherMembers | undefined,
  required: readonly string[],
  at: string,
  of: Path | undefined,
): Maker {
  const rows = [...makers];
  return (scope) => {
    const { made: all } = scope.run;
    all.step(rows.length);
    const made = new Map<string, Value>();
    for (const [name, make] of rows) {
      const value = make(scope);
      if (value !== undefined) made.set(name, value);
    }
    if (others !== undefined) addOthers(made, others, scope);
    all.count(scope, made.size);
    if (made.size === 0 && at !== '') {
      const isThere = of !== undefined && isMembers(valueAtPath(scope.value, of));
      if (!isThere) return undefined;
    }
    for (const name of required)
      if (!made.has(name))
        throw scope.error(
          [],
          { expected: `what ${joined(at, name)} is made of, which is required`, got: 'none' },
          true,
        );
    return made;
  };
}

function addOthers(made: Map<string, Value>, { path, names, make }: OtherMembers, scope: Scope): void {
  const value = valueAtPath(scope.value, path);
  if (!isMembers(value)) return;
  scope.run.made.step(value.size);
  for (const [name, inner] of value) {
    if (names.has(name)) continue;
    const one = make(scope.inner(inner, [...path, { kind: 'member', name }]));
    if (one !== undefined) made.set(name, one);
  }
}

function eachMaker(path: Path, target: Shape, item: Maker): Maker {
  return (scope) => {
    const value = valueAtPath(scope.value, path);
    if (isNothing(value)) return noItems(target, value, scope);
    const items = isItems(value) ? value : [value];
    const made: Value[] = [];
    for (let index = 0; index < items.length; index++) {
      countItem(scope);
      const one = item(scope.inner(items[index], [...path, { kind: 'index', index }]));
      if (one !== undefined) made.push(one);
    }
    return made;
  };
}

/** Returns the message about items that are lost because only the first item is used. */
function behindFirst(at: string): string {
  return `${at}: items behind the first are left out`;
}

/**
 * Rejects a value that is not an object where the source document allows only objects, because rules would find no
 * members. Throws MappingError.
 */
export function refuseOther(shape: Shape, value: Value, scope: Scope, path: Path): void {
  if (!isMembers(value) && isObject(shape))
    throw scope.error(path, { expected: 'an object', got: kindNames[kindOf(value)] });
}

/** Returns null if the source is null and the target allows null, otherwise undefined (M2). */
function nullIn({ kinds }: Shape, value: null | undefined): null | undefined {
  return value === null && kinds.has('null') ? null : undefined;
}

/** Returns the value for a missing source list. If no call was made, this is an empty list. */
function noItems(target: Shape, value: null | undefined, scope: Scope): Value | undefined {
  return scope.run.isOfNone ? [] : nullIn(target, value);
}

/**
 * Returns a test that is true if null is an explicit result: from a constant, a table or a function. Otherwise null
 * means that the source has no value.
 */
function nullIsSaid({ source, values, code }: Rule): (scope: Scope) => boolean {
  if (source.kind === 'const') return () => true;
  if (source.kind !== 'from' || (values === undefined && code === undefined)) return () => false;
  const { path } = source;
  return (scope) => !isNothing(valueAtPath(scope.value, path));
}

/** Checks the kind and enumeration of a value. Null is kept only if the target allows null. */
function fitMaker(get: Maker, path: Path, target: Shape): Maker {
  const refuse = misfitRefuser(target);
  const refuseItem = target.items === undefined ? undefined : misfitRefuser(target.items);
  return (scope) => {
    const value = get(scope);
    if (isNothing(value)) return nullIn(target, value);
    refuse(value, scope, path);
    if (refuseItem !== undefined && isItems(value))
      for (const item of value) if (item !== null) refuseItem(item, scope, path);
    return value;
  };
}

/** Returns a function that rejects values of another kind or outside the enumeration with MappingError. */
function misfitRefuser(target: Shape): (value: Exclude<Value, null>, scope: Scope, path: Path) => void {
  const { kinds, values } = target;
  const allowed = values === undefined ? undefined : new ByText(values.map((text) => [text, true]));
  return (value, scope, path) => {
    if (!kinds.has(kindOf(value)))
      throw scope.error(path, { expected: kindsText(target), got: kindOf(value) });
    if (allowed !== undefined && textOfScalar(value) !== undefined && allowed.get(value) !== true)
      throw scope.error(path, {
        expected: `one of ${allowed.texts.slice(0, 20).join(', ')}`,
        got: 'another value',
      });
  };
}

// --- kinds -----------------------------------------------------------------------------------------

function scalarShape(kind: Kind): Shape {
  return { ...anyShape, open: false, kinds: new Set([kind]) };
}

const textShape = scalarShape('string');
const digitsShape = scalarShape('number');
const flagShape = scalarShape('boolean');
/** Shape of a function result, which is checked at run time. */
const codeShape: Shape = { ...anyShape };

function asWanted(text: string, as: 'text' | 'number' | 'boolean'): Value | undefined {
  if (as === 'text') return text;
  if (as === 'number') return numberForm.test(text) ? new Digits(text) : undefined;
  return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined;
}

/**
 * Converts a text of digits to a number if the target accepts only numbers. Functions and constants write long numbers
 * as text.
 */
function asKind(value: Value, target: Shape): Value {
  if (isItems(value))
    return target.items === undefined ? value : value.map((item) => asKind(item, target.items ?? anyShape));
  if (isMembers(value))
    return new Map(
      [...value].map(([name, inner]) => [name, asKind(inner, target.members.get(name)?.shape ?? anyShape)]),
    );
  const isNumber = target.kinds.has('number') && !target.kinds.has('string');
  return isNumber && typeof value === 'string' && numberForm.test(value) ? new Digits(value) : value;
}

function kindOf(value: Value): Kind {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (value instanceof Digits) return 'number';
  return isItems(value) ? 'array' : 'object';
}

/** Returns the reason why a constant does not fit the target; undefined if it fits. */
function misfit(value: Value, target: Shape, at: string): string | undefined {
  if (!target.kinds.has(kindOf(value)))
    return `expected ${kindsText(target)} for ${at}, got ${kindOf(value)}`;
  const text = textOfScalar(value);
  if (target.values !== undefined && text !== undefined && !target.values.includes(text))
    return `expected one of ${target.values.slice(0, 20).join(', ')} for ${at}, got ${text.slice(0, 60)}`;
  if (isItems(value) && target.items !== undefined)
    for (const item of value) {
      const why = misfit(asKind(item, target.items), target.items, `${at}[]`);
      if (why !== undefined) return why;
    }
  if (isMembers(value)) {
    for (const [name, inner] of value) {
      const member = target.members.get(name)?.shape;
      if (member === undefined && !target.open && target.others === undefined)
        return `expected members of ${at || 'the body'}, got ${name}`;
      const why = member === undefined ? undefined : misfit(asKind(inner, member), member, joined(at, name));
      if (why !== undefined) return why;
    }
    for (const [name, { required }] of target.members)
      if (required && !value.has(name)) return `expected ${joined(at, name)}, which is required, got none`;
  }
  return undefined;
}

/** Returns true if the target accepts the kinds and enumeration values of the source (M2). */
function isOfOneKind(source: Shape, target: Shape): boolean {
  for (const kind of source.kinds)
    if (kind !== 'null' && !target.kinds.has(kind) && !isAnything(source)) return false;
  if (target.values === undefined || !scalarKinds.some((kind) => source.kinds.has(kind))) return true;
  return source.values === undefined ? true : source.values.every((value) => target.values?.includes(value));
}

function isAnything({ kinds }: Shape): boolean {
  return kinds.size === anyShape.kinds.size;
}

function only({ kinds }: Shape, kind: Kind): boolean {
  return kinds.has(kind) && [...kinds].every((one) => one === kind || one === 'null');
}

function isObject(shape: Shape): boolean {
  return only(shape, 'object');
}

function isArray(shape: Shape): boolean {
  return only(shape, 'array');
}

function isDeep({ kinds, open }: Shape): boolean {
  return !open && (kinds.has('object') || kinds.has('array'));
}

function isNothing(value: Value | undefined): value is null | undefined {
  return value === null || value === undefined;
}

const kindNames: Readonly<Record<Kind, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

/** Returns the kinds of a shape as text for error messages. */
function kindsText({ kinds }: Shape): string {
  return [...kinds].map((kind) => kindNames[kind]).join(' or ');
}

function unlike(at: string, target: Shape, from: string, source: Shape): string {
  if (source.values !== undefined && target.values !== undefined)
    return `expected values for ${at}: ${from} has ones that it lacks`;
  return `expected ${kindsText(target)} for ${at}, got ${from}, which is ${kindsText(source)}; say as, join, split, each or map`;
}

function joined(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function someNames({ members }: Shape): string {
  return members.size === 0 ? 'none' : someOf([...members.keys()]);
}

/** A value in conversion: the function that makes it, and its shape so far. */
class Conversion {
  make: Maker;
  shape: Shape;

  constructor(make: Maker, shape: Shape) {
    this.make = make;
    this.shape = shape;
  }

  /** Adds a conversion to the shape `next`. Missing values stay missing. */
  step(next: Shape, change: (value: Value, scope: Scope) => Value | undefined): void {
    const before = this.make;
    this.make = (scope) => {
      const value = before(scope);
      return isNothing(value) ? value : change(value, scope);
    };
    this.shape = next;
  }
}

function splitText(conversion: Conversion, split: string, items: Shape, path: Path): void {
  const inner = only(items, 'number') ? digitsShape : textShape;
  conversion.step({ ...anyShape, open: false, kinds: new Set(['array']), items: inner }, (value, scope) => {
    if (typeof value !== 'string')
      throw scope.error(path, { expected: 'a text to split', got: 'another value' });
    return value.split(split).map((text) => asKind(text, items));
  });
}

function convertScalar(conversion: Conversion, as: 'text' | 'number' | 'boolean', path: Path): void {
  conversion.step(as === 'text' ? textShape : as === 'number' ? digitsShape : flagShape, (value, scope) => {
    const text = textOfScalar(value);
    const made = text === undefined ? undefined : asWanted(text, as);
    if (made === undefined)
      throw scope.error(path, {
        expected: as === 'number' ? 'a number' : as === 'boolean' ? 'true or false' : 'a scalar',
        got: 'another value',
      });
    return made;
  });
}

function joinTexts(conversion: Conversion, join: string, path: Path): void {
  conversion.step(textShape, (value, scope) => {
    const texts = isItems(value) ? value.map(textOfScalar) : [];
    if (!isItems(value) || texts.includes(undefined))
      throw scope.error(path, { expected: 'a list of texts to join', got: 'another value' });
    return texts.join(join);
  });
}
