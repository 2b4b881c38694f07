import type { Hide } from '../codec/scalars/text.ts';
import type { Limits } from '../contract/limits.ts';
import type { Settings } from '../contract/overlay-keys.ts';
import { JsonError } from '../json/grammar.ts';
import { type Part, readPart } from '../json/parts.ts';
import { JsonReader } from '../json/reader.ts';
import type { Answer } from './answer.ts';

/** The error in an upstream's body, in any format, without the caller's secrets. */
export interface UpstreamError {
  /** The upstream's error code, a word or number; undefined for none. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** The whole body as JSON; undefined if it is not JSON, or exceeds the limit. */
  readonly json: string | undefined;
}

/**
 * Members that contain a message, and those that contain a code, most probable first (including RFC 9457 and RFC 6749).
 */
const messageNames = [
  'message',
  'detail',
  'error_description',
  'errormessage',
  'description',
  'reason',
  'title',
];
const codeNames = ['code', 'errorcode', 'error_code'];
/** Members that contain an error, or a list of errors. */
const errorNames = ['error', 'errors', 'fault', 'data'];

/** Maximum number of characters of a message and of a code that are passed on. */
const longestMessage = 500;
const longestCode = 64;

/** Maximum number of characters of an upstream's error that a reply quotes completely. */
export const maxErrorCharacters = 16 * 1024;

/** Maximum nesting of objects that are searched for a message. */
const deepest = 4;

/**
 * Reads the error in a response. Returns undefined for a body without one, for example an empty body or HTML. Secrets
 * are hidden before texts are shortened (W25).
 */
export function readUpstreamError(
  { body, headers }: Answer,
  limits: Limits,
  stackTrace: Settings['stackTrace'],
  hide: Hide,
): UpstreamError | undefined {
  const text = body.toString('utf8').replace(/^\ufeff/, '');
  const tellable = (original: string): string => (stackTrace === 'keep' ? original : withoutFrames(original));
  const isText = /^text\/plain\b/i.test(String(headers['content-type'] ?? ''));
  const part = jsonPart(text, limits);
  if (part === undefined) {
    const message = hide(tellable(text.trim()), longestMessage);
    return isText && message !== '' ? { code: undefined, message, json: undefined } : undefined;
  }
  const code = findCode(part, 0);
  const message = tellable(findMessage(part, 0) ?? '');
  return {
    code: code === undefined ? undefined : hide(code),
    message: message === '' ? undefined : hide(message, longestMessage),
    json:
      text.length <= (limits.upstreamError ?? maxErrorCharacters)
        ? hide(stackTrace === 'keep' ? text : withoutTraces(text, limits))
        : undefined,
  };
}

/** Members with the code position of an error, in lower case without dashes (`stackTrace: drop`). */
const traceNames: ReadonlySet<string> = new Set([
  'stack',
  'stacktrace',
  'stackentries',
  'trace',
  'traceback',
  'backtrace',
  'exception',
  'exceptiontype',
  'exceptiondetails',
  'innerexception',
  'debug',
  'debuginfo',
]);

/** The start of a stack trace: a line `at …` with a position, as of .NET, Java and JavaScript, or Python's header. */
const frames = /\n[ \t]+at [^\n(]*(?:\(|:\d)|Traceback \(most recent call last\)/;

/** The same after an escaped line end, for JSON inside a text. */
const escapedFrames = /\\n(?:[ \t]|\\+t)+at [^\n(\\]*(?:\(|:[\d\\])/;

/** Cuts a text before its stack trace. The text after it may contain more, for example headers of the request. */
function withoutFrames(text: string): string {
  let end = text.length;
  for (const pattern of [frames, escapedFrames]) {
    const at = text.slice(0, end).search(pattern);
    if (at !== -1) end = at;
  }
  if (end === text.length) return text;
  // backslashes of a line end that is escaped more than once
  while (text[end - 1] === '\\') end--;
  return text.slice(0, end).trimEnd();
}

/**
 * Removes stack trace members at any depth, and stack traces at the end of texts. Returns the same text if there are
 * none.
 */
function withoutTraces(text: string, limits: Limits): string {
  const json = new JsonReader(text, limits);
  let dropped = false;
  const value = (): string => {
    const code = json.peek();
    const start = json.position;
    if (code === 91) {
      const items: string[] = [];
      json.enter();
      for (let first = true; json.next(first, 93); first = false) items.push(value());
      return `[${items.join(',')}]`;
    }
    if (code === 34) {
      const original = json.string();
      const kept = withoutFrames(original);
      if (kept === original) return text.slice(start, json.position);
      dropped = true;
      return JSON.stringify(kept);
    }
    if (code !== 123) {
      json.skip();
      return text.slice(start, json.position);
    }
    const members: string[] = [];
    json.enter();
    for (let first = true; json.next(first, 125); first = false) {
      const name = json.name();
      const isTrace = traceNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
      const written = value();
      if (isTrace) dropped = true;
      else members.push(`${JSON.stringify(name)}:${written}`);
    }
    return `{${members.join(',')}}`;
  };
  const written = value();
  return dropped ? written : text;
}

function jsonPart(text: string, limits: Limits): Part | undefined {
  try {
    return readPart(text, limits);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function findMessage(part: Part, depth: number): string | undefined {
  if (part.kind === 'text') return part.text === '' ? undefined : part.text;
  if (depth === deepest || part.kind === 'null') return undefined;
  if (part.kind === 'list') return first(part.items, (item) => findMessage(item, depth + 1));
  const own = first(membersNamed(part, messageNames), (member) =>
    member.kind === 'text' ? findMessage(member, depth) : undefined,
  );
  return own ?? first(membersNamed(part, errorNames), (member) => findMessage(member, depth + 1));
}

function findCode(part: Part, depth: number): string | undefined {
  if (depth === deepest) return undefined;
  if (part.kind === 'list') return first(part.items, (item) => findCode(item, depth + 1));
  if (part.kind !== 'object') return undefined;
  const own = first(membersNamed(part, codeNames), (member) => wordOf(member));
  // OAuth's `error` is a code, and the text is in `error_description`
  const inner = first(membersNamed(part, errorNames), (member) =>
    member.kind === 'text' ? undefined : findCode(member, depth + 1),
  );
  return own ?? inner ?? first(membersNamed(part, ['error']), (member) => wordOf(member));
}

/** Returns a text that is a valid code: one word of letters, digits and a few punctuation characters. */
function wordOf(part: Part): string | undefined {
  return part.kind === 'text' && part.text.length <= longestCode && /^[\w.:/-]+$/.test(part.text)
    ? part.text
    : undefined;
}

/** Returns the members of these names in any case, in the order of the names. */
function membersNamed(part: Extract<Part, { kind: 'object' }>, names: readonly string[]): readonly Part[] {
  return names.flatMap((name) =>
    part.members.flatMap(([key, member]) => (key.toLowerCase() === name ? [member] : [])),
  );
}

function first<T>(parts: readonly Part[], find: (part: Part) => T | undefined): T | undefined {
  for (const part of parts) {
    const found = find(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
