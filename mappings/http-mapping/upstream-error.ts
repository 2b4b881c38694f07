import type { Hide } from '../codec/scalars/text.ts';
import type { Limits } from '../contract/limits.ts';
import type { Settings } from '../contract/overlay-keys.ts';
import { JsonError } from '../json/grammar.ts';
import { type Part, readPart } from '../json/parts.ts';
import { JsonReader } from '../json/reader.ts';
import type { Answer } from './answer.ts';

/** The error that an upstream's body reports, whatever its shape, without the caller's secrets. */
export interface UpstreamError {
  /** A word or number of its own; undefined where it has none. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** The whole body as JSON; undefined where it is no JSON, or longer than the limit. */
  readonly json: string | undefined;
}

/** Members that hold a message, and those that hold a code, the likeliest first (RFC 9457 and RFC 6749 among them). */
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
/** Members that hold an error, or a list of them. */
const errorNames = ['error', 'errors', 'fault', 'data'];

/** Characters of a message that are passed on, and of a code. */
const longestMessage = 500;
const longestCode = 64;

/** Characters of an upstream's error that a reply quotes whole. */
export const maxErrorCharacters = 16 * 1024;

/** Objects in one another that a message is looked for in. */
const deepest = 4;

/** Undefined for a body that reports none: an empty one, HTML. Secrets are hidden before anything is cut (W25). */
export function readUpstreamError(
  { body, headers }: Answer,
  limits: Limits,
  stackTrace: Settings['stackTrace'],
  hide: Hide,
): UpstreamError | undefined {
  const text = body.toString('utf8').replace(/^\ufeff/, '');
  const tellable = (said: string): string => (stackTrace === 'keep' ? said : withoutFrames(said));
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

/** Members that report where in the service's code an error arose, in lower case without dashes (`stackTrace: drop`). */
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

/** Where a text begins to tell the calls that led to an error: a line `at …` with a place, as of .NET, Java and JavaScript, or Python's. */
const frames = /\n[ \t]+at [^\n(]*(?:\(|:\d)|Traceback \(most recent call last\)/;

/** The same where the end of the line before is escaped, as in JSON that is a text. */
const escapedFrames = /\\n(?:[ \t]|\\+t)+at [^\n(\\]*(?:\(|:[\d\\])/;

/** A text up to there; what follows may tell more still, such as headers of the request. */
function withoutFrames(text: string): string {
  let end = text.length;
  for (const pattern of [frames, escapedFrames]) {
    const at = text.slice(0, end).search(pattern);
    if (at !== -1) end = at;
  }
  if (end === text.length) return text;
  // of an end of a line that is escaped twice or more
  while (text[end - 1] === '\\') end--;
  return text.slice(0, end).trimEnd();
}

/** A JSON value without such members, wherever in it they stand, and without such ends of texts; as it was where it has none. */
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
      const said = json.string();
      const kept = withoutFrames(said);
      if (kept === said) return text.slice(start, json.position);
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
      const told = value();
      if (isTrace) dropped = true;
      else members.push(`${JSON.stringify(name)}:${told}`);
    }
    return `{${members.join(',')}}`;
  };
  const told = value();
  return dropped ? told : text;
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
  // OAuth's `error` is a word, beside the text in `error_description`
  const inner = first(membersNamed(part, errorNames), (member) =>
    member.kind === 'text' ? undefined : findCode(member, depth + 1),
  );
  return own ?? inner ?? first(membersNamed(part, ['error']), (member) => wordOf(member));
}

/** A code is one word: no blanks, and nothing that is none in a sentence. */
function wordOf(part: Part): string | undefined {
  return part.kind === 'text' && part.text.length <= longestCode && /^[\w.:/-]+$/.test(part.text)
    ? part.text
    : undefined;
}

/** The members of these names in any case, in the order of the names. */
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
