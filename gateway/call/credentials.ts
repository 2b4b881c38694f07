import type { Problem } from '../../mappings/codec/problem.ts';
import type { Hide } from '../../mappings/codec/scalars/text.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { Contract, CredentialPart, Credentials } from '../../mappings/contract/model.ts';
import type { Reason } from '../../mappings/contract/reason.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';
import { compileHide } from '../telemetry/secrets.ts';
import { checkDigest, type DigestToken, type Secrets } from './digest.ts';
import { CallError } from './error.ts';
import type { MessageHead } from './head.ts';

/** How the caller spells the path of a credential in an error (W29). */
export type Spelling = 'xml' | 'json';

/** What the Header of an envelope holds of credentials, by name; an empty text is none. */
export interface HeaderCredentials {
  /** The block `Credentials`. */
  readonly block?: ReadonlyMap<string, string> | undefined;
  /** A UsernameToken (W47). */
  readonly token?: ReadonlyMap<string, string> | undefined;
  /** What such a token has in place of a password, to be checked by a secret (W49). */
  readonly digest?: DigestToken | undefined;
  /** Whether there was a Security block that the contract doesn't read (W45). */
  readonly isSecurityUnread?: boolean;
}

/** What a message holds of credentials beside its HTTP headers. */
export interface MessageCredentials extends HeaderCredentials {
  /** The member of the body, by name; an empty text is none. */
  readonly body: ReadonlyMap<string, string>;
}

/** Credentials to send upstream. */
export interface FoundCredentials extends CredentialValues {
  /** What is to be remembered of a digest once all else of its call is right (W49): until when, in ms since 1970. */
  readonly nonce: { readonly key: string; readonly until: number; readonly caller: string } | undefined;
}

/**
 * A call's credentials from all places at once, each on its own (W24, W47): the body, the blocks of a SOAP header, the HTTP
 * headers. Equal values of two places are one. Throws CallError: a wrong digest, then malformed, conflicting, missing; the
 * first answers alone, and no value is said.
 */
export type ReadCredentials = (
  inMessage: MessageCredentials,
  request: MessageHead,
  spelling: Spelling,
) => FoundCredentials;

/** What tells of a caller who it is, beside its own word. */
export interface CallerProofs {
  /** By which digests are checked (W49); undefined where none are. */
  readonly secrets?: Secrets | undefined;
  /** The header of the credential that callers' certificates alone are; undefined: none is. */
  readonly certified?: string | undefined;
}

/** Characters in one credential. */
export const maxCredentialCharacters = 256;

/** Characters in an Authorization header, which may hold a token. */
export const maxAuthorizationCharacters = 8 * 1024;

/**
 * One function that reads a contract's credentials; undefined where it has none.
 *
 * @param password the credential that the secret of a right digest is
 */
export function compileCredentials(
  credentials: Credentials | undefined,
  limits: Limits,
  { secrets, certified }: CallerProofs = {},
  password?: string,
): ReadCredentials | undefined {
  if (credentials === undefined) return undefined;
  const { credential = maxCredentialCharacters, authorization = maxAuthorizationCharacters } = limits;
  const parts = credentials.parts.map((part) => ({
    part,
    key: part.header.toLowerCase(),
    isCertified: part.header.toLowerCase() === certified?.toLowerCase(),
    paths: { xml: pathOf(part, credentials, 'xml'), json: pathOf(part, credentials, 'json') },
    named: { xml: placesOf(part, credentials, 'xml'), json: placesOf(part, credentials, 'json') },
    form: isAuthorization(part)
      ? { most: authorization, pattern: schemeAndToken }
      : { most: credential, pattern: token },
  }));
  const { basic } = credentials;
  return (inMessage, request, spelling) => {
    const fromBasic = basic === undefined ? undefined : basicOf(request, basic, limits);
    const all = new Map<string, string>();
    let fromHeaders: Set<string> | undefined;
    const malformed: Problem[] = [];
    const missing: Problem[] = [];
    let conflict = fromBasic === 'twice' ? 'the header Authorization was given twice' : undefined;
    if (fromBasic === 'malformed')
      malformed.push(problem('InvalidCharacter', 'Authorization', malformedBasic));
    const { digest } = inMessage;
    const right = digest === undefined ? undefined : checkDigest(digest, secrets ?? noSecrets);
    if (digest !== undefined && right === undefined) throw new CallError('FailedAuthentication');
    for (const { part, key, isCertified, paths, named, form } of parts) {
      const { name } = part;
      const path = paths[spelling];
      const places = named[spelling];
      const inBody = inMessage.body.get(name) || undefined;
      const inBlock = inMessage.block?.get(name) || undefined;
      const inToken =
        (name === password ? right?.secret : undefined) ?? (inMessage.token?.get(name) || undefined);
      const inHeader = request.headers[key];
      const inBasic = typeof fromBasic === 'object' ? fromBasic.get(name) || undefined : undefined;
      const header = typeof inHeader === 'string' && inHeader !== '' ? inHeader : undefined;
      const given = header === undefined ? noValues : headerValues(request, key);
      if (given.length > 1) conflict ??= `the header ${part.header} was given twice`;
      if (given.some((value) => value !== '' && !isHeaderValue(value, form))) {
        malformed.push(
          problem('InvalidCharacter', path, { expected: printableOf(part, form), got: 'other text' }),
        );
      }
      const { send } = credentials;
      const areFit =
        isFit(inBody, form, send) &&
        isFit(inBlock, form, send) &&
        isFit(inToken, form, send) &&
        isFit(inBasic, form, send);
      if (!areFit) {
        const expected =
          send === 'headers'
            ? printableOf(part, form)
            : `at most ${credential} characters, none a control character`;
        malformed.push(problem('InvalidCharacter', path, { expected, got: 'other text' }));
      }
      const fromMessage = inBody ?? inBlock ?? inToken;
      const elsewhere = fromMessage ?? header;
      if (inBlock !== undefined && inBlock !== fromMessage) conflict ??= conflictOf('block', 'body', places);
      if (inToken !== undefined && inToken !== fromMessage)
        conflict ??= conflictOf('token', inBody === undefined ? 'block' : 'body', places);
      const inSoap = inBody !== undefined ? 'body' : inBlock !== undefined ? 'block' : 'token';
      if (header !== undefined && fromMessage !== undefined && header !== fromMessage)
        conflict ??= conflictOf('header', inSoap, places);
      if (inBasic !== undefined && elsewhere !== undefined && inBasic !== elsewhere)
        conflict ??= conflictOf('basic', fromMessage === undefined ? 'header' : inSoap, places);
      const value = elsewhere ?? inBasic;
      if (isCertified && header === undefined && value !== undefined)
        conflict ??= `${path} is what a certificate of the caller says, and there is none`;
      if (value !== undefined) {
        all.set(name, value);
        if (inBody === undefined) {
          fromHeaders ??= new Set();
          fromHeaders.add(name);
        }
      } else if (part.required) {
        const by = basic?.username === name || basic?.password === name ? ', or by HTTP Basic' : '';
        const unread = unreadOf(inMessage, request, credentials);
        const expected = `it in the body or in the header ${part.header}${by}`;
        missing.push(problem('NotEmpty', path, { expected, got: 'none', detail: unread }));
      }
    }
    if (malformed.length > 0) throw new CallError('Unauthorized', { problems: malformed });
    if (conflict !== undefined) throw new CallError('ConflictingCredentials', { detail: conflict });
    if (missing.length > 0)
      throw new CallError('Unauthorized', { problems: missing, isUnasked: all.size === 0 });
    const nonce =
      digest === undefined || right === undefined
        ? undefined
        : { key: right.nonce, until: digest.until, caller: digest.username };
    return { all, fromHeaders: fromHeaders ?? noNames, nonce };
  };
}

/** What is read in no contract, or not in this one, and came all the same: the detail of the error about what is missing. */
function unreadOf(
  { isSecurityUnread }: MessageCredentials,
  { headers }: MessageHead,
  { basic, parts }: Credentials,
): string | undefined {
  if (isSecurityUnread === true) return "the Security header isn't read by this contract";
  if (parts.some(isAuthorization)) return undefined;
  const isBasic = basic !== undefined;
  const scheme = /^(?:basic|digest|negotiate|ntlm)(?= |$)/i
    .exec(headers.authorization ?? '')?.[0]
    ?.toLowerCase();
  if (scheme === 'basic') return isBasic ? undefined : "HTTP Basic isn't read by this contract";
  return scheme === undefined ? undefined : `HTTP ${scheme} isn't read here${isBasic ? ', Basic is' : ''}`;
}

const malformedBasic: Reason = { expected: 'Basic and the base64 of user:password', got: 'other text' };

/** `Authorization: Basic` (RFC 7617); group 1: what is in base64. */
const basicForm = /^basic +([\w+/]*={0,2})$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** User and password of HTTP Basic as the credentials that they are; undefined where there is none (W24). */
function basicOf(
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
    pair = bytes.toString('latin1'); // as callers write it that don't know the charset asked for (RFC 7617, B.3)
  }
  const colon = pair.indexOf(':');
  if (colon === -1) return 'malformed';
  return new Map([
    [username, pair.slice(0, colon)],
    [password, pair.slice(colon + 1)],
  ]);
}

/**
 * The ways to give a contract's credentials in a message's headers, as a challenge (RFC 9110, 11.6.1); undefined where there
 * are none to give.
 */
export function challengeOf({ credentials, wsse, service }: Contract): string | undefined {
  if (credentials === undefined) return undefined;
  const ways: string[] = [];
  if (credentials.basic !== undefined) ways.push(`Basic realm="${service}", charset="UTF-8"`);
  if (wsse !== undefined) ways.push(`WSSE realm="${service}", profile="UsernameToken"`);
  const required = credentials.parts.filter((part) => part.required);
  const parts = required.length === 0 ? credentials.parts : required;
  ways.push(`ApiKey realm="${service}", headers="${parts.map(({ header }) => header).join(' ')}"`);
  return ways.join(', ');
}

const noValues: readonly string[] = [];
const noSecrets: Secrets = new Map();
const noNames: ReadonlySet<string> = new Set();

/** What a credential's text may be in a header. */
interface HeaderForm {
  readonly most: number;
  readonly pattern: RegExp;
}

const token = /^[\x21-\x7e]+$/;
/** `Bearer …` and the like have blanks in them (RFC 9110, 11.4). */
const schemeAndToken = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** Whether a credential is the whole of `Authorization`. */
export function isAuthorization({ header }: CredentialPart): boolean {
  return header.toLowerCase() === 'authorization';
}

function printableOf(part: CredentialPart, { most }: HeaderForm): string {
  return `printable ASCII${isAuthorization(part) ? '' : ' without blanks'}, at most ${most} characters`;
}

function isHeaderValue(value: string, { most, pattern }: HeaderForm): boolean {
  return value.length <= most && pattern.test(value);
}

/** A value of a message that goes on in a header has to be fit for one (W25); none is fit. */
function isFit(value: string | undefined, form: HeaderForm, send: Credentials['send']): boolean {
  if (value === undefined) return true;
  if (send === 'headers') return isHeaderValue(value, form);
  // a character takes two units at most: what is longer still isn't looked through
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

/** Node joins a repeated header into `a, b`; only the raw ones tell (W24). */
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

/** The names of the places in which a caller may give a credential, for messages about two values that differ. */
type PlaceNames = Readonly<Record<'body' | 'block' | 'token' | 'header' | 'basic', string>>;

/** Names a credential's places. The body of an adopted contract's call has its declared header blocks in it (A8). */
function placesOf(part: CredentialPart, credentials: Credentials, spelling: Spelling): PlaceNames {
  const { member, block } = credentials;
  return {
    body: member === undefined ? `the header block ${part.name}` : pathOf(part, credentials, spelling),
    block: `the header block ${block?.element ?? 'Credentials'}.${part.xml}`,
    token: 'the UsernameToken',
    header: `the header ${part.header}`,
    basic: 'the header Authorization',
  };
}

function conflictOf(one: keyof PlaceNames, other: keyof PlaceNames, places: PlaceNames): string {
  return `${places[one]} and ${places[other]} differ`;
}

function problem(code: Problem['code'], path: string, reason: Reason): Problem {
  return { code, path, ...reason };
}

/** Which credentials are to be taken out of a text. */
export type IsHidden = (part: CredentialPart) => boolean;

/** The secrets of a call; those shorter than 6 characters aren't looked for (W25). */
export const secrets: IsHidden = ({ secret }) => secret;

/** All credentials of a call, who calls too: for a log (W25). */
export const allCredentials: IsHidden = () => true;

/**
 * Hides a call's credentials.
 *
 * @param own what the gateway itself sent upstream beside them
 */
export function hideCredentials(
  credentials: Credentials | undefined,
  values: CredentialValues | undefined,
  isHidden: IsHidden,
  own: readonly string[] = [],
): Hide {
  const given = values === undefined ? [] : hiddenOf(credentials, values.all, isHidden);
  return compileHide([...given, ...own]);
}

/** Hides what message and headers say the credentials are, before these are known to be good (W25). */
export function hideGiven(
  credentials: Credentials | undefined,
  { body, block, token }: MessageCredentials,
  { headers }: MessageHead,
  isHidden: IsHidden,
): Hide {
  const inHeaders = new Map<string, string>();
  const basic = credentials?.basic;
  const head = { headers, rawHeaders: [] };
  const pair = basic === undefined ? undefined : basicOf(head, basic, defaultLimits);
  for (const { name, header } of credentials?.parts ?? []) {
    const value = headers[header.toLowerCase()];
    if (typeof value === 'string') inHeaders.set(name, value);
  }
  const fromHeaders = hiddenOf(credentials, inHeaders, isHidden);
  const fromBlocks = [block, token, typeof pair === 'object' ? pair : undefined].flatMap((values) =>
    values === undefined ? [] : hiddenOf(credentials, values, isHidden),
  );
  return compileHide([...fromHeaders, ...fromBlocks, ...hiddenOf(credentials, body, isHidden)]);
}

function hiddenOf(
  credentials: Credentials | undefined,
  values: ReadonlyMap<string, string>,
  isHidden: IsHidden,
): string[] {
  const hidden: string[] = [];
  for (const part of credentials?.parts ?? []) {
    const value = isHidden(part) ? values.get(part.name) : undefined;
    if (value === undefined) continue;
    hidden.push(value);
    // of an Authorization the token alone is as secret
    if (isAuthorization(part)) hidden.push(value.slice(value.lastIndexOf(' ') + 1));
  }
  return hidden;
}
