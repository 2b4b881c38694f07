import type { IncomingMessage } from 'node:http';
import type { CredentialValues } from '../mappings/codec/call.ts';
import type { Problem } from '../mappings/codec/problem.ts';
import type { Limits } from '../mappings/limits.ts';
import type { CredentialPart, Credentials } from '../mappings/model.ts';
import { CallError } from './error.ts';

/** How the caller spells the path of a credential in an error (W29). */
export type Spelling = 'xml' | 'json';

/**
 * A call's credentials from its body and its headers, each on its own (W24). Throws CallError: malformed, then
 * conflicting, then missing; the first answers alone, and no value is said.
 *
 * @param inMessage those in the body or in its stead in a SOAP header, by name
 */
export function readCredentials(
  credentials: Credentials,
  inMessage: ReadonlyMap<string, string>,
  request: IncomingMessage,
  spelling: Spelling,
  limits: Limits,
): CredentialValues {
  const all = new Map<string, string>();
  const fromHeaders = new Set<string>();
  const malformed: Problem[] = [];
  const missing: Problem[] = [];
  let conflict: string | undefined;
  for (const part of credentials.parts) {
    const { name } = part;
    const form = isAuthorization(part)
      ? { most: limits.authorization, pattern: schemeAndToken }
      : { most: limits.credential, pattern: token };
    const said = inMessage.get(name);
    const inBody = said === '' ? undefined : said;
    const inHeader = request.headers[part.header.toLowerCase()];
    const header = typeof inHeader === 'string' && inHeader !== '' ? inHeader : undefined;
    const given = header === undefined ? [] : headerValues(request, part.header);
    if (given.length > 1) conflict ??= `the header ${part.header} was given twice`;
    if (given.some((value) => value !== '' && !isHeaderValue(value, form))) {
      malformed.push(
        problem(
          'InvalidCharacter',
          part,
          credentials,
          spelling,
          `expected printable ASCII, at most ${form.most} characters, got other text`,
        ),
      );
    }
    if (inBody !== undefined && !isBodyValue(inBody, form, credentials.send)) {
      malformed.push(
        problem(
          'InvalidCharacter',
          part,
          credentials,
          spelling,
          `expected at most ${limits.credential} characters, none a control character, got other text`,
        ),
      );
    }
    if (header !== undefined && inBody !== undefined && header !== inBody) {
      conflict ??= `${part.header} and ${pathOf(part, credentials, spelling)} differ`;
    }
    const value = inBody ?? header;
    if (value !== undefined) {
      all.set(name, value);
      if (inBody === undefined) fromHeaders.add(name);
    } else if (part.required) {
      missing.push(
        problem(
          'NotEmpty',
          part,
          credentials,
          spelling,
          `expected it in the body or in the header ${part.header}, got none`,
        ),
      );
    }
  }
  if (malformed.length > 0) throw new CallError('Unauthorized', { problems: malformed });
  if (conflict !== undefined) throw new CallError('ConflictingCredentials', { message: conflict });
  if (missing.length > 0) throw new CallError('Unauthorized', { problems: missing });
  return { all, fromHeaders };
}

/** What a credential's text may be in a header. */
interface HeaderForm {
  readonly most: number;
  readonly pattern: RegExp;
}

const token = /^[\x21-\x7e]+$/;
/** `Bearer …` and the like have blanks in them (RFC 9110, 11.4). */
const schemeAndToken = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

function isAuthorization({ header }: CredentialPart): boolean {
  return header.toLowerCase() === 'authorization';
}

function isHeaderValue(value: string, { most, pattern }: HeaderForm): boolean {
  return value.length <= most && pattern.test(value);
}

/** A value that goes on in a header has to be fit for one (W25). */
function isBodyValue(value: string, form: HeaderForm, send: Credentials['send']): boolean {
  if (send === 'headers') return isHeaderValue(value, form);
  let characters = 0;
  for (const character of value) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 32 || (code >= 127 && code < 160) || (code >= 0xd800 && code <= 0xdfff)) return false;
    characters++;
  }
  return characters <= form.most;
}

/** Node joins a repeated header into `a, b`; only the raw ones tell (W24). */
function headerValues(request: IncomingMessage, name: string): string[] {
  const lower = name.toLowerCase();
  const values: string[] = [];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    if (request.rawHeaders[index]?.toLowerCase() === lower) values.push(request.rawHeaders[index + 1] ?? '');
  }
  return values;
}

function pathOf(part: CredentialPart, credentials: Credentials, spelling: Spelling): string {
  if (credentials.member === undefined) return part.header;
  if (spelling === 'json') return `${credentials.member}.${part.name}`;
  return `${credentials.member.charAt(0).toUpperCase()}${credentials.member.slice(1)}.${part.xml}`;
}

function problem(
  code: Problem['code'],
  part: CredentialPart,
  credentials: Credentials,
  spelling: Spelling,
  says: string,
): Problem {
  const field = pathOf(part, credentials, spelling);
  return { code, field, message: `${field}: ${says}` };
}

/** A function that takes credentials out of a text, each one's place taken by `***`. */
export type HideCredentials = (
  credentials: Credentials | undefined,
  values: CredentialValues | undefined,
) => (text: string) => string;

/** Hides the secrets of a call; those shorter than 6 characters aren't looked for (W25). */
export const hideSecrets: HideCredentials = (credentials, values) =>
  hiderOf(credentials, values, ({ secret }) => secret);

/** Hides all credentials of a call, who calls too, from a log (W25). */
export const hideCredentials: HideCredentials = (credentials, values) =>
  hiderOf(credentials, values, () => true);

/** Hides what message and headers say the credentials are, before these are known to be good (W25). */
export function hideGiven(
  credentials: Credentials | undefined,
  inMessage: ReadonlyMap<string, string>,
  { headers }: IncomingMessage,
  hideThose: HideCredentials,
): (text: string) => string {
  const inHeaders = new Map<string, string>();
  for (const { name, header } of credentials?.parts ?? []) {
    const value = headers[header.toLowerCase()];
    if (typeof value === 'string') inHeaders.set(name, value);
  }
  const hideHeaders = hideThose(credentials, { all: inHeaders, fromHeaders: new Set() });
  const hideMessage = hideThose(credentials, { all: inMessage, fromHeaders: new Set() });
  return (text) => hideMessage(hideHeaders(text));
}

function hiderOf(
  credentials: Credentials | undefined,
  values: CredentialValues | undefined,
  isHidden: (part: CredentialPart) => boolean,
): (text: string) => string {
  const hidden: string[] = [];
  for (const part of credentials?.parts ?? []) {
    const value = isHidden(part) ? values?.all.get(part.name) : undefined;
    if (value === undefined || value.length < 6) continue;
    hidden.push(value);
    // of an Authorization the token alone is as secret
    const bare = isAuthorization(part) ? value.slice(value.lastIndexOf(' ') + 1) : '';
    if (bare.length >= 6) hidden.push(bare);
  }
  if (hidden.length === 0) return (text) => text;
  return (text) => hidden.reduce((rest, value) => rest.replaceAll(value, '***'), text);
}
