import { deepStrictEqual } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';

/** Replaces ava while mutants are tested: runs the tests of a file in order, in this process, until one fails. */

interface Expected {
  readonly instanceOf?: new (...values: never[]) => unknown;
  readonly message?: string | RegExp | ((message: string) => boolean);
  readonly name?: string;
  readonly code?: string;
}

class Failed extends Error {}

function assert(holds: boolean, what: string): true {
  if (!holds) throw new Failed(what);
  return true;
}

function check(error: unknown, expected: Expected | undefined): unknown {
  assert(error instanceof Error, 'throws an error');
  if (expected === undefined || !(error instanceof Error)) return error;
  const { instanceOf, message, name, code } = expected;
  if (instanceOf !== undefined) assert(error instanceof instanceOf, 'instanceOf');
  if (name !== undefined) assert(error.name === name, 'name');
  if (code !== undefined) assert('code' in error && error.code === code, 'code');
  if (typeof message === 'string') assert(error.message === message, error.message);
  else if (message instanceof RegExp) assert(message.test(error.message), error.message);
  else if (message !== undefined) assert(message(error.message), error.message);
  return error;
}

/** Returns true if an object has the members of another, like `t.like`. */
function isLike(value: unknown, pattern: unknown): boolean {
  if (typeof pattern !== 'object' || pattern === null) return Object.is(value, pattern);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(pattern).every(([name, part]) => isLike(Reflect.get(value, name), part));
}

function execution(teardowns: (() => unknown)[]) {
  return {
    context: {},
    title: '',
    is: (a: unknown, b: unknown) => assert(Object.is(a, b), 'is'),
    not: (a: unknown, b: unknown) => assert(!Object.is(a, b), 'not'),
    true: (a: unknown) => assert(a === true, 'true'),
    false: (a: unknown) => assert(a === false, 'false'),
    truthy: (a: unknown) => assert(Boolean(a), 'truthy'),
    falsy: (a: unknown) => assert(!a, 'falsy'),
    deepEqual: (a: unknown, b: unknown) => {
      deepStrictEqual(a, b);
      return true;
    },
    notDeepEqual: (a: unknown, b: unknown) => assert(!isDeepStrictEqual(a, b), 'notDeepEqual'),
    like: (a: unknown, b: unknown) => assert(isLike(a, b), 'like'),
    regex: (text: string, pattern: RegExp) => assert(pattern.test(text), 'regex'),
    notRegex: (text: string, pattern: RegExp) => assert(!pattern.test(text), 'notRegex'),
    pass: () => true,
    fail: (what = 'fail') => assert(false, what),
    assert: (a: unknown) => assert(Boolean(a), 'assert'),
    log: () => {},
    timeout: () => {},
    plan: () => {},
    teardown: (undo: () => unknown) => {
      teardowns.push(undo);
    },
    throws: (run: () => unknown, expected?: Expected) => {
      let thrown: unknown;
      try {
        run();
      } catch (error) {
        thrown = error;
      }
      return check(thrown, expected);
    },
    throwsAsync: async (run: (() => Promise<unknown>) | Promise<unknown>, expected?: Expected) => {
      let thrown: unknown;
      try {
        await (typeof run === 'function' ? run() : run);
      } catch (error) {
        thrown = error;
      }
      return check(thrown, expected);
    },
    notThrows: (run: () => unknown) => {
      run();
      return true;
    },
    notThrowsAsync: async (run: (() => Promise<unknown>) | Promise<unknown>) => {
      await (typeof run === 'function' ? run() : run);
      return true;
    },
  };
}

type Run = (t: ReturnType<typeof execution>) => unknown;

interface Declared {
  readonly title: string;
  readonly run: Run;
}

let before: Declared[] = [];
let tests: Declared[] = [];
let after: Run[] = [];

function test(title: string, run: Run): void {
  tests.push({ title, run });
}
test.serial = test;
test.skip = (): void => {};
test.before = (run: Run): void => {
  before.push({ title: 'before', run });
};
const end = (run: Run): void => {
  after.push(run);
};
test.after = Object.assign(end, { always: end });

/**
 * Runs the tests declared since the last call. Returns the title of the first failing test, or undefined.
 *
 * @param only indices of the tests to run, in the order of declaration; all if undefined
 * @param onDone called after each test with its index, and with undefined after the hooks before all tests
 */
export async function runTests(
  only?: ReadonlySet<number>,
  onDone?: (place: number | undefined) => Promise<void>,
): Promise<string | undefined> {
  const first = before;
  const declared = tests;
  const ends = after;
  before = [];
  tests = [];
  after = [];
  try {
    for (const { title, run } of first) if (!(await holds(run))) return title;
    await onDone?.(undefined);
    for (const [place, { title, run }] of declared.entries()) {
      if (only?.has(place) === false) continue;
      if (!(await holds(run))) return title;
      await onDone?.(place);
    }
    return undefined;
  } finally {
    for (const run of ends) await holds(run);
  }
}

async function holds(run: Run): Promise<boolean> {
  const teardowns: (() => unknown)[] = [];
  try {
    await run(execution(teardowns));
    return true;
  } catch {
    return false;
  } finally {
    for (const undo of teardowns.reverse()) await undo();
  }
}

// biome-ignore lint/style/noDefaultExport: ava's own is one
export default test;
