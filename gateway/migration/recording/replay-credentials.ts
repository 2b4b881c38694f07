import { randomBytes } from 'node:crypto';
import { escapeAttribute, foldAscii } from '../../../mappings/codec/scalars/text.ts';
import { type Contract, namespaces } from '../../../mappings/contract/model.ts';
import { map, record, text } from '../../../mappings/contract/setting.ts';
import { ContractError, type ContractProblem } from '../../../mappings/loader/document/error.ts';
import { readSettings } from '../../../mappings/loader/document/settings-file.ts';
import { readYamlFile, withLines } from '../../../mappings/loader/document/yaml.ts';
import { hiddenText } from '../../../mappings/redact/pseudonyms.ts';
import { Unreplayable } from './unreplayable.ts';

/** Schema of the file of `--credentials`. */
const settings = map(
  'Credentials by the name of the caller; `*` for all other callers.',
  '`caller: { username, password }`',
  record('Credentials of a caller.', {
    username: text('Username of the UsernameToken in a Security block.'),
    password: text('Password of the UsernameToken.'),
    headers: map('HTTP headers of the request.', '`name: value`', text('A value.')),
    values: map(
      'Credentials in the message by their names in the contract.',
      '`name: value`',
      text('A value.'),
    ),
  }),
);

/** Credentials of a caller. */
export interface ReplayCredentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly headers?: ReadonlyMap<string, string> | undefined;
  readonly values?: ReadonlyMap<string, string> | undefined;
}

/** Reads the file of `--credentials`: credentials by caller. Throws ContractError, which contains no credential. */
export function readReplayCredentials(file: string): ReadonlyMap<string, ReplayCredentials> {
  const problems: ContractProblem[] = [];
  const report = (pointer: string, message: string): void => {
    problems.push({ file, pointer, message });
  };
  const root = readYamlFile(file, problems)?.root;
  const read = readSettings(settings, root ?? {}, '', report) ?? new Map<string, ReplayCredentials>();
  if (problems.length > 0) throw new ContractError(withLines(problems));
  return read;
}

/** A hidden element: group 1 is its start tag, group 3 its end tag. */
const hiddenElement = /(<((?:[\w.-]{1,64}:)?[\w.-]{1,128})(?:\s[^<>]{0,2000})?>)\*\*\*(<\/\2\s*>)/g;

/**
 * Returns a recorded message with credentials in place of the hidden ones (G60). The UsernameToken and the Timestamp are
 * created now. Throws Unreplayable if the message needs credentials that the caller does not have.
 */
export function withCredentials(
  body: Uint8Array,
  contract: Contract,
  { username, password, values }: ReplayCredentials,
): Buffer {
  const message = Buffer.from(body).toString('latin1');
  if (!message.includes(hiddenText)) return Buffer.from(message, 'latin1');
  const names = new Map<string, string>();
  for (const { name, moved } of contract.credentials?.parts ?? []) {
    names.set(foldAscii(name), name);
    if (moved !== undefined) names.set(foldAscii(moved.path.at(-1) ?? ''), name);
  }
  const filled = message.replace(hiddenElement, (element, start: string, tag: string, end: string) => {
    const local = tag.slice(tag.indexOf(':') + 1);
    if (local === 'Security') {
      if (username === undefined || password === undefined)
        throw new Unreplayable('its Security block needs username and password of --credentials');
      return start + securityContent(username, password) + end;
    }
    const name = names.get(foldAscii(local));
    if (name === undefined) return element;
    const value = values?.get(name);
    if (value === undefined) throw new Unreplayable(`it needs the value ${name} of --credentials`);
    return start + asLatin1(escapeAttribute(value)) + end;
  });
  return Buffer.from(filled, 'latin1');
}

/** Returns a Timestamp of five minutes and a UsernameToken with a new nonce and the password as text. */
function securityContent(username: string, password: string): string {
  const now = Date.now();
  const time = (at: number): string => new Date(at).toISOString();
  const { wsse, wsu } = namespaces;
  const nonce = randomBytes(16).toString('base64');
  const base = wsse.slice(0, wsse.lastIndexOf('/') + 1);
  return asLatin1(
    [
      `<u:Timestamp xmlns:u="${wsu}"><u:Created>${time(now)}</u:Created><u:Expires>${time(now + 300_000)}</u:Expires></u:Timestamp>`,
      `<s:UsernameToken xmlns:s="${wsse}" xmlns:u="${wsu}"><s:Username>${escapeAttribute(username)}</s:Username>`,
      `<s:Password Type="${base}oasis-200401-wss-username-token-profile-1.0#PasswordText">${escapeAttribute(password)}</s:Password>`,
      `<s:Nonce EncodingType="${base}oasis-200401-wss-soap-message-security-1.0#Base64Binary">${nonce}</s:Nonce>`,
      `<u:Created>${time(now)}</u:Created></s:UsernameToken>`,
    ].join(''),
  );
}

/** Writes other characters than ASCII as references, which no encoding of a message changes. */
function asLatin1(text: string): string {
  return text.replace(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`);
}
