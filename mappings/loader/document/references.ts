import type { Allowance } from './allowance.ts';
import { type Note, notesOf, pointerSegment, type Report, unescapedSegment } from './error.ts';
import { isNode, memberOf, type Node, shown, textOf } from './node.ts';
import { fileOf, joinFile, type OtherFiles } from './other-files.ts';

/** A node of the document, and where it stands. */
export interface Located {
  readonly node: unknown;
  /** JSON pointer into the document; into another one of its files with the file before it, `common.yaml#/Parcel`. */
  readonly pointer: string;
}

/** A `$ref` that names nothing here: where it stands, and why. */
export type Unresolved = Note;

/** True where a `$ref` names nothing. */
export function isUnresolved(found: Located | Unresolved): found is Unresolved {
  return 'why' in found;
}

/** Finds what the `$ref`s of a document and of its other files name. What it does counts as steps, and throws OverLimit. */
export class References {
  /** OpenAPI 3.0 ignores what stands beside a `$ref`, 3.1 means all of it. */
  readonly siblingsCount: boolean;
  /** The document's version of OpenAPI, such as `3.1.0`. */
  readonly version: string;
  /** What reading the document may still take. */
  readonly allowance: Allowance;
  #document: Node;
  readonly #report: Report;
  readonly #others: OtherFiles | undefined;
  readonly #odd = new Map<string, string>();
  readonly #unforeseen = new Map<string, string>();
  /** What stands in the place of nodes of other files. */
  readonly #replaced = new Map<unknown, unknown>();
  /** What texts were found to name, by the file in which they stand. */
  readonly #found = new Map<string, Map<string, Located>>();
  /** Where that stands which an unforeseen reference was replaced by. */
  readonly #places = new Map<string, Located>();

  /**
   * @param report gets each reference that names nothing: such a document can't be served
   * @param others the files that the document's references may lead to; undefined where it is all there is
   */
  constructor(document: Node, report: Report, others: OtherFiles | undefined, allowance: Allowance) {
    this.version = String(document.openapi);
    this.siblingsCount = !this.version.startsWith('3.0');
    this.allowance = allowance;
    this.#document = document;
    this.#report = report;
    this.#others = others;
  }

  /** Takes a document in the place of the one that was given. */
  useDocument(document: Node): void {
    this.#document = document;
    this.#found.clear();
  }

  /** Notes a reference where OpenAPI foresees none. */
  noteUnforeseen(pointer: string, why: string): void {
    this.#unforeseen.set(pointer, why);
  }

  /** References where OpenAPI foresees none, each with what became of it. */
  unforeseen(): readonly Note[] {
    return notesOf(this.#unforeseen);
  }

  /** Has references find another node in the place of one. */
  replace(node: unknown, by: unknown): void {
    this.#replaced.set(node, by);
  }

  /** Keeps where that stands which is read at a pointer. */
  placeAt(pointer: string, place: Located): void {
    this.#places.set(pointer, place);
  }

  /** Where that stands which is read at a pointer: there, unless an unforeseen reference led elsewhere. */
  placeOf(pointer: string): string {
    return this.#places.get(pointer)?.pointer ?? pointer;
  }

  /** Reports what is wrong with a part of the document that is read all the same: such a document can't be served. */
  wrong(pointer: string, why: string): void {
    this.#report(pointer, why);
  }

  /** Notes what is wrong with a part of the document that is read without it. */
  noteOdd(pointer: string, why: string): void {
    this.#odd.set(pointer, why);
  }

  /** Whether a member is true. What is neither true nor false, such as YAML 1.1's `yes`, which is text in YAML 1.2, is noted. */
  isTrue(node: Node, key: string, pointer: string): boolean {
    const value = memberOf(node, key);
    if (value !== undefined && typeof value !== 'boolean')
      this.noteOdd(`${pointer}/${key}`, `expected true or false, got ${shown(value)}; it is read as false`);
    return value === true;
  }

  /** What was read in spite of being wrong. */
  odd(): readonly Note[] {
    return notesOf(this.#odd);
  }

  /** The text of a reference that leads from one file where a text leads from another. */
  addressFrom(to: string, text: string, from: string): string {
    const hash = text.indexOf('#');
    const address = hash === -1 ? text : text.slice(0, hash);
    const fragment = hash === -1 ? '' : text.slice(hash);
    return (this.#others?.addressFrom(to, address, from) ?? address) + fragment;
  }

  /** What a text names that may be a reference and may be something else. */
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
        why: `${shown(text)} leads nowhere; expected something that ${address === '' ? 'this' : 'that'} file has`,
      };
    return { node, pointer: joinFile(opened.file, path.map(pointerSegment).join('')) };
  }

  /** What one `$ref` names; one that names nothing is reported. */
  target(ref: unknown, pointer: string): Located | Unresolved {
    const text = textOf(ref);
    if (text !== undefined) return this.#reported(this.find(text, pointer));
    const why = `expected text such as "#/components/schemas/Name", got ${shown(ref)}`;
    return this.#reported({ pointer: `${pointer}/$ref`, why });
  }

  /** A node, or what it refers to by however many steps; reported as by `target`, and a circle too. */
  resolve(node: unknown, pointer: string): Located | Unresolved {
    const { contractReferences } = this.allowance.limits;
    const passed = new Set<unknown>();
    let current: Located = { node, pointer };
    while (isNode(current.node) && Object.hasOwn(current.node, '$ref')) {
      if (passed.has(current.node))
        return this.#reported({
          pointer: `${current.pointer}/$ref`,
          why: 'leads back to itself; expected what it names to be there',
        });
      passed.add(current.node);
      if (passed.size > contractReferences)
        return this.#reported({
          pointer: `${pointer}/$ref`,
          why: `expected at most ${contractReferences} references from one to the next, got more`,
        });
      const found = this.target(current.node.$ref, current.pointer);
      if (isUnresolved(found)) return found;
      current = found;
    }
    return current;
  }

  /** The file that an address names as seen from another one, `''` for the document itself. */
  #open(address: string, from: string): Opened {
    if (address === '' && from === '') return { file: '', root: this.#document };
    const found = this.#others?.open(address, from);
    if (found === undefined) return { why: 'lies outside this file; copy what it names under /components' };
    return 'file' in found && found.file === '' ? { file: '', root: this.#document } : found;
  }

  #reported(found: Located | Unresolved): Located | Unresolved {
    if (isUnresolved(found)) this.#report(found.pointer, found.why);
    return found;
  }
}

type Opened = { readonly file: string; readonly root: unknown } | { readonly why: string };

/** The keys of a pointer in a URI fragment (RFC 6901, 6); undefined when it is none. */
function pathOf(fragment: string, mayBeEmpty: boolean): readonly string[] | undefined {
  if (fragment === '' && mayBeEmpty) return [];
  if (!fragment.startsWith('/')) return undefined;
  try {
    return fragment
      .slice(1)
      .split('/')
      .map((segment) => unescapedSegment(decodeURIComponent(segment)));
  } catch {
    return undefined; // a bad percent escape; whoever asked says so
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
