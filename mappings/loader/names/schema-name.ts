import { unescapedSegment } from '../document/error.ts';
import { fileOf } from '../document/other-files.ts';
import { classIdentifier, identifier, pascal, upperFirst } from './names.ts';

/** Locations of named schemas in a document. The first is OpenAPI's own. */
const containers = [['components', 'schemas'], ['definitions'], ['$defs']] as const;

/** Keywords that contain schemas. */
const keywords = new Set([
  ...['properties', 'items', 'prefixItems', 'additionalProperties', 'allOf', 'anyOf', 'oneOf'],
]);

/**
 * Returns the type name for the pointer of a schema. `#/components/schemas/Parcel` is `Parcel`, and
 * `#/components/schemas/Parcel/properties/sender` is `ParcelSender`, like the inline type. In another file, each schema
 * has a name, at least that of the file: `parcel.yaml` is `parcel`.
 */
export function nameAt(pointer: string): string {
  const file = fileOf(pointer);
  const own = pointer.slice(file === '' ? 0 : file.length + 1);
  const path = own.split('/').slice(1).map(unescapedSegment);
  const container = containers.find((keys) => keys.every((key, at) => path[at] === key));
  if (file === '' && container?.[0] !== 'components') return pascal(pointer.replaceAll('~1', '/'));
  const [first = '', ...rest] = path.slice(container?.length ?? 0);
  if (container === undefined && (first === '' || keywords.has(first)))
    return nameBelow(classIdentifier(baseName(file)), path);
  return nameBelow(classIdentifier(first), rest);
}

/**
 * Returns true if the document itself names the type of a key in `names.lock`: a schema under `components/schemas`,
 * `definitions` or `$defs`. The gateway names all other types.
 */
export function isNamedByDocument(key: string): boolean {
  const file = fileOf(key);
  const own = key.slice(file === '' ? 0 : file.length + 1);
  if (own.includes('#')) return false;
  const path = own.split('/').slice(1);
  const container = containers.find((keys) => keys.every((one, at) => path[at] === one));
  if (container === undefined || path.length !== container.length + 1) return false;
  return file !== '' || container[0] === 'components';
}

/** Suffixes that distinguish the types of components from the types of schemas. */
const suffixes = {
  parameters: 'Parameter',
  requestBodies: 'Body',
  responses: 'Result',
  headers: 'Header',
} as const;

/**
 * Returns the name of a component's inline type, which many operations can use: `#/components/parameters/per-page` is
 * `PerPageParameter`. Undefined if the pointer is not that of a component.
 */
export function componentTypeName(pointer: string): string | undefined {
  const file = fileOf(pointer);
  const [components, kind, name, ...rest] = pointer
    .slice(file === '' ? 0 : file.length + 1)
    .split('/')
    .slice(1)
    .map(unescapedSegment);
  if (components !== 'components' || name === undefined || rest.length > 0) return undefined;
  const suffix = new Map(Object.entries(suffixes)).get(kind ?? '');
  return suffix === undefined ? undefined : classIdentifier((pascal(name) || identifier(name)) + suffix);
}

/** Returns the name of a schema inside a named one, derived from the keywords between. */
function nameBelow(owner: string, path: readonly string[]): string {
  let name = owner;
  for (let at = 0; at < path.length; at++) {
    const keyword = path[at];
    if (keyword === 'items') name += 'Item';
    else if (keyword === 'additionalProperties') name += 'Value';
    else {
      // a member name, or an index in an allOf, anyOf or oneOf, which adds nothing to the name
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
