import type { Report } from '../loader/document/error.ts';
import type { Module } from './code.ts';
import { RuleCompiler } from './compile-rules.ts';
import type { CompiledEntry, MappedCall } from './compiled-entry.ts';
import { Cover } from './cover.ts';
import { refuseOther } from './makers.ts';
import { writeParameters } from './parameters.ts';
import { type Path, pathText, valueAtPath } from './paths.ts';
import type { Entry, FaultRule, Group } from './rules.ts';
import type { Maker, Scope } from './run.ts';
import type { Shape } from './schemas.ts';
import { anyShape, bodyBytes, bodyText, noBody } from './shape-checks.ts';
import type { Source } from './source-paths.ts';
import type { TargetOperation } from './target.ts';
import { isItems, writeValue } from './value.ts';

const places = ['path', 'query', 'header'] as const;

/** A rule of a request, with its target path. */
type TargetRule = Group['rules'][number];

/** A parameter with the maker of its value. */
interface Fill {
  readonly parameter: TargetOperation['parameters'][number];
  readonly make: Maker;
}

/** Declared faults and the error responses that they are made from. */
export interface FaultSource {
  /** Detail of each fault by its `@fault` value. */
  readonly shapes: ReadonlyMap<string, Shape>;
  /** `@fault` values by the names that a mapping may use. */
  readonly names: Readonly<Record<string, string>>;
  /** Returns the body of error responses with the given statuses; undefined means any status. */
  readonly errorOf: (statuses: readonly string[] | undefined) => Shape;
}

/** An entry, and what it is compiled with. */
export interface EntrySource {
  readonly entry: Entry;
  readonly old: TargetOperation;
  readonly target: TargetOperation;
  /** Undefined: the entry names no module. */
  readonly module: Module | undefined;
  readonly faults: FaultSource;
  readonly problem: Report;
  readonly oneWay: Report;
}

/** Compiles one entry. */
export class EntryCompiler {
  readonly #source: EntrySource;
  readonly #problem: Report;
  readonly #request: RuleCompiler;
  readonly #reply: RuleCompiler;
  readonly #error: RuleCompiler;
  readonly #fault: RuleCompiler;

  constructor(source: EntrySource) {
    this.#source = source;
    const { entry, module, problem, oneWay } = source;
    this.#problem = problem;
    const functions = module?.functions;
    const isGathered = entry.forEach !== undefined;
    this.#request = new RuleCompiler({ side: 'request', problem, oneWay, functions, isGathered: false });
    this.#reply = new RuleCompiler({ side: 'reply', problem, oneWay, functions, isGathered });
    this.#error = new RuleCompiler({ side: 'reply', problem, oneWay, functions, isGathered });
    this.#fault = new RuleCompiler({ side: 'reply', problem, oneWay, functions, isGathered: false });
  }

  compile(): CompiledEntry {
    const { entry, old, target, module, oneWay } = this.#source;
    const cover = new Cover();
    const root: Source = { shape: old.body ?? anyShape, cover };
    const shape = this.#request.paths.shapeAt(root.shape, entry.at, `${entry.pointer}/at`);
    const begins: Source = { shape, cover: cover.at(entry.at) };
    const omit = new Cover();
    for (const { pointer, path } of entry.omit) {
      const whole = this.#omitted(root.shape, path, pointer);
      cover.at(whole, true).whole = true;
      omit.at(whole, true).whole = true;
    }
    const fits = this.#request.paths.conditions(entry.when, root);
    const at = (scope: Scope): Scope => scope.inner(valueAtPath(scope.value, entry.at), entry.at);
    const { scopesOf, source } = this.#scopes(begins, at);
    const omitBelow = omit.at([
      ...entry.at,
      ...(entry.forEach === undefined ? [] : [...entry.forEach, { kind: 'every' } as const]),
    ]);
    const replySource: Source = { shape: this.#answerShape(), cover: new Cover() };
    const call = this.#call(source, omitBelow);
    const reply = this.#replyMaker(this.#reply, entry.reply, replySource, entry.from, entry.autoReply);
    const error =
      entry.error === undefined
        ? undefined
        : this.#replyMaker(this.#error, entry.error, { shape: anyShape, cover: new Cover() }, [], false);
    if (error !== undefined)
      for (const at of this.#reply.placeListsWithout(this.#error))
        oneWay(`${entry.pointer}/error`, `${at}: an item whose call fails is missing in it`);
    const faults = entry.faults.map((fault, index) => this.#faultMaker(fault, index));
    const withinOf = (...rules: RuleCompiler[]) =>
      rules.some(({ callsFunctions }) => callsFunctions) ? module?.within : undefined;
    const within = {
      request: withinOf(this.#request),
      reply: withinOf(this.#reply, this.#error, this.#fault),
    };
    const isFor = (scope: Scope): boolean => fits === undefined || fits(scope);
    const forEach = [...entry.at, ...(entry.forEach ?? [])];
    return {
      target,
      cover,
      fits: isFor,
      forEach,
      scopesOf,
      call,
      reply,
      error,
      faults,
      within,
    };
  }

  /** Returns the body of a success response, in the documented form. */
  #answerShape(): Shape {
    const { reply, replyForm } = this.#source.target;
    if (replyForm === 'json') return reply ?? anyShape;
    return replyForm === 'none' ? noBody : replyForm === 'text' ? bodyText : bodyBytes;
  }

  #faultMaker({ pointer, name, when, map }: FaultRule, index: number): CompiledEntry['faults'][number] {
    const { shapes, names, errorOf } = this.#source.faults;
    const element = names[name] ?? name;
    const shape = shapes.get(element);
    if (shape === undefined)
      this.#problem(
        pointer,
        `expected a fault that the WSDL declares for ${this.#source.old.path.slice(1)}, got ${name}; there are ${[...shapes.keys()].join(', ') || 'none'}`,
      );
    const open = this.#source.entry.faults.slice(0, index).find((one) => one.when.length === 0);
    if (open !== undefined)
      this.#problem(
        pointer,
        `expected no fault after ${open.name}, which has no when and matches each error response`,
      );
    const status = when.find(({ path }) => pathText(path) === 'status');
    const statuses = typeof status?.is === 'object' ? status.is : undefined;
    const good = statuses?.find((one) => !/^[345]\d\d$/.test(one));
    if (status !== undefined && good !== undefined)
      this.#problem(status.pointer, `expected the status of an error response, got ${good}`);
    const source: Source = { shape: errorOf(statuses), cover: new Cover(), isError: true };
    const fits = this.#fault.paths.conditions(when, source);
    const make = shape === undefined ? () => undefined : this.#fault.body(map, shape, source, [], undefined);
    return { name: element, fits: fits ?? (() => true), make };
  }

  /** Resolves a path under `omit`. A list on the path means all its items, with or without `[]`. */
  #omitted(shape: Shape, path: Path, pointer: string): Path {
    const whole: Path[number][] = [];
    let at = shape;
    for (const step of path) {
      if (step.kind === 'member' && at.items !== undefined && !at.members.has(step.name)) {
        whole.push({ kind: 'every' });
        at = at.items;
      }
      whole.push(step);
      at = this.#request.paths.shapeAt(at, [step], pointer);
    }
    return whole;
  }

  /** Returns the roots of source paths for each call (M4). */
  #scopes(
    begins: Source,
    at: (scope: Scope) => Scope,
  ): { readonly scopesOf: CompiledEntry['scopesOf']; readonly source: Source } {
    const { forEach, pointer } = this.#source.entry;
    if (forEach === undefined) return { scopesOf: (root) => [at(root)], source: begins };
    const list = this.#request.paths.shapeAt(begins.shape, forEach, `${pointer}/forEach`);
    if (list.items === undefined && !list.open)
      this.#problem(`${pointer}/forEach`, `expected a list, got ${pathText(forEach)}`);
    const cover = begins.cover.at([...forEach, { kind: 'every' }]);
    return {
      source: { shape: list.items ?? anyShape, cover },
      scopesOf: (root) => {
        const scope = at(root);
        const items = valueAtPath(scope.value, forEach);
        if (!isItems(items)) return [];
        return items.map((item, index) => {
          const inner = scope.inner(item, [...forEach, { kind: 'index', index }]);
          if (item === null) throw inner.error([], { expected: 'an item for a call', got: 'null' });
          return inner;
        });
      },
    };
  }

  #call(source: Source, omit: Cover): (scope: Scope) => MappedCall {
    const entry = this.#source.entry;
    const target = this.#source.target;
    const inBody: TargetRule[] = [];
    const fills: Fill[] = [];
    for (const one of entry.request.rules) {
      const place = this.#parameterPlace(one.target);
      if (place === undefined) inBody.push(one);
      else this.#fill(one, place, source, fills);
    }
    this.#checkFilled(fills);
    const body = this.#body({ pointer: entry.request.pointer, rules: inBody }, source, omit);
    const type = target.bodyType || 'application/json';
    return (scope) => {
      const made = body?.(scope);
      const { path, headers } = writeParameters(
        target,
        fills.map(({ parameter, make }) => ({ parameter, value: make(scope) })),
        scope,
      );
      headers.accept = target.accept;
      if (made === undefined) return { method: target.method, path, headers, body: undefined };
      headers['content-type'] = type;
      return { method: target.method, path, headers, body: writeValue(made) };
    };
  }

  /** Returns the parameter location of a target path. Undefined for a path in the body. */
  #parameterPlace([first, second]: Path): (typeof places)[number] | undefined {
    if (first?.kind !== 'member' || second?.kind !== 'member') return undefined;
    const isOfBody = this.#source.target.body?.members.get(first.name)?.shape.kinds.has('object') === true;
    return isOfBody ? undefined : places.find((name) => name === first.name);
  }

  /** Adds the parameter that a rule fills to `fills`, or reports why it cannot be filled. */
  #fill(
    { pointer, target: path, rule }: TargetRule,
    place: (typeof places)[number],
    source: Source,
    fills: Fill[],
  ): void {
    const target = this.#source.target;
    const name = path
      .slice(1)
      .map((step) => (step.kind === 'member' ? step.name : ''))
      .join('.');
    const candidates = target.parameters.filter((candidate) => candidate.in === place);
    const parameter = candidates.find((candidate) => candidate.name === name);
    if (parameter === undefined) {
      const there = candidates.map((candidate) => candidate.name);
      this.#problem(
        pointer,
        `expected a ${place} parameter of ${target.method} ${target.path}, which are ${there.join(', ') || 'none'}, got ${name}`,
      );
      return;
    }
    // Header names are case-insensitive.
    const isSame = (other: string): boolean =>
      place === 'header' ? other.toLowerCase() === name.toLowerCase() : other === name;
    if (fills.some(({ parameter: filled }) => filled.in === place && isSame(filled.name)))
      this.#problem(pointer, `expected one rule for ${place}.${name}, got another rule`);
    if (parameter.lists === undefined)
      this.#problem(pointer, `expected a parameter of style form or simple, got ${name} of another style`);
    const make = this.#request.rule(rule, parameter.shape, source, `${place}.${name}`);
    fills.push({ parameter, make });
  }

  /** Reports required parameters without a rule, and placeholders of the path without a parameter. */
  #checkFilled(fills: readonly Fill[]): void {
    const { pointer } = this.#source.entry;
    const { method, path, parameters } = this.#source.target;
    for (const parameter of parameters)
      if (parameter.required && !fills.some((fill) => fill.parameter === parameter))
        this.#problem(
          `${pointer}/request`,
          `expected a rule for ${parameter.in}.${parameter.name}, which ${method} ${path} requires, got none`,
        );
    for (const [, name] of path.matchAll(/\{([^{}]+)\}/g))
      if (!parameters.some((parameter) => parameter.in === 'path' && parameter.name === name))
        this.#problem(
          `${pointer}/call`,
          `expected a parameter of the OpenAPI document for {${name}} of ${path}, got none`,
        );
  }

  #body(group: Group, source: Source, omit: Cover): Maker | undefined {
    const { pointer, to, auto } = this.#source.entry;
    const { body, method, path, bodyRequired } = this.#source.target;
    if (body === undefined) {
      const [first] = group.rules;
      if (first !== undefined)
        this.#problem(
          first.pointer,
          `expected a parameter, because ${method} ${path} has no JSON body, got ${pathText(first.target)}`,
        );
      return undefined;
    }
    if (
      group.rules.length === 0 &&
      !auto &&
      !bodyRequired &&
      body.members.size > 0 &&
      ![...body.members.values()].some(({ required }) => required)
    )
      return undefined;
    return this.#request.body(
      group,
      body,
      source,
      to,
      auto ? { pointer: `${pointer}/auto`, omit } : undefined,
    );
  }

  #replyMaker(rules: RuleCompiler, group: Group, source: Source, from: Path, auto: boolean): Maker {
    const { pointer } = this.#source.entry;
    const shape = rules.paths.shapeAt(source.shape, from, `${pointer}/from`);
    const target = this.#source.old.reply;
    if (target === undefined) return () => new Map(); // a one-way operation
    if (auto && !shape.kinds.has('object'))
      this.#problem(`${pointer}/autoReply`, 'expected a JSON response with members, got another response');
    const make = rules.body(
      group,
      target,
      { shape, cover: source.cover.at(from) },
      [],
      auto ? { pointer: `${pointer}/autoReply`, omit: new Cover() } : undefined,
    );
    return (scope) => {
      const value = valueAtPath(scope.value, from);
      if (value !== undefined && value !== null) refuseOther(shape, value, scope, from);
      return make(scope.inner(value, from));
    };
  }
}
