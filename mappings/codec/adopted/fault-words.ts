import type { FaultCodeWords, FaultWords } from '../../compiled.ts';
import type { Limits } from '../../contract/limits.ts';
import { quoteValue } from '../../contract/reason.ts';
import { itemsOf } from '../../json/parts.ts';
import { JsonReader } from '../../json/reader.ts';
import { isNcName } from '../../xml/characters.ts';
import { MismatchError } from '../problem.ts';
import { contentFault } from './open-elements.ts';

/**
 * Members of an error answer that describe the fault and are not its declared detail (A29): `@code`, `@message`,
 * `@actor`, `@detail`.
 */

/** All members of an error answer that are not part of a declared detail. */
export const faultMembers: ReadonlySet<string> = new Set([
  '@fault',
  '@message',
  '@code',
  '@actor',
  '@detail',
]);

/** Returns true if an error answer without `@fault` is a fault in these members. */
export function hasFaultWords(members: ReadonlyMap<string, string>): boolean {
  return members.has('@message') || members.has('@code') || members.has('@actor') || members.has('@detail');
}

/**
 * Reads the members of a fault from their JSON text. A null counts as absent, and so does a `@message` that is not a
 * string. Throws MismatchError for any other value, and JsonError.
 */
export function readFaultWords(members: ReadonlyMap<string, string>, limits: Limits): FaultWords {
  const textOf = (name: string): string | undefined => {
    const token = members.get(name);
    if (token === undefined || token === 'null') return undefined;
    if (token.startsWith('"')) return new JsonReader(token, limits).string();
    throw new MismatchError({ expected: 'a string', got: 'another value' }).at(name);
  };
  const words = members.get('@message');
  const code = textOf('@code');
  return {
    message: words?.startsWith('"') === true ? textOf('@message') : undefined,
    code: code === undefined ? undefined : codeOf(code),
    actor: textOf('@actor'),
    detail: detailOf(members.get('@detail'), limits),
  };
}

/** Codes of SOAP 1.1 (4.4.1) and SOAP 1.2 (part 1, 5.4.6), with the party that caused the fault. */
const standardCodes: ReadonlyMap<string, FaultCodeWords['is']> = new Map([
  ['Client', 'sender'],
  ['Sender', 'sender'],
  ['Server', 'receiver'],
  ['Receiver', 'receiver'],
]);

/** Longest `@code` in characters. */
const longestCode = 256;

/** `Server`, `Client.NoStock`, `SOAP-ENV:Server`, `{urn:x}NoStock` or any other name without a colon. */
function codeOf(text: string): FaultCodeWords {
  const end = text.startsWith('{') ? text.lastIndexOf('}') : -1;
  const local = text.slice(end + 1);
  const namespace = text.slice(1, Math.max(1, end));
  if (text.length <= longestCode && namespace !== '' && isNcName(local))
    return { is: undefined, more: '', namespace, local };
  const name = text.slice(text.indexOf(':') + 1);
  const dot = name.indexOf('.');
  const is = standardCodes.get(dot === -1 ? name : name.slice(0, dot));
  const isName = text.length <= longestCode && /^[\p{L}\p{N}_.-]+$/u.test(name);
  if (!isName || (is === undefined && name !== text))
    throw new MismatchError({
      expected: 'a fault code such as Server, Client.NoStock or {urn:x}NoStock',
      got: 'other text',
    }).at('@code');
  return { is, more: is === undefined || dot === -1 ? '' : name.slice(dot), namespace: '', local: name };
}

/** Returns the XML of the detail from a string or an array of strings; `''` for none. */
function detailOf(token: string | undefined, limits: Limits): string {
  if (token === undefined || token === 'null') return '';
  const tokens = token.startsWith('[') ? (itemsOf(token, limits) ?? []) : [token];
  let detail = '';
  for (const one of tokens) {
    const text = one.startsWith('"') ? new JsonReader(one, limits).string() : undefined;
    const reason = text === undefined ? 'no string' : contentFault(text, limits);
    if (text === undefined || reason !== undefined)
      throw new MismatchError({
        expected: 'well-formed XML as a string',
        got: quoteValue(`other text (${reason})`),
      }).at('@detail');
    detail += text;
  }
  return detail;
}
