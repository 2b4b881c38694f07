import { namespaces as knownNamespaces, type Settings } from '../model.ts';
import { type Dialect, dialects } from './dialects.ts';
import { pointerSegment, type Report } from './error.ts';
import { isElementName } from './names.ts';
import { isNode, type Node, shown, textOf, textsOf } from './node.ts';

/** The overlay (`soap.yaml`), its dialect's defaults filled in. */
export interface Overlay {
  readonly dialect: Dialect;
  readonly service: string | undefined;
  readonly basePath: string;
  readonly typesNamespace: string | undefined;
  readonly arraysNamespace: string | undefined;
  readonly settings: Settings;
  readonly credentials: CredentialsOverlay | undefined;
  /** `METHOD /path` → operation name. */
  readonly routes: ReadonlyMap<string, string>;
  /** What the overlay says of an operation; the others read only when they are a GET. */
  readonly readOnly: ReadonlyMap<string, boolean>;
  /** Operations named here, to be checked against the document. */
  readonly operations: readonly string[];
  readonly types: ReadonlyMap<string, TypeOverlay>;
}

export interface CredentialsOverlay {
  readonly member: string | undefined;
  /** Name → header. */
  readonly headers: ReadonlyMap<string, string>;
  /** Undefined: what the member's schema requires. */
  readonly required: readonly string[] | undefined;
  readonly secret: readonly string[];
  readonly send: 'body' | 'headers';
}

export interface TypeOverlay {
  readonly order: readonly string[] | undefined;
  readonly item: string | undefined;
}

/** The words each setting takes; a key of the overlay's top level. */
const settingWords = {
  dates: ['wcf', 'iso'],
  utcDates: ['zoned', 'bare'],
  unknownEnumValues: ['refuse', 'pass'],
  unknownElements: ['refuse', 'ignore'],
  emptyElements: ['refuse', 'absent'],
  illegalCharacterReferences: ['accept', 'refuse'],
  soapErrors: ['in-band', 'fault'],
  soap12FaultStatus: ['compatible', 'standard'],
  soapReplyContentType: ['by-version', 'documented'],
  stackTrace: ['drop', 'keep'],
} as const satisfies {
  [name in Exclude<keyof Settings, 'upstreamTimeZone' | 'jsonp' | 'cors'>]: readonly Settings[name][];
};

const topKeys = [
  'dialect',
  'service',
  'basePath',
  'namespaces',
  'upstreamTimeZone',
  'jsonp',
  'cors',
  'credentials',
  'routes',
  'operations',
  'types',
  ...Object.keys(settingWords),
];

/** Reads an overlay; what is wrong goes to `report`, and a default takes its place. An empty file is all defaults. */
export function readOverlay(document: unknown, report: Report): Overlay {
  const root = readNode(document ?? undefined, '', 'the keys of an overlay', report);
  refuseOthers(root, topKeys, '', report);
  const dialect = readDialect(root.dialect, report);
  const namespaces = readNode(root.namespaces, '/namespaces', 'types and arrays', report);
  refuseOthers(namespaces, ['types', 'arrays'], '/namespaces', report);
  return {
    dialect,
    service: readText(root, 'service', '', report),
    basePath: readBasePath(root, report),
    typesNamespace: readNamespace(namespaces, 'types', report) ?? dialect.typesNamespace,
    arraysNamespace: readNamespace(namespaces, 'arrays', report) ?? dialect.arraysNamespace,
    settings: readSettings(root, dialect, report),
    credentials: root.credentials === undefined ? undefined : readCredentials(root.credentials, report),
    routes: readRoutes(root.routes, report),
    ...readOperations(root.operations, report),
    types: readTypes(root.types, report),
  };
}

function readDialect(value: unknown, report: Report): Dialect {
  if (value === undefined) return dialects.plain;
  if (value === 'servicestack' || value === 'plain') return dialects[value];
  report('/dialect', `expected one of ${Object.keys(dialects).join(', ')}, got ${shown(value)}`);
  return dialects.plain;
}

function readBasePath(root: Node, report: Report): string {
  const path = readText(root, 'basePath', '', report) ?? '';
  if (path === '' || path === '/') return '';
  if (/^(?:\/[A-Za-z0-9._~-]+)+$/.test(path)) return path;
  report('/basePath', `expected a path such as /v2, without a slash at its end, got ${shown(path)}`);
  return '';
}

/** Namespaces that mean something of their own in a message or a WSDL. */
const reserved = new Set<string>([...Object.values(knownNamespaces), 'http://www.w3.org/XML/1998/namespace']);

function readNamespace(namespaces: Node, key: 'types' | 'arrays', report: Report): string | undefined {
  const uri = readText(namespaces, key, '/namespaces', report);
  if (uri === undefined) return undefined;
  if (/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`\p{Cc}]+$/iu.test(uri) && !reserved.has(uri)) return uri;
  report(
    `/namespaces/${key}`,
    `expected a URI of the contract's own, such as urn:example:parcels, got ${shown(uri)}`,
  );
  return undefined;
}

function readSettings(root: Node, dialect: Dialect, report: Report): Settings {
  const chosen: Record<string, unknown> = { ...dialect.settings };
  for (const [name, words] of Object.entries(settingWords)) {
    const value = root[name];
    if (value === undefined) continue;
    if (words.some((word) => word === value)) chosen[name] = value;
    else report(pointerSegment(name), `expected one of ${words.join(', ')}, got ${shown(value)}`);
  }
  const zone = readText(root, 'upstreamTimeZone', '', report);
  if (zone !== undefined) {
    if (isZone(zone)) chosen.upstreamTimeZone = zone;
    else report('/upstreamTimeZone', `expected an IANA zone such as Europe/London, got ${shown(zone)}`);
  }
  const jsonp = root.jsonp;
  if (typeof jsonp === 'boolean') chosen.jsonp = jsonp;
  else if (jsonp !== undefined) report('/jsonp', `expected true or false, got ${shown(jsonp)}`);
  const cors = root.cors === undefined ? [] : textsOf(root.cors);
  if (cors?.every((origin) => origin === '*' || /^https?:\/\/[^/\s*]+$/.test(origin)) === true)
    chosen.cors = cors;
  else
    report(
      '/cors',
      `expected a list of origins such as https://app.example, or "*", got ${shown(root.cors)}`,
    );
  return chosen as unknown as Settings;
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false; // the only way Intl has to say that a zone is unknown
  }
}

const credentialKeys = ['member', 'headers', 'required', 'secret', 'send'];

/** Headers that can't be a credential: the connection's, the message's, and what W24 never reads for one. */
const takenHeaders = new Set([
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'cookie', 'expect', 'host'],
  ...['keep-alive', 'soapaction', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

function readCredentials(value: unknown, report: Report): CredentialsOverlay {
  const root = readNode(value, '/credentials', credentialKeys.join(', '), report);
  refuseOthers(root, credentialKeys, '/credentials', report);
  const headers = readHeaders(root.headers, report);
  const namesOf = (key: 'required' | 'secret'): readonly string[] | undefined => {
    const names = readTexts(root, key, '/credentials', 'names from /credentials/headers', report);
    for (const name of names ?? []) {
      if (!headers.has(name))
        report(`/credentials/${key}`, `expected names from /credentials/headers, got ${shown(name)}`);
    }
    return names;
  };
  const member = readText(root, 'member', '/credentials', report);
  const send = root.send ?? (member === undefined ? 'headers' : 'body');
  if (send !== 'body' && send !== 'headers')
    report('/credentials/send', `expected body or headers, got ${shown(send)}`);
  if (send === 'body' && member === undefined)
    report('/credentials/send', 'expected headers, since /credentials/member names no member of the body');
  return {
    member,
    headers,
    required: namesOf('required'),
    secret: namesOf('secret') ?? [],
    send: send === 'headers' ? 'headers' : 'body',
  };
}

function readHeaders(value: unknown, report: Report): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  const stated = new Set<string>();
  const pointer = '/credentials/headers';
  const root = readNode(value, pointer, '`name: Header-Name`', report);
  for (const [name, header] of Object.entries(root)) {
    const at = pointer + pointerSegment(name);
    const lower = typeof header === 'string' ? header.toLowerCase() : '';
    if (typeof header !== 'string' || !/^[A-Za-z0-9_-]+$/.test(header) || takenHeaders.has(lower))
      report(at, `expected the name of an HTTP header of the API's own, got ${shown(header)}`);
    else if (stated.has(lower)) report(at, `expected a header for each name, got ${header} again`);
    else headers.set(name, header);
    stated.add(lower);
  }
  if (Object.keys(root).length === 0) report(pointer, 'expected at least one `name: Header-Name`, got none');
  return headers;
}

function readRoutes(value: unknown, report: Report): ReadonlyMap<string, string> {
  const routes = new Map<string, string>();
  for (const [key, operation] of Object.entries(
    readNode(value, '/routes', '`METHOD /path: Operation`', report),
  )) {
    if (typeof operation === 'string') routes.set(key, operation);
    else
      report(`/routes${pointerSegment(key)}`, `expected the name of an operation, got ${shown(operation)}`);
  }
  return routes;
}

function readOperations(value: unknown, report: Report): Pick<Overlay, 'readOnly' | 'operations'> {
  const readOnly = new Map<string, boolean>();
  const operations: string[] = [];
  for (const [name, entry] of Object.entries(
    readNode(value, '/operations', '`Operation: { readOnly }`', report),
  )) {
    const pointer = `/operations${pointerSegment(name)}`;
    operations.push(name);
    const root = readNode(entry, pointer, 'readOnly', report);
    refuseOthers(root, ['readOnly'], pointer, report);
    const flag = root.readOnly;
    if (typeof flag === 'boolean') readOnly.set(name, flag);
    else if (flag !== undefined) report(`${pointer}/readOnly`, `expected true or false, got ${shown(flag)}`);
  }
  return { readOnly, operations };
}

function readTypes(value: unknown, report: Report): ReadonlyMap<string, TypeOverlay> {
  const types = new Map<string, TypeOverlay>();
  for (const [name, entry] of Object.entries(readNode(value, '/types', '`Type: { order, item }`', report))) {
    const pointer = `/types${pointerSegment(name)}`;
    const root = readNode(entry, pointer, 'order or item', report);
    refuseOthers(root, ['order', 'item'], pointer, report);
    const order = readTexts(root, 'order', pointer, 'all JSON members of the type', report);
    const twice = order?.find((member, index) => order.indexOf(member) !== index);
    if (twice !== undefined)
      report(`${pointer}/order`, `expected each member once, got ${shown(twice)} again`);
    const item = readText(root, 'item', pointer, report);
    if (item !== undefined && !isElementName(item))
      report(`${pointer}/item`, `expected the name of an XML element, got ${shown(item)}`);
    types.set(name, { order, item });
  }
  return types;
}

/** The object at a pointer; where there is something else, that is reported and an empty one taken. */
function readNode(value: unknown, pointer: string, holds: string, report: Report): Node {
  if (isNode(value)) return value;
  if (value !== undefined) report(pointer, `expected an object with ${holds}, got ${shown(value)}`);
  return {};
}

function readTexts(
  node: Node,
  key: string,
  pointer: string,
  holds: string,
  report: Report,
): readonly string[] | undefined {
  const value = node[key];
  const texts = textsOf(value);
  if (value !== undefined && texts === undefined)
    report(`${pointer}/${key}`, `expected a list of ${holds}, got ${shown(value)}`);
  return texts;
}

function readText(node: Node, key: string, pointer: string, report: Report): string | undefined {
  const value = node[key];
  const text = textOf(value);
  if (value !== undefined && (text === undefined || text === '')) {
    report(`${pointer}${pointerSegment(key)}`, `expected text, got ${shown(value)}`);
  }
  return text === '' ? undefined : text;
}

function refuseOthers(node: Node, known: readonly string[], pointer: string, report: Report): void {
  for (const key of Object.keys(node)) {
    if (!known.includes(key)) {
      report(`${pointer}${pointerSegment(key)}`, `unknown key, expected one of ${known.join(', ')}`);
    }
  }
}
