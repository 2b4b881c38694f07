import { isUtf8 } from 'node:buffer';
import type { Limits } from '../contract/limits.ts';
import { quoteValue } from '../contract/reason.ts';
import { JsonError } from '../json/grammar.ts';
import type { MappedAnswer } from './compiled-entry.ts';
import { base64Of } from './makers.ts';
import { MappingError } from './run.ts';
import type { TargetOperation } from './target.ts';
import { readValue, type Value } from './value.ts';

/** The values of an upstream's response. */

const utf8 = new TextDecoder(); // removes a byte order mark

function textOf({ body }: MappedAnswer): string {
  return typeof body === 'string' ? body : utf8.decode(body);
}

/** Returns the body of a response as bytes. */
export function bytesOf({ body }: MappedAnswer): Uint8Array {
  return typeof body === 'string' ? utf8Bytes.encode(body) : body;
}

const utf8Bytes = new TextEncoder();

/**
 * Returns the root value for source paths of a success response; undefined without a body. Throws MappingError,
 * JsonError.
 */
export function bodyOf(
  { replyForm, accept }: TargetOperation,
  answer: MappedAnswer,
  limits: Limits,
): Value | undefined {
  if (replyForm === 'json') {
    const text = textOf(answer);
    return text === '' ? undefined : readValue(text, limits);
  }
  if (replyForm === 'none' || answer.status === 204 || answer.status === 205) return undefined;
  const type = answer.headers['content-type'] ?? '';
  // for example, the error page of a proxy
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type) && !/html/i.test(accept))
    throw new MappingError('reply', '', { expected: `a response of type ${accept}`, got: 'HTML' });
  if (replyForm === 'binary') return base64Of(bytesOf(answer));
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type) ?? [];
  try {
    return typeof answer.body === 'string'
      ? answer.body
      : new TextDecoder(charset, { fatal: true }).decode(answer.body);
  } catch {
    const expected = quoteValue(`text in ${charset.slice(0, 40)}`, 'a text'); // the charset is a text of the upstream
    throw new MappingError('reply', '', { expected, got: 'other bytes' });
  }
}

/** Returns the JSON body of an error response; undefined if it is not JSON in UTF-8, for example HTML. */
export function errorBodyOf(answer: MappedAnswer, limits: Limits): Value | undefined {
  if (!isUtf8(bytesOf(answer))) return undefined;
  try {
    return readValue(textOf(answer), limits);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
