import { base64FromXml, base64Size } from '../../../../mappings/codec/scalars/base64.ts';
import { instantFromXml } from '../../../../mappings/codec/scalars/dates.ts';
import { collapse } from '../../../../mappings/codec/scalars/numbers.ts';
import type { Wsse } from '../../../../mappings/contract/credentials.ts';
import type { Limits } from '../../../../mappings/contract/limits.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import { quoteElement, type Reason } from '../../../../mappings/contract/reason.ts';
import type { ContentReader } from '../../../../mappings/xml/reader.ts';
import type { DigestToken } from '../../../call/digest.ts';
import type { FaultCode } from '../faults.ts';
import { windowProblem } from './timestamp.ts';

const profile = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0';
const passwordText = `${profile}#PasswordText`;
const passwordDigest = `${profile}#PasswordDigest`;
const base64Encoding =
  'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary';

/** Maximum size of the Nonce of a digest, in bytes. */
const longestNonce = 256;

/** Content of a UsernameToken. */
export interface UsernameToken {
  readonly kind: 'text' | 'digest';
  /** Credentials by name. The password is missing if the digest is checked with a secret. */
  readonly values: ReadonlyMap<string, string>;
  /** Digest to check with a secret. */
  readonly digest: DigestToken | undefined;
}

/** Code and reason of an invalid UsernameToken. */
export interface TokenProblem {
  readonly problem: { readonly code: FaultCode; readonly reason: Reason };
}

/** The children of a UsernameToken as unparsed text. */
interface Parts {
  Username?: string;
  Password?: string;
  Nonce?: string;
  Created?: string;
}

const namespaceOf: Readonly<Record<keyof Parts, string>> = {
  Username: namespaces.wsse,
  Password: namespaces.wsse,
  Nonce: namespaces.wsse,
  Created: namespaces.wsu,
};

/**
 * Reads a UsernameToken from its start tag to its end tag (W47, W49). Throws XmlError.
 *
 * @param now time in ms since 1970
 */
export function readUsernameToken(
  xml: ContentReader,
  wsse: Wsse,
  now: number,
  limits: Limits,
): UsernameToken | TokenProblem {
  const parts: Parts = {};
  let type: string | undefined;
  let encoding: string | undefined;
  let wrong: TokenProblem | undefined;
  while (xml.nextChild()) {
    const { namespace, local } = xml;
    if (namespace === namespaces.wsse11 && (local === 'Salt' || local === 'Iteration')) {
      wrong ??= problem('UnsupportedSecurityToken', {
        detail: `keys derived from a password (<${local}>) are not supported`,
      });
      xml.skip();
      continue;
    }
    if (!isPart(local) || namespaceOf[local] !== namespace || parts[local] !== undefined) {
      wrong ??= invalid({
        expected: 'Username and at most one Password, Nonce and Created in UsernameToken',
        got: quoteElement(local),
      });
      xml.skip();
      continue;
    }
    if (local === 'Password') type = xml.attribute('', 'Type');
    if (local === 'Nonce') encoding = xml.attribute('', 'EncodingType');
    const text = xml.readText(limits.xmlText, true);
    if (text === undefined)
      wrong ??= invalid({ expected: `text in ${local} of UsernameToken`, got: 'an element' });
    parts[local] = text ?? '';
  }
  if (xml.hasText) wrong ??= invalid({ expected: 'only elements in UsernameToken', got: 'text' });
  if (parts.Username === undefined) wrong ??= invalid({ expected: 'Username in UsernameToken', got: 'none' });
  if (wrong !== undefined) return wrong;
  const { username, password, digest } = wsse;
  if (username === undefined || password === undefined)
    return problem('UnsupportedSecurityToken', { detail: 'this contract reads no UsernameToken' });
  const read = { username, password, digest };
  if (type === undefined || collapse(type) === passwordText) return textToken(parts, read);
  if (collapse(type) !== passwordDigest)
    return invalid({ expected: `${passwordText} or none as the Type of Password`, got: 'another Type' });
  return readDigest(parts, encoding, read, now, limits);
}

/** Settings of a contract that reads UsernameTokens. */
type ReadToken = Pick<Wsse, 'digest'> & { readonly username: string; readonly password: string };

function isPart(local: string): local is keyof Parts {
  return Object.hasOwn(namespaceOf, local);
}

function problem(code: FaultCode, reason: Reason): TokenProblem {
  return { problem: { code, reason } };
}

function invalid(reason: Reason): TokenProblem {
  return problem('InvalidSecurityToken', reason);
}

function textToken(
  { Username = '', Password = '' }: Parts,
  { username, password }: ReadToken,
): UsernameToken {
  const values = new Map<string, string>().set(username, Username).set(password, Password);
  return { kind: 'text', values, digest: undefined };
}

/**
 * Returns the start time of the process, in ms since 1970, rounded down to seconds. Nonces of earlier digests are
 * unknown, so an earlier digest may have been used before (W49).
 */
function processStart(now: number): number {
  return Math.floor(now / 1_000 - process.uptime()) * 1_000;
}

/**
 * Reads a token with a digest and checks its form and time window. The digest itself is checked with the credentials
 * (W51).
 */
function readDigest(
  { Username = '', Password = '', Nonce, Created }: Parts,
  encoding: string | undefined,
  { username, digest }: ReadToken,
  now: number,
  limits: Limits,
): UsernameToken | TokenProblem {
  if (digest === 'refuse')
    return problem('UnsupportedSecurityToken', {
      detail: 'the gateway does not verify PasswordDigest for this contract. Send PasswordText over TLS',
    });
  if (Nonce === undefined || Created === undefined) {
    const lacking = Nonce === undefined ? 'Nonce' : 'Created';
    return invalid({ expected: 'Nonce and Created with a PasswordDigest', got: `no ${lacking}` });
  }
  if (encoding !== undefined && collapse(encoding) !== base64Encoding)
    return invalid({
      expected: `${base64Encoding} or none as the EncodingType of Nonce`,
      got: 'another EncodingType',
    });
  const nonce = base64FromXml(collapse(Nonce));
  if (nonce === undefined || nonce === '' || base64Size(nonce) > longestNonce)
    return invalid({ expected: `base64 of 1 to ${longestNonce} bytes in Nonce`, got: 'other text' });
  const created = instantFromXml(Created);
  if (created === undefined)
    return invalid({ expected: 'an xs:dateTime in Created of UsernameToken', got: 'other text' });
  const end = created + limits.wsseFreshMs;
  const late = windowProblem('the PasswordDigest', { created, end }, now, limits);
  if (late !== undefined) return problem('MessageExpired', late);
  if (digest === 'secrets' && created < processStart(now))
    return problem('MessageExpired', {
      expected: 'a Created of UsernameToken since the gateway started',
      got: 'an earlier Created. Send a new token',
    });
  const hash = base64FromXml(collapse(Password));
  if (hash === undefined || base64Size(hash) !== 20)
    return invalid({ expected: 'base64 of 20 bytes as a PasswordDigest', got: 'other text' });
  if (digest === 'secrets') {
    const token = { username: Username, nonce, created: Created, hash, until: end + limits.wsseSkewMs };
    return { kind: 'digest', values: new Map<string, string>().set(username, Username), digest: token };
  }
  const values = new Map([
    [username, Username],
    [digest.password, Password],
    [digest.nonce, Nonce],
    [digest.created, Created],
  ]);
  return { kind: 'digest', values, digest: undefined };
}
