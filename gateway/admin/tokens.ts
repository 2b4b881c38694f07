import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { keyword, list, record, text, value } from '../../mappings/contract/setting.ts';
import { dayMs } from '../../mappings/contract/times.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import { readSettings } from '../../mappings/loader/document/settings-file.ts';
import { readYamlFile, withLines } from '../../mappings/loader/document/yaml.ts';
import { isTls } from '../node-http.ts';
import { subjectOf } from '../process/certificates.ts';

/** `change` includes `read`. */
export const roles = ['read', 'change'] as const;
export type Role = (typeof roles)[number];

/** An entry of the token file: a token by its SHA-256, or the subject of a client certificate. */
export interface AdminToken {
  readonly name: string;
  readonly role: Role;
  readonly sha256: Buffer | undefined;
  /** In ms since 1970; undefined if the entry does not expire. */
  readonly expires: number | undefined;
  /** Subject in the order of RFC 4514. */
  readonly certificate: string | undefined;
}

/** Form of the name of an entry. */
export const tokenName = /^[A-Za-z0-9][\w.-]{0,63}$/;

const tokensSetting = list(
  'Tokens and client certificates.',
  'entries such as `{ name, role, sha256 }`',
  record('One of them.', {
    name: text('Name of the user or program.', 'a name of letters, digits, ".", "_" and "-"', tokenName),
    role: keyword('The permitted requests.', ...roles),
    // Not text: an error would show the value, which may be the token itself.
    sha256: value('SHA-256 of the token, in hexadecimal digits.'),
    expires: text(
      'Time after which the entry is not accepted.',
      'a time such as 2027-01-31T00:00:00Z',
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i,
    ),
    certificate: text('Subject of a client certificate, such as CN=ann,O=Acme.', 'a subject'),
  }),
);

/** Permission bits of others. A mounted secret is readable by its group. */
const ofOthers = 0o007;

/**
 * Reads the token file. Throws ContractError, which contains no token.
 *
 * @param hasCa true if the listener verifies client certificates
 */
export function readTokens(file: string, hasCa: boolean): readonly AdminToken[] {
  const problems: ContractProblem[] = [];
  const report = (pointer: string, message: string): void => {
    problems.push({ file, pointer, message });
  };
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & ofOthers) !== 0)
    report(
      '',
      `expected a file without access for others, got mode ${(mode & 0o777).toString(8)}; chmod 600`,
    );
  const root = problems.length > 0 ? undefined : (readYamlFile(file, problems)?.root ?? []);
  const stated = (problems.length > 0 ? undefined : readSettings(tokensSetting, root, '', report)) ?? [];
  if (problems.length === 0 && stated.length === 0)
    report('', 'expected at least one entry, got none; soapbridge admin-token makes one');
  const names = new Set<string>();
  const tokens = stated.flatMap(({ name, role, sha256, expires, certificate }, index): AdminToken[] => {
    const at = `/${index}`;
    if (name === undefined) report(`${at}/name`, 'expected a name, got none');
    else if (names.has(name)) report(`${at}/name`, `expected a unique name, got ${name} twice`);
    names.add(name ?? '');
    if (role === undefined) report(`${at}/role`, 'expected read or change, got none');
    if ((sha256 === undefined) === (certificate === undefined))
      report(at, `expected sha256 or certificate, got ${sha256 === undefined ? 'none' : 'both'}`);
    if (sha256 !== undefined && !(typeof sha256 === 'string' && /^[\da-f]{64}$/i.test(sha256)))
      report(`${at}/sha256`, 'expected the SHA-256 of a token as 64 hexadecimal digits, got something else');
    if (certificate !== undefined && !hasCa)
      report(`${at}/certificate`, 'expected admin.tls with ca, which verifies certificates, got none');
    const until = expires === undefined ? undefined : Date.parse(expires);
    if (Number.isNaN(until)) report(`${at}/expires`, `expected a time that exists, got ${expires}`);
    if (name === undefined || role === undefined) return [];
    const digest = typeof sha256 === 'string' ? Buffer.from(sha256, 'hex') : undefined;
    return [{ name, role, sha256: digest, expires: until, certificate }];
  });
  if (problems.length > 0) throw new ContractError(withLines(problems));
  return tokens;
}

/** Returns the valid entry of a token; undefined if there is none. */
export function tokenOf(text: string, tokens: readonly AdminToken[], now: number): AdminToken | undefined {
  const digest = createHash('sha256').update(text).digest();
  let found: AdminToken | undefined;
  // All entries are compared, so the time does not depend on the entry that matches.
  for (const token of tokens)
    if (token.sha256 !== undefined && timingSafeEqual(token.sha256, digest)) found = token;
  return found !== undefined && isValid(found, now) ? found : undefined;
}

/** Returns true if an entry has not expired. */
export function isValid({ expires }: AdminToken, now: number): boolean {
  return expires === undefined || now < expires;
}

/** Returns the token of a header Authorization; undefined for another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer ([\w.~+/-]+=*)$/i.exec(authorization ?? '')?.[1];
}

/**
 * Returns the entry of a request: that of its bearer token, or of its client certificate. Returns `none` without both,
 * and `unknown` if no valid entry matches.
 */
export function identify(
  request: IncomingMessage,
  tokens: readonly AdminToken[],
  now: number,
): AdminToken | 'none' | 'unknown' {
  const { authorization } = request.headers;
  if (authorization !== undefined) return tokenOf(bearerToken(authorization) ?? '', tokens, now) ?? 'unknown';
  const { socket } = request;
  if (!isTls(socket) || !socket.authorized) return 'none';
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return 'none';
  const subject = subjectOf(certificate);
  return tokens.find((token) => token.certificate === subject && isValid(token, now)) ?? 'unknown';
}

/** Creates a random token of 256 bits, and its entry for the token file. */
export function createToken(
  { name, role, days }: { readonly name: string; readonly role: Role; readonly days: number },
  now: number,
): { readonly token: string; readonly entry: string } {
  const token = randomBytes(32).toString('base64url');
  const sha256 = createHash('sha256').update(token).digest('hex');
  const expires = new Date(now + days * dayMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    token,
    entry: `- { name: ${JSON.stringify(name)}, role: ${role}, sha256: ${JSON.stringify(sha256)}, expires: ${JSON.stringify(expires)} }`,
  };
}
