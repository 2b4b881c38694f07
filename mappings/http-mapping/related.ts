import { base64FromXml } from '../codec/scalars/base64.ts';
import type { Limits } from '../contract/limits.ts';
import { quoteValue, type Reason, sentence } from '../contract/reason.ts';

/**
 * `multipart/related` (RFC 2046, RFC 2387) for SOAP messages: MTOM and SOAP with Attachments (W57 to W59). It accepts
 * only the forms that SOAP stacks send. MIME libraries also accept bare line feeds, truncated messages and repeated
 * headers, which other readers interpret differently.
 */

/** The form of references to parts in the envelope: MTOM uses `xop:Include`, SwA uses `href`. */
export type RelatedForm = 'mtom' | 'swa';

/** The parameters of a `multipart/related` Content-Type (W57, W58). */
export interface RelatedType {
  readonly boundary: string;
  /** The root part's Content-ID without `<>`; undefined if the first part is the root. */
  readonly start: string | undefined;
  /** Undefined if the root part's type determines it. */
  readonly form: RelatedForm | undefined;
  /** The actions that the message states: hints (W4). */
  readonly actions: readonly string[];
}

/** A part of a message. Its bytes are a slice of the message, unless they were base64. */
export interface RelatedPart {
  /** The Content-ID without `<>`. */
  readonly id: string | undefined;
  readonly contentType: string | undefined;
  readonly bytes: Buffer;
}

/** A parsed message. */
export interface RelatedMessage {
  readonly form: RelatedForm;
  readonly root: Buffer;
  /** The charset in the root part's Content-Type. */
  readonly charset: string | undefined;
  readonly actions: readonly string[];
  /** All parts except the root, in the order of the message. */
  readonly parts: readonly RelatedPart[];
}

/** Thrown for a Content-Type that is not supported (W57, W58). */
export class RelatedTypeError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(sentence(reason));
    this.name = 'RelatedTypeError';
    this.reason = reason;
  }
}

/** Thrown for a message that does not match its Content-Type (W59). */
export class RelatedError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(sentence(reason));
    this.name = 'RelatedError';
    this.reason = reason;
  }
}

/** A parsed header value with parameters: names in lower case, each with its values in order. */
interface Parameters {
  /** In lower case. */
  readonly type: string;
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** Maximum number of bytes of a part's header. */
export const maxPartHeaderBytes = 4096;

/** Maximum number of characters in a part's Content-ID. */
export const maxContentIdCharacters = 256;

/** Maximum number of bytes before the first part of a message, and after its last part. */
export const maxOutsideBytes = 1024;

const blanks = ' \t';

/**
 * Parses `type/subtype; name=value; name="value"` in linear time; undefined for another form. An unquoted value may
 * contain characters that a token excludes, for example `/` (W58).
 */
function parseParameters(header: string): Parameters | undefined {
  const values = new Map<string, string[]>();
  let at = header.indexOf(';');
  const type = (at === -1 ? header : header.slice(0, at)).trim().toLowerCase();
  while (at !== -1 && at < header.length) {
    at = passBlanks(header, at + 1);
    if (at === header.length) break; // a semicolon at the end
    if (header[at] === ';') continue;
    const equals = header.indexOf('=', at);
    if (equals === -1) return undefined;
    const name = header.slice(at, equals).trim().toLowerCase();
    if (!/^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name)) return undefined;
    at = passBlanks(header, equals + 1);
    let value = '';
    if (header[at] === '"') {
      for (at++; header[at] !== '"'; at++) {
        if (header[at] === '\\') at++;
        if (at >= header.length) return undefined;
        value += header[at];
      }
      at++;
    } else {
      const from = at;
      while (at < header.length && !'; \t"'.includes(header[at] as string)) at++;
      value = header.slice(from, at);
      if (value === '') return undefined;
    }
    at = passBlanks(header, at);
    if (at < header.length && header[at] !== ';') return undefined;
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return { type, values };
}

function passBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && blanks.includes(text[at] as string)) at++;
  return at;
}

/** RFC 2046, 5.1.1: 1 to 70 characters, without a blank at the end. */
const boundaryText = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;

const formOf: ReadonlyMap<string, RelatedForm> = new Map([
  ['application/xop+xml', 'mtom'],
  ['text/xml', 'swa'],
  ['application/soap+xml', 'swa'],
]);

/**
 * Parses a `multipart/related` Content-Type (W57, W58). Throws RelatedTypeError for an unsupported type of the root, a
 * missing or invalid boundary, or a repeated parameter.
 */
export function readRelatedType(header: string): RelatedType {
  const parameters = parseParameters(header);
  if (parameters === undefined)
    throw new RelatedTypeError({
      expected: 'Content-Type: multipart/related; name="value"; …',
      got: 'parameters in another form',
    });
  const { values } = parameters;
  for (const name of ['boundary', 'start', 'type'])
    if ((values.get(name)?.length ?? 0) > 1)
      throw new RelatedTypeError({
        expected: `${name} once in the Content-Type`,
        got: 'the parameter again',
      });
  const boundary = values.get('boundary')?.[0];
  if (boundary === undefined || !boundaryText.test(boundary))
    throw new RelatedTypeError({
      expected: 'a boundary of 1 to 70 characters in the Content-Type',
      got: boundary === undefined ? 'none' : 'another boundary',
    });
  const type = values.get('type')?.[0]?.trim().toLowerCase();
  const form = type === undefined ? undefined : formOf.get(type);
  if (type !== undefined && form === undefined)
    throw new RelatedTypeError({
      expected: 'type="application/xop+xml", "text/xml" or "application/soap+xml" of multipart/related',
      got: quoteValue(`"${type.slice(0, 64)}"`, 'a text'),
    });
  const start = values.get('start')?.[0];
  const info = values.get('start-info')?.[0];
  return {
    boundary,
    start: start === undefined ? undefined : bareId(start),
    form,
    actions: [...(values.get('action') ?? []), ...actionsIn(info)],
  };
}

/** Returns the `action` in a media type that is a parameter's value, as JAX-WS RI and CXF write it. */
function actionsIn(mediaType: string | undefined): readonly string[] {
  return mediaType === undefined ? [] : (parseParameters(mediaType)?.values.get('action') ?? []);
}

/** Removes blanks around a Content-ID and one pair of `<>`. */
function bareId(text: string): string {
  const id = text.trim();
  return id.startsWith('<') && id.endsWith('>') ? id.slice(1, -1) : id;
}

/** A part's range in the message, and its parsed header. */
export interface Place {
  readonly header: ReadonlyMap<string, string>;
  readonly start: number;
  readonly end: number;
}

/** A part of a message: its Content-ID, and the range of its content in bytes. */
export interface PartPlace {
  readonly id: string | undefined;
  readonly contentType: string | undefined;
  readonly start: number;
  readonly end: number;
  readonly isBase64: boolean;
}

/** The ranges of a message's parts. It is plain data, so that another thread need not split the message again. */
export interface SplitMessage extends Pick<RelatedMessage, 'form' | 'charset' | 'actions'> {
  readonly root: PartPlace;
  /** All parts except the root, in the order of the message. */
  readonly parts: readonly PartPlace[];
}

/**
 * Finds a message's parts (W59) in linear time and without copies. Throws RelatedError for a malformed message or if a
 * limit is exceeded.
 */
export function splitRelated(body: Buffer, type: RelatedType, limits: Limits): SplitMessage {
  const places = findParts(body, type, limits).map(({ header, start, end }) => ({
    ...headerOf(header, limits),
    start,
    end,
  }));
  const [root, ...others] = places;
  if (root === undefined) throw new RelatedError({ expected: 'a part', got: 'none' });
  const ids = new Set<string>();
  for (const { id } of places) {
    if (id === undefined) continue;
    if (ids.has(id))
      throw new RelatedError({
        expected: 'one part of each Content-ID',
        got: quoteValue(`two of ${shown(id)}`),
      });
    ids.add(id);
  }
  checkStart(type.start, root.id, ids);
  const { form, type: rootType, charset, actions } = rootTypeOf(root.contentType, type);
  if (form === undefined)
    throw new RelatedError({
      expected: "the first part's Content-Type to be application/xop+xml, text/xml or application/soap+xml",
      got: quoteValue(shown(rootType ?? ''), 'a text'),
    });
  if (root.end - root.start > limits.bodyBytes)
    throw new RelatedError({
      expected: `a first part of at most ${limits.bodyBytes} bytes`,
      got: 'a larger part',
    });
  return { form, charset, actions, root, parts: others };
}

/** Returns the number of bytes that must be read one by one: those of the envelope, and of base64 parts. */
export function bytesToRead({ root, parts }: SplitMessage): number {
  let bytes = root.end - root.start;
  for (const { start, end, isBase64 } of [root, ...parts]) if (isBase64) bytes += end - start;
  return bytes;
}

/** Returns the parts of a message that was split, with decoded base64. Throws RelatedError. */
export function takeParts(
  body: Buffer,
  { form, charset, actions, root, parts }: SplitMessage,
): RelatedMessage {
  return {
    form,
    root: bytesOf(body, root),
    charset,
    actions,
    parts: parts.map((part) => ({
      id: part.id,
      contentType: part.contentType,
      bytes: bytesOf(body, part),
    })),
  };
}

/** Checks that the root, which `start` names, is the first part. */
export function checkStart(
  start: string | undefined,
  first: string | undefined,
  ids: ReadonlySet<string>,
): void {
  if (start === undefined || start === first) return;
  const found = ids.has(start) ? 'a later part' : 'no such part';
  throw new RelatedError({
    expected: 'start to name the first part',
    got: quoteValue(`${found}: ${shown(start)}`),
  });
}

/** Parses the root's Content-Type. The form is undefined for an unsupported type. A missing header has no effect. */
export function rootTypeOf(
  header: string | undefined,
  { form, actions }: RelatedType,
): Pick<RelatedMessage, 'charset' | 'actions'> & {
  readonly type: string | undefined;
  readonly form: RelatedForm | undefined;
} {
  if (header === undefined) return { type: undefined, form: form ?? 'swa', charset: undefined, actions };
  const parameters = parseParameters(header);
  if (parameters === undefined)
    throw new RelatedError({
      expected: "the first part's Content-Type as type/subtype; name=value",
      got: 'another form',
    });
  if ((parameters.values.get('charset')?.length ?? 0) > 1)
    throw new RelatedError({
      expected: "charset once in the first part's Content-Type",
      got: 'the parameter again',
    });
  const { type, values } = parameters;
  const own = formOf.get(type);
  return {
    type,
    form: own === undefined ? undefined : (form ?? own),
    charset: values.get('charset')?.[0],
    actions: [...actions, ...(values.get('action') ?? []), ...(values.get('type') ?? []).flatMap(actionsIn)],
  };
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

const crlf = Buffer.from('\r\n');
const hyphen = 45;

/** Returns the line end and the boundary between two parts. */
export function delimiterOf({ boundary }: RelatedType): Buffer {
  return Buffer.from(`\r\n--${boundary}`, 'latin1');
}

/** Returns the offset after the first delimiter, which may be the start of the body; -1 if there is none. */
export function pastFirst(body: Buffer, delimiter: Buffer, mimeOutsideBytes: number): number {
  const bare = delimiter.subarray(crlf.length);
  if (body.subarray(0, bare.length).equals(bare)) return bare.length;
  const found = body.subarray(0, mimeOutsideBytes + delimiter.length).indexOf(delimiter);
  return found < 0 ? -1 : found + delimiter.length;
}

/** Finds the content of each part, from the first delimiter to the closing one. */
function findParts(body: Buffer, type: RelatedType, limits: Limits): Place[] {
  const { mimeOutsideBytes = maxOutsideBytes, mimeParts } = limits;
  const delimiter = delimiterOf(type);
  const places: Place[] = [];
  let at = pastFirst(body, delimiter, mimeOutsideBytes);
  if (at < 0)
    throw new RelatedError({
      expected: `the boundary that the Content-Type names within ${mimeOutsideBytes} bytes`,
      got: 'none',
    });
  while (!(body[at] === hyphen && body[at + 1] === hyphen)) {
    at = passLineEnd(body, at);
    if (places.length === mimeParts)
      throw new RelatedError({ expected: `at most ${mimeParts} parts`, got: 'more parts' });
    const next = body.indexOf(delimiter, at - crlf.length);
    if (next < 0)
      throw new RelatedError({ expected: 'the closing boundary at the end of the message', got: 'none' });
    // two boundaries share one line end: some readers find a part between them, others a header line
    if (next < at) throw new RelatedError({ expected: 'a part between two boundaries', got: 'none' });
    const { header, start } = readHeader(body, at, next, limits);
    places.push({ header, start, end: next });
    at = next + delimiter.length;
  }
  passClosing(body, at);
  if (body.length - at - 2 > mimeOutsideBytes)
    throw new RelatedError({
      expected: `at most ${mimeOutsideBytes} bytes behind the closing boundary`,
      got: 'more bytes',
    });
  return places;
}

function pastBlanks(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 32 || body[at] === 9) at++;
  return at;
}

/** Moves past the blanks and CRLF after a delimiter. */
export function passLineEnd(body: Buffer, from: number): number {
  const at = pastBlanks(body, from);
  if (body[at] === 13 && body[at + 1] === 10) return at + 2;
  throw new RelatedError({ expected: 'a line that ends in CRLF behind the boundary', got: 'other bytes' });
}

/**
 * Checks that after a closing delimiter's two hyphens only blanks and the end of the line or message follow. For
 * readers of whole lines, anything else is a line of the part.
 */
export function passClosing(body: Buffer, from: number): void {
  const next = body[pastBlanks(body, from + 2)];
  if (next !== undefined && next !== 13 && next !== 10)
    throw new RelatedError({
      expected: 'nothing but blanks behind the closing boundary on its line',
      got: 'other bytes',
    });
}

/**
 * Parses a part's header: lines by name in lower case with folded lines joined, and the start of the content. Relevant
 * names must not be repeated.
 */
export function readHeader(
  body: Buffer,
  from: number,
  end: number,
  { mimeHeaderBytes = maxPartHeaderBytes }: Limits,
): { readonly header: ReadonlyMap<string, string>; readonly start: number } {
  const header = new Map<string, string>();
  if (from === end) return { header, start: end };
  // the CRLF of the boundary may end the header
  const part = body.subarray(from, Math.min(end + crlf.length, from + mimeHeaderBytes));
  let name = '';
  for (let at = 0; ; ) {
    const lineEnd = part.indexOf(crlf, at);
    if (lineEnd < 0) {
      const long = end + crlf.length > from + mimeHeaderBytes;
      throw new RelatedError(
        long
          ? { expected: `a part's header of at most ${mimeHeaderBytes} bytes`, got: 'a longer header' }
          : { expected: "an empty line behind a part's header", got: 'none' },
      );
    }
    if (lineEnd === at) return { header, start: Math.min(from + at + crlf.length, end) };
    const line = part.toString('utf8', at, lineEnd);
    at = lineEnd + crlf.length;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what no header line holds
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(line))
      throw new RelatedError({
        expected: "lines that end in CRLF in a part's header",
        got: 'control characters',
      });
    if (blanks.includes(line[0] as string)) {
      if (name === '')
        throw new RelatedError({ expected: "a name in a part's first header line", got: 'blanks' });
      header.set(name, `${header.get(name)} ${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(':');
    if (colon < 1)
      throw new RelatedError({ expected: "name: value in a part's header", got: 'another line' });
    name = line.slice(0, colon).trim().toLowerCase();
    if (counted.has(name) && header.has(name))
      throw new RelatedError({ expected: `${name} once in a part's header`, got: 'the field again' });
    header.set(name, line.slice(colon + 1).trim());
  }
}

const counted: ReadonlySet<string> = new Set(['content-type', 'content-id', 'content-transfer-encoding']);

/** The relevant fields of a part's header. */
export interface PartHeader {
  readonly id: string | undefined;
  readonly contentType: string | undefined;
  readonly isBase64: boolean;
}

const asTheyAre: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

export function headerOf(
  header: Place['header'],
  { mimeContentId = maxContentIdCharacters }: Limits,
): PartHeader {
  const stated = header.get('content-id');
  const id = stated === undefined ? undefined : bareId(stated);
  if (id !== undefined && id.length > mimeContentId)
    throw new RelatedError({
      expected: `a Content-ID of at most ${mimeContentId} characters`,
      got: quoteValue(`${shown(id)} and more`, 'a text'),
    });
  const coding = header.get('content-transfer-encoding')?.toLowerCase();
  const isBase64 = coding === 'base64';
  if (coding !== undefined && !isBase64 && !asTheyAre.has(coding))
    throw new RelatedError({
      expected: 'Content-Transfer-Encoding: 7bit, 8bit, binary or base64',
      got: quoteValue(shown(coding), 'a text'),
    });
  return { id: id === '' ? undefined : id, contentType: header.get('content-type'), isBase64 };
}

function bytesOf(body: Buffer, { start, end, isBase64, id }: PartPlace): Buffer {
  if (!isBase64) return body.subarray(start, end);
  const letters = base64FromXml(body.toString('latin1', start, end));
  if (letters === undefined)
    throw new RelatedError({
      expected: "base64, as the part's Content-Transfer-Encoding says",
      got: quoteValue(`other text: ${shown(id ?? '')}`),
    });
  return Buffer.from(letters, 'base64');
}
