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
  const contentOf = (local: string): string => {
    if (local === 'Security') {
      if (username === undefined || password === undefined)
        throw new Unreplayable('its Security block needs username and password of --credentials');
      return securityContent(username, password);
    }
    const name = names.get(foldAscii(local));
    if (name === undefined) return hiddenText;
    const value = values?.get(name);
    if (value === undefined) throw new Unreplayable(`it needs the value ${name} of --credentials`);
    return asLatin1(escapeAttribute(value));
  };
  let [filled, from] = ['', 0];
  for (let at = message.indexOf(hiddenContent); at !== -1; at = message.indexOf(hiddenContent, at + 1)) {
    const [tag = ''] = message.slice(message.lastIndexOf('<', at) + 1, at).split(/[ \t\r\n]/, 1);
    filled += message.slice(from, at + 1) + contentOf(tag.slice(tag.indexOf(':') + 1));
    from = at + 1 + hiddenText.length;
  }
  return Buffer.from(filled + message.slice(from), 'latin1');
}

/** A hidden text between a start tag and an end tag. */
const hiddenContent = `>${hiddenText}</`;

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
