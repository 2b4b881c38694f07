import { realpathSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { createContext, Script } from 'node:vm';
import type { Limits } from '../contract/limits.ts';
import { quoteValue, type Reason, within } from '../contract/reason.ts';
import { JsonError } from '../json/grammar.ts';
import type { Allowance } from '../loader/document/allowance.ts';
import { readWhole } from '../loader/document/yaml.ts';
import { CodeError, type CodeFunction, textPart } from './makers.ts';
import { Digits, isItems, isMembers, readValue, type Value, writeValue } from './value.ts';

/**
 * Runs the functions of a mapping's module (M5). They run in a separate context (`node:vm`) with only the language: no
 * modules, timers, network, files, clock or random numbers.
 *
 * All calls for one message share one time limit, `mappingCodeMs`, because each limit requires a Node thread. Their
 * results count towards `mappingValues`. The gateway runs them in a thread with a bounded heap (`readAsideHeapBytes`).
 *
 * A function may keep values in module variables between calls. The code must be trusted like the rest of the contract:
 * `node:vm` does not protect against malicious code.
 */

/** A compiled module of a mapping. */
export interface Module {
  /** Exported functions by name. */
  readonly functions: ReadonlyMap<string, CodeFunction>;
  /**
   * Calls `run`, which may call module functions, with a limit in ms. Repeats it if the machine was too busy. Throws
   * CodeError and the errors of `run`.
   */
  readonly within: <T>(ms: number, run: () => T) => T;
}

/** Reads a module in the folder of a mapping. Throws Error if it cannot be read. */
export function readModule(mapping: string, code: string, allowance: Allowance): string {
  const folder = realpathSync(dirname(mapping));
  const file = realpathSync(join(folder, code));
  if (!file.startsWith(folder + sep))
    throw new Error('expected a file in the folder of the mapping or below');
  return readWhole(file, allowance).toString('utf8');
}

const exported = /^export (?:function ([A-Za-z_$][\w$]*)|const ([A-Za-z_$][\w$]*))/gm;

/** Returns the first line with an unsupported export or import; undefined if there is none. */
function strangeLine(source: string): string | undefined {
  return source
    .split('\n')
    .find(
      (line) =>
        (line.startsWith('export ') && !/^export (?:function|const|type|interface) /.test(line)) ||
        (line.startsWith('import ') && !line.startsWith('import type ')),
    );
}

/**
 * Compiles the text of a module. Throws Error with the reason if it is not TypeScript with function exports only.
 *
 * @param name name of the module in error messages
 */
export function compileModule(source: string, name: string, limits: Limits): Module {
  const strange = strangeLine(source);
  if (strange !== undefined)
    throw new SyntaxError(
      `expected only export function, export const and import type, got ${strange.slice(0, 60)}`,
    );
  const plain = withoutTypes(source);
  const names = [...plain.matchAll(exported)].map(([, one, another]) => one ?? another ?? '');
  const loading = { timeout: limits.contractMs };
  const context = boundedContext(limits, loading);
  const body = plain.replaceAll(exported, (all) => all.slice('export '.length));
  // The function scopes the module's names. Its text starts on the first line, so line numbers stay correct.
  const text = `'use strict'; (() => {${body}\nreturn { ${names.join(', ')} };\n})();`;
  const answeringOf = new Script(answering).runInContext(context, loading);
  const call: Answering = answeringOf(new Script(text, { filename: name }).runInContext(context, loading));
  const settle = new Script('0'); // runs pending promise callbacks
  let called = '';
  const failed = (reason: Reason): CodeError =>
    new CodeError({ where: quoteValue(`${name}: ${called}`, 'another place'), ...reason });
  const compiled = (one: string): CodeFunction => {
    return (value, at, most = limits.mappingValues) => {
      called = `${one}() for ${at}`;
      let answer: unknown;
      try {
        answer = call(one, writeValue(asPlain(value)), at, most);
      } catch (error) {
        throw failed({ detail: messageOf(error) });
      }
      if (typeof answer !== 'string') return undefined;
      if (answer.startsWith('!')) throw failed({ detail: answer.slice(1) });
      try {
        return readValue(answer, limits);
      } catch (error) {
        if (!(error instanceof JsonError)) throw error;
        throw new CodeError(within(`${name}: ${called}`, error.reason));
      }
    };
  };
  return {
    functions: new Map(names.map((one) => [one, compiled(one)])),
    within: (ms, run) => {
      try {
        return endedAfter(ms, () => {
          const made = run();
          called = 'a promise';
          settle.runInContext(context);
          return made;
        });
      } catch (error) {
        if (!isTimeout(error)) throw error;
        throw failed({
          expected: `the functions of a message to end within ${ms} ms`,
          got: 'a function that was still running',
        });
      }
    },
  };
}

/** Creates a context without a clock that limits the size of the values that functions make. */
function boundedContext(
  { mappingValues }: Limits,
  loading: { readonly timeout: number },
): ReturnType<typeof createContext> {
  const context = createContext(Object.create(null), {
    codeGeneration: { strings: false, wasm: false },
    microtaskMode: 'afterEvaluate',
  });
  new Script(withoutClock).runInContext(context, loading);
  const text = `(${bounded})(${mappingValues}, ${mappingValues * textPart})`;
  new Script(text).runInContext(context, loading);
  return context;
}

/** Calls a function of the module with a JSON value. Returns its result as JSON; undefined if it returns none. */
type Answering = (name: string, json: string, at: string, most: number) => unknown;

/**
 * Separate context that calls code with a time limit. Modules cannot reach objects of the gateway through this context.
 */
const watched = createContext(Object.create(null));
const callRun = new Script('run()');

/** CPU time of this thread, or of the process in Node before 23.9. */
const usage = process.threadCpuUsage ?? process.cpuUsage;

function cpuMs(): number {
  const { user, system } = usage();
  return (user + system) / 1_000;
}

/**
 * Calls a function and stops it after `ms`. Node starts one watchdog thread for the whole call, which measures elapsed
 * time. If the thread got less than 80 % of `ms` as CPU time, the function runs again with twice the limit, up to 8
 * times `ms`. Otherwise a busy machine could cause the rejection of a response, possibly that of a write.
 */
function endedAfter<T>(ms: number, run: () => T): T {
  const start = cpuMs();
  try {
    for (let timeout = ms; ; timeout *= 2) {
      watched.run = run;
      try {
        return callRun.runInContext(watched, { timeout, displayErrors: false });
      } catch (error) {
        if (!isTimeout(error) || timeout >= 8 * ms || cpuMs() - start >= 0.8 * ms) throw error;
      }
    }
  } finally {
    watched.run = undefined; // releases the message
  }
}

/** Returns true for a timeout error, which is an Error of the watched context. */
function isTimeout(error: unknown): boolean {
  return Object.getOwnPropertyDescriptor(Object(error), 'code')?.value === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

/**
 * Strips the types of TypeScript. Node warns once per process that this is experimental. Only that warning is dropped,
 * because users of a mapping cannot avoid it.
 */
function withoutTypes(source: string): string {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...more: unknown[]): void => {
    if (more[0] !== 'ExperimentalWarning') Reflect.apply(emitWarning, process, [warning, ...more]);
  };
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Limits the size of values that a single built-in call can create. Otherwise the process could run out of memory
 * before the time or heap limit stops the thread. Parameters: maximum items of a list and maximum characters of a text.
 */
const bounded = `(mostItems, mostCharacters) => {
'use strict';
const { apply, construct, defineProperty } = Reflect;
const text = String;
const refuse = (size, most) => {
  if (size > most) throw new RangeError('expected a size of at most ' + most + ' (mappingValues), got ' + size);
};
const replace = (of, name, value) => defineProperty(of, name, { value, writable: true, configurable: true });
for (const name of ['repeat', 'padStart', 'padEnd']) {
  const own = String.prototype[name];
  const bound = {
    [name](size, ...more) {
      refuse(name === 'repeat' ? text(this).length * Number(size) : Number(size), mostCharacters);
      return apply(own, this, [size, ...more]);
    },
  };
  replace(String.prototype, name, bound[name]);
}
const { fill } = Array.prototype;
const { from } = Array;
const ofArray = {
  fill(...given) {
    refuse(this.length, mostItems);
    return apply(fill, this, given);
  },
  from(items, ...more) {
    if (items?.[Symbol.iterator] === undefined) refuse(items?.length, mostItems);
    return apply(from, this, [items, ...more]);
  },
};
replace(Array.prototype, 'fill', ofArray.fill);
replace(Array, 'from', ofArray.from);
const sizeOf = (name, [first, ...more]) => {
  if (typeof first === 'number') return more.length === 0 || name !== 'Array' ? first : 0;
  return name === 'Array' ? 0 : first?.length;
};
const sized = Object.getOwnPropertyNames(globalThis).filter((name) => /Array$|^ArrayBuffer$/.test(name));
for (const name of sized) {
  const most = name === 'Array' ? mostItems : mostCharacters;
  const bound = new Proxy(globalThis[name], {
    apply(own, that, given) {
      refuse(sizeOf(name, given), most);
      return apply(own, that, given);
    },
    construct(own, given, as) {
      refuse(sizeOf(name, given), most);
      return construct(own, given, as);
    },
  });
  replace(globalThis, name, bound);
}
}`;

/** Removes globals with values that change between calls. */
const withoutClock =
  'delete globalThis.Date; delete Math.random; delete globalThis.WebAssembly; delete globalThis.SharedArrayBuffer; delete globalThis.Atomics; if (globalThis.Temporal !== undefined) delete Temporal.Now;';

/**
 * Returns the result of a function as JSON, or `!` and the message of its error. The message may be computed by module
 * code, so it is read inside the time limit. Values without a JSON form are errors: `NaN` would become null, and a Map
 * an empty object. Created before the module runs, so that the module cannot replace the built-ins used here.
 */
const answering = `'use strict'; (() => {
const { parse, stringify } = JSON;
const { toString } = Object.prototype;
const kindOf = (value) => toString.call(value).slice(8, -1);
let left = 0;
function check(key, value) {
  left -= 1;
  if (key.length >= ${textPart}) left -= Math.floor(key.length / ${textPart});
  if (typeof value === 'string') left -= Math.floor(value.length / ${textPart});
  if (left < 0) throw new RangeError('expected a result within the limit of values (mappingValues), got a larger result');
  if (value === undefined) {
    if (Array.isArray(this)) throw new TypeError('expected a value for each item of a list, got none');
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('expected a number, got ' + value);
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new TypeError('expected a text for a number of more than 15 digits, got a number that JavaScript rounds');
  } else if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    throw new TypeError('expected a value, got a ' + typeof value);
  else if (typeof value === 'object' && value !== null && !Array.isArray(value) && kindOf(value) !== 'Object')
    throw new TypeError('expected a list or an object, got a ' + kindOf(value));
  return value;
}
const given = (value, most) => {
  left = most;
  if (typeof value?.then === 'function') throw new TypeError('expected a value, got a promise');
  return stringify(value, check);
};
return (all) => (name, json, at, most) => {
  try {
    return given(all[name](parse(json), { at }), most);
  } catch (error) {
    try {
      return '!' + String(typeof error === 'object' && error !== null && 'message' in error ? error.message : error).slice(0, 200);
    } catch {
      return '!an error without a message';
    }
  }
};
})();`;

/** Converts numbers to text, the form in which functions receive them. */
function asPlain(value: Value): Value {
  if (value instanceof Digits) return value.text;
  if (isItems(value)) return value.map(asPlain);
  if (isMembers(value)) return new Map([...value].map(([name, inner]) => [name, asPlain(inner)]));
  return value;
}

/**
 * Returns the message of an error that the engine throws in the other context. `answering` handles errors of the
 * function.
 */
function messageOf(error: unknown): string {
  const message = Object.getOwnPropertyDescriptor(Object(error), 'message')?.value;
  return typeof message === 'string' ? message : 'an error without a message';
}
