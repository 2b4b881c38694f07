import type { Problem } from '../../mappings/codec/problem.ts';
import type {
  CredentialPart,
  Credentials,
  verifiedCredentialsOf,
} from '../../mappings/contract/credentials.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import type { Reason } from '../../mappings/contract/reason.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';
import { checkDigest, type DigestToken, type Secrets } from './digest.ts';
import { CallError } from './error.ts';
import type { MessageHead } from './head.ts';
import type { NonceEntry } from './nonces.ts';

/** Notation of a credential's path in an error (W29). */
export type Spelling = 'xml' | 'json';

/** Values of SOAP header blocks that a call uses: credentials by name. An empty text counts as missing. */
export interface HeaderValues {
  /** Header block `Credentials`. */
  readonly block?: ReadonlyMap<string, string> | undefined;
  /** UsernameToken (W47). */
  readonly token?: ReadonlyMap<string, string> | undefined;
  /** Digest of a UsernameToken without a password, to be checked against a secret (W49). */
  readonly digest?: DigestToken | undefined;
  /** True if there was a Security block that the contract does not read (W45). */
  readonly isSecurityUnread?: boolean;
  /** The verified signer of the message: its credential (X20), and the entries for the replay memory (X17). */
  readonly signed?: SignedCredentials | undefined;
}

/** Credentials of a verified signer. */
export interface SignedCredentials {
  readonly values: ReadonlyMap<string, string>;
  readonly once: readonly OnceEntry[];
  /** The addresses that a SAML Assertion is for; undefined for any (X26). */
  readonly recipients?: readonly string[] | undefined;
  /** Values of the signed `wsa:To` blocks, if they must be signed (X17). */
  readonly to?: readonly string[];
}

/** An entry of the memory of messages. `until` is in ms since 1970; `caller` is whose share it uses. */
export type OnceEntry = NonceEntry;

/** Credentials in a message, apart from its HTTP headers. */
export interface MessageCredentials extends HeaderValues {
  /** Credentials in the body, by name. An empty text counts as missing. */
  readonly body: ReadonlyMap<string, string>;
}

/** Credentials that are sent upstream. */
export interface FoundCredentials extends CredentialValues {
  /** Nonce of a digest, stored after all other checks of its call passed (W49). */
  readonly nonce: OnceEntry | undefined;
  /** Signatures, stored together with the nonce (X17). Undefined for none. */
  readonly signatures: readonly OnceEntry[] | undefined;
}

/**
 * Reads a call's credentials from every place: the body, the SOAP header blocks and the HTTP headers (W24, W47). Equal
 * values in two places count as one value.
 * Throws CallError for the first problem in this order: a wrong digest, then malformed, conflicting, missing
 * credentials. No error contains a value.
 */
export type ReadCredentials = (
  inMessage: MessageCredentials,
  request: MessageHead,
  spelling: Spelling,
) => FoundCredentials;

/** Data that prove a caller's identity. */
export interface CallerProofs {
  /** Secrets for checking digests (W49); undefined if there are none. */
  readonly secrets?: Secrets | undefined;
  /** Header of the credential that only a caller's certificate can set; undefined if there is none. */
  readonly certified?: string | undefined;
  /** Credentials that only a verified message can set, and the part of the message (X20, X26). */
  readonly signed?: ReturnType<typeof verifiedCredentialsOf> | undefined;
}

/** Maximum number of characters of one credential. */
export const maxCredentialCharacters = 256;

/** Maximum number of characters of an Authorization header, which may hold a token. */
export const maxAuthorizationCharacters = 8 * 1024;

/**
 * Compiles a function that reads a contract's credentials. Returns undefined if the contract has none.
 *
 * @param password name of the credential that receives the secret of a correct digest
 */
export function compileCredentials(
  credentials: Credentials | undefined,
  limits: Limits,
  proofs: CallerProofs = {},
  password?: string,
): ReadCredentials | undefined {
  if (credentials === undefined) return undefined;
  const { basic } = credentials;
  const parts = credentials.parts.map((part) => compilePart(part, credentials, limits, proofs, password));
  return (inMessage, request, spelling) => {
    const { digest } = inMessage;
    const right = digest === undefined ? undefined : checkDigest(digest, proofs.secrets ?? noSecrets);
    if (digest !== undefined && right === undefined) throw new CallError('FailedAuthentication');
    const fromBasic = basic === undefined ? undefined : basicOf(request, basic, limits);
    const found: Found = {
      inMessage,
      request,
      spelling,
      fromBasic: typeof fromBasic === 'object' ? fromBasic : undefined,
      digestSecret: right?.secret,
      all: new Map(),
      fromHeaders: undefined,
      malformed:
        fromBasic === 'malformed' ? [problem('InvalidCharacter', 'Authorization', malformedBasic)] : [],
      missing: [],
      conflict: fromBasic === 'twice' ? 'the header Authorization was given twice' : undefined,
    };
    for (const part of parts) readPart(part, credentials, found);
    const { all, malformed, conflict, missing } = found;
    if (malformed.length > 0) throw new CallError('Unauthorized', { problems: malformed });
    if (conflict !== undefined) throw new CallError('ConflictingCredentials', { detail: conflict });
    if (missing.length > 0)
      throw new CallError('Unauthorized', { problems: missing, lacksCredentials: all.size === 0 });
    const nonce =
      digest === undefined || right === undefined
        ? undefined
        : { key: right.nonce, until: digest.until, caller: digest.username };
    return { all, fromHeaders: found.fromHeaders ?? noNames, nonce, signatures: onceOf(inMessage) };
  };
}

/** A credential of a contract, and how it is read. */
interface CompiledPart {
  readonly part: CredentialPart;
  /** Name of its header in lower case. */
  readonly key: string;
  /** True if only a client certificate can set it. */
  readonly isCertified: boolean;
  /** The part of a verified message that sets it; undefined if anyone can set it. */
  readonly verified: 'assertion' | 'signature' | undefined;
  /** True if it receives the secret of a correct digest. */
  readonly isPassword: boolean;
  readonly paths: Readonly<Record<Spelling, string>>;
  readonly named: Readonly<Record<Spelling, PlaceNames>>;
  readonly form: HeaderForm;
}

/** The credentials of a call that were found so far, and their problems. */
interface Found {
  readonly inMessage: MessageCredentials;
  readonly request: MessageHead;
  readonly spelling: Spelling;
  readonly fromBasic: ReadonlyMap<string, string> | undefined;
  readonly digestSecret: string | undefined;
  readonly all: Map<string, string>;
  fromHeaders: Set<string> | undefined;
  readonly malformed: Problem[];
  readonly missing: Problem[];
  /** The first conflict. */
  conflict: string | undefined;
}

function compilePart(
  part: CredentialPart,
  credentials: Credentials,
  limits: Limits,
  { certified, signed }: CallerProofs,
  password: string | undefined,
): CompiledPart {
  const key = part.header.toLowerCase();
  return {
    part,
    key,
    isCertified: key === certified?.toLowerCase(),
    verified: signed?.get(part.name),
    isPassword: part.name === password,
    paths: { xml: pathOf(part, credentials, 'xml'), json: pathOf(part, credentials, 'json') },
    named: { xml: placesOf(part, credentials, 'xml'), json: placesOf(part, credentials, 'json') },
    form: formOf(part, limits),
  };
}

/** Reads one credential from every place. */
function readPart(compiled: CompiledPart, credentials: Credentials, found: Found): void {
  const { part, key, isCertified, verified, isPassword } = compiled;
  const { inMessage, request, fromBasic } = found;
  const { name } = part;
  const path = compiled.paths[found.spelling];
  const inHeader = request.headers[key];
  const header = typeof inHeader === 'string' && inHeader !== '' ? inHeader : undefined;
  const signed = inMessage.signed?.values.get(name);
  const values: Readonly<Record<Place, string | undefined>> = {
    body: inMessage.body.get(name) || undefined,
    block: inMessage.block?.get(name) || undefined,
    token: (isPassword ? found.digestSecret : undefined) ?? (inMessage.token?.get(name) || undefined),
    signature: verified === undefined ? undefined : signed,
    header,
    basic: fromBasic?.get(name) || undefined,
  };
  checkForm(compiled, values, signed, credentials, found);
  const value = firstOf(values, compiled.named[found.spelling], found);
  if (isCertified && header === undefined && value !== undefined)
    found.conflict ??= `${path} comes from a client certificate, and the caller sent none`;
  if (verified !== undefined && values.signature === undefined && value !== undefined)
    found.conflict ??=
      verified === 'assertion'
        ? `${path} comes from a SAML assertion, and no assertion was verified`
        : `${path} comes from the signer of the message, and no signature was verified`;
  if (value !== undefined) {
    found.all.set(name, value);
    if (values.body !== undefined) return;
    found.fromHeaders ??= new Set();
    found.fromHeaders.add(name);
  } else if (part.required) {
    const { basic } = credentials;
    const by = basic?.username === name || basic?.password === name ? ', or by HTTP Basic' : '';
    const detail = unreadOf(inMessage, request, credentials);
    const expected = `the credential in the body or in the header ${part.header}${by}`;
    found.missing.push(problem('NotEmpty', path, { expected, got: 'none', detail }));
  }
}

/** Records values that may not be sent upstream, and a header that was given twice. */
function checkForm(
  { part, key, paths, form }: CompiledPart,
  { header, body, block, token: inToken, basic }: Readonly<Record<Place, string | undefined>>,
  signed: string | undefined,
  { send }: Credentials,
  found: Found,
): void {
  const path = paths[found.spelling];
  const given = header === undefined ? noValues : headerValues(found.request, key);
  if (given.length > 1) found.conflict ??= `the header ${part.header} was given twice`;
  if (given.some((value) => value !== '' && !isHeaderValue(value, form)))
    found.malformed.push(
      problem('InvalidCharacter', path, { expected: printableOf(part, form), got: 'other text' }),
    );
  const areFit =
    isFit(body, form, send) &&
    isFit(block, form, send) &&
    isFit(inToken, form, send) &&
    isFit(signed, form, send) &&
    isFit(basic, form, send);
  if (areFit) return;
  const expected =
    send === 'headers'
      ? printableOf(part, form)
      : `at most ${form.most} characters, none a control character`;
  found.malformed.push(problem('InvalidCharacter', path, { expected, got: 'other text' }));
}

/** Places that can hold a credential, in order of precedence. */
const placeOrder = ['body', 'block', 'token', 'signature', 'header', 'basic'] as const;

type Place = (typeof placeOrder)[number];

/** Returns the value of the first place that has one. Records a conflict if another place has another value. */
function firstOf(
  values: Readonly<Record<Place, string | undefined>>,
  names: PlaceNames,
  found: Found,
): string | undefined {
  let first: Place | undefined;
  for (const place of placeOrder) {
    if (values[place] === undefined) continue;
    first ??= place;
    if (values[place] !== values[first]) found.conflict ??= `${names[place]} and ${names[first]} differ`;
  }
  return first === undefined ? undefined : values[first];
}

/**
 * Returns the credentials that a refused message claims, without any check. In each place, values that no accepted call
 * can have are left out, so that the result is bounded. The order of the names is that of `ReadCredentials`. The
 * credential of the signer (X20) is that of a verified signature, because anyone can claim it elsewhere.
 *
 * @param inMessage undefined if the message could not be read
 * @param signed credentials that only a verified message can set; undefined if there are none
 */
export function claimedCredentials(
  credentials: Credentials | undefined,
  inMessage: MessageCredentials | undefined,
  request: MessageHead,
  limits: Limits,
  signed?: CallerProofs['signed'],
): CredentialValues {
  const all = new Map<string, string>();
  const fromHeaders = new Set<string>();
  const basic = credentials?.basic === undefined ? undefined : basicOf(request, credentials.basic, limits);
  for (const part of credentials?.parts ?? []) {
    const { name, header } = part;
    const form = formOf(part, limits);
    const given = request.headers[header.toLowerCase()];
    const inBasic = typeof basic === 'object' ? basic.get(name) : undefined;
    const inSoap = inMessage?.block?.get(name) || inMessage?.token?.get(name);
    const inHeader = typeof given === 'string' ? given : undefined;
    const value =
      signed?.has(name) === true
        ? inMessage?.signed?.values.get(name)
        : inMessage?.body.get(name) || inSoap || inHeader || inBasic;
    if (value === undefined || value === '' || !isFit(value, form, credentials?.send ?? 'headers')) continue;
    all.set(name, value);
    if (inMessage?.body.get(name) !== value) fromHeaders.add(name);
  }
  return { all, fromHeaders };
}

/**
 * Returns the suffix for "credentials missing" that names credentials the caller gave but this contract does not read.
 */
function unreadOf(
  { isSecurityUnread }: MessageCredentials,
  { headers }: MessageHead,
  { basic, parts }: Credentials,
): string | undefined {
  if (isSecurityUnread === true) return 'this contract does not read the header block Security';
  if (parts.some(isAuthorization)) return undefined;
  const isBasic = basic !== undefined;
  const scheme = /^(?:basic|digest|negotiate|ntlm)(?= |$)/i
    .exec(headers.authorization ?? '')?.[0]
    ?.toLowerCase();
  if (scheme === 'basic') return isBasic ? undefined : 'this contract does not support HTTP Basic';
  return scheme === undefined
    ? undefined
    : `HTTP ${scheme} is not supported${isBasic ? '. Use HTTP Basic' : ''}`;
}

/** Returns the entries for the memory of messages; undefined for a message without signatures to remember. */
function onceOf({ signed }: MessageCredentials): readonly OnceEntry[] | undefined {
  return signed === undefined || signed.once.length === 0 ? undefined : signed.once;
}

const malformedBasic: Reason = { expected: 'Basic and the base64 of user:password', got: 'other text' };

/** `Authorization: Basic` (RFC 7617). Group 1 is the base64 text. */
const basicForm = /^basic +([\w+/]*={0,2})$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Returns user and password of HTTP Basic by credential name; undefined if the header is missing (W24). */
export function basicOf(
  request: MessageHead,
  { username, password }: NonNullable<Credentials['basic']>,
  { authorization: most = maxAuthorizationCharacters }: Limits,
): ReadonlyMap<string, string> | 'malformed' | 'twice' | undefined {
  const given = request.headers.authorization;
  if (given === undefined || !/^basic(?: |$)/i.test(given)) return undefined;
  if (headerValues(request, 'authorization').length > 1) return 'twice';
  const letters = given.length > most ? undefined : basicForm.exec(given)?.[1];
  if (letters === undefined || letters.length % 4 !== 0) return 'malformed';
  const bytes = Buffer.from(letters, 'base64');
  let pair: string;
  try {
    pair = utf8.decode(bytes);
  } catch {
    pair = bytes.toString('latin1'); // some clients ignore the requested charset and send Latin-1 (RFC 7617, B.3)
  }
  const colon = pair.indexOf(':');
  if (colon === -1) return 'malformed';
  return new Map([
    [username, pair.slice(0, colon)],
    [password, pair.slice(colon + 1)],
  ]);
}

/**
 * Returns the challenge that lists how to give a contract's credentials in headers (RFC 9110, 11.6.1). Returns
 * undefined if the contract has no credentials.
 */
export function challengeOf({ credentials, wsse, service }: Contract): string | undefined {
  if (credentials === undefined) return undefined;
  const ways: string[] = [];
  if (credentials.basic !== undefined) ways.push(`Basic realm="${service}", charset="UTF-8"`);
  if (wsse?.username !== undefined) ways.push(`WSSE realm="${service}", profile="UsernameToken"`);
  const required = credentials.parts.filter((part) => part.required);
  const parts = required.length === 0 ? credentials.parts : required;
  ways.push(`ApiKey realm="${service}", headers="${parts.map(({ header }) => header).join(' ')}"`);
  return ways.join(', ');
}

const noValues: readonly string[] = [];
const noSecrets: Secrets = new Map();
const noNames: ReadonlySet<string> = new Set();

/** Maximum length and allowed characters of a credential in a header. */
interface HeaderForm {
  readonly most: number;
  readonly pattern: RegExp;
}

const token = /^[\x21-\x7e]+$/;
/** `Bearer …` and similar credentials contain spaces (RFC 9110, 11.4). */
const schemeAndToken = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** Returns true if a credential is the whole value of `Authorization`. */
export function isAuthorization({ header }: CredentialPart): boolean {
  return header.toLowerCase() === 'authorization';
}

function formOf(
  part: CredentialPart,
  { credential = maxCredentialCharacters, authorization = maxAuthorizationCharacters }: Limits,
): HeaderForm {
  return isAuthorization(part)
    ? { most: authorization, pattern: schemeAndToken }
    : { most: credential, pattern: token };
}

function printableOf(part: CredentialPart, { most }: HeaderForm): string {
  return `printable ASCII${isAuthorization(part) ? '' : ' without blanks'}, at most ${most} characters`;
}

function isHeaderValue(value: string, { most, pattern }: HeaderForm): boolean {
  return value.length <= most && pattern.test(value);
}

/**
 * Returns true if a value may be sent upstream. A value that is sent in a header must be valid there (W25). A missing
 * value is valid.
 */
function isFit(value: string | undefined, form: HeaderForm, send: Credentials['send']): boolean {
  if (value === undefined) return true;
  if (send === 'headers') return isHeaderValue(value, form);
  // A character has at most two code units, so a longer text is rejected without counting.
  if (value.length > form.most * 2) return false;
  if (value.length > form.most && characterCount(value) > form.most) return false;
  return !controlOrSurrogate.test(value);
}

const controlOrSurrogate = /[\p{Cc}\p{Cs}]/u;

function characterCount(text: string): number {
  let characters = 0;
  for (const _ of text) characters++;
  return characters;
}

/** Returns each value of a repeated header. Node joins them into `a, b`, so the raw headers are read (W24). */
function headerValues(request: MessageHead, key: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    if (request.rawHeaders[index]?.toLowerCase() === key) values.push(request.rawHeaders[index + 1] ?? '');
  }
  return values;
}

function pathOf(part: CredentialPart, credentials: Credentials, spelling: Spelling): string {
  if (credentials.member === undefined) return part.header;
  if (spelling === 'json') return `${credentials.member}.${part.name}`;
  return `${credentials.member.charAt(0).toUpperCase()}${credentials.member.slice(1)}.${part.xml}`;
}

/** Names of the places that can hold a credential, for errors about two different values. */
type PlaceNames = Readonly<Record<Place, string>>;

/** Names a credential's places. In a call of an adopted contract, the body includes its declared header blocks (A8). */
function placesOf(part: CredentialPart, credentials: Credentials, spelling: Spelling): PlaceNames {
  const { member, block } = credentials;
  return {
    body: member === undefined ? `the header block ${part.name}` : pathOf(part, credentials, spelling),
    block: `the header block ${block?.element ?? 'Credentials'}.${part.xml}`,
    token: 'the UsernameToken',
    signature: 'the certificate of the signature',
    header: `the header ${part.header}`,
    basic: 'the header Authorization',
  };
}

function problem(code: Problem['code'], path: string, reason: Reason): Problem {
  return { code, path, ...reason };
}
