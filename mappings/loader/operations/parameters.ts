import type { Parameter, ParameterStyle } from '../../contract/model.ts';
import { connectionHeaders } from '../../places.ts';
import type { Report } from '../document/error.ts';
import { isNode, type Node, shown, textOf } from '../document/node.ts';
import type { Located } from '../document/references.ts';
import { identifier, upperFirst } from '../names/names.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { WrapperField } from '../schema/records.ts';
import { type Entry, follow, type OperationsSource, sharedTypeName } from './entries.ts';
import { type Media, mediaOf } from './media-types.ts';

/** A parameter and the input field for its value. */
export interface ReadParameter {
  readonly parameter: Parameter;
  readonly field: WrapperField;
}

interface Found {
  readonly place: Parameter['in'];
  readonly node: Node;
  readonly pointer: string;
}

/** The styles for each location, the default first (OpenAPI 3.1, 4.8.12.3). */
const stylesOf = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const satisfies Record<Parameter['in'], readonly ParameterStyle[]>;

/**
 * Headers that are not inputs: three parameters that "SHALL be ignored" (OpenAPI 3.1, 4.8.12.1), and connection
 * headers, which the caller does not set.
 */
const ownHeaders = new Set(['accept', 'content-type', 'authorization', ...connectionHeaders]);

/**
 * Reads the parameters of an operation and of its path. Errors are reported.
 *
 * @param taken input names that parameters must not use
 */
export function readParameters(
  entry: Entry,
  taken: Iterable<string>,
  source: OperationsSource,
): ReadParameter[] {
  const { path, pathItem, operation, pointer } = entry;
  const { report, overlay } = source;
  const ofCredentials = placesOfCredentials(overlay);
  // By location and name: a parameter of the operation overrides that of its path.
  const found = new Map<string, Found>();
  const listed = [
    ...listOf(pathItem.node.parameters, `${pathItem.pointer}/parameters`, report),
    ...listOf(operation.parameters, `${pointer}/parameters`, report),
  ];
  for (const stated of listed) {
    const target = follow(stated, source);
    if (target === undefined) continue;
    const { node, pointer: at } = target;
    if (!isNode(node)) {
      report(at, `expected a parameter, an object, got ${shown(node)}`);
      continue;
    }
    const { name, in: where } = node;
    // A query string parameter (OpenAPI 3.2) is an object in the query with each member as a separate query parameter.
    const place = where === 'querystring' ? 'query' : where;
    if (typeof name !== 'string' || name === '') {
      report(`${at}/name`, `expected the parameter's name, got ${shown(name)}`);
      continue;
    }
    if (!isPlace(place)) {
      report(`${at}/in`, `expected one of ${Object.keys(stylesOf).join(', ')}, got ${shown(where)}`);
      continue;
    }
    const header = place === 'header' ? name.toLowerCase() : undefined;
    const key = `${place} ${header ?? name}`;
    if ((header !== undefined && ownHeaders.has(header)) || ofCredentials.has(key)) continue;
    found.set(key, { place, node, pointer: at });
  }
  const parameters: ReadParameter[] = [];
  const fields = new Set(taken);
  for (const located of found.values()) {
    const parameter = readParameter(located, entry, fields, source);
    if (parameter !== undefined) parameters.push(parameter);
  }
  checkPath(sentPath(path, parameters), parameters, pointer, report);
  for (const name of entry.spansSegments) {
    if (!path.includes(`{${name}}`))
      report(pointer, `expected {${name}} in the path, because the overlay lists it under slashes`);
  }
  return parameters;
}

const knownPlaces = new WeakMap<Overlay, ReadonlySet<string>>();

/** Returns the parameters that carry credentials, by location and name. Header names are in lower case. */
function placesOfCredentials(overlay: Overlay): ReadonlySet<string> {
  const known = knownPlaces.get(overlay);
  if (known !== undefined) return known;
  const { headers, sent } = overlay.credentials ?? {};
  const places = new Set([...(sent?.values() ?? [])].map(({ in: place, name }) => `${place} ${name}`));
  for (const header of headers?.values() ?? []) places.add(`header ${header.toLowerCase()}`);
  knownPlaces.set(overlay, places);
  return places;
}

function isPlace(value: unknown): value is Parameter['in'] {
  return typeof value === 'string' && Object.hasOwn(stylesOf, value);
}

function readParameter(
  { place, node, pointer }: Found,
  { name: owner, spansSegments }: Entry,
  taken: Set<string>,
  { overlay, report, builder, references }: OperationsSource,
): ReadParameter | undefined {
  const name = textOf(node.name) ?? '';
  if ((place === 'header' || place === 'cookie') && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    report(`${pointer}/name`, `expected the name of an HTTP ${place}, got ${shown(name)}`);
  const described = readDescription(node, place, pointer, report);
  if (described === undefined) return undefined;
  const { style, schema } = described;
  // A path parameter and a query parameter with the same name are two inputs.
  let field = name;
  while (taken.has(field)) field = `${field}_${place}`;
  taken.add(field);
  return {
    parameter: {
      field,
      in: place,
      name,
      style,
      explode: typeof node.explode === 'boolean' ? node.explode : style === 'form',
      allowReserved: place === 'query' && node.allowReserved === true,
      spansSegments: place === 'path' && spansSegments.includes(name),
      deepLists: overlay.settings.deepLists,
    },
    field: {
      json: field,
      schema: schema.node,
      pointer: schema.pointer,
      required: references.isTrue(node, 'required', pointer) || place === 'path',
      typeName: sharedTypeName(pointer, owner + upperFirst(identifier(field)), builder),
      around: node,
      ...(described.examples && { examples: described.examples }),
    },
  };
}

/** Serialization style and schema of a parameter. */
interface Description extends Pick<Parameter, 'style'> {
  readonly schema: Located;
  /** The media type of a parameter with `content`, which contains the examples. */
  readonly examples?: Located;
}

function readDescription(
  node: Node,
  place: Parameter['in'],
  pointer: string,
  report: Report,
): Description | undefined {
  const [content, another] = mediaOf(node, pointer);
  if (node.in === 'querystring') return readQueryString(content, pointer, report);
  if (content !== undefined && another === undefined) {
    if (content.form === 'json') return { style: 'json', schema: content.schema, examples: content };
    if (content.form === 'text')
      return {
        style: stylesOf[place][0],
        schema: { ...content.schema, node: { type: 'string' } },
        examples: content,
      };
  }
  if (node.schema === undefined) {
    report(pointer, 'expected a schema, or content of application/json, got neither key');
    return undefined;
  }
  const styles: readonly ParameterStyle[] = stylesOf[place];
  const style = node.style === undefined ? styles[0] : styles.find((known) => known === node.style);
  if (style === undefined) {
    report(
      `${pointer}/style`,
      `expected one of ${styles.join(', ')} in a ${place}, got ${shown(node.style)}`,
    );
    return undefined;
  }
  return { style, schema: { node: node.schema, pointer: `${pointer}/schema` } };
}

/** Reads a query string parameter, which must be form-encoded. */
function readQueryString(
  content: Media | undefined,
  pointer: string,
  report: Report,
): Description | undefined {
  const encoded = isNode(content?.node) && content.node.encoding !== undefined;
  if (content?.form === 'form' && !encoded)
    return { style: 'form', schema: content.schema, examples: content };
  const got = encoded ? 'one with an encoding' : (content?.type ?? 'none');
  report(
    `${pointer}/content`,
    `expected content of application/x-www-form-urlencoded in a query string, got ${got}`,
  );
  return undefined;
}

/**
 * Returns the path that is sent. Fragments are never sent (RFC 9110, 7.1); documents use them, or a query, to
 * distinguish operations with the same path. Pairs of the query that a query parameter sets are removed.
 */
export function sentPath(path: string, parameters: readonly ReadParameter[]): string {
  const [target = ''] = path.split('#');
  const [before = '', ...queries] = target.split('?');
  const given = parameters.flatMap(({ parameter: { in: place, name } }) =>
    place === 'query' ? [`${name}={${name}}`] : [],
  );
  const pairs = queries.join('?').split('&');
  const kept = pairs.filter((pair) => pair !== '' && !given.includes(pair));
  return kept.length === 0 ? before : `${before}?${kept.join('&')}`;
}

/** A path with an optional query, with the characters of RFC 3986, 3.3 and 3.4, and {parameters}. */
const pathForm =
  /^\/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2}|\{[^{}/]+\})*(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2}|\{[^{}/]+\})*)?$/;

function checkPath(
  path: string,
  parameters: readonly ReadParameter[],
  pointer: string,
  report: Report,
): void {
  if (!pathForm.test(path))
    report(pointer, `expected a path of URL characters and {parameters}, got ${shown(path)}`);
  const holes = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, hole]) => hole ?? '');
  const names = parameters.flatMap(({ parameter }) => (parameter.in === 'path' ? [parameter.name] : []));
  for (const hole of holes) {
    if (!names.includes(hole))
      report(pointer, `expected a path parameter for the path's {${hole}}, got none`);
  }
  for (const name of names) {
    if (!holes.includes(name)) report(pointer, `expected {${name}} in the path for the parameter ${name}`);
  }
}

function listOf(value: unknown, pointer: string, report: Report): Located[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    report(pointer, `expected a list, got ${shown(value)}`);
    return [];
  }
  return value.map((node: unknown, index) => ({ node, pointer: `${pointer}/${index}` }));
}
