import { pointerSegment, type Report } from './error.ts';
import { identifier, pascal, upperFirst } from './names.ts';
import { isNode, memberOf, type Node, shown, textOf } from './node.ts';

/** A node of the document, and where it stands. */
export interface Located {
  readonly node: unknown;
  /** JSON pointer into the document. */
  readonly pointer: string;
}

/** Finds what the `$ref`s of one document name. */
export interface References {
  /** What one `$ref` names; undefined once it is reported that it names nothing here. */
  readonly target: (ref: unknown, pointer: string) => Located | undefined;
  /** A node, or what it refers to by however many steps; undefined once it is reported that there is nothing. */
  readonly resolve: (node: unknown, pointer: string) => Located | undefined;
}

export function createReferences(document: Node, report: Report): References {
  function target(ref: unknown, pointer: string): Located | undefined {
    const at = `${pointer}/$ref`;
    const text = textOf(ref);
    if (text === undefined) {
      report(at, `expected text such as "#/components/schemas/Name", got ${shown(ref)}`);
      return undefined;
    }
    if (!text.startsWith('#')) {
      report(at, `${shown(text)} lies outside this file; copy what it names under /components`);
      return undefined;
    }
    const segments = text.startsWith('#/') ? text.slice(2).split('/').map(decodeSegment) : undefined;
    if (segments === undefined || segments.includes(undefined)) {
      report(at, `expected a JSON pointer such as "#/components/schemas/Name", got ${shown(text)}`);
      return undefined;
    }
    const path = segments.filter((segment) => segment !== undefined);
    const node = lookup(document, path);
    if (node === undefined) {
      report(at, `${shown(text)} leads nowhere; expected something that this file has`);
      return undefined;
    }
    return { node, pointer: path.map(pointerSegment).join('') };
  }

  function resolve(node: unknown, pointer: string): Located | undefined {
    const passed = new Set<unknown>();
    let current: Located | undefined = { node, pointer };
    while (isNode(current?.node) && Object.hasOwn(current.node, '$ref')) {
      if (passed.has(current.node)) {
        report(`${current.pointer}/$ref`, 'leads back to itself; expected what it names to be there');
        return undefined;
      }
      passed.add(current.node);
      current = target(current.node.$ref, current.pointer);
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
