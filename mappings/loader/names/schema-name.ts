import { unescapedSegment } from '../document/error.ts';
import { fileOf } from '../document/other-files.ts';
import { classIdentifier, identifier, pascal, upperFirst } from './names.ts';

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

/** What tells the types of a component from those of its schemas. */
const suffixes = {
  parameters: 'Parameter',
  requestBodies: 'Body',
  responses: 'Result',
  headers: 'Header',
} as const;

/**
 * What the inline type of a component is called that many operations refer to: `#/components/parameters/per-page` is
 * `PerPageParameter`, whoever refers to it. Undefined for what is no component.
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
