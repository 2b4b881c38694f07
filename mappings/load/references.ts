import { pointerSegment } from './error.ts';
import { identifier, pascal, upperFirst } from './names.ts';
import { isNode, memberOf, type Node, shown, textOf } from './node.ts';

/** A node of the document, and where it stands. */
export interface Located {
  readonly node: unknown;
  /** JSON pointer into the document. */
  readonly pointer: string;
}

/** A `$ref` that names nothing here: where it stands, and why. */
export interface Unresolved {
  readonly pointer: string;
  readonly why: string;
}

/** Finds what the `$ref`s of one document name. */
export interface References {
  /** What one `$ref` names. */
  readonly target: (ref: unknown, pointer: string) => Located | Unresolved;
  /** A node, or what it refers to by however many steps. */
  readonly resolve: (node: unknown, pointer: string) => Located | Unresolved;
}

export function isUnresolved(found: Located | Unresolved): found is Unresolved {
  return 'why' in found;
}

export function createReferences(document: Node): References {
  function target(ref: unknown, pointer: string): Located | Unresolved {
    const at = `${pointer}/$ref`;
    const text = textOf(ref);
    if (text === undefined)
      return { pointer: at, why: `expected text such as "#/components/schemas/Name", got ${shown(ref)}` };
    if (!text.startsWith('#'))
      return {
        pointer: at,
        why: `${shown(text)} lies outside this file; copy what it names under /components`,
      };
    const segments = text.startsWith('#/') ? text.slice(2).split('/').map(decodeSegment) : undefined;
    if (segments === undefined || segments.includes(undefined))
      return {
        pointer: at,
        why: `expected a JSON pointer such as "#/components/schemas/Name", got ${shown(text)}`,
      };
    const path = segments.filter((segment) => segment !== undefined);
    const node = lookup(document, path);
    if (node === undefined)
      return { pointer: at, why: `${shown(text)} leads nowhere; expected something that this file has` };
    return { node, pointer: path.map(pointerSegment).join('') };
  }

  function resolve(node: unknown, pointer: string): Located | Unresolved {
    const passed = new Set<unknown>();
    let current: Located = { node, pointer };
    while (isNode(current.node) && Object.hasOwn(current.node, '$ref')) {
      if (passed.has(current.node))
        return {
          pointer: `${current.pointer}/$ref`,
          why: 'leads back to itself; expected what it names to be there',
        };
      passed.add(current.node);
      const found = target(current.node.$ref, current.pointer);
      if (isUnresolved(found)) return found;
      current = found;
    }
    return current;
  }

  return { target, resolve };
}

function lookup(document: Node, path: readonly string[]): unknown {
  let current: unknown = document;
  for (const key of path) {
    if (Array.isArray(current)) current = /^(?:0|[1-9]\d{0,8})$/.test(key) ? current[Number(key)] : undefined;
    else current = isNode(current) ? memberOf(current, key) : undefined;
  }
  return current;
}

/** A segment of a pointer in a URI fragment (RFC 6901, 6); undefined when it isn't one. */
function decodeSegment(segment: string): string | undefined {
  try {
    return unescaped(decodeURIComponent(segment));
  } catch {
    return undefined; // a bad percent escape; whoever asked says so
  }
}

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/**
 * What the type of a schema is called that is named by where it stands: `#/components/schemas/Parcel` is `Parcel`,
 * `#/components/schemas/Parcel/properties/sender` what the inline type is called too, `ParcelSender`.
 */
export function nameAt(pointer: string): string {
  const [, first, second, third = '', ...rest] = pointer.split('/').map(unescaped);
  if (first !== 'components' || second !== 'schemas') return pascal(pointer.replaceAll('~1', '/'));
  let name = identifier(third);
  for (let at = 0; at < rest.length; at++) {
    const keyword = rest[at];
    if (keyword === 'items') name += 'Item';
    else if (keyword === 'additionalProperties') name += 'Value';
    else {
      // a member's name, or the position in an allOf, anyOf or oneOf, which names nothing
      const key = rest[++at] ?? '';
      if (keyword === 'properties') name += upperFirst(identifier(key));
    }
  }
  return name;
}
