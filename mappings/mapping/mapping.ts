import { isUtf8 } from 'node:buffer';
import type { Limits } from '../contract/limits.ts';
import { didYouMean } from '../contract/nearest.ts';
import { JsonError } from '../json/grammar.ts';
import { contractConstants } from '../loader/document/allowance.ts';
import { pointerSegment, type Report } from '../loader/document/error.ts';
import type { Node } from '../loader/document/node.ts';
import { fitsHeader, hasControls, hasControlsInQuery, hasDots, maxParameterCharacters } from '../places.ts';
import type { Module } from './code.ts';
import {
  anyShape,
  base64Of,
  bodyBytes,
  bodyText,
  CodeError,
  noBody,
  RuleCompiler,
  refuseOther,
  type Source,
} from './compile-rules.ts';
import { Cover, uncoveredMembers, uncoveredPlace } from './cover.ts';
import { errorShape, type FaultNames, faultShapes } from './faults.ts';
import { type Path, pathText, valueAtPath } from './paths.ts';
import type { Entries, Entry, FaultRule, Group } from './rules.ts';
import { Made, type Maker, MappingError, Run, Scope } from './run.ts';
import { SchemaReader, type Shape } from './schemas.ts';
import { type TargetOperation, targetOperation } from './target.ts';
import { Digits, isItems, isMembers, readValue, textOfScalar, type Value, writeValue } from './value.ts';

/** A mapping between two OpenAPI documents, compiled once at start (M1 to M5). */

/** An upstream call made by a mapping. */
export interface MappedCall {
  readonly method: string;
  /** Encoded path and query, relative to the upstream's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; undefined if there is no body. */
  readonly body: string | undefined;
}

/** The upstream's response to a call. */
export interface MappedAnswer {
  readonly status: number;
  /** Headers with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or bytes that are decoded during the mapping; empty if there is no body. */
  readonly body: string | Uint8Array;
}

/** A mapped request, as plain data. */
export interface MappedRequest {
  /** Calls in order. Without `forEach`, there is one call. */
  readonly calls: readonly MappedCall[];
  /** Index of the operation's entry, from 0. The responses are mapped by the same entry. */
  readonly entry: number;
  /**
   * True if error responses are mapped to the reply (`error`). Otherwise an error response is the error of the call
   * (W27).
   */
  readonly takesErrors: boolean;
  /** True if an error response may be a declared fault (M7). */
  readonly takesFaults: boolean;
}

/** A legacy operation that the upstream serves. */
export interface MappedOperation {
  readonly name: string;
  /** Operations that it may call, as `METHOD /path`. */
  readonly targets: readonly string[];
  /** Operations of its entries, in order. */
  readonly calls: readonly TargetOperation[];
  /** The operation in the derived document. */
  readonly old: TargetOperation;
  /**
   * Maps the JSON text of a legacy request to calls. Throws MappingError, JsonError, and LongMapping if it exceeds
   * `steps`.
   *
   * @param steps maximum number of members and items to read
   */
  readonly toCalls: (json: string, steps?: number) => MappedRequest;
  /**
   * Maps the responses to an entry's calls to the JSON text of the legacy reply. Error responses are mapped by `error`.
   * Throws MappingError for a response that cannot be mapped, JsonError, RangeError for an unknown entry, and
   * LongMapping.
   */
  readonly toReply: (entry: number, answers: readonly MappedAnswer[], steps?: number) => string;
  /**
   * Maps an error response to the JSON text of a declared fault (A29). Undefined if no rule of the entry matches (M7).
   * Throws MappingError, RangeError and LongMapping.
   */
  readonly toFault: (entry: number, answer: MappedAnswer, steps?: number) => string | undefined;
  /** True if rules of a side call module functions (M5). */
  readonly callsFunctions: { readonly request: boolean; readonly reply: boolean };
}

/** A compiled mapping. */
export interface Mapping {
  readonly operations: ReadonlyMap<string, MappedOperation>;
  /**
   * Values of requests and replies that cannot be reconstructed from the mapped form, with the locations of the rules
   * (M3).
   */
  readonly oneWay: readonly Finding[];
  readonly problems: readonly Finding[];
  /** Operations of the WSDL without an entry. */
  readonly unmapped: readonly string[];
}

/** A message about a location in the file. */
export interface Finding {
  readonly pointer: string;
  readonly message: string;
}

/** The documents of a mapping, as plain data, and other input of the compiler. */
export interface MappingSource {
  /** Derived document of the adopted service (A32). */
  readonly derived: Node;
  /** OpenAPI document of the upstream. */
  readonly openapi: Node;
  readonly entries: Entries;
  readonly faults?: FaultNames | undefined;
  /** Returns the module that an entry names (M5). */
  readonly moduleOf: (entry: Entry) => Module | undefined;
  readonly limits: Limits;
}

/** Compiles a mapping for both documents. A mapping with `problems` must not be used. */
export function compileMapping({
  derived,
  openapi,
  entries,
  faults = {},
  moduleOf,
  limits,
}: MappingSource): Mapping {
  const problems: Finding[] = [];
  const oneWay: Finding[] = [];
  const { contractReferences = contractConstants.contractReferences } = limits;
  const old = new SchemaReader(derived, contractReferences);
  const target = new SchemaReader(openapi, contractReferences);
  const operations = new Map<string, MappedOperation>();
  const names = Object.keys((derived.paths ?? {}) as Node).map((path) => path.slice(1));
  for (const [name, several] of entries) {
    const problem: Report = (pointer, message) => problems.push({ pointer, message });
    const adopted = targetOperation(derived, old, 'POST', `/${name}`);
    if (typeof adopted === 'string') {
      problem(
        pointerSegment(name),
        `expected an operation of the WSDL, got ${name}${didYouMean(name, names) || `; there are ${names.slice(0, 20).join(', ')}`}`,
      );
      continue;
    }
    const declared = faultShapes(adopted, old);
    const compiled = several.map((entry) => {
      const found = targetOperation(openapi, target, entry.method, entry.path);
      if (typeof found === 'string') {
        if (entry.method !== '') problem(`${entry.pointer}/call`, found);
        return undefined;
      }
      for (const refusal of found.refusals) problem(`${entry.pointer}/call`, refusal);
      const oneWayAt: Report = (pointer, message) => oneWay.push({ pointer, message });
      const ofFaults: FaultSource = {
        shapes: declared,
        names: faults[name] ?? {},
        errorOf: (statuses) => errorShape(found, target, statuses),
      };
      const compiler = new EntryCompiler(entry, adopted, found, moduleOf(entry), ofFaults, problem, oneWayAt);
      const way = compiler.compile();
      const lacking = problems.length === 0 ? lackingAnswer(way, limits) : undefined;
      if (lacking !== undefined) problem(`${entry.pointer}/reply`, lacking);
      return way;
    });
    const ways = compiled.filter((way) => way !== undefined);
    if (ways.length < several.length) continue;
    const [first] = several;
    for (const path of uncoveredMembers(
      adopted.body ?? anyShape,
      ways.map(({ cover }) => cover),
    ))
      problem(first?.pointer ?? '', missedText(path, ways));
    operations.set(name, mappedOperation(name, adopted, ways, limits));
  }
  return { operations, oneWay, problems, unmapped: names.filter((name) => !entries.has(name)) };
}

function mappedOperation(
  name: string,
  adopted: MappedOperation['old'],
  ways: readonly Way[],
  limits: Limits,
): MappedOperation {
  return {
    name,
    old: adopted,
    calls: ways.map(({ target: called }) => called),
    targets: ways.map(({ target: { method, path } }) => `${method} ${path}`),
    toCalls: (json, steps = Number.POSITIVE_INFINITY) => begin(ways, json, limits, steps),
    toReply: (entry, answers, steps = Number.POSITIVE_INFINITY) => end(ways[entry], answers, limits, steps),
    toFault: (entry, answer, steps = Number.POSITIVE_INFINITY) => faultIn(ways[entry], answer, limits, steps),
    callsFunctions: {
      request: ways.some(({ within }) => within.request !== undefined),
      reply: ways.some(({ within }) => within.reply !== undefined),
    },
  };
}

function missedText(path: string, ways: readonly Way[]): string {
  const calls = ways.map(({ target: { method, path: at } }) => `${method} ${at}`).join(', ');
  return `expected a rule that takes ${path === '' ? 'the body' : path} of the request to ${calls}, auto that covers it, or its path under omit, got none`;
}

/** A compiled entry. */
interface Way {
  readonly target: TargetOperation;
  readonly cover: Cover;
  readonly fits: (root: Scope) => boolean;
  /** Path of the `forEach` list. */
  readonly forEach: Path;
  readonly scopesOf: (root: Scope) => readonly Scope[];
  readonly call: (scope: Scope) => MappedCall;
  readonly reply: Maker;
  readonly error: Maker | undefined;
  readonly faults: readonly {
    /** Value of `@fault`. */
    readonly name: string;
    readonly fits: (answer: Scope) => boolean;
    readonly make: Maker;
  }[];
  /** Undefined for a side without function calls. */
  readonly within: {
    readonly request: Module['within'] | undefined;
    readonly reply: Module['within'] | undefined;
  };
}

/** Maximum number of upstream calls for one request (`forEach`). */
export const maxCalls = 100;

/** Time limit of module functions for one message, in ms, for each started 64 KiB of the message. */
export const maxCodeMs = 50;

/** Characters or bytes of a message for which functions get one `mappingCodeMs`. */
const codePart = 64 * 1024;

/** Runs the rules for a message. Functions have a time limit, and the rules may run again. Throws MappingError. */
function mapped<T>(
  side: 'request' | 'reply',
  { within }: Way,
  characters: number,
  { mappingCodeMs = maxCodeMs }: Limits,
  make: () => T,
): T {
  const watched = within[side];
  if (watched === undefined) return make();
  try {
    return watched(mappingCodeMs * Math.max(1, Math.ceil(characters / codePart)), make);
  } catch (error) {
    throw error instanceof CodeError ? new MappingError(side, '', error.reason) : error;
  }
}

function begin(ways: readonly Way[], json: string, limits: Limits, steps: number): MappedRequest {
  const value = readValue(json, limits);
  const rootOf = (): Scope =>
    new Scope(value, new Run('request', limits, new Made(limits.mappingValues, steps)));
  const root = rootOf();
  const entry = ways.findIndex(({ fits }) => fits(root));
  const way = ways[entry];
  if (way === undefined)
    throw root.error([], {
      expected: 'a request that one of the rules of its operation is for',
      got: 'one that no `when` fits',
    });
  const unmapped = uncoveredPlace(value, way.cover);
  if (unmapped !== undefined)
    throw new MappingError('request', unmapped, {
      expected: 'nothing that has no rule in the mapping',
      got: 'a value',
    });
  const scopes = way.scopesOf(root);
  const { mappingCalls = maxCalls } = limits;
  if (scopes.length > mappingCalls)
    throw root.error([], { expected: `at most ${mappingCalls} calls`, got: `${scopes.length}` });
  if (scopes.length === 0) refuseNone(way, root, limits, steps);
  // counts start again on each run
  const calls = mapped('request', way, json.length, limits, () => way.scopesOf(rootOf()).map(way.call));
  return { calls, entry, takesErrors: way.error !== undefined, takesFaults: way.faults.length > 0 };
}

function end(way: Way | undefined, answers: readonly MappedAnswer[], limits: Limits, steps: number): string {
  if (way === undefined) throw new RangeError('entry: expected one that the operation has, got another');
  if (answers.length === 0) return writeValue(replyOfNone(way, limits, steps));
  const characters = answers.reduce((sum, { body }) => sum + body.length, 0);
  const replies = mapped('reply', way, characters, limits, () => {
    const made = new Made(limits.mappingValues, steps);
    return answers.map((answer) => replyOf(way, answer, limits, made));
  });
  return writeValue(gathered(replies, []) ?? new Map());
}

/**
 * Returns the reply to a request that made no call: constants and empty lists. Throws MappingError if required values
 * are missing.
 */
function replyOfNone(way: Way, limits: Limits, steps: number): Value {
  const run = new Run('reply', limits, new Made(limits.mappingValues, steps));
  return mapped('reply', way, 0, limits, () => way.reply(new Scope(undefined, run)) ?? new Map());
}

/** Rejects a request that makes no call if its reply requires a response. Throws MappingError. */
function refuseNone(way: Way, root: Scope, limits: Limits, steps: number): void {
  try {
    replyOfNone(way, limits, steps);
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    throw root.error(way.forEach, {
      expected: 'an item to make a call of',
      got: 'none',
      detail: `of the reply: ${error.message}`,
    });
  }
}

const utf8 = new TextDecoder(); // removes a byte order mark

function replyOf({ target, reply, error }: Way, answer: MappedAnswer, limits: Limits, made: Made): Value {
  const { status } = answer;
  const isError = status < 200 || status > 299;
  const run = new Run('reply', limits, made, { ...answer, bytes: bytesOf(answer) });
  if (isError && error === undefined)
    throw new MappingError('reply', '', {
      expected: 'an answer that went well, or rules for error',
      got: `status ${status}`,
    });
  const scope = new Scope(isError ? toldBy(answer, limits) : bodyOf(target, answer, limits), run);
  return ((isError ? error : reply) ?? reply)(scope) ?? new Map();
}

function textOf({ body }: MappedAnswer): string {
  return typeof body === 'string' ? body : utf8.decode(body);
}

function bytesOf({ body }: MappedAnswer): Uint8Array {
  return typeof body === 'string' ? utf8Bytes.encode(body) : body;
}

const utf8Bytes = new TextEncoder();

/**
 * Returns the root value for source paths of a success response; undefined without a body. Throws MappingError,
 * JsonError.
 */
function bodyOf(
  { replyForm, accept }: TargetOperation,
  answer: MappedAnswer,
  limits: Limits,
): Value | undefined {
  if (replyForm === 'json') {
    const text = textOf(answer);
    return text === '' ? undefined : readValue(text, limits);
  }
  if (replyForm === 'none' || answer.status === 204 || answer.status === 205) return undefined;
  const type = answer.headers['content-type'] ?? '';
  // for example, the error page of a proxy
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type) && !/html/i.test(accept))
    throw new MappingError('reply', '', { expected: `an answer of ${accept}`, got: 'HTML' });
  if (replyForm === 'binary') return base64Of(bytesOf(answer));
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type) ?? [];
  try {
    return typeof answer.body === 'string'
      ? answer.body
      : new TextDecoder(charset, { fatal: true }).decode(answer.body);
  } catch {
    throw new MappingError('reply', '', { expected: `text in ${charset.slice(0, 40)}`, got: 'other bytes' });
  }
}

/** Returns the reason why a documented success response is not sufficient for the reply (M3). Undefined if all are. */
function lackingAnswer(way: Way, limits: Limits): string | undefined {
  const [first, ...more] = way.target.successes.filter(({ body }) => body !== undefined);
  // Rules with `[k=v]` never match a probe, so other responses are tested only if the first one gives a complete reply.
  const others = first === undefined || missedOf(way, first, limits) !== undefined ? [] : more;
  for (const success of [...way.target.successes.filter(({ body }) => body === undefined), ...others]) {
    const missed = missedOf(way, success, limits);
    if (missed === undefined) continue;
    const why = success.body === undefined ? 'which have no body' : 'which have another body';
    return `expected a reply for answers of status ${success.status}, ${why}; say default or else: ${missed}`;
  }
  return undefined;
}

/**
 * Returns the error about a required member that rules cannot make from a response with all members of its schema.
 * Undefined if the reply is complete.
 */
function missedOf(
  { reply }: Way,
  { status, body }: TargetOperation['successes'][number],
  limits: Limits,
): string | undefined {
  const headers = new Proxy<Record<string, string>>({}, { get: () => 'probe' });
  const made = new Made(limits.mappingValues, Number.POSITIVE_INFINITY);
  const value = body === undefined ? undefined : probeOf(body, 0);
  try {
    reply(new Scope(value, new Run('reply', limits, made, { headers, status, isProbe: true })));
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    // Other errors depend on values.
    if (error.isMissing) return error.message;
  }
  return undefined;
}

/** Maximum depth of a probe, and maximum members of each object. */
const probeLevels = 6;
const probeMembers = 100;

/** Returns a value with all members of a schema. Only the structure matters. */
function probeOf({ kinds, members, items, values }: Shape, level: number): Value {
  if (kinds.has('object') && members.size > 0) {
    if (level === probeLevels) return new Map();
    const inner = [...members].slice(0, probeMembers);
    return new Map(inner.map(([name, { shape }]) => [name, probeOf(shape, level + 1)]));
  }
  if (kinds.has('array') && items !== undefined)
    return level === probeLevels ? [] : [probeOf(items, level + 1)];
  if (kinds.has('string')) return values?.[0] ?? 'probe';
  return kinds.has('number') ? new Digits(values?.[0] ?? '1') : true;
}

/** Returns the first matching declared fault for an error response, as JSON (M7). */
function faultIn(
  way: Way | undefined,
  answer: MappedAnswer,
  limits: Limits,
  steps: number,
): string | undefined {
  if (way === undefined) throw new RangeError('entry: expected one that the operation has, got another');
  if (way.faults.length === 0) return undefined;
  const value = toldBy(answer, limits);
  return mapped('reply', way, answer.body.length, limits, () => {
    const run = new Run('reply', limits, new Made(limits.mappingValues, steps), answer);
    const scope = new Scope(value, run);
    const fault = way.faults.find(({ fits }) => fits(scope));
    if (fault === undefined) return undefined;
    const detail = fault.make(scope);
    return writeValue(new Map([['@fault', fault.name], ...(isMembers(detail) ? detail : [])]));
  });
}

/** Returns the JSON body of an error response; undefined if it is not JSON in UTF-8, for example HTML. */
function toldBy(answer: MappedAnswer, limits: Limits): Value | undefined {
  if (!isUtf8(bytesOf(answer))) return undefined;
  try {
    return readValue(textOf(answer), limits);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/**
 * Merges the replies of several calls (M4): lists are concatenated, objects merged, and the first scalar is used.
 * Throws MappingError if a list or an object would be merged with another kind of value.
 */
function gathered(replies: readonly Value[], path: Path): Value | undefined {
  const given = replies.filter((reply) => reply !== null);
  const [first = replies[0]] = given;
  if (given.length < 2) return first;
  if (given.every(isItems)) return given.flat();
  if (!given.every(isMembers)) {
    if (given.every((reply) => !isItems(reply) && !isMembers(reply))) return first;
    throw new MappingError('reply', pathText(path), {
      expected: 'lists, objects or values alike in the replies of several calls',
      got: 'several kinds',
    });
  }
  const byName = new Map<string, Value[]>();
  for (const reply of given)
    for (const [name, value] of reply) {
      const values = byName.get(name);
      if (values === undefined) byName.set(name, [value]);
      else values.push(value);
    }
  return new Map(
    [...byName].map(([name, values]) => [
      name,
      gathered(values, [...path, { kind: 'member', name }]) as Value,
    ]),
  );
}

const places = ['path', 'query', 'header'] as const;

/** Declared faults and the error responses that they are made from. */
interface FaultSource {
  /** Detail of each fault by its `@fault` value. */
  readonly shapes: ReadonlyMap<string, Shape>;
  /** `@fault` values by the names that a mapping may use. */
  readonly names: Readonly<Record<string, string>>;
  /** Returns the body of error responses with the given statuses; undefined means any status. */
  readonly errorOf: (statuses: readonly string[] | undefined) => Shape;
}

/** Compiles one entry. */
class EntryCompiler {
  readonly #entry: Entry;
  readonly #old: TargetOperation;
  readonly #target: TargetOperation;
  readonly #problem: Report;
  readonly #oneWay: Report;
  readonly #request: RuleCompiler;
  readonly #reply: RuleCompiler;
  readonly #error: RuleCompiler;
  readonly #fault: RuleCompiler;
  readonly #faults: FaultSource;
  readonly #module: Module | undefined;

  constructor(
    entry: Entry,
    old: TargetOperation,
    target: TargetOperation,
    module: Module | undefined,
    faults: FaultSource,
    problem: Report,
    oneWay: Report,
  ) {
    this.#entry = entry;
    this.#old = old;
    this.#target = target;
    this.#problem = problem;
    this.#module = module;
    const functions = module?.functions;
    const isGathered = entry.forEach !== undefined;
    this.#request = new RuleCompiler({ side: 'request', problem, oneWay, functions, isGathered: false });
    this.#reply = new RuleCompiler({ side: 'reply', problem, oneWay, functions, isGathered });
    this.#error = new RuleCompiler({ side: 'reply', problem, oneWay, functions, isGathered });
    this.#fault = new RuleCompiler({ side: 'reply', problem, oneWay, functions, isGathered: false });
    this.#faults = faults;
    this.#oneWay = oneWay;
  }

  compile(): Way {
    const entry = this.#entry;
    const cover = new Cover();
    const root: Source = { shape: this.#old.body ?? anyShape, cover };
    const shape = this.#request.shapeAt(root.shape, entry.at, `${entry.pointer}/at`);
    const begins: Source = { shape, cover: cover.at(entry.at) };
    const omit = new Cover();
    for (const { pointer, path } of entry.omit) {
      const whole = this.#omitted(root.shape, path, pointer);
      cover.at(whole, true).whole = true;
      omit.at(whole, true).whole = true;
    }
    const fits = this.#request.conditions(entry.when, root);
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
      for (const at of this.#reply.placeListsBeside(this.#error))
        this.#oneWay(
          `${entry.pointer}/error`,
          `${at}: an item whose call doesn't go well has no place in it`,
        );
    const faults = entry.faults.map((fault, index) => this.#faultMaker(fault, index));
    const withinOf = (...rules: RuleCompiler[]) =>
      rules.some(({ callsFunctions }) => callsFunctions) ? this.#module?.within : undefined;
    const within = {
      request: withinOf(this.#request),
      reply: withinOf(this.#reply, this.#error, this.#fault),
    };
    const isFor = (scope: Scope): boolean => fits === undefined || fits(scope);
    const forEach = [...entry.at, ...(entry.forEach ?? [])];
    return {
      target: this.#target,
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
    const { reply, replyForm } = this.#target;
    if (replyForm === 'json') return reply ?? anyShape;
    return replyForm === 'none' ? noBody : replyForm === 'text' ? bodyText : bodyBytes;
  }

  #faultMaker({ pointer, name, when, map }: FaultRule, index: number): Way['faults'][number] {
    const { shapes, names, errorOf } = this.#faults;
    const element = names[name] ?? name;
    const shape = shapes.get(element);
    if (shape === undefined)
      this.#problem(
        pointer,
        `expected a fault that the WSDL declares for ${this.#old.path.slice(1)}, got ${name}; there are ${[...shapes.keys()].join(', ') || 'none'}`,
      );
    const open = this.#entry.faults.slice(0, index).find((one) => one.when.length === 0);
    if (open !== undefined)
      this.#problem(
        pointer,
        `expected no fault after ${open.name}, which has no when and is for each error answer`,
      );
    const status = when.find(({ path }) => pathText(path) === 'status');
    const statuses = typeof status?.is === 'object' ? status.is : undefined;
    const good = statuses?.find((one) => !/^[345]\d\d$/.test(one));
    if (status !== undefined && good !== undefined)
      this.#problem(status.pointer, `expected the status of an error answer, got ${good}`);
    const source: Source = { shape: errorOf(statuses), cover: new Cover(), isError: true };
    const fits = this.#fault.conditions(when, source);
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
      at = this.#request.shapeAt(at, [step], pointer);
    }
    return whole;
  }

  /** Returns the roots of source paths for each call (M4). */
  #scopes(
    begins: Source,
    at: (scope: Scope) => Scope,
  ): { readonly scopesOf: Way['scopesOf']; readonly source: Source } {
    const { forEach, pointer } = this.#entry;
    if (forEach === undefined) return { scopesOf: (root) => [at(root)], source: begins };
    const list = this.#request.shapeAt(begins.shape, forEach, `${pointer}/forEach`);
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
          if (item === null) throw inner.error([], { expected: 'an item to make a call of', got: 'null' });
          return inner;
        });
      },
    };
  }

  #call(source: Source, omit: Cover): (scope: Scope) => MappedCall {
    const entry = this.#entry;
    const target = this.#target;
    const inBody: Group['rules'][number][] = [];
    const fills: { readonly parameter: TargetOperation['parameters'][number]; readonly make: Maker }[] = [];
    for (const one of entry.request.rules) {
      const [first, second] = one.target;
      const place =
        first?.kind === 'member' && second?.kind === 'member'
          ? places.find((name) => name === first.name)
          : undefined;
      const isOfBody =
        place === undefined ||
        (first?.kind === 'member' &&
          target.body?.members.get(first.name)?.shape.kinds.has('object') === true);
      if (isOfBody || second?.kind !== 'member') {
        inBody.push(one);
        continue;
      }
      const name = one.target
        .slice(1)
        .map((step) => (step.kind === 'member' ? step.name : ''))
        .join('.');
      const parameter = target.parameters.find(
        (candidate) => candidate.in === place && candidate.name === name,
      );
      if (parameter === undefined) {
        const there = target.parameters
          .filter((candidate) => candidate.in === place)
          .map((candidate) => candidate.name);
        this.#problem(
          one.pointer,
          `expected a ${place} parameter of ${target.method} ${target.path}, which are ${there.join(', ') || 'none'}, got ${name}`,
        );
        continue;
      }
      // Header names are case-insensitive.
      const isSame = (other: string): boolean =>
        place === 'header' ? other.toLowerCase() === name.toLowerCase() : other === name;
      if (fills.some(({ parameter: filled }) => filled.in === place && isSame(filled.name)))
        this.#problem(one.pointer, `expected one rule for ${place}.${name}, got another`);
      if (parameter.lists === undefined)
        this.#problem(
          one.pointer,
          `expected a parameter of style form or simple, got ${name} of another one`,
        );
      fills.push({
        parameter,
        make: this.#request.rule(one.rule, parameter.shape, source, `${place}.${name}`),
      });
    }
    for (const parameter of target.parameters)
      if (parameter.required && !fills.some((fill) => fill.parameter === parameter))
        this.#problem(
          `${entry.pointer}/request`,
          `expected a rule for ${parameter.in}.${parameter.name}, which ${target.method} ${target.path} requires, got none`,
        );
    for (const [, name] of target.path.matchAll(/\{([^{}]+)\}/g))
      if (!target.parameters.some((parameter) => parameter.in === 'path' && parameter.name === name))
        this.#problem(
          `${entry.pointer}/call`,
          `expected a parameter of the OpenAPI document for {${name}} of ${target.path}, got none`,
        );
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

  #body(group: Group, source: Source, omit: Cover): Maker | undefined {
    const { pointer, to, auto } = this.#entry;
    const { body, method, path, bodyRequired } = this.#target;
    if (body === undefined) {
      const [first] = group.rules;
      if (first !== undefined)
        this.#problem(
          first.pointer,
          `expected a parameter, as ${method} ${path} takes no body in JSON, got ${pathText(first.target)}`,
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
    const { pointer } = this.#entry;
    const shape = rules.shapeAt(source.shape, from, `${pointer}/from`);
    const target = this.#old.reply;
    if (target === undefined) return () => new Map(); // a one-way operation
    if (auto && !shape.kinds.has('object'))
      this.#problem(`${pointer}/autoReply`, 'expected an answer with members in JSON, got another one');
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

// --- parameters ------------------------------------------------------------------------------------

interface Filled {
  readonly parameter: TargetOperation['parameters'][number];
  readonly value: Value | undefined;
}

/** Writes parameters to path, query and headers. Throws MappingError for a value that is not allowed there. */
function writeParameters(
  { template }: TargetOperation,
  filled: readonly Filled[],
  scope: Scope,
): { readonly path: string; readonly headers: Record<string, string> } {
  const { parameterText = maxParameterCharacters } = scope.run.limits;
  let written = template;
  let lastInPath: string | undefined;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  for (const { parameter, value } of filled) {
    const said = `${parameter.in}.${parameter.name}`;
    const texts = textsOf(value);
    if (texts === undefined)
      throw scope.error([], { expected: `a scalar or a list of scalars for ${said}`, got: 'another value' });
    if (texts.length === 0) {
      if (parameter.required)
        throw scope.error([], { expected: `what ${said} is made of, which is required`, got: 'none' });
      continue;
    }
    if (texts.reduce((sum, text) => sum + text.length, 0) > parameterText)
      throw scope.error([], { expected: `at most ${parameterText} characters for ${said}`, got: 'more' });
    if (!texts.every((text) => text.isWellFormed()))
      throw scope.error([], { expected: `whole characters for ${said}`, got: 'half of one' });
    const name = encodeURIComponent(parameter.name);
    if (parameter.in === 'path') {
      const segment = texts.map(encodeURIComponent).join(',');
      if (segment === '' || hasDots(segment) || hasControls(segment))
        throw scope.error([], {
          expected: `a text that can stand in a path for ${said}`,
          got: JSON.stringify(segment),
        });
      lastInPath = said;
      written = written.replaceAll(`{${parameter.name}}`, () => segment);
    } else if (parameter.in === 'query') {
      const encoded = texts.map(encodeURIComponent);
      if (encoded.some(hasControlsInQuery))
        throw scope.error([], { expected: `no control characters for ${said}`, got: 'some' });
      if (parameter.lists === 'repeat') for (const text of encoded) query.push(`${name}=${text}`);
      else query.push(`${name}=${encoded.join(',')}`);
    } else {
      if (isItems(value) && texts.some((text) => text.includes(',')))
        throw scope.error([], { expected: `no "," in an item of the list for ${said}`, got: 'one' });
      const text = texts.join(',');
      if (!fitsHeader(text))
        throw scope.error([], {
          expected: `printable ASCII for ${said}, without blanks at its ends`,
          got: 'other text',
        });
      headers[parameter.name.toLowerCase()] = text;
    }
  }
  // A segment may be composed of several values.
  if (lastInPath !== undefined && hasDots(written))
    throw scope.error([], { expected: `a text that can stand in a path for ${lastInPath}`, got: 'dots' });
  return { path: query.length === 0 ? written : `${written}?${query.join('&')}`, headers };
}

/** Returns the text of a scalar or the texts of a list; empty for no value, undefined for other values. */
function textsOf(value: Value | undefined): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  const texts = isItems(value) ? value.map(textOfScalar) : [textOfScalar(value)];
  const known = texts.filter((text) => text !== undefined);
  return known.length === texts.length ? known : undefined;
}
