import { realpathSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { createContext, Script } from 'node:vm';
import type { Limits } from '../contract/limits.ts';
import { within } from '../contract/reason.ts';
import { JsonError } from '../json/grammar.ts';
import type { Allowance } from '../loader/document/allowance.ts';
import { readWhole } from '../loader/document/yaml.ts';
import { CodeError, type CodeFunction, textPart } from './compile-rules.ts';
import { Digits, isItems, isMembers, readValue, type Value, writeValue } from './value.ts';

/**
 * The functions of a mapping's module (M5). They run in a context of their own (`node:vm`), which has the language and
 * nothing else: no modules, no timers, no network, no files, no clock and no random numbers. All calls of one message
 * end together by `mappingCodeMs`: a limit of each call would start a thread of Node's for each. Their results count as
 * constants do (`mappingValues`). The gateway runs them in a thread with a bounded heap (`readAsideHeapBytes`).
 * A function may keep values in variables of the module from one call to the next. It is code of the contract's author and
 * has to be trusted as the rest of the contract; `node:vm` does not protect from an author who means harm.
 */

/** A mapping's module, compiled. */
export interface Module {
  /** What it exports, by its names. */
  readonly functions: ReadonlyMap<string, CodeFunction>;
  /** Runs what calls its functions, again where the machine had no time for it, and ends it after so many ms. Throws CodeError, and what it throws. */
  readonly within: <T>(ms: number, run: () => T) => T;
}

/** The text of a module below the folder of a mapping. Throws Error where it can't be had. */
export function readModule(mapping: string, code: string, allowance: Allowance): string {
  const folder = realpathSync(dirname(mapping));
  const file = realpathSync(join(folder, code));
  if (!file.startsWith(folder + sep)) throw new Error('expected one below the folder of the mapping');
  return readWhole(file, allowance).toString('utf8');
}

const exported = /^export (?:function ([A-Za-z_$][\w$]*)|const ([A-Za-z_$][\w$]*))/gm;

/** The first line that exports or imports anything else; undefined where there is none. */
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
 * Compiles a module's text. Throws Error for text that isn't TypeScript of functions alone, with the reason.
 *
 * @param name what it is called in the errors of its functions
 */
export function compileModule(source: string, name: string, limits: Limits): Module {
  const strange = strangeLine(source);
  if (strange !== undefined)
    throw new SyntaxError(
      `expected export function and export const alone, and import type, got ${strange.slice(0, 60)}`,
    );
  const plain = withoutTypes(source);
  const names = [...plain.matchAll(exported)].map(([, one, another]) => one ?? another ?? '');
  const loading = { timeout: limits.contractMs };
  const context = boundedContext(limits, loading);
  const body = plain.replaceAll(exported, (all) => all.slice('export '.length));
  // in a function, so that the module's names are its own; one line before its text, as its own lines are told
  const text = `'use strict'; (() => {${body}\nreturn { ${names.join(', ')} };\n})();`;
  const answeringOf = new Script(answering).runInContext(context, loading);
  const call: Answering = answeringOf(new Script(text, { filename: name }).runInContext(context, loading));
  const settle = new Script('0'); // runs what promises have waiting
  let called = '';
  const compiled = (one: string): CodeFunction => {
    return (value, at, most = limits.mappingValues) => {
      called = `${one}() for ${at}`;
      let answer: unknown;
      try {
        answer = call(one, writeValue(asPlain(value)), at, most);
      } catch (error) {
        throw new CodeError({ where: `${name}: ${called}`, detail: messageOf(error) });
      }
      if (typeof answer !== 'string') return undefined;
      if (answer.startsWith('!'))
        throw new CodeError({ where: `${name}: ${called}`, detail: answer.slice(1) });
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
        throw new CodeError({
          where: `${name}: ${called}`,
          expected: `the functions of a message to end within ${ms} ms`,
          got: 'one that was still running',
        });
      }
    },
  };
}

/** Creates a context without a clock, in which functions make values up to the limits. */
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

/** Calls one of a module's functions with a value as JSON, and gives its answer as JSON; undefined for none. */
type Answering = (name: string, json: string, at: string, most: number) => unknown;

/** Where what is to end in time is called from. Its own, so that no module has anything of ours in its reach. */
const watched = createContext(Object.create(null));
const callRun = new Script('run()');

/** The time of this thread, or of all threads where Node (before 23.9) can't tell. */
const usage = process.threadCpuUsage ?? process.cpuUsage;

function cpuMs(): number {
  const { user, system } = usage();
  return (user + system) / 1_000;
}

/**
 * Runs a function, and ends it, whatever it is at, after so many ms: Node watches by a thread, once for all that it calls.
 * That thread goes by the clock. Where the machine gave most of the time to others, the function runs again, for twice as
 * long: a reply that is refused may be that of a write.
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
    watched.run = undefined; // it holds the message
  }
}

/** Whether it is the end of a time, which is an Error of the watched context. */
function isTimeout(error: unknown): boolean {
  return Object.getOwnPropertyDescriptor(Object(error), 'code')?.value === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

/**
 * The JavaScript of a module's TypeScript. Node warns with each process that this is experimental, which no user of a mapping
 * can change: that warning alone is dropped.
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
 * Bounds what one call of the language can take at once: neither the time limit nor the heap limit of a thread ends it before
 * the process is out of memory. Takes the most items of a list and the most characters of a text.
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

/** What gives another value each time it is asked. */
const withoutClock =
  'delete globalThis.Date; delete Math.random; delete globalThis.WebAssembly; delete globalThis.SharedArrayBuffer; delete globalThis.Atomics; if (globalThis.Temporal !== undefined) delete Temporal.Now;';

/**
 * What a function gives, as JSON, or behind a `!` what it throws: its words may be code of the module, which ends in time here
 * alone. What JSON has no word for is an error: `NaN` would be null, a Map an object without members. Made before the module
 * runs, whose names are its own.
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
  if (left < 0) throw new RangeError('expected a result within the limit of values (mappingValues), got a larger one');
  if (value === undefined) {
    if (Array.isArray(this)) throw new TypeError('expected a value for each item of a list, got none');
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('expected a number, got ' + value);
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new TypeError('expected a text for a number of more than 15 digits, got one that JavaScript rounds');
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
      return '!an error that says nothing';
    }
  }
};
})();`;

/** Numbers as text, as functions get them. */
function asPlain(value: Value): Value {
  if (value instanceof Digits) return value.text;
  if (isItems(value)) return value.map(asPlain);
  if (isMembers(value)) return new Map([...value].map(([name, inner]) => [name, asPlain(inner)]));
  return value;
}

/** Why a function was ended: what the engine itself throws, of the other context; an error of the function is told by `answering`. */
function messageOf(error: unknown): string {
  const message = Object.getOwnPropertyDescriptor(Object(error), 'message')?.value;
  return typeof message === 'string' ? message : 'an error that says nothing';
}
