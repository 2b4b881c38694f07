import { X509Certificate } from 'node:crypto';
import { defaultLimits, type LimitName, type Limits, limitsWith } from '../../mappings/contract/limits.ts';
import {
  choice,
  count,
  keyword,
  list,
  map,
  record,
  text,
  type ValueOf,
  value,
} from '../../mappings/contract/setting.ts';
import { readDuration } from '../../mappings/contract/times.ts';
import { Allowance, OverLimit } from '../../mappings/loader/document/allowance.ts';
import { pointerSegment, type Report } from '../../mappings/loader/document/error.ts';
import { isNode, shown } from '../../mappings/loader/document/node.ts';
import { readWhole } from '../../mappings/loader/document/yaml.ts';
import { missingPackages } from '../../mappings/optional-packages.ts';
import { tls } from '../node-http.ts';
import type { ClientTls } from '../upstream/connector.ts';
import type { ConnectionOptions, WeightedAddress } from '../upstream/http-upstream.ts';
import { proxyUrl } from '../upstream/proxy.ts';
import type { OAuthOptions } from '../upstream/tokens.ts';

const address = (description: string) =>
  text(description, 'an http or https URL without credentials and query', /^https?:\/\/[^\s?#@]+$/);
/** A setting that names a file. */
export const file = (description: string) => text(description, 'a path, relative to the folder of this file');
/** A secret is validated separately, because errors about other settings contain their value. */
const secret = (description: string) => ({
  ...value(`${description} A text in quotes, or \`{ file: path }\`.`),
  isSecret: true,
});

const duration = (description: string) =>
  text(description, 'a time such as 30s, 5m or 1h', /^[1-9]\d{0,5}(?:ms|s|m|h)$/);

/** Maximum number of addresses of an upstream. */
export const maxAddresses = 32;

const defaultCheckMs = 10_000;

/** `upstream` of a contract in `soapbridge.yaml`. */
export const upstreamSetting = choice(
  'JSON service that the gateway calls: its URL, or its URL and settings.',
  address('URL of the JSON service.'),
  record('JSON service with its credentials and connection settings.', {
    url: address('URL of the JSON service.'),
    addresses: list(
      'Addresses of the JSON service, instead of `url`. Calls are distributed by weight, and a failing address gets none.',
      'addresses',
      record('One address.', {
        url: address('URL of the JSON service at this address.'),
        weight: count('Share of the calls, relative to the other weights. Default: 1.', 'a weight', 1, 100),
      }),
    ),
    healthCheck: record('Check of each address with GET. A status from 200 to 399 passes.', {
      path: text('Path at the host of each address.', 'a path such as /healthz', /^\/[^\s#]*$/),
      every: duration('Time between two checks. Default: 10s.'),
    }),
    maxConnectionAge: duration(
      'Age after which a connection gets no further calls. New connections resolve the host name again.',
    ),
    headers: map('Headers added to every call.', '`name: value`', secret('The value.')),
    query: map('Query parameters added to every call.', '`name: value`', secret('The value.')),
    basic: record('User and password for HTTP Basic (RFC 7617).', {
      user: text('The user.'),
      password: secret('The password.'),
    }),
    oauth2: record('OAuth 2.0 access tokens for calls (RFC 6749).', {
      grant: keyword(
        'One token for all callers, or one per caller by token exchange (RFC 8693).',
        'clientCredentials',
        'tokenExchange',
      ),
      tokenUrl: address('URL of the token endpoint.'),
      clientId: text('Client id of the gateway.'),
      clientSecret: secret('Client secret of the gateway.'),
      clientAuthentication: keyword(
        'Client authentication: `basic` in a header, or `post` in the body.',
        'basic',
        'post',
      ),
      scope: text('Requested scope.'),
      audience: text('Requested audience of the token.'),
      resource: text('URI of the requested resource (RFC 8707).'),
    }),
    tls: record('TLS settings for calls.', {
      ca: file('Trusted CA certificates, PEM, instead of those of Node.'),
      certificate: file('Client certificate of the gateway with its intermediate certificates, PEM.'),
      key: file('Private key of the client certificate, PEM.'),
      serverName: text(
        'Name expected in the server certificate and sent as SNI. The default is the host of the URL.',
      ),
      minVersion: keyword('Minimum TLS version.', 'TLSv1.2', 'TLSv1.3'),
    }),
    proxy: text('Proxy URL, or `none`. The default comes from HTTPS_PROXY, HTTP_PROXY and NO_PROXY.'),
  }),
);

/** `limits` of a contract in `soapbridge.yaml`. */
export const limitsSetting = map(
  'Limits of the upstream of this contract: `totalMs`, `replyBytes`, `upstream…`, `breaker…`, `retry…`.',
  '`name: number`',
  value('A number.'),
);

/** Settings of calls to an upstream, with the contents of the files they name. */
export interface UpstreamPlan {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  readonly oauth: OAuthOptions | undefined;
  readonly tls: ClientTls | undefined;
  /** `none` ignores the proxies of the environment. */
  readonly proxy: URL | 'none' | undefined;
  readonly connection: ConnectionOptions;
}

type Stated = Exclude<ValueOf<typeof upstreamSetting>, string | undefined>;

/** Reads the setting `upstream` and the files it names. Problems are reported without secrets. */
export function readUpstreamPlan(
  stated: Stated,
  at: string,
  inFolder: (name: string) => string,
  report: Report,
): UpstreamPlan {
  const secretOf = (given: unknown, pointer: string): string => {
    if (typeof given === 'string' && given !== '') return headerSafe(given, pointer, report);
    const name = isNode(given) && Object.keys(given).length === 1 ? given.file : undefined;
    if (typeof name !== 'string') {
      report(pointer, 'expected a text in quotes, or { file: path }, got another value');
      return '';
    }
    let isRead = true;
    const text = readText(inFolder(name), pointer, (...problem) => {
      isRead = false;
      report(...problem);
    });
    return isRead ? headerSafe(text.trimEnd(), pointer, report) : '';
  };
  const { headers: own = new Map(), query = new Map(), basic, oauth2, proxy } = stated;
  const headers: Record<string, string> = {};
  for (const [name, given] of own) {
    const pointer = `${at}/headers${pointerSegment(name)}`;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || reserved.has(name.toLowerCase()))
      report(pointer, `expected the name of a header other than ${[...reserved].join(', ')}`);
    headers[name.toLowerCase()] = secretOf(given, pointer);
  }
  if (basic !== undefined) {
    const pointer = `${at}/basic`;
    if (basic.user === undefined || basic.user.includes(':'))
      report(pointer, 'expected user, a text without ":", got none', 'user');
    const password = secretOf(basic.password, `${pointer}/password`);
    headers.authorization = `Basic ${Buffer.from(`${basic.user}:${password}`).toString('base64')}`;
  }
  if (oauth2 !== undefined && headers.authorization !== undefined)
    report(`${at}/oauth2`, 'expected only one of oauth2, basic and a header Authorization, got two of them');
  const pairs = [...query].map(([name, given]): [string, string] => [
    name,
    secretOf(given, `${at}/query${pointerSegment(name)}`),
  ]);
  return {
    headers,
    query: new URLSearchParams(pairs).toString(),
    oauth: oauth2 === undefined ? undefined : readOAuth(oauth2, `${at}/oauth2`, secretOf, report),
    tls: stated.tls === undefined ? undefined : readTls(stated.tls, `${at}/tls`, inFolder, report),
    proxy: proxy === 'none' ? 'none' : readProxy(proxy, `${at}/proxy`, report),
    connection: readConnection(stated, at, report),
  };
}

function readConnection(stated: Stated, at: string, report: Report): ConnectionOptions {
  const { url, addresses, healthCheck, maxConnectionAge } = stated;
  const connection: { -readonly [Key in keyof ConnectionOptions]: ConnectionOptions[Key] } = {};
  if (addresses !== undefined) {
    if (url !== undefined) report(at, 'expected either url or addresses, got both keys');
    connection.addresses = readAddresses(addresses, `${at}/addresses`, report);
  }
  if (healthCheck !== undefined) {
    const { path, every } = healthCheck;
    if (path === undefined)
      report(`${at}/healthCheck`, 'expected path, the path of the health check, got none', 'path');
    const everyMs = every === undefined ? defaultCheckMs : readTime(every, `${at}/healthCheck/every`, report);
    connection.healthCheck = { path: path ?? '/', everyMs };
  }
  if (maxConnectionAge !== undefined)
    connection.maxConnectionAgeMs = readTime(maxConnectionAge, `${at}/maxConnectionAge`, report);
  return connection;
}

function readAddresses(
  stated: NonNullable<Stated['addresses']>,
  at: string,
  report: Report,
): readonly WeightedAddress[] {
  const known = new Set<string>();
  if (stated.length === 0 || stated.length > maxAddresses)
    report(at, `expected 1 to ${maxAddresses} addresses, got ${stated.length}`);
  return stated.map(({ url = '', weight = 1 }, index) => {
    const pointer = `${at}/${index}`;
    if (url === '') report(pointer, 'expected url, the URL of the JSON service, got none', 'url');
    else if (known.has(url)) report(pointer, `expected each address once, got ${shown(url)} again`);
    else checkAddress(url, pointer, report);
    known.add(url);
    return { url, weight };
  });
}

/** Minimum and maximum of a duration, in ms. */
const leastMs = 100;
const mostMs = 86_400_000;

/** Parses a duration that its setting accepted, and checks its bounds. */
function readTime(stated: string, pointer: string, report: Report): number {
  const ms = readDuration(stated) ?? 0;
  if (ms < leastMs || ms > mostMs) report(pointer, `expected a time from 100ms to 24h, got ${shown(stated)}`);
  return ms;
}

/** Headers that define a message's framing. The HTTP client sets them. */
const reserved: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'content-type',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);

function headerSafe(given: string, pointer: string, report: Report): string {
  if (/^[\x20-\x7e]+$/.test(given)) return given;
  report(pointer, 'expected one line of printable ASCII, got other text or none');
  return '';
}

/** Maximum size of a file with a secret or certificates, in bytes. It is enough for all public CAs. */
const mostText = 1024 * 1024;

/** Reads a file. Returns `''` after it has reported that the file cannot be read. */
export function readText(path: string, pointer: string, report: Report): string {
  try {
    // The read is bounded and does not block on a pipe without a writer, because other contracts are being served.
    return readWhole(path, new Allowance({ ...defaultLimits, contractBytes: mostText })).toString('utf8');
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code;
    report(
      pointer,
      error instanceof OverLimit
        ? `${error.message} for ${path}`
        : `expected a readable file, got ${why} for ${path}`,
    );
    return '';
  }
}

function readProxy(given: string | undefined, pointer: string, report: Report): URL | undefined {
  try {
    return proxyUrl(given ?? '');
  } catch (error) {
    report(pointer, (error as RangeError).message);
    return undefined;
  }
}

function readOAuth(
  stated: NonNullable<Stated['oauth2']>,
  at: string,
  secretOf: (given: unknown, pointer: string) => string,
  report: Report,
): OAuthOptions {
  const {
    grant = 'clientCredentials',
    tokenUrl = '',
    clientId = '',
    clientAuthentication = 'basic',
  } = stated;
  if (tokenUrl === '') report(`${at}/tokenUrl`, 'expected tokenUrl, the URL of the token endpoint, got none');
  else checkAddress(tokenUrl, `${at}/tokenUrl`, report);
  if (clientId === '') report(`${at}/clientId`, 'expected clientId, got none');
  const missing = missingPackages('oauth');
  if (missing !== undefined) report(at, missing);
  const parameters: Record<string, string> = {};
  for (const name of ['scope', 'audience', 'resource'] as const)
    if (stated[name] !== undefined) parameters[name] = stated[name];
  const clientSecret = secretOf(stated.clientSecret, `${at}/clientSecret`);
  return { grant, tokenUrl, clientId, clientSecret, clientAuthentication, parameters };
}

function readTls(
  stated: NonNullable<Stated['tls']>,
  at: string,
  inFolder: (name: string) => string,
  report: Report,
): ClientTls {
  let isRead = true;
  const pem = (name: 'ca' | 'certificate' | 'key'): string | undefined => {
    if (stated[name] === undefined) return undefined;
    return readText(inFolder(stated[name]), `${at}/${name}`, (pointer, message) => {
      isRead = false;
      report(pointer, message);
    });
  };
  const [ca, cert, key] = [pem('ca'), pem('certificate'), pem('key')];
  if ((cert === undefined) !== (key === undefined))
    report(at, 'expected certificate and key, got only one of the two');
  if (isRead) checkPem({ ca, cert, key }, at, report);
  const { serverName: servername, minVersion } = stated;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(servername === undefined ? {} : { servername }),
    ...(minVersion === undefined ? {} : { minVersion }),
  };
}

/**
 * Checks that files hold complete PEM and that a key matches its certificate, before anything connects or listens. Node
 * ignores an empty file: without a CA for callers it would accept every public CA.
 */
export function checkPem(
  { ca, cert, key }: Readonly<Record<'ca' | 'cert' | 'key', string | undefined>>,
  at: string,
  report: Report,
): void {
  for (const [name, pem] of [
    ['ca', ca],
    ['certificate', cert],
  ] as const) {
    if (pem === undefined) continue;
    const wrong = wrongInPem(pem);
    if (wrong === undefined) continue;
    report(`${at}/${name}`, wrong);
    return;
  }
  if (cert === undefined || key === undefined) return;
  try {
    if (key.trim() === '') throw new RangeError('a key is missing');
    tls().createSecureContext({ cert, key });
  } catch {
    report(`${at}/key`, 'expected the key of the certificate, PEM without a passphrase, got another key');
  }
}

/**
 * Returns the problem of a file of certificates. It checks each one, because Node ignores all certificates after one it
 * cannot read.
 */
function wrongInPem(pem: string): string | undefined {
  const certificates = certificatesInPem(pem);
  if (certificates.length === 0)
    return `expected a certificate, PEM, got ${pem.trim() === '' ? 'an empty file' : 'other text'}`;
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch {
      const which = certificates.length === 1 ? '' : `, number ${index + 1} of ${certificates.length}`;
      return `expected a certificate, PEM, got an unreadable or incomplete certificate${which}`;
    }
  }
  return undefined;
}

/** Reports an address that is not a valid URL, for example because of its port or host. */
export function checkAddress(address: string | undefined, pointer: string, report: Report): void {
  if (address !== undefined && !URL.canParse(address))
    report(pointer, `expected an http or https URL, got ${shown(address)}`);
}

const ownLimits = /^(?:totalMs|replyBytes|replyBytesWithBinary|upstream\w+|breaker\w+|retry\w+)$/;

/** Limits of a legacy service (G3). */
export const legacyLimits = /^(?:totalMs|streamBytes|upstream\w+|breaker\w+|retry\w+)$/;

/**
 * Reads the limits of one contract's upstream. Reports unknown names, limits of the whole process, and wrong values.
 *
 * @param allowed names of the limits that may be set
 */
export function readOwnLimits(
  stated: ReadonlyMap<string, unknown>,
  at: string,
  report: Report,
  allowed: RegExp = ownLimits,
): Partial<Limits> {
  const limits: Partial<Record<LimitName, number>> = {};
  for (const [name, number] of stated) {
    const pointer = `${at}${pointerSegment(name)}`;
    const given = typeof number === 'string' && /^\d+$/.test(number) ? Number(number) : number;
    if (typeof given !== 'number') {
      report(pointer, `expected a number, got ${shown(number)}`);
      continue;
    }
    try {
      limitsWith({ [name]: given });
    } catch (error) {
      report(pointer, (error as RangeError).message);
      continue;
    }
    if (allowed.test(name)) limits[name as LimitName] = given;
    else
      report(
        pointer,
        'expected a limit of an upstream, got a limit for all contracts. Set it with SOAPBRIDGE_LIMITS',
      );
  }
  return limits as Partial<Limits>;
}

/**
 * Returns the certificates of a PEM text, each as a PEM text of its own (RFC 7468, section 5). The last one may be
 * incomplete.
 */
export function certificatesInPem(pem: string): readonly string[] {
  return pem
    .split('-----BEGIN ')
    .filter((block) => /^[A-Z0-9 ]*CERTIFICATE-----/.test(block))
    .map((block) => `-----BEGIN ${block}`);
}
