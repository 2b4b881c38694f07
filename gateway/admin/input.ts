import type { IncomingMessage } from 'node:http';
import type { RecordSetting, Setting, ValueSetting } from '../../mappings/contract/setting.ts';
import { parseContentType } from '../../mappings/http-mapping/content-type.ts';
import { pointerSegment } from '../../mappings/loader/document/error.ts';
import { isNode } from '../../mappings/loader/document/node.ts';
import { expectedBy, readSettings } from '../../mappings/loader/document/settings-file.ts';
import { hasBody } from '../http/body.ts';
import { reasonMember } from './members.ts';
import { invalid, Problem } from './problem.ts';

/** Maximum size of a body in bytes. */
export const maxBodyBytes = 64 * 1024;

/** Maximum size in bytes of a body that contains a message. */
export const maxMessageBodyBytes = 2 * 1024 * 1024;

/** Members of the body of a request. */
export interface Input {
  readonly members: RecordSetting;
  readonly required: readonly string[];
  /** `maxBodyBytes` by default. */
  readonly maxBytes?: number;
  /** True if a request without a body has no members. */
  readonly isOptional?: boolean;
}

/** Reads the body of a request as an object with the members of `input`. Throws Problem 400, 413, 415 and 422. */
export async function readInput(request: IncomingMessage, input: Input): Promise<unknown> {
  if (input.isOptional === true && !hasBody(request)) return {};
  const { type, charset = 'utf-8' } = parseContentType(request.headers['content-type'] ?? '');
  if (type !== 'application/json' || charset.toLowerCase() !== 'utf-8')
    throw new Problem(415, 'Content-Type: expected application/json in UTF-8, got another type');
  if (request.headers['content-encoding'] !== undefined)
    throw new Problem(415, 'Content-Encoding: expected none, got an encoded body');
  const bytes = await receive(request, input.maxBytes ?? maxBodyBytes);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw invalid(400, [{ pointer: '', message: 'expected JSON, got another text' }]);
  }
  return checked(value, input);
}

async function receive(request: IncomingMessage, most: number): Promise<Buffer> {
  const tooLarge = new Problem(413, `expected a body of at most ${most} bytes, got more`);
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > most) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns the value if it has the members of `input`. Wrong keywords are reported if nothing else is wrong. */
function checked(value: unknown, { members, required }: Input): unknown {
  if (!isNode(value)) throw invalid(400, [{ pointer: '', message: `expected an object, got another value` }]);
  const problems: Problem['problems'][number][] = [];
  const words: Problem['problems'][number][] = [];
  for (const key of Object.keys(value))
    if (!Object.hasOwn(members.keys, key))
      problems.push({ pointer: pointerSegment(key), message: `expected no unknown member, got ${key}` });
  for (const [key, setting] of Object.entries<Setting>(members.keys)) {
    const pointer = `/${key}`;
    if (!Object.hasOwn(value, key)) {
      if (required.includes(key))
        problems.push({ pointer, message: `expected ${expectedBy(setting)}, got none` });
      continue;
    }
    if (setting === reasonMember && typeof value[key] === 'string') continue; // checkReason follows
    const into = setting.kind === 'keyword' && typeof value[key] === 'string' ? words : problems;
    // as a value: the compiler cannot derive the type of an arbitrary setting
    readSettings(setting as ValueSetting, value[key], pointer, (at, message) =>
      into.push({ pointer: at, message }),
    );
  }
  if (problems.length > 0) throw invalid(400, problems);
  if (words.length > 0) throw invalid(422, words);
  return value;
}
