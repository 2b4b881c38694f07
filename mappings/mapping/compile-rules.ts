import { randomUUID } from 'node:crypto';
import { ConversionCompiler } from './conversion-compiler.ts';
import { Cover } from './cover.ts';
import {
  bytesOfBody,
  compileNullTest,
  constantMaker,
  countItem,
  eachMaker,
  fitMaker,
  lostItemsText,
  noItems,
  nothing,
  nullIn,
  type OtherMembers,
  recordMaker,
  refuseOther,
} from './makers.ts';
import { type Path, pathText, valueAtPath } from './paths.ts';
import type { Group, Rule } from './rules.ts';
import type { Maker, Scope } from './run.ts';
import type { Shape } from './schemas.ts';
import {
  anyShape,
  bodyBytes,
  bodyText,
  isArray,
  isDeep,
  isNothing,
  isObject,
  isOfOneKind,
  joined,
  kindsText,
  someNames,
  textShape,
  unlike,
} from './shape-checks.ts';
import { type Side, type Source, SourcePaths } from './source-paths.ts';
import type { Value } from './value.ts';

/** Compiles the rules of one side, request or reply, to functions that create target values (M2, M3). */

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

/** Compiles the rules of one side. */
export class RuleCompiler {
  readonly #side: Side;
  readonly #conversions: ConversionCompiler;
  /** Resolves source paths of the side. */
  readonly paths: SourcePaths;
  readonly #autos = new Map<Shape, Map<Shape, Same>>();
  readonly #filled = new Set<string>();

  constructor(side: Side) {
    this.#side = side;
    this.#conversions = new ConversionCompiler(side);
    this.paths = new SourcePaths(side);
  }

  /** Returns the lists to which each call adds its own items, except lists that rules of `other` also fill. */
  placeListsWithout(other: RuleCompiler): readonly string[] {
    return this.#conversions.placeLists.filter((at) => !other.#filled.has(at));
  }

  /** True if a compiled rule calls a function of the module. */
  get callsFunctions(): boolean {
    return this.#conversions.callsFunctions;
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
        this.#side.problem(pointer, `expected one rule for ${pathText(target)}, got another rule`);
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
          this.#side.problem(
            rule.pointer,
            `expected rules for the whole ${at} or for its members, got rules for both`,
          );
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
    const conditions = this.paths.conditions(rule.when, source);
    const value = this.#value(rule, target, source, at);
    const other = rule.else === undefined ? undefined : this.rule(rule.else, target, source, at);
    const constant = rule.default;
    const fallback =
      constant === undefined
        ? undefined
        : constantMaker(this.#conversions.constant(constant, target, `${rule.pointer}/default`, at));
    if (constant !== undefined)
      this.#side.oneWay(rule.pointer, `${at}: a default cannot be distinguished from a value`);
    if (conditions === undefined && other === undefined && fallback === undefined) return value;
    const mayBeNull = compileNullTest(rule);
    return (scope) => {
      const made = conditions === undefined || conditions(scope) ? value(scope) : undefined;
      if (made !== undefined && (made !== null || mayBeNull(scope))) return made;
      const otherwise = other?.(scope);
      const given = otherwise ?? fallback?.(scope);
      return given === undefined && (otherwise === null || made === null) ? null : given;
    };
  }

  #value(rule: Rule, target: Shape, source: Source, at: string): Maker {
    switch (rule.source.kind) {
      case 'const':
        return constantMaker(
          this.#conversions.constant(rule.source.value, target, `${rule.pointer}/const`, at),
        );
      case 'header': {
        const { name } = rule.source;
        if (this.#side.side === 'request')
          this.#side.problem(
            rule.pointer,
            'expected a path, got a header: headers of a request are not mapped',
          );
        return this.#conversions.converted(
          rule,
          (scope) => scope.run.headers[name],
          textShape,
          target,
          at,
          [],
        );
      }
      case 'uuid':
        return this.#conversions.converted(rule, () => randomUUID(), textShape, target, at, []);
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
    const inAnswer = this.paths.ofAnswer(path, source);
    if (inAnswer !== undefined)
      return this.#conversions.converted(rule, inAnswer, textShape, target, at, path);
    const shape = this.paths.shapeAt(source.shape, path, rule.pointer);
    this.paths.refuseNoBody(shape, rule.pointer);
    const cover = source.cover.at(path);
    if (rule.map !== undefined || rule.auto) {
      const inner: Source = { shape, cover, isInner: true };
      const place: Place = { ...newPlace(), isOfOne: true };
      this.#fillBy(place, rule, inner);
      const before = this.#conversions.placeLists.length;
      const make = this.#place(place, target, inner, at, rule.pointer);
      const hasPlaces = this.#conversions.placeLists.length > before;
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
      if (get !== undefined) return this.#conversions.converted(rule, get, target.items, target, at, path);
    }
    if (isWhole && rule.as === 'first' && shape.items !== undefined) {
      const item: Source = { shape: shape.items, cover: cover.at([{ kind: 'every' }]) };
      const get = this.#deepAt(rule.pointer, [...path, { kind: 'index', index: 0 }], item, target, at);
      if (get !== undefined) {
        this.#side.oneWay(rule.pointer, lostItemsText(at));
        return get;
      }
    }
    cover.whole = true;
    const single = rule.as === 'list' ? (target.items ?? anyShape) : target;
    if (shape === bodyText && isWhole && (rule.as ?? 'list') === 'list' && single.base64)
      return this.#conversions.converted(rule, bytesOfBody, bodyBytes, target, at, path);
    return this.#conversions.converted(
      rule,
      (scope) => valueAtPath(scope.value, path),
      shape,
      target,
      at,
      path,
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

  #list(rule: Rule, items: readonly Rule[], target: Shape, source: Source, at: string): Maker {
    if (!target.kinds.has('array')) {
      this.#side.problem(rule.pointer, `expected a list to fill, got ${at}, which is ${kindsText(target)}`);
      return nothing;
    }
    const shape = target.items ?? anyShape;
    const hasOther = rule.else !== undefined || rule.default !== undefined;
    const empty = this.#conversions.emptyItem(shape, at);
    const makers = this.#inItem(() =>
      items.map((item) => {
        // An item with a `when` that is false is left out intentionally.
        const isOfWhen = item.else === undefined && item.default === undefined;
        const conditions = isOfWhen ? this.paths.conditions(item.when, source) : undefined;
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

  /** Compiles rules inside an item. */
  #inItem<T>(compile: () => T): T {
    const around = this.#conversions.isGathered;
    this.#conversions.isGathered = false;
    const made = compile();
    this.#conversions.isGathered = around;
    return made;
  }

  #each(rule: Rule, path: Path, target: Shape, source: Source, at: string): Maker {
    const shape = this.paths.shapeAt(source.shape, path, rule.pointer);
    this.paths.refuseNoBody(shape, rule.pointer);
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
}
