// OpenAPI Overlays (1.0 and 1.1): actions that change a document before it is read. soapbridge's own overlay,
// `soap.yaml`, lists them as `patches`.

import type * as JsonP3 from 'json-p3';
import { linearPattern } from '../../codec/scalars/pattern.ts';
import { loadPackage, MissingPackageError, missingPackages } from '../../optional-packages.ts';
import { type Allowance, OverLimit } from './allowance.ts';
import { pointerSegment, type Report } from './error.ts';
import { isNode, memberOf, type Node, shown, textOf } from './node.ts';
import { unknownKey } from './settings-file.ts';
import type { YamlFile } from './yaml.ts';

/** The patch and the action that a value comes from. */
export interface PatchPlace {
  readonly path: string;
  /** JSON pointer of the action's `update`, `copy` or `remove`. */
  readonly pointer: string;
}

/** A file of the document with its patches applied. */
export interface Patched {
  readonly root: unknown;
  /**
   * Returns the last change of the value at a JSON pointer, of an enclosing value or of a direct member. Undefined if
   * they are unchanged.
   */
  readonly placeOf: (pointer: string) => PatchPlace | undefined;
}

/** A parsed action of an OpenAPI Overlay. */
interface Action {
  readonly kind: 'update' | 'copy' | 'remove';
  readonly target: string;
  /** The value of `update`, or the JSONPath of `copy`. */
  readonly value: unknown;
  /** JSON pointer into the patch. */
  readonly pointer: string;
}

const rootKeys = ['overlay', 'info', 'extends', 'actions'];
const actionKeys = ['target', 'description', 'update', 'copy', 'remove'];

/** Returns true for an OpenAPI Overlay, recognised by its required keys. */
export function isPatch(root: unknown): boolean {
  return isNode(root) && Object.hasOwn(root, 'overlay') && Object.hasOwn(root, 'actions');
}

/** Returns the `extends` of a patch; undefined if it is missing. */
export function extendsOf({ root }: YamlFile): string | undefined {
  return isNode(root) ? textOf(memberOf(root, 'extends')) : undefined;
}

/**
 * Applies patches to a document in order. Errors are reported for their patch, and then the result is unusable. Counts
 * steps; throws OverLimit.
 *
 * @param name name of the document in messages
 */
export function applyPatches(
  root: unknown,
  name: string,
  patches: readonly YamlFile[],
  reportTo: (path: string) => Report,
  allowance: Allowance,
): Patched {
  const places = new Map<string, PatchPlace>();
  let patched = root;
  for (const { path, root: patch } of patches) {
    const report = reportTo(path);
    const missing = missingPackages('patches');
    if (missing !== undefined) {
      report('', missing);
      return { root, placeOf: () => undefined };
    }
    for (const action of readActions(patch, report, allowance)) {
      const place = { path, pointer: `${action.pointer}/${action.kind}` };
      const note = (location: Location): void => {
        places.set(location.map(pointerSegment).join(''), place);
      };
      try {
        patched = new Change({ root: patched, name, action, note, report, allowance }).apply();
      } catch (error) {
        if (!(error instanceof OverLimit)) throw error;
        report(action.pointer, error.message);
        return { root, placeOf: () => undefined };
      }
    }
  }
  return { root: patched, placeOf: (pointer) => placeIn(places, pointer) };
}

function placeIn(places: ReadonlyMap<string, PatchPlace>, pointer: string): PatchPlace | undefined {
  for (let end = pointer.length; end >= 0; end = end === 0 ? -1 : pointer.lastIndexOf('/', end - 1)) {
    const place = places.get(pointer.slice(0, end));
    if (place !== undefined) return place;
  }
  for (const [at, place] of places)
    if (at.startsWith(`${pointer}/`) && !at.slice(pointer.length + 1).includes('/')) return place;
  return undefined;
}

function readActions(root: unknown, report: Report, allowance: Allowance): readonly Action[] {
  if (!isNode(root)) {
    report('', `expected an OpenAPI Overlay, an object with overlay, info and actions, got ${shown(root)}`);
    return [];
  }
  checkKeys(root, rootKeys, '', report);
  const { overlay, actions } = root;
  if (!/^1\.[01](?:\.|$)/.test(String(overlay)))
    report('/overlay', `expected OpenAPI Overlay 1.0 or 1.1, such as "1.0.0", got ${shown(overlay)}`);
  if (root.extends !== undefined && typeof root.extends !== 'string')
    report('/extends', `expected the document's file or URL, got ${shown(root.extends)}`);
  if (!Array.isArray(actions) || actions.length === 0) {
    report(
      '/actions',
      `expected a list of at least one action, got ${Array.isArray(actions) ? 'none' : shown(actions)}`,
    );
    return [];
  }
  return actions.flatMap((action, index) => readAction(action, `/actions/${index}`, report, allowance) ?? []);
}

function readAction(
  action: unknown,
  pointer: string,
  report: Report,
  { limits }: Allowance,
): Action | undefined {
  if (!isNode(action)) {
    report(pointer, `expected an object with target and update, copy or remove, got ${shown(action)}`);
    return undefined;
  }
  checkKeys(action, actionKeys, pointer, report);
  const { target, update, copy, remove } = action;
  for (const [key, path] of Object.entries({ target, copy })) {
    if (key === 'copy' && path === undefined) continue;
    if (typeof path !== 'string' || !path.startsWith('$')) {
      report(`${pointer}/${key}`, `expected a JSONPath, which begins with $, got ${shown(path)}`);
      return undefined;
    }
    if (path.length > limits.contractPath) {
      report(
        `${pointer}/${key}`,
        `expected at most ${limits.contractPath} characters in a JSONPath, got ${path.length}`,
      );
      return undefined;
    }
  }
  if (remove !== undefined && typeof remove !== 'boolean')
    report(`${pointer}/remove`, `expected true or false, got ${shown(remove)}`);
  const kinds = [
    ...(update === undefined ? [] : (['update'] as const)),
    ...(copy === undefined ? [] : (['copy'] as const)),
    ...(remove === true ? (['remove'] as const) : []),
  ];
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    report(pointer, `expected one of update, copy and remove: true, got ${kinds.join(' and ') || 'none'}`);
    return undefined;
  }
  return { kind, target: String(target), value: kind === 'copy' ? copy : update, pointer };
}

function checkKeys(node: Node, known: readonly string[], pointer: string, report: Report): void {
  for (const key of Object.keys(node)) {
    if (!known.includes(key) && !key.startsWith('x-'))
      report(pointer + pointerSegment(key), unknownKey(key, known));
  }
}

/** Keys and indices on the path from the root to a value. */
type Location = readonly (string | number)[];

/** Tree of the values that an action selects. */
interface Selection {
  isSelected: boolean;
  readonly inner: Map<string | number, Selection>;
}

/** Input of an action's change. */
interface ChangeSource {
  readonly root: unknown;
  /** Name of the document in messages. */
  readonly name: string;
  readonly action: Action;
  /** Receives the location of each changed value. */
  readonly note: (location: Location) => void;
  readonly report: Report;
  readonly allowance: Allowance;
}

/** One action applied to a document. The document is not modified: changed parts are copied. */
class Change {
  readonly #source: ChangeSource;

  constructor(source: ChangeSource) {
    this.#source = source;
  }

  /** Returns the changed root. If the action is wrong, reports the error and returns the root unchanged. */
  apply(): unknown {
    const { kind, target, pointer } = this.#source.action;
    const found = this.#select(target, `${pointer}/target`);
    if (found === undefined) return this.#source.root;
    if (found.length === 0) {
      this.#source.report(
        `${pointer}/target`,
        `${shown(target)} selects nothing in ${this.#source.name}. Expected a value`,
      );
      return this.#source.root;
    }
    if (kind === 'remove') return this.#remove(found);
    const kinds = new Set(found.map(({ value }) => kindOf(value)));
    if (kinds.size > 1) {
      const got = [...kinds].join(' and ');
      this.#source.report(
        `${pointer}/target`,
        `expected values of one kind in ${this.#source.name}, got ${got}`,
      );
      return this.#source.root;
    }
    const given = kind === 'update' ? { value: this.#source.action.value } : this.#copied();
    return given === undefined
      ? this.#source.root
      : this.#rebuild(treeOf(found), this.#source.root, [], given);
  }

  #remove(found: readonly Found[]): unknown {
    if (found.some(({ location }) => location.length === 0)) {
      this.#source.report(
        `${this.#source.action.pointer}/target`,
        'expected values in the document, got the document itself',
      );
      return this.#source.root;
    }
    return this.#rebuild(treeOf(found), this.#source.root, [], undefined);
  }

  /**
   * Returns the value that `copy` selects. If it does not select exactly one value, reports that and returns undefined.
   */
  #copied(): { readonly value: unknown } | undefined {
    const { value, pointer } = this.#source.action;
    const found = this.#select(String(value), `${pointer}/copy`);
    if (found === undefined) return undefined;
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    this.#source.report(
      `${pointer}/copy`,
      `expected one value in ${this.#source.name}, got ${found.length === 0 ? 'none' : found.length}`,
    );
    return undefined;
  }

  /** Returns the values that a JSONPath selects. Reports an invalid JSONPath and returns undefined. */
  #select(path: string, pointer: string): readonly Found[] | undefined {
    try {
      return select(path, this.#source.root, this.#source.allowance);
    } catch (error) {
      if (error instanceof OverLimit || !(error instanceof Error)) throw error;
      if (error instanceof MissingPackageError) {
        this.#source.report(pointer, error.message);
        return undefined;
      }
      // The library's error contains the position in the JSONPath.
      this.#source.report(pointer, `expected a JSONPath (RFC 9535), got ${shown(path)}: ${error.message}`);
      return undefined;
    }
  }

  /** Returns a copy of a value with the selected parts changed, or removed if `given` is undefined. */
  #rebuild(
    { isSelected, inner }: Selection,
    value: unknown,
    location: Location,
    given: { readonly value: unknown } | undefined,
  ): unknown {
    this.#source.allowance.step('', Array.isArray(value) ? value.length : 1);
    // The enclosing value is changed first, so that changes of selected parts inside take precedence.
    const changed = isSelected && given !== undefined ? this.#merge(value, given.value, location, '') : value;
    if (inner.size === 0) return changed;
    const isRemoved = (key: string | number): boolean => {
      const isUnwanted = given === undefined && inner.get(key)?.isSelected === true;
      if (isUnwanted) this.#source.note(Array.isArray(changed) ? location : [...location, key]);
      return isUnwanted;
    };
    const change = (item: unknown, key: string | number): unknown => {
      const selection = inner.get(key);
      return selection === undefined ? item : this.#rebuild(selection, item, [...location, key], given);
    };
    if (Array.isArray(changed))
      return changed.flatMap((item, index) => (isRemoved(index) ? [] : [change(item, index)]));
    const entries = Object.entries(isNode(changed) ? changed : {});
    return Object.fromEntries(
      entries.flatMap(([key, item]) => (isRemoved(key) ? [] : [[key, change(item, key)]])),
    );
  }

  /** Merges `given` into `value` (Overlay 1.1, Action Object). Reports values of different kinds. */
  #merge(value: unknown, given: unknown, location: Location, inside: string): unknown {
    this.#source.allowance.step('');
    const kind = kindOf(value);
    if (kind === 'a list') {
      if (inside !== '' && !Array.isArray(given)) return this.#refuse(value, given, location, inside);
      const list: readonly unknown[] = Array.isArray(value) ? value : [];
      const added: readonly unknown[] = Array.isArray(given) ? given : [given];
      for (const index of added.keys()) this.#source.note([...location, list.length + index]);
      return [...list, ...added];
    }
    if (kindOf(given) !== kind) return this.#refuse(value, given, location, inside);
    if (!isNode(value) || !isNode(given)) {
      this.#source.note(location);
      return given;
    }
    const merged = new Map(Object.entries(value));
    for (const [key, member] of Object.entries(given)) {
      const at = [...location, key];
      if (merged.has(key))
        merged.set(key, this.#merge(merged.get(key), member, at, inside + pointerSegment(key)));
      else {
        this.#source.note(at);
        merged.set(key, member);
      }
    }
    return Object.fromEntries(merged);
  }

  #refuse(value: unknown, given: unknown, location: Location, inside: string): unknown {
    const { kind, pointer } = this.#source.action;
    const at = location.map(pointerSegment).join('');
    this.#source.report(
      `${pointer}/${kind}${kind === 'update' ? inside : ''}`,
      `expected ${kindOf(value)}, like ${at} of ${this.#source.name}, got ${kindOf(given)}. Remove that value first`,
    );
    return value;
  }
}

function kindOf(value: unknown): 'an object' | 'a list' | 'a text, number, boolean or null' {
  if (Array.isArray(value)) return 'a list';
  return isNode(value) ? 'an object' : 'a text, number, boolean or null';
}

/** A value selected by a JSONPath. */
interface Found {
  readonly value: unknown;
  readonly location: Location;
}

function treeOf(found: readonly Found[]): Selection {
  const root: Selection = { isSelected: false, inner: new Map() };
  for (const { location } of found) {
    let current = root;
    for (const key of location) {
      const next = current.inner.get(key) ?? { isSelected: false, inner: new Map() };
      current.inner.set(key, next);
      current = next;
    }
    current.isSelected = true;
  }
  return root;
}

/** Returns the values that a JSONPath (RFC 9535) selects. Throws an error for an invalid JSONPath, and OverLimit. */
function select(path: string, root: unknown, allowance: Allowance): readonly Found[] {
  const library = loadPackage('patches', 'json-p3') as typeof JsonP3;
  const { contractDepth, contractPattern } = allowance.limits;
  const environment = new library.JSONPathEnvironment({ maxRecursionDepth: contractDepth + 2 });
  // Wildcards, descendant segments and filters, including nested ones, read members here.
  environment.entries = (object) => {
    const entries = Object.entries(object);
    allowance.step('', 1 + entries.length);
    return entries;
  };
  for (const [name, around] of [
    ['match', (source: string) => `^(?:${source})$`],
    ['search', (source: string) => source],
  ] as const) {
    const own = environment.functionRegister.get(name);
    if (own === undefined) continue;
    const patterns = new Map<string, ReturnType<typeof linearPattern>>();
    const compiled = (source: string): ReturnType<typeof linearPattern> => {
      if (!patterns.has(source))
        patterns.set(source, source.length > contractPattern ? undefined : linearPattern(around(source)));
      return patterns.get(source);
    };
    environment.functionRegister.set(name, {
      argTypes: own.argTypes,
      returnType: own.returnType,
      call: (text: unknown, source: unknown) => {
        if (typeof text !== 'string' || typeof source !== 'string') return false;
        allowance.stepText('', text.length);
        const pattern = compiled(source);
        if (pattern === undefined)
          throw new Error(
            `${name}() got ${shown(source)}, which is not a regular expression with linear matching time`,
          );
        return pattern.matcher(text).find();
      },
    });
  }
  const found: Found[] = [];
  for (const { value, location } of environment.lazyQuery(path, root as JsonP3.JSONValue)) {
    allowance.step('', 1 + location.length);
    found.push({ value, location });
  }
  return found;
}
