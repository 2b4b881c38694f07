import { defaultLimits } from '../../contract/limits.ts';
import { classIdentifier, identifier, pascal, upperFirst } from '../names/names.ts';
import { combines, onlyInner } from '../schema/keywords.ts';
import { Allowance } from './allowance.ts';
import { pointerSegment, type Report } from './error.ts';
import { isNode, memberOf, type Node, shown, textOf } from './node.ts';
import { fileOf, joinFile, type OtherFiles } from './other-files.ts';

/** A node of the document, and where it stands. */
export interface Located {
  readonly node: unknown;
  /** JSON pointer into the document; into another one of its files with the file before it, `common.yaml#/Parcel`. */
  readonly pointer: string;
}

/** A `$ref` that names nothing here: where it stands, and why. */
export interface Unresolved {
  readonly pointer: string;
  readonly why: string;
}

/** Finds what the `$ref`s of a document and of its other files name. */
export interface References {
  /** What a text names that may be a reference and may be something else. */
  readonly find: (text: string, pointer: string) => Located | Unresolved;
  /** What one `$ref` names; one that names nothing is reported. */
  readonly target: (ref: unknown, pointer: string) => Located | Unresolved;
  /** A node, or what it refers to by however many steps; reported as by `target`, and a circle too. */
  readonly resolve: (node: unknown, pointer: string) => Located | Unresolved;
  /** The schemas that a value of this one keeps to besides what it says itself, a step away. */
  readonly parts: (schema: Node, pointer: string) => readonly Located[];
  /** OpenAPI 3.0 ignores what stands beside a `$ref`, 3.1 means all of it. */
  readonly siblingsCount: boolean;
  /** What reading the document may still take. */
  readonly allowance: Allowance;
  /** True for a schema that is what its `$ref` names. */
  readonly isReference: (schema: Node) => boolean;
}

export function isUnresolved(found: Located | Unresolved): found is Unresolved {
  return 'why' in found;
}

/**
 * @param allowance what reading the document may take
 * @param report told of each reference that names nothing: such a document can't be served
 * @param others the files that the document's references may lead to; undefined where it is all there is
 */
export function createReferences(
  document: Node,
  report: Report,
  others?: OtherFiles,
  allowance: Allowance = new Allowance(defaultLimits),
): References {
  const { contractReferences } = allowance.limits;

  function target(ref: unknown, pointer: string): Located | Unresolved {
    const text = textOf(ref);
    const why = `expected text such as "#/components/schemas/Name", got ${shown(ref)}`;
    return told(text === undefined ? { pointer: `${pointer}/$ref`, why } : find(text, pointer));
  }

  function told(found: Located | Unresolved): Located | Unresolved {
    if (isUnresolved(found)) report(found.pointer, found.why);
    return found;
  }

  function find(text: string, pointer: string): Located | Unresolved {
    allowance.step(pointer);
    allowance.stepText(pointer, text.length);
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
    const opened = open(address, fileOf(pointer));
    if ('why' in opened) return { pointer: at, why: `${shown(text)} ${opened.why}` };
    const node = lookup(opened.root, path);
    if (node === undefined)
      return {
        pointer: at,
        why: `${shown(text)} leads nowhere; expected something that ${address === '' ? 'this' : 'that'} file has`,
      };
    return { node, pointer: joinFile(opened.file, path.map(pointerSegment).join('')) };
  }

  /** The file that an address names as seen from another one, `''` for the document itself. */
  function open(address: string, from: string): Opened {
    if (address === '' && from === '') return { file: '', root: document };
    const found = others?.open(address, from);
    if (found === undefined) return { why: 'lies outside this file; copy what it names under /components' };
    return 'file' in found && found.file === '' ? { file: '', root: document } : found;
  }

  function resolve(node: unknown, pointer: string): Located | Unresolved {
    const passed = new Set<unknown>();
    let current: Located = { node, pointer };
    while (isNode(current.node) && Object.hasOwn(current.node, '$ref')) {
      if (passed.has(current.node))
        return told({
          pointer: `${current.pointer}/$ref`,
          why: 'leads back to itself; expected what it names to be there',
        });
      passed.add(current.node);
      if (passed.size > contractReferences)
        return told({
          pointer: `${pointer}/$ref`,
          why: `expected at most ${contractReferences} references from one to the next, got more`,
        });
      const found = target(current.node.$ref, current.pointer);
      if (isUnresolved(found)) return found;
      current = found;
    }
    return current;
  }

  function parts(schema: Node, pointer: string): readonly Located[] {
    const { $ref, allOf } = schema;
    if ($ref !== undefined) {
      const found = target($ref, pointer);
      return isUnresolved(found) ? [] : [found];
    }
    if (Array.isArray(allOf))
      return allOf.map((node: unknown, index) => ({ node, pointer: `${pointer}/allOf/${index}` }));
    const inner = onlyInner(schema);
    return inner === undefined ? [] : [{ node: inner.schema, pointer: pointer + inner.suffix }];
  }

  const siblingsCount = !String(document.openapi).startsWith('3.0');

  function isReference(schema: Node): boolean {
    if (!Object.hasOwn(schema, '$ref')) return false;
    return !siblingsCount || !combines(schema);
  }

  return { find, target, resolve, parts, siblingsCount, allowance, isReference };
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
      .map((segment) => unescaped(decodeURIComponent(segment)));
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

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Where documents keep schemas by name; the first is OpenAPI's own. */
const containers = [['components', 'schemas'], ['definitions'], ['$defs']] as const;

/** What leads from a schema to one in it. */
const keywords = new Set([
  ...['properties', 'items', 'prefixItems', 'additionalProperties', 'allOf', 'anyOf', 'oneOf'],
]);

/**
 * What the type of a schema is called that is named by where it stands: `#/components/schemas/Parcel` is `Parcel`,
 * `#/components/schemas/Parcel/properties/sender` what the inline type is called too, `ParcelSender`. In another file
 * every schema has a name, if only the file's: `parcel.yaml` is `parcel`.
 */
export function nameAt(pointer: string): string {
  const file = fileOf(pointer);
  const own = pointer.slice(file === '' ? 0 : file.length + 1);
  const path = own.split('/').slice(1).map(unescaped);
  const container = containers.find((keys) => keys.every((key, at) => path[at] === key));
  if (file === '' && container?.[0] !== 'components') return pascal(pointer.replaceAll('~1', '/'));
  const [first = '', ...rest] = path.slice(container?.length ?? 0);
  if (container === undefined && (first === '' || keywords.has(first)))
    return nameBelow(classIdentifier(baseName(file)), path);
  return nameBelow(classIdentifier(first), rest);
}

/** The name of a schema that a named one holds, by the keywords between. */
function nameBelow(owner: string, path: readonly string[]): string {
  let name = owner;
  for (let at = 0; at < path.length; at++) {
    const keyword = path[at];
    if (keyword === 'items') name += 'Item';
    else if (keyword === 'additionalProperties') name += 'Value';
    else {
      // a member's name, or the position in an allOf, anyOf or oneOf, which names nothing
      const key = path[++at] ?? '';
      if (keyword === 'properties') name += upperFirst(identifier(key));
      else if (keyword === 'prefixItems') name += `Item${Number(key) + 1}`;
    }
  }
  return name;
}

function baseName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1).replace(/\.(?:ya?ml|json)$/i, '');
}
