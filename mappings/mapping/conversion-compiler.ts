import { Conversion, convertScalar, joinTexts, splitText } from './conversion.ts';
import { compileDates, keepsAll } from './dates.ts';
import { called, constantMaker, fitMaker, lostItemsText, nothing, weightOf } from './makers.ts';
import { type Path, pathText } from './paths.ts';
import type { Rule } from './rules.ts';
import type { Maker } from './run.ts';
import type { Shape } from './schemas.ts';
import {
  anyShape,
  asKind,
  bodyBytes,
  codeShape,
  constantMismatch,
  isNothing,
  isOfOneKind,
  only,
  textShape,
  unlike,
} from './shape-checks.ts';
import type { Side } from './source-paths.ts';
import { ByText, isItems, textOfScalar, type Value } from './value.ts';

/** Compiles the conversions of one side's rules (M2, M3). */
export class ConversionCompiler {
  readonly #side: Side;
  /** True if a compiled rule calls a function of the module. */
  callsFunctions = false;
  /** True if compiled lists are concatenated with those of other replies. False inside an item. */
  isGathered: boolean;
  /** Target lists to which each call adds its own items. */
  readonly placeLists: string[] = [];

  constructor(side: Side) {
    this.#side = side;
    this.isGathered = side.isGathered;
  }

  /** Compiles the conversions of a rule in their order, and reports a result that does not fit the target. */
  converted(rule: Rule, get: Maker, from: Shape, target: Shape, at: string, path: Path): Maker {
    const { oneWay } = this.#side;
    const items = target.items ?? anyShape;
    const single = rule.as === 'list' ? items : target;
    const { code, split, as, values, date, join } = rule;
    const conversion = new Conversion(get, from);
    if (code !== undefined) this.#callCode(conversion, rule, code, single, at, path);
    if (split !== undefined) splitText(conversion, split, items, path);
    if (as === 'first') {
      oneWay(rule.pointer, lostItemsText(at));
      conversion.step(conversion.shape.items ?? anyShape, (value) => (isItems(value) ? value[0] : value));
    }
    if (values !== undefined) this.#lookUp(conversion, rule, values, single, at, path);
    if (date !== undefined) this.#writeDate(conversion, rule, date, at, path);
    if (as === 'text' || as === 'number' || as === 'boolean') {
      if (as === 'boolean') oneWay(rule.pointer, `${at}: true and 1 become one`);
      convertScalar(conversion, as, path);
    }
    if (join !== undefined) {
      oneWay(rule.pointer, `${at}: a separator in a text cannot be distinguished from one between texts`);
      joinTexts(conversion, join, path);
    }
    const isBytes = conversion.shape === bodyBytes && !single.base64 && !single.open;
    if (as === 'list') this.#listItem(conversion, rule, items, at);
    if (this.isGathered && !target.kinds.has('array'))
      oneWay(rule.pointer, `${at}: values from replies after the first are omitted`);
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
        `expected a target of xs:base64Binary for the response bytes, got ${at}. Use as: text for their base64`,
      );
    else if (shape !== codeShape && !isTable && !isOfOneKind(shape, target))
      problem(rule.pointer, unlike(at, target, pathText(path), shape));
    else if (only(shape, 'array') && shape.items !== undefined && !isOfOneKind(shape.items, items))
      problem(rule.pointer, unlike(`${at}[]`, items, pathText(path), shape.items));
  }

  #callCode(conversion: Conversion, rule: Rule, name: string, single: Shape, at: string, path: Path): void {
    const { problem, oneWay } = this.#side;
    const run = this.#side.functions?.get(name);
    this.callsFunctions = true;
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
          got: 'a value without a rule',
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
      if (!keepsAll(one, other)) oneWay(rule.pointer, `${at}: ${other} has less information than ${one}`);
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
    const empty = this.emptyItem(items, at);
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
        `expected a row for each value of ${pathText(path)}, or a default, for ${at}; no row for ${lacking.slice(0, 20).join(', ')}`,
      );
    if (known !== undefined)
      for (const key of table.keys())
        if (!known.includes(key))
          problem(`${pointer}/values`, `expected values of ${pathText(path)}, which has no ${key}`);
    for (const value of table.values()) this.constant(value, target, `${pointer}/values`, at);
    const texts = [...table.values()].map((value) => textOfScalar(value));
    if (new Set(texts).size < texts.length) oneWay(pointer, `${at}: several values become one`);
  }

  /**
   * Returns the placeholder for an empty item, so that later items keep their positions: null, or an empty object if
   * the target allows it. Otherwise the maker throws MappingError. Lists that are not concatenated need no placeholder.
   */
  emptyItem({ kinds, members }: Shape, at: string): Maker {
    if (!this.isGathered) return nothing;
    this.placeLists.push(at);
    if (kinds.has('null')) return () => null;
    const needsNone = [...members.values()].every(({ required }) => !required);
    if (kinds.has('object') && needsNone) return () => new Map();
    return (scope) => {
      throw scope.error(
        [],
        { expected: `a source for ${at}[], because each call has its item`, got: 'none' },
        true,
      );
    };
  }

  /** Converts a constant to the kind of the target. */
  constant(value: Value, target: Shape, pointer: string, at: string): Value {
    const made = asKind(value, target);
    const why = constantMismatch(made, target, at);
    if (why !== undefined) this.#side.problem(pointer, why);
    return made;
  }
}
