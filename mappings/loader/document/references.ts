import type { Allowance } from './allowance.ts';
import { type Note, notesOf, pointerSegment, type Report, unescapedSegment } from './error.ts';
import { isNode, memberOf, type Node, shown, textOf } from './node.ts';
import { fileOf, joinFile, type OtherFiles } from './other-files.ts';

/** A node of the document and its location. */
export interface Located {
  readonly node: unknown;
  /** JSON pointer into the document. A pointer into another file starts with the file: `common.yaml#/Parcel`. */
  readonly pointer: string;
}

/** An unresolved `$ref`: its location and the reason. */
export type Unresolved = Note;

/** Returns true for an unresolved `$ref`. */
export function isUnresolved(found: Located | Unresolved): found is Unresolved {
  return 'why' in found;
}

/** Resolves the `$ref`s of a document and its other files. Counts steps and throws OverLimit. */
export class References {
  /** True if keywords next to a `$ref` apply. OpenAPI 3.0 ignores these siblings, 3.1 does not. */
  readonly siblingsCount: boolean;
  /** OpenAPI version of the document, for example `3.1.0`. */
  readonly version: string;
  /** Remaining limits for reading the document. */
  readonly allowance: Allowance;
  #document: Node;
  readonly #report: Report;
  readonly #others: OtherFiles | undefined;
  readonly #tolerated = new Map<string, string>();
  readonly #unforeseen = new Map<string, string>();
  /** Replacements for nodes of other files. */
  readonly #replaced = new Map<unknown, unknown>();
  /** Resolved references by file and text. */
  readonly #found = new Map<string, Map<string, Located>>();
  /** Original locations of nodes that replaced unforeseen references. */
  readonly #places = new Map<string, Located>();

  /**
   * @param report receives each unresolved reference, which makes the contract invalid
   * @param others files that references may name; undefined if there are no other files
   */
  constructor(document: Node, report: Report, others: OtherFiles | undefined, allowance: Allowance) {
    this.version = String(document.openapi);
    this.siblingsCount = !this.version.startsWith('3.0');
    this.allowance = allowance;
    this.#document = document;
    this.#report = report;
    this.#others = others;
  }

  /** Replaces the document. */
  useDocument(document: Node): void {
    this.#document = document;
    this.#found.clear();
  }

  /** Notes a reference at a location where OpenAPI allows none. */
  noteUnforeseen(pointer: string, why: string): void {
    this.#unforeseen.set(pointer, why);
  }

  /** Returns the references at locations where OpenAPI allows none, each with its handling. */
  unforeseen(): readonly Note[] {
    return notesOf(this.#unforeseen);
  }

  /** Makes references resolve to another node instead of `node`. */
  replace(node: unknown, by: unknown): void {
    this.#replaced.set(node, by);
  }

  /** Records the original location of a node that is read at a pointer. */
  placeAt(pointer: string, place: Located): void {
    this.#places.set(pointer, place);
  }

  /** Returns the original location of a node read at a pointer. It differs if an unforeseen reference was replaced. */
  placeOf(pointer: string): string {
    return this.#places.get(pointer)?.pointer ?? pointer;
  }

  /** Reports an error in a part of the document that is still read. The contract is then invalid. */
  wrong(pointer: string, why: string): void {
    this.#report(pointer, why);
  }

  /** Notes an error in a part of the document that is ignored. */
  recordTolerated(pointer: string, why: string): void {
    this.#tolerated.set(pointer, why);
  }

  /**
   * Returns true if a member is `true`. A value that is not a boolean, for example YAML 1.1's `yes` (a string in YAML
   * 1.2), is noted.
   */
  isTrue(node: Node, key: string, pointer: string): boolean {
    const value = memberOf(node, key);
    if (value !== undefined && typeof value !== 'boolean')
      this.recordTolerated(
        `${pointer}/${key}`,
        `expected true or false, got ${shown(value)}. The value false is used`,
      );
    return value === true;
  }

  /** Returns the errors that were tolerated. */
  tolerated(): readonly Note[] {
    return notesOf(this.#tolerated);
  }

  /** Rewrites a reference of file `from` so that it resolves to the same target from file `to`. */
  addressFrom(to: string, text: string, from: string): string {
    const hash = text.indexOf('#');
    const address = hash === -1 ? text : text.slice(0, hash);
    const fragment = hash === -1 ? '' : text.slice(hash);
    return (this.#others?.addressFrom(to, address, from) ?? address) + fragment;
  }

  /** Resolves a text that may be a reference. Failures are not reported. */
  find(text: string, pointer: string): Located | Unresolved {
    this.allowance.step(pointer);
    this.allowance.stepText(pointer, text.length);
    const from = fileOf(pointer);
    const known = this.#found.get(from)?.get(text);
    const found = known ?? this.#lookUp(text, pointer, from);
    if (isUnresolved(found)) return found;
    if (known === undefined) this.#keep(from, text, found);
    return { node: this.#replaced.get(found.node) ?? found.node, pointer: found.pointer };
  }

  #keep(from: string, text: string, found: Located): void {
    const known = this.#found.get(from) ?? new Map<string, Located>();
    this.#found.set(from, known.set(text, found));
  }

  #lookUp(text: string, pointer: string, from: string): Located | Unresolved {
    const at = `${pointer}/$ref`;
    const hash = text.indexOf('#');
    const address = hash === -1 ? text : text.slice(0, hash);
    const fragment = hash === -1 ? '' : text.slice(hash + 1);
    const path = pathOf(fragment, address !== '');
    if (path === undefined)
      return {
        pointer: at,
        why: `expected a JSON pointer such as "#/components/schemas/Name", got ${shown(text)}`,
      };
    const opened = this.#open(address, from);
    if ('why' in opened) return { pointer: at, why: `${shown(text)} ${opened.why}` };
    const node = lookup(opened.root, path);
    if (node === undefined)
      return {
        pointer: at,
        why: `${shown(text)} does not exist; expected a part of ${address === '' ? 'this' : 'that'} file`,
      };
    return { node, pointer: joinFile(opened.file, path.map(pointerSegment).join('')) };
  }

  /** Resolves one `$ref`. Failures are reported. */
  target(ref: unknown, pointer: string): Located | Unresolved {
    const text = textOf(ref);
    if (text !== undefined) return this.#reported(this.find(text, pointer));
    const why = `expected text such as "#/components/schemas/Name", got ${shown(ref)}`;
    return this.#reported({ pointer: `${pointer}/$ref`, why });
  }

  /** Follows all references of a node. Unresolved and circular references are reported. */
  resolve(node: unknown, pointer: string): Located | Unresolved {
    const { contractReferences } = this.allowance.limits;
    const passed = new Set<unknown>();
    let current: Located = { node, pointer };
    while (isNode(current.node) && Object.hasOwn(current.node, '$ref')) {
      if (passed.has(current.node))
        return this.#reported({
          pointer: `${current.pointer}/$ref`,
          why: 'refers to itself; expected a reference to a value',
        });
      passed.add(current.node);
      if (passed.size > contractReferences)
        return this.#reported({
          pointer: `${pointer}/$ref`,
          why: `expected at most ${contractReferences} references in a chain, got more references`,
        });
      const found = this.target(current.node.$ref, current.pointer);
      if (isUnresolved(found)) return found;
      current = found;
    }
    return current;
  }

  /** Returns the object that a node is or refers to; undefined for another value. Failures are reported. */
  objectAt(node: unknown, pointer: string): Node | undefined {
    const found = this.resolve(node, pointer);
    return !isUnresolved(found) && isNode(found.node) ? found.node : undefined;
  }

  /** Opens the file that an address names relative to another file. File `''` is the document itself. */
  #open(address: string, from: string): Opened {
    if (address === '' && from === '') return { file: '', root: this.#document };
    const found = this.#others?.open(address, from);
    if (found === undefined) return { why: 'is outside this file. Copy its target to /components' };
    return 'file' in found && found.file === '' ? { file: '', root: this.#document } : found;
  }

  #reported(found: Located | Unresolved): Located | Unresolved {
    if (isUnresolved(found)) this.#report(found.pointer, found.why);
    return found;
  }
}

type Opened = { readonly file: string; readonly root: unknown } | { readonly why: string };

/** Returns the keys of a JSON pointer in a URI fragment (RFC 6901, 6); undefined if it is invalid. */
function pathOf(fragment: string, mayBeEmpty: boolean): readonly string[] | undefined {
  if (fragment === '' && mayBeEmpty) return [];
  if (!fragment.startsWith('/')) return undefined;
  try {
    return fragment
      .slice(1)
      .split('/')
      .map((segment) => unescapedSegment(decodeURIComponent(segment)));
  } catch {
    return undefined; // invalid percent escape, reported by the caller
  }
}

function lookup(root: unknown, path: readonly string[]): unknown {
  let current = root;
  for (const key of path) {
    if (Array.isArray(current)) current = /^(?:0|[1-9]\d{0,8})$/.test(key) ? current[Number(key)] : undefined;
    else current = isNode(current) ? memberOf(current, key) : undefined;
  }
  return current;
}
