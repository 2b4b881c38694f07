import type { Settings } from '../model.ts';
import { type Dialect, dialects } from './dialects.ts';
import { pointerSegment, type Report } from './error.ts';
import { isNode, type Node, textOf, textsOf } from './node.ts';

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
  readonly readOnly: ReadonlySet<string>;
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
  [name in Exclude<keyof Settings, 'upstreamTimeZone' | 'jsonp'>]: readonly Settings[name][];
};

const topKeys = [
  'dialect',
  'service',
  'basePath',
  'namespaces',
  'upstreamTimeZone',
  'jsonp',
  'credentials',
  'routes',
  'operations',
  'types',
  ...Object.keys(settingWords),
];

/** Reads an overlay; what is wrong goes to `report`, and a default takes its place. */
export function readOverlay(root: unknown, report: Report): Overlay {
  if (!isNode(root)) {
    report('', 'expected an object with the keys of an overlay');
    return readOverlay({}, () => {});
  }
  refuseOthers(root, topKeys, '', report);
  const dialect = readDialect(root.dialect, report);
  const namespaces = isNode(root.namespaces) ? root.namespaces : {};
  refuseOthers(namespaces, ['types', 'arrays'], '/namespaces', report);
  return {
    dialect,
    service: readText(root, 'service', '', report),
    basePath: readBasePath(root, report),
    typesNamespace: readText(namespaces, 'types', '/namespaces', report) ?? dialect.typesNamespace,
    arraysNamespace: readText(namespaces, 'arrays', '/namespaces', report) ?? dialect.arraysNamespace,
    settings: readSettings(root, dialect, report),
    credentials: readCredentials(root.credentials, report),
    routes: readRoutes(root.routes, report),
    ...readOperations(root.operations, report),
    types: readTypes(root.types, report),
  };
}

function readDialect(value: unknown, report: Report): Dialect {
  if (value === undefined) return dialects.plain;
  if (value === 'servicestack' || value === 'plain') return dialects[value];
  report('/dialect', `expected one of ${Object.keys(dialects).join(', ')}, got ${JSON.stringify(value)}`);
  return dialects.plain;
}

function readBasePath(root: Node, report: Report): string {
  const path = readText(root, 'basePath', '', report) ?? '';
  if (path === '' || path === '/') return '';
  if (/^(?:\/[A-Za-z0-9._~-]+)+$/.test(path)) return path;
  report('/basePath', `expected a path such as /v2, got ${JSON.stringify(path)}`);
  return '';
}

function readSettings(root: Node, dialect: Dialect, report: Report): Settings {
  const chosen: Record<string, unknown> = { ...dialect.settings };
  for (const [name, words] of Object.entries(settingWords)) {
    const value = root[name];
    if (value === undefined) continue;
    if (words.some((word) => word === value)) chosen[name] = value;
    else report(pointerSegment(name), `expected one of ${words.join(', ')}, got ${JSON.stringify(value)}`);
  }
  const zone = readText(root, 'upstreamTimeZone', '', report);
  if (zone !== undefined) {
    if (isZone(zone)) chosen.upstreamTimeZone = zone;
    else
      report('/upstreamTimeZone', `expected an IANA zone such as Europe/London, got ${JSON.stringify(zone)}`);
  }
  const jsonp = root.jsonp;
  if (typeof jsonp === 'boolean') chosen.jsonp = jsonp;
  else if (jsonp !== undefined) report('/jsonp', `expected true or false, got ${JSON.stringify(jsonp)}`);
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

function readCredentials(value: unknown, report: Report): CredentialsOverlay | undefined {
  if (value === undefined) return undefined;
  if (!isNode(value)) {
    report('/credentials', 'expected an object with member, headers, required, secret, send');
    return undefined;
  }
  refuseOthers(value, ['member', 'headers', 'required', 'secret', 'send'], '/credentials', report);
  const headers = new Map<string, string>();
  for (const [name, header] of Object.entries(isNode(value.headers) ? value.headers : {})) {
    if (typeof header === 'string' && /^[A-Za-z0-9-]+$/.test(header)) headers.set(name, header);
    else report(`/credentials/headers${pointerSegment(name)}`, 'expected the name of an HTTP header');
  }
  if (headers.size === 0) report('/credentials/headers', 'expected at least one `name: Header-Name`');
  const secret = textsOf(value.secret ?? []);
  const required = value.required === undefined ? undefined : textsOf(value.required);
  for (const [key, names] of [
    ['secret', secret],
    ['required', required],
  ] as const) {
    for (const name of names ?? []) {
      if (!headers.has(name))
        report(`/credentials/${key}`, `${name} isn't one of the names in /credentials/headers`);
    }
  }
  if (secret === undefined)
    report('/credentials/secret', 'expected a list of names from /credentials/headers');
  const send = value.send ?? 'body';
  if (send !== 'body' && send !== 'headers') {
    report('/credentials/send', `expected body or headers, got ${JSON.stringify(send)}`);
  }
  const member = readText(value, 'member', '/credentials', report);
  if (send === 'body' && member === undefined) {
    report(
      '/credentials/send',
      'credentials sent in the body need /credentials/member, the name of their member',
    );
  }
  return { member, headers, required, secret: secret ?? [], send: send === 'headers' ? 'headers' : 'body' };
}

function readRoutes(value: unknown, report: Report): ReadonlyMap<string, string> {
  const routes = new Map<string, string>();
  if (value === undefined) return routes;
  if (!isNode(value)) {
    report('/routes', 'expected an object of `METHOD /path: Operation`');
    return routes;
  }
  for (const [key, operation] of Object.entries(value)) {
    if (typeof operation === 'string') routes.set(key, operation);
    else report(`/routes${pointerSegment(key)}`, 'expected the name of an operation');
  }
  return routes;
}

function readOperations(value: unknown, report: Report): Pick<Overlay, 'readOnly' | 'operations'> {
  const readOnly = new Set<string>();
  const operations: string[] = [];
  if (value !== undefined && !isNode(value))
    report('/operations', 'expected an object of `Operation: { … }`');
  for (const [name, entry] of Object.entries(isNode(value) ? value : {})) {
    const pointer = `/operations${pointerSegment(name)}`;
    operations.push(name);
    if (!isNode(entry)) {
      report(pointer, 'expected an object with readOnly');
      continue;
    }
    refuseOthers(entry, ['readOnly'], pointer, report);
    const flag = entry.readOnly;
    if (flag === true) readOnly.add(name);
    else if (flag !== undefined && flag !== false) report(`${pointer}/readOnly`, 'expected true or false');
  }
  return { readOnly, operations };
}

function readTypes(value: unknown, report: Report): ReadonlyMap<string, TypeOverlay> {
  const types = new Map<string, TypeOverlay>();
  if (value !== undefined && !isNode(value))
    report('/types', 'expected an object of `Type: { order, item }`');
  for (const [name, entry] of Object.entries(isNode(value) ? value : {})) {
    const pointer = `/types${pointerSegment(name)}`;
    if (!isNode(entry)) {
      report(pointer, 'expected an object with order or item');
      continue;
    }
    refuseOthers(entry, ['order', 'item'], pointer, report);
    const order = entry.order === undefined ? undefined : textsOf(entry.order);
    if (entry.order !== undefined && order === undefined) {
      report(`${pointer}/order`, 'expected a list of all JSON members of the type');
    }
    types.set(name, { order, item: readText(entry, 'item', pointer, report) });
  }
  return types;
}

function readText(node: Node, key: string, pointer: string, report: Report): string | undefined {
  const value = node[key];
  const text = textOf(value);
  if (value !== undefined && (text === undefined || text === '')) {
    report(`${pointer}${pointerSegment(key)}`, `expected text, got ${JSON.stringify(value)}`);
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
