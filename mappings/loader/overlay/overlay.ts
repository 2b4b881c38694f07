// Reads the overlay of an OpenAPI contract, `soap.yaml`. This file does not see the document: the loader checks a key
// against the document where it reads that part of the document.
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { linearPattern } from '../../codec/scalars/pattern.ts';
import { zoneNamed } from '../../codec/scalars/zone.ts';
import type { CredentialPart, Credentials, Wsse } from '../../contract/credentials.ts';
import { namespaces as knownNamespaces } from '../../contract/model.ts';
import { didYouMean } from '../../contract/nearest.ts';
import type { OperationValues } from '../../contract/operation-keys.ts';
import {
  type ContractKind,
  defaultSettings,
  type OverlayValues,
  overlaySettings,
  type Settings,
} from '../../contract/overlay-keys.ts';
import type { Setting } from '../../contract/setting.ts';
import { missingPackages } from '../../optional-packages.ts';
import { xmlNamespace } from '../../xml/namespaces.ts';
import type { ReadBytes } from '../document/bytes-reader.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { readSettings } from '../document/settings-file.ts';
import { isElementName } from '../names/names.ts';
import type { OperationNames } from '../names/operation-names.ts';
import { type Dialect, dialects } from './dialects.ts';

type Values = OverlayValues<'openapi'>;

/** An overlay with the defaults of its dialect. */
export interface Overlay {
  readonly dialect: Dialect;
  readonly service: string | undefined;
  readonly basePath: string;
  readonly typesNamespace: string | undefined;
  readonly arraysNamespace: string | undefined;
  readonly settings: Settings;
  readonly credentials: CredentialsOverlay | undefined;
  /** Undefined: WS-Security is not read. */
  readonly wsse: Wsse | undefined;
  /** `METHOD /path` → operation name. */
  readonly routes: ReadonlyMap<string, string>;
  /** Rules for operation names. Undefined: names are operationIds. */
  readonly operationNames: OperationNames | undefined;
  /** Settings of single operations, by their names in the document. */
  readonly operations: ReadonlyMap<string, OperationValues>;
  /** True if only the operations in `operations` are served. */
  readonly namedOnly: boolean;
  readonly types: NonNullable<Values['types']>;
  /** Prefixes of URLs and paths in references, each with a folder relative to the overlay. */
  readonly refs: ReadonlyMap<string, string>;
  /** Addresses of servers, by their URLs in the document. */
  readonly servers: NonNullable<Values['servers']>;
  /** JSON members with values that are never logged. */
  readonly personal: readonly string[];
}

/** The overlay's `credentials`. */
export interface CredentialsOverlay {
  readonly member: string | undefined;
  /** Name → header. */
  readonly headers: ReadonlyMap<string, string>;
  /**
   * Locations of the credentials of security schemes. Other credentials are sent in the header that they were received
   * in.
   */
  readonly sent?: ReadonlyMap<string, CredentialPart['sent']>;
  /** Undefined: the required members of the member's schema. */
  readonly required: readonly string[] | undefined;
  readonly secret: readonly string[];
  readonly send: 'body' | 'headers';
  readonly basic?: Credentials['basic'];
}

const isGiven = (value: unknown): boolean => value !== undefined;

/** Reads the rules for operation names. Invalid rules are reported. */
function readOperationNames(stated: Values['operationNames'], report: Report): OperationNames | undefined {
  if (stated === undefined || stated === 'fastapi') return stated;
  const hasPatterns = stated.some((rule) => [rule.operationId, rule.path, rule.tag].some(isGiven));
  const missing = hasPatterns ? missingPackages('patterns') : undefined;
  if (missing !== undefined) {
    report('/operationNames', missing);
    return undefined;
  }
  return stated.flatMap((rule, index) => {
    const at = `/operationNames/${index}`;
    if (rule.name === undefined) report(at, 'expected the key name, got none');
    for (const key of ['operationId', 'path', 'tag'] as const) {
      if (rule[key] !== undefined && linearPattern(`^(?:${rule[key]})$`) === undefined)
        report(`${at}/${key}`, `expected a pattern that RE2 can match, got ${shown(rule[key])}`);
    }
    return rule.name === undefined ? [] : [{ ...rule, name: rule.name }];
  });
}

/** Returns no file, for an overlay that is not read from a folder. */
export const noFiles: ReadBytes = (path) => ({ path, bytes: 'none' });

/**
 * Reads an overlay. Wrong values are reported and replaced by their defaults. An empty file is valid.
 *
 * @param readBytes reads the files that the overlay names
 */
export function readOverlay(document: unknown, report: Report, readBytes: ReadBytes = noFiles): Overlay {
  const keys = readSettings(overlaySettings.openapi, document ?? {}, '', report) ?? {};
  const dialect = dialects[keys.dialect ?? 'plain'];
  const { namespaces = {} } = keys;
  return {
    dialect,
    service: keys.service,
    basePath: basePathOf(keys),
    typesNamespace: ownNamespace(namespaces, 'types', report) ?? dialect.typesNamespace,
    arraysNamespace: ownNamespace(namespaces, 'arrays', report) ?? dialect.arraysNamespace,
    settings: settingsOf('openapi', keys, { ...defaultSettings.openapi, ...dialect.settings }, report),
    credentials: keys.credentials === undefined ? undefined : readCredentials(keys.credentials, report),
    wsse:
      keys.wsse === undefined ? undefined : readWsse(keys.wsse, keys.credentials?.headers, report, readBytes),
    routes: keys.routes ?? new Map(),
    operationNames: readOperationNames(keys.operationNames, report),
    ...operationsOf(keys.operations),
    types: readTypes(keys.types, report),
    refs: keys.refs ?? new Map(),
    servers: keys.servers ?? new Map(),
    personal: keys.personal ?? [],
  };
}

/** The path prefix of all endpoints; `''` for the root. */
export function basePathOf({ basePath = '/' }: { readonly basePath?: string | undefined }): string {
  return basePath === '/' ? '' : basePath;
}

function operationsOf(operations: Values['operations']): Pick<Overlay, 'operations' | 'namedOnly'> {
  if (isList(operations))
    return { operations: new Map(operations.map((name) => [name, {}])), namedOnly: true };
  return { operations: operations ?? new Map(), namedOnly: false };
}

function isList<T>(value: readonly T[] | ReadonlyMap<string, unknown> | undefined): value is readonly T[] {
  return Array.isArray(value);
}

/** Namespaces that SOAP, WSDL, XSD or XML define. */
const reserved = new Set<string>([...Object.values(knownNamespaces), xmlNamespace]);

function ownNamespace(
  namespaces: NonNullable<Values['namespaces']>,
  key: 'types' | 'arrays',
  report: Report,
): string | undefined {
  const uri = namespaces[key];
  if (uri === undefined || !reserved.has(uri)) return uri;
  report(
    `/namespaces/${key}`,
    `expected ${overlaySettings.openapi.keys.namespaces.keys[key].expected}, got ${shown(uri)}`,
  );
  return undefined;
}

/** The settings of an overlay, with `defaults` for missing keys. Wrong header names and time zones are reported. */
export function settingsOf<Kind extends ContractKind>(
  kind: Kind,
  keys: OverlayValues<Kind>,
  defaults: Settings,
  report: Report,
): Settings {
  const known: Readonly<Record<string, Setting>> = overlaySettings[kind].keys;
  const stated = Object.entries(keys).filter(
    ([key, value]) => value !== undefined && 'default' in (known[key] ?? {}),
  );
  const settings: Settings = { ...defaults, ...Object.fromEntries(stated) };
  const missing = settings.validate === 'strict' ? missingPackages('patterns') : undefined;
  if (missing !== undefined) report('/validate', missing);
  const zone = settings.upstreamTimeZone;
  const isKnown = zone === undefined || zoneNamed(zone) !== undefined;
  if (!isKnown)
    report('/upstreamTimeZone', `expected an IANA zone such as Europe/London, got ${shown(zone)}`);
  return {
    ...settings,
    upstreamTimeZone: isKnown ? zone : defaults.upstreamTimeZone,
    replyHeaders: readReplyHeaders(settings.replyHeaders, report),
  };
}

/** Headers that the gateway sets itself, or that belong to the connection. */
const ownHeaders = new Set(
  'transfer-encoding connection keep-alive trailer upgrade date server allow retry-after cache-control x-status x-request-id'.split(
    ' ',
  ),
);

function isOwnHeader(name: string): boolean {
  const header = name.toLowerCase();
  return ownHeaders.has(header) || header.startsWith('content-') || header.startsWith('access-control-');
}

function readReplyHeaders(names: readonly string[], report: Report): readonly string[] {
  for (const name of names) {
    if (isOwnHeader(name))
      report('/replyHeaders', `expected names of HTTP headers that only the API uses, got ${shown(name)}`);
  }
  return names.map((name) => name.toLowerCase());
}

/** Headers that cannot be a credential: headers of the connection and the message, and `Cookie` (W24). */
const takenHeaders = new Set([
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'cookie', 'expect', 'host'],
  ...['keep-alive', 'soapaction', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

function readCredentials(keys: NonNullable<Values['credentials']>, report: Report): CredentialsOverlay {
  const { member, required, secret = [] } = keys;
  const headers = readHeaderNames(keys.headers ?? new Map(), '/credentials/headers', report);
  if ((keys.headers?.size ?? 0) === 0)
    report('/credentials/headers', 'expected at least one `name: Header-Name`, got none');
  for (const [key, names] of Object.entries({ required, secret })) {
    for (const name of names ?? []) {
      if (!headers.has(name))
        report(
          `/credentials/${key}`,
          `expected names from /credentials/headers, got ${shown(name)}${didYouMean(name, headers.keys())}`,
        );
    }
  }
  const send = keys.send ?? (member === undefined ? 'headers' : 'body');
  if (send === 'body' && member === undefined)
    report('/credentials/send', 'expected headers, because /credentials/member is not set');
  return { member, headers, required, secret, send, basic: readBasic(keys.basic, headers, report) };
}

/** Reads the credentials for HTTP Basic. Then no other credential may use the header Authorization. */
function readBasic(
  keys: NonNullable<Values['credentials']>['basic'],
  headers: ReadonlyMap<string, string>,
  report: Report,
): Credentials['basic'] {
  if (keys === undefined) return undefined;
  const username = credentialAt('/credentials/basic/username', keys.username, headers, report);
  const password = credentialAt('/credentials/basic/password', keys.password, headers, report);
  if (username === password && username !== '')
    report(
      '/credentials/basic/password',
      `expected another credential than username, got ${shown(password)} again`,
    );
  if ([...headers.values()].some((header) => header.toLowerCase() === 'authorization'))
    report('/credentials/basic', 'expected none, because a credential uses the header Authorization');
  return { username, password };
}

/** The name of a credential, or `''`. A missing or unknown name is reported. */
function credentialAt(
  pointer: string,
  name: string | undefined,
  known: ReadonlyMap<string, unknown>,
  report: Report,
): string {
  if (name === undefined || !known.has(name))
    report(
      pointer,
      `expected a name from /credentials/headers, got ${name === undefined ? 'none' : shown(name) + didYouMean(name, known.keys())}`,
    );
  return name ?? '';
}

/**
 * The settings of WS-Security (W45). Unknown credentials are reported.
 *
 * @param known the credentials by name
 */
function readWsse(
  keys: NonNullable<Values['wsse']>,
  known: ReadonlyMap<string, unknown> = new Map(),
  report: Report,
  readBytes: ReadBytes,
): Wsse {
  const nameAt = (name: string | undefined, at: string): string =>
    credentialAt(`/wsse/${at}`, name, known, report);
  const { digest = 'refuse' } = keys;
  const isToken =
    keys.username !== undefined ||
    keys.password !== undefined ||
    (keys.x509?.credential === undefined && keys.saml?.credential === undefined);
  const username = isToken ? nameAt(keys.username, 'username') : undefined;
  const password = isToken ? nameAt(keys.password, 'password') : undefined;
  if (username === password && username !== '' && username !== undefined)
    report('/wsse/password', `expected another credential than username, got ${shown(password)} again`);
  const signatures = readSignatureKeys(keys, known, report, readBytes);
  if (typeof digest === 'string') return { username, password, digest, ...signatures };
  const parts = {
    password: nameAt(digest.password, 'digest/password'),
    nonce: nameAt(digest.nonce, 'digest/nonce'),
    created: nameAt(digest.created, 'digest/created'),
  };
  if (!isToken || new Set([username, password, ...Object.values(parts)]).size < 5)
    report('/wsse/digest', 'expected five credentials with different names, got one name twice');
  return { username, password, digest: parts, ...signatures };
}

/** Keys of `wsse` without those of a UsernameToken. */
export type SignatureKeys = NonNullable<OverlayValues<'adopted'>['wsse']>;

/** Reads the keys of `wsse` without those of a UsernameToken. */
export function readSignatureKeys(
  keys: SignatureKeys & Pick<NonNullable<Values['wsse']>, 'username' | 'password'>,
  known: ReadonlyMap<string, unknown>,
  report: Report,
  readBytes: ReadBytes,
): Pick<Wsse, 'timestamp' | 'unverified' | 'x509' | 'sign' | 'decrypt' | 'saml'> {
  const x509 = keys.x509 === undefined ? undefined : readSigning(keys, keys.x509, known, report, readBytes);
  const timestamp =
    keys.timestamp ?? (x509?.require.includes('timestamp') === true ? 'required' : 'optional');
  const { unverified = [] } = keys;
  const sign = readReplySigning(keys, report, readBytes);
  const decrypt = readDecrypting(keys, sign, report, readBytes);
  const saml =
    keys.saml === undefined ? undefined : readAssertions(keys, keys.saml, known, report, readBytes);
  return { timestamp, unverified, x509, sign, decrypt, saml };
}

/** Returns the exports of a module of this folder, which is loaded only for a contract that needs it. */
function load<Exports>(module: 'x509' | 'key-pair' | 'saml'): Exports {
  return createRequire(import.meta.url)(`./${module}${extname(import.meta.url)}`);
}

/** Reads the settings for SAML Assertions (X26). Its credential must have no other source. */
function readAssertions(
  keys: SignatureKeys & Pick<NonNullable<Values['wsse']>, 'username' | 'password'>,
  saml: NonNullable<SignatureKeys['saml']>,
  known: ReadonlyMap<string, unknown>,
  report: Report,
  readBytes: ReadBytes,
): Wsse['saml'] {
  const { readSaml } = load<typeof import('./saml.ts')>('saml');
  for (const name of saml.credential?.keys() ?? []) {
    credentialAt('/wsse/saml/credential', name, known, report);
    if (name === keys.username || name === keys.password || keys.x509?.credential?.has(name) === true)
      report(
        '/wsse/saml/credential',
        `expected another credential than those of username, password and x509, got ${shown(name)}`,
      );
  }
  return readSaml(saml, keys, report, readBytes);
}

/** Reads the settings for signing replies (X30). */
function readReplySigning({ sign, x509 }: SignatureKeys, report: Report, readBytes: ReadBytes): Wsse['sign'] {
  if (sign === undefined) return undefined;
  if (x509 === undefined)
    report('/wsse/sign', 'expected /wsse/x509 too, because only replies to signed requests are signed');
  const { readKeyPair } = load<typeof import('./key-pair.ts')>('key-pair');
  const pair = readKeyPair('/wsse/sign', sign, report, readBytes);
  return pair === undefined ? undefined : { ...pair, confirmation: sign.confirmation === true };
}

/** Reads the settings for decryption (X23). Its keys are by default that of `sign`. */
function readDecrypting(
  { decrypt, x509 }: SignatureKeys,
  sign: Wsse['sign'],
  report: Report,
  readBytes: ReadBytes,
): Wsse['decrypt'] {
  if (decrypt === undefined) {
    if (x509?.require?.includes('encryption') === true)
      report('/wsse/x509/require', 'expected /wsse/decrypt too, because encryption is required');
    return undefined;
  }
  if (x509 === undefined)
    report(
      '/wsse/decrypt',
      'expected /wsse/x509 too; { require: [], replay: allow } permits encryption only',
    );
  if (decrypt.keys === undefined && sign === undefined)
    report('/wsse/decrypt/keys', 'expected key pairs, or /wsse/sign, got neither');
  if (decrypt.keys?.length === 0) report('/wsse/decrypt/keys', 'expected one or more key pairs, got none');
  const { isRsaPair, readKeyPair } = load<typeof import('./key-pair.ts')>('key-pair');
  const given = decrypt.keys?.map((keys, index) =>
    readKeyPair(`/wsse/decrypt/keys/${index}`, keys, report, readBytes),
  );
  const keys = (given ?? [sign]).flatMap((pair) => pair ?? []);
  if (!keys.every(isRsaPair)) report('/wsse/decrypt/keys', 'expected RSA keys, got another key');
  return { keys, cbc: decrypt.cbc === true };
}

/** Reads the settings for signatures. The module is loaded only for a contract that has them. */
function readSigning(
  {
    username,
    password,
    timestamp,
    unverified = [],
  }: SignatureKeys & Pick<NonNullable<Values['wsse']>, 'username' | 'password'>,
  keys: NonNullable<SignatureKeys['x509']>,
  known: ReadonlyMap<string, unknown>,
  report: Report,
  readBytes: ReadBytes,
): Wsse['x509'] {
  const { readX509 } = load<typeof import('./x509.ts')>('x509');
  for (const name of unverified)
    if (name !== 'Assertion')
      report(
        '/wsse/unverified',
        `expected only elements that /wsse/x509 does not verify, got ${shown(name)}`,
      );
  const signing = readX509(keys, timestamp, report, readBytes);
  for (const name of keys.credential?.keys() ?? []) {
    credentialAt('/wsse/x509/credential', name, known, report);
    if (name === username || name === password)
      report(
        '/wsse/x509/credential',
        `expected another credential than username and password, got ${shown(name)}`,
      );
  }
  return signing;
}

/**
 * HTTP headers by the name of their value. A header that cannot be a credential, or that occurs twice, is left out and
 * reported below `pointer`.
 */
export function readHeaderNames(
  given: ReadonlyMap<string, string>,
  pointer: string,
  report: Report,
): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  const stated = new Set<string>();
  for (const [name, header] of given) {
    const at = pointer + pointerSegment(name);
    const lower = header.toLowerCase();
    if (takenHeaders.has(lower))
      report(at, `expected the name of an HTTP header that only the API uses, got ${shown(header)}`);
    else if (stated.has(lower)) report(at, `expected a header for each name, got ${header} again`);
    else headers.set(name, header);
    stated.add(lower);
  }
  return headers;
}

function readTypes(types: Values['types'], report: Report): Overlay['types'] {
  for (const [name, { order, item }] of types ?? []) {
    const pointer = `/types${pointerSegment(name)}`;
    const met = new Set<string>();
    const twice = order?.find((member) => met.size === met.add(member).size);
    if (twice !== undefined)
      report(`${pointer}/order`, `expected each member once, got ${shown(twice)} again`);
    if (item !== undefined && !isElementName(item))
      report(`${pointer}/item`, `expected the name of an XML element, got ${shown(item)}`);
  }
  return types ?? new Map();
}
