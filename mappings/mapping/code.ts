import { realpathSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { createContext, Script } from 'node:vm';
import type { Limits } from '../contract/limits.ts';
import type { Allowance } from '../loader/document/allowance.ts';
import { readWhole } from '../loader/document/yaml.ts';
import { CodeError, type CodeFunction } from './compile-rules.ts';
import type { Finding } from './mapping.ts';
import type { Entry } from './rules.ts';
import { Digits, isItems, isMembers, readValue, type Value, writeValue } from './value.ts';

/**
 * The functions of a mapping's module (M5). They run in a context of their own (`node:vm`), which has the language and
 * nothing else: no modules, no timers, no network, no files, no clock and no random numbers. A call ends after
 * `mappingCodeMs`. A thread with limits would hold memory too, and cost two messages for each value. What isn't held:
 * how much memory a function takes in its time, and what it keeps in the module's variables from one call to the next. It is
 * code of the contract's author and has to be trusted as the rest of the contract; `node:vm` is no wall against one who
 * means harm.
 */

/** The functions that a module exports, by their names; undefined for an entry that names none, or once it is told what is wrong. */
export function readModule(
  mapping: string,
  { code, pointer }: Entry,
  tell: (finding: Finding) => void,
  limits: Limits,
  allowance: Allowance,
): ReadonlyMap<string, CodeFunction> | undefined {
  if (code === undefined) return undefined;
  const at = `${pointer}/code`;
  try {
    const folder = realpathSync(dirname(mapping));
    const file = realpathSync(join(folder, code));
    if (!file.startsWith(folder + sep)) {
      tell({ pointer: at, message: `expected a module below the folder of the mapping, got ${code}` });
      return undefined;
    }
    return compileModule(readWhole(file, allowance).toString('utf8'), code, limits);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    tell({ pointer: at, message: `expected a module of functions, got ${code}: ${error.message}` });
    return new Map();
  }
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
export function compileModule(
  source: string,
  name: string,
  limits: Limits,
): ReadonlyMap<string, CodeFunction> {
  const strange = strangeLine(source);
  if (strange !== undefined)
    throw new SyntaxError(
      `expected export function and export const alone, and import type, got ${strange.slice(0, 60)}`,
    );
  const plain = stripTypeScriptTypes(source);
  const names = [...plain.matchAll(exported)].map(([, one, another]) => one ?? another ?? '');
  const context = createContext(Object.create(null), {
    codeGeneration: { strings: false, wasm: false },
    microtaskMode: 'afterEvaluate',
  });
  const timed = { timeout: limits.mappingCodeMs };
  const loading = { timeout: limits.contractMs };
  new Script(withoutClock).runInContext(context, loading);
  const body = plain.replaceAll(exported, (all) => all.slice('export '.length));
  // in a function, so that the module's names are its own; one line before its text, as its own lines are told
  const text = `'use strict'; globalThis.call = (() => {${body}\nconst all = { ${names.join(', ')} };\nconst given = (value) => { if (typeof value?.then === 'function') throw new TypeError('expected a value, got a promise'); return JSON.stringify(value); };\n${answering}\n})();`;
  new Script(text, { filename: name }).runInContext(context, loading);
  const call = new Script('call(name, json, at)');
  return new Map(
    names.map((one) => [
      one,
      (value: Value, at: string): Value | undefined => {
        Object.assign(context, { name: one, json: writeValue(asPlain(value)), at });
        let answer: unknown;
        try {
          answer = call.runInContext(context, timed);
        } catch (error) {
          throw new CodeError(`${name}: ${one}(): ${reasonOf(error)}`);
        }
        if (typeof answer !== 'string') return undefined;
        if (answer.startsWith('!')) throw new CodeError(`${name}: ${one}(): ${answer.slice(1)}`);
        return readValue(answer, limits);
      },
    ]),
  );
}

/** What gives another value each time it is asked. */
const withoutClock =
  'delete globalThis.Date; delete Math.random; delete globalThis.WebAssembly; delete globalThis.SharedArrayBuffer; delete globalThis.Atomics; if (globalThis.Temporal !== undefined) delete Temporal.Now;';

/** What a function gives, as JSON, or behind a `!` what it throws: its words may be code of the module, which ends in time here alone. */
const answering = `return (name, json, at) => {
  try {
    return given(all[name](JSON.parse(json), { at }));
  } catch (error) {
    try {
      return '!' + String(typeof error === 'object' && error !== null && 'message' in error ? error.message : error).slice(0, 200);
    } catch {
      return '!an error that says nothing';
    }
  }
};`;

/** Numbers as text, as functions get them. */
function asPlain(value: Value): Value {
  if (value instanceof Digits) return value.text;
  if (isItems(value)) return value.map(asPlain);
  if (isMembers(value)) return new Map([...value].map(([name, inner]) => [name, asPlain(inner)]));
  return value;
}

/** Why a function was ended: what the engine itself throws, of the other context; an error of the function is told by `answering`. */
function reasonOf(error: unknown): string {
  const message = Object.getOwnPropertyDescriptor(Object(error), 'message')?.value;
  return typeof message === 'string' ? message : 'an error that says nothing';
}
