import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { defaultLimits, type LimitName, type Limits, limitsWith } from '../../mappings/contract/limits.ts';
import { choice, keyword, map, record, text, type ValueOf, value } from '../../mappings/contract/setting.ts';
import { Allowance, OverLimit } from '../../mappings/loader/document/allowance.ts';
import { pointerSegment, type Report } from '../../mappings/loader/document/error.ts';
import { isNode, shown } from '../../mappings/loader/document/node.ts';
import { readWhole } from '../../mappings/loader/document/yaml.ts';
import { missingPackages } from '../../mappings/optional-packages.ts';
import type { ClientTls } from '../upstream/connector.ts';
import { proxyUrl } from '../upstream/proxy.ts';
import type { OAuthOptions } from '../upstream/tokens.ts';

const address = (says: string) =>
  text(says, 'an http or https URL without credentials and query', /^https?:\/\/[^\s?#@]+$/);
/** A setting that names a file. */
export const file = (says: string) => text(says, 'a path, from the folder of this file on');
/** A secret is validated separately, because errors about other settings contain their value. */
const secret = (says: string) => value(`${says} A text in quotes, or \`{ file: path }\`.`);

/** `upstream` of a contract in `soapbridge.yaml`. */
export const upstreamSetting = choice(
  'The JSON service behind: its address, or that and how it is called.',
  address('The address of the JSON service behind.'),
  record('The service behind, and what the gateway says of itself to it.', {
    url: address('The address of the JSON service behind.'),
    headers: map('Headers that every call has.', '`name: value`', secret('The value.')),
    query: map('Parameters that every call has in its query.', '`name: value`', secret('The value.')),
    basic: record('User and password that every call has (RFC 7617).', {
      user: text('The user.'),
      password: secret('The password.'),
    }),
    oauth2: record('Tokens that calls have (RFC 6749).', {
      grant: keyword(
        'One token for all callers, or one for each, in exchange for its own (RFC 8693).',
        'clientCredentials',
        'tokenExchange',
      ),
      tokenUrl: address('Where tokens are asked for.'),
      clientId: text('The gateway’s id there.'),
      clientSecret: secret('The gateway’s secret there.'),
      clientAuthentication: keyword(
        'Where id and secret go: `basic` in a header, `post` in the body.',
        'basic',
        'post',
      ),
      scope: text('What is asked for.'),
      audience: text('Whom the token is for.'),
      resource: text('The URI of what the token is for (RFC 8707).'),
    }),
    tls: record('TLS towards the service.', {
      ca: file('The CAs that are trusted, PEM, in place of those that Node has.'),
      certificate: file('The gateway’s own certificate, PEM, with those between it and its CA.'),
      key: file('Its key, PEM.'),
      serverName: text(
        'The name that the service’s certificate has, and SNI says; without it the address’s host.',
      ),
      minVersion: keyword('The least version.', 'TLSv1.2', 'TLSv1.3'),
    }),
    proxy: text('The proxy in between, or `none`; without it what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say.'),
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
      report(pointer, 'expected a text in quotes, or { file: path }, got something else');
      return '';
    }
    return headerSafe(readText(inFolder(name), pointer, report).trimEnd(), pointer, report);
  };
  const { headers: own = new Map(), query = new Map(), basic, oauth2, proxy } = stated;
  const headers: Record<string, string> = {};
  for (const [name, given] of own) {
    const pointer = `${at}/headers${pointerSegment(name)}`;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || reserved.has(name.toLowerCase()))
      report(pointer, `expected the name of a header, none of ${[...reserved].join(', ')}`);
    headers[name.toLowerCase()] = secretOf(given, pointer);
  }
  if (basic !== undefined) {
    const pointer = `${at}/basic`;
    if (basic.user === undefined || basic.user.includes(':'))
      report(pointer, 'expected user, a text without ":", got none');
    const password = secretOf(basic.password, `${pointer}/password`);
    headers.authorization = `Basic ${Buffer.from(`${basic.user}:${password}`).toString('base64')}`;
  }
  if (oauth2 !== undefined && headers.authorization !== undefined)
    report(`${at}/oauth2`, 'expected one of oauth2, basic and a header Authorization, got two');
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
  };
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
  report(pointer, 'expected printable ASCII in one line, got other text, or none');
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
        : `expected a file that can be read, got ${why} for ${path}`,
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
  if (tokenUrl === '') report(`${at}/tokenUrl`, 'expected tokenUrl, where tokens are asked for, got none');
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
    report(at, 'expected certificate and key, got one of them');
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
    createSecureContext({ cert, key });
  } catch {
    report(`${at}/key`, 'expected the key of the certificate, PEM and without a passphrase, got another');
  }
}

/**
 * Returns the problem of a file of certificates. It checks each one, because Node ignores all certificates after one it
 * cannot read.
 */
function wrongInPem(pem: string): string | undefined {
  const certificates = pem.split('-----BEGIN ').filter((block) => /^[A-Z0-9 ]*CERTIFICATE-----/.test(block));
  if (certificates.length === 0)
    return `expected a certificate, PEM, got ${pem.trim() === '' ? 'an empty file' : 'other text'}`;
  for (const [index, block] of certificates.entries()) {
    try {
      new X509Certificate(`-----BEGIN ${block}`);
    } catch {
      const which = certificates.length === 1 ? '' : ` as number ${index + 1} of ${certificates.length}`;
      return `expected a certificate, PEM,${which} got one that can't be read, or the beginning of one`;
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

/** Reads the limits of one contract's upstream. Reports unknown names, limits of the whole process, and wrong values. */
export function readOwnLimits(
  stated: ReadonlyMap<string, unknown>,
  at: string,
  report: Report,
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
    if (ownLimits.test(name)) limits[name as LimitName] = given;
    else report(pointer, 'expected a limit of an upstream; SOAPBRIDGE_LIMITS sets it for all contracts');
  }
  return limits as Partial<Limits>;
}
