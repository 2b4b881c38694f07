import { instructionsIn, withoutRanges } from '../compare/instructions.ts';
import { replyLimits } from '../compare/reply.ts';
import { type Shape, Shapes } from '../compare/shapes.ts';
import { builtInTypes } from '../contract/built-in-types.ts';
import type { Limits } from '../contract/limits.ts';
import type { Contract, Operation } from '../contract/model.ts';
import { parseContentType } from '../http-mapping/content-type.ts';
import {
  type PartPlace,
  RelatedError,
  RelatedTypeError,
  readRelatedType,
  splitRelated,
} from '../http-mapping/related.ts';
import { JsonError } from '../json/grammar.ts';
import { membersOf } from '../json/parts.ts';
import { JsonReader } from '../json/reader.ts';
import { decodeXml, hasPlainCharacters, isWide, utf8Start } from '../xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../xml/error.ts';
import { XmlReader } from '../xml/reader.ts';
import { JsonRedaction } from './json.ts';
import { type Level, Levels } from './levels.ts';
import { compileBytePseudonyms, compilePseudonyms, hiddenText, type PseudonymOf } from './pseudonyms.ts';
import { References } from './references.ts';
import { type Edit, NoEnvelope, type RedactionTerms, XmlRedaction } from './xml.ts';

/** Maximum number of times that an envelope is read. References to targets before them need more than two. */
const mostWalks = 8;

/** `pseudonyms` replaces personal values; `none` keeps them. Credentials are always `***`. */
export type RedactionMode = 'pseudonyms' | 'none';

/** Redacts the messages of one exchange. Each method returns undefined for a message that it cannot read. */
export interface ExchangeRedaction {
  /** Redacts a SOAP message. */
  readonly soap: (
    side: 'input' | 'output',
    body: Buffer,
    contentType: string | undefined,
  ) => Buffer | undefined;
  /** Redacts JSON of the contract. `isFault`: an error response, whose declared members are those of its `@fault`. */
  readonly json: (side: 'input' | 'output', body: Buffer, isFault?: boolean) => Buffer | undefined;
}

/**
 * Starts the redaction of an exchange of an operation. `hide` removes secrets of the call from texts; `onCredential` is
 * called with those in the messages.
 */
export type RedactExchange = (
  operation: Operation,
  hide: (text: string) => string,
  onCredential: (text: string) => void,
) => ExchangeRedaction;

/**
 * Compiles the redaction of a contract that is loaded from a WSDL (G57).
 *
 * @param path path of the contract, which is a part of its pseudonyms
 * @param key key of the pseudonyms; undefined for `***` instead
 */
export function compileRedaction(
  contract: Contract,
  path: string,
  mode: RedactionMode,
  key: Buffer | undefined,
  limits: Limits,
): RedactExchange {
  const unlimited = replyLimits(limits);
  const shapes = new Shapes(contract);
  const pseudonymOf = compilePseudonyms(path, key);
  const otherBytes = compileBytePseudonyms(path, key);
  const levels = {
    input: new Levels(contract, mode === 'none', true),
    output: new Levels(contract, mode === 'none', false),
  };
  return (operation, hide, onCredential) => {
    const seen = new Map<string, string>();
    const credentials = new Set<string>();
    const termsOf = (side: 'input' | 'output', references: References): RedactionTerms => ({
      contract,
      levels: levels[side],
      pseudonymOf,
      seen,
      hide,
      references,
      onCredential: (text) => {
        credentials.add(text);
        onCredential(text);
      },
    });
    const document = (side: 'input' | 'output', bytes: Buffer, charset: string | undefined) => {
      // blanks in place of processing instructions, which may contain any text
      const decoded = decodeXml(bytes, charset);
      const instructions = instructionsIn(decoded);
      const text = withoutRanges(decoded, instructions, ' ');
      const references = new References();
      const terms = termsOf(side, references);
      for (let walk = 0; walk < mostWalks; walk++) {
        const known = [credentials.size, seen.size];
        references.isChanged = false;
        const xml = new XmlReader(text, unlimited, { acceptsIllegalReferences: true, emptyPrefixes: true });
        const redaction = new XmlRedaction(xml, text, terms);
        redaction.redact(operation, side);
        // later content may hide earlier content
        const isNew = credentials.size !== known[0] || (redaction.hasReasons && seen.size !== known[1]);
        if (!isNew && !references.isChanged)
          return {
            bytes: encoded(bytes, charset, text, redaction.edits, instructions),
            parts: redaction.parts,
          };
      }
      throw new NoEnvelope('references that are too deep');
    };
    return {
      soap: (side, body, contentType = '') =>
        readable(() => {
          const { type, charset } = parseContentType(contentType);
          if (type !== 'multipart/related') return document(side, body, charset).bytes;
          const related = readRelatedType(contentType);
          const split = splitRelated(body, related, unlimited);
          const { start, end, isBase64 } = split.root;
          if (isBase64) return undefined;
          const root = document(side, body.subarray(start, end), split.charset);
          const others = split.parts.map((part) => {
            const isKnown = part.id !== undefined && root.parts.has(part.id);
            const level = isKnown ? root.parts.get(part.id ?? '') : 'open';
            return partBytes(body.subarray(part.start, part.end), part, level, mode, pseudonymOf, otherBytes);
          });
          const places = [split.root, ...split.parts];
          return rejoined(body, related.boundary, places, [root.bytes, ...others]);
        }),
      json: (side, body, isFault = false) =>
        readable(() => {
          const text = body.toString('utf8');
          const shape = jsonShape(shapes, operation, side, isFault ? text : undefined, unlimited);
          const faults = side === 'output' ? faultNames(shapes, operation) : noFaults;
          const terms = termsOf(side, new References());
          const walked = (): JsonRedaction => {
            const redaction = new JsonRedaction(new JsonReader(text, unlimited), shapes, terms);
            redaction.redact(shape, faults);
            return redaction;
          };
          const known = credentials.size;
          const first = walked();
          const { edits } = credentials.size === known ? first : walked();
          return Buffer.from(applied(text, edits));
        }),
    };
  };
}

const noFaults: ReadonlySet<string> = new Set();

/** Returns the names of the faults of an operation. */
function faultNames(shapes: Shapes, operation: Operation): ReadonlySet<string> {
  const faults = shapes.replyOf(operation).slots.get('@fault')?.shape();
  return faults?.kind === 'object' ? new Set(faults.slots.keys()) : noFaults;
}

function jsonShape(
  shapes: Shapes,
  operation: Operation,
  side: 'input' | 'output',
  fault: string | undefined,
  limits: Limits,
): Shape | undefined {
  if (side === 'input') return shapes.requestOf(operation);
  const reply = shapes.replyOf(operation);
  if (fault === undefined) {
    const { shape } = shapes.bodyOf(operation);
    return shape.kind === 'object' ? reply : shape;
  }
  const faults = reply.slots.get('@fault')?.shape();
  const members = new Map(membersOf(fault, limits) ?? []);
  const stated = members.get('@fault') ?? '';
  const name = stated.startsWith('"') ? new JsonReader(stated, limits).string() : undefined;
  return faults?.kind === 'object' && name !== undefined ? faults.slots.get(name)?.shape() : undefined;
}

/** Returns undefined for a message that is unreadable. */
function readable(redact: () => Buffer | undefined): Buffer | undefined {
  try {
    return redact();
  } catch (error) {
    const isUnreadable =
      error instanceof XmlError ||
      error instanceof NoEnvelope ||
      error instanceof UnsupportedCharset ||
      error instanceof RelatedError ||
      error instanceof RelatedTypeError ||
      error instanceof JsonError;
    if (isUnreadable) return undefined;
    throw error;
  }
}

function applied(text: string, edits: readonly Edit[]): string {
  let [redacted, from] = ['', 0];
  for (const { start, end, text: other } of edits.toSorted((one, two) => one.start - two.start)) {
    redacted += text.slice(from, start) + other;
    from = end;
  }
  return redacted + text.slice(from);
}

/** Applies edits to a document in its own encoding. Throws UnsupportedCharset for one with characters of several bytes. */
function encoded(
  bytes: Buffer,
  charset: string | undefined,
  text: string,
  edits: readonly Edit[],
  instructions: ReturnType<typeof instructionsIn>,
): Buffer {
  const start = hasPlainCharacters(bytes) ? utf8Start(bytes, charset) : undefined;
  if (start !== undefined)
    return Buffer.concat([bytes.subarray(0, start), Buffer.from(applied(text, edits))]);
  if (isWide(bytes)) {
    const isBig = bytes[0] === 0xfe || bytes[0] === 0;
    const hasMark = bytes[0] === 0xff || bytes[0] === 0xfe;
    const wide = Buffer.from(`${hasMark ? '\ufeff' : ''}${applied(text, edits)}`, 'utf16le');
    return isBig ? wide.swap16() : wide;
  }
  if (text.length !== bytes.length) throw new UnsupportedCharset(charset ?? 'of the declaration');
  const latin = withoutRanges(bytes.toString('latin1'), instructions, ' ');
  const ascii = edits.map(({ text: other, ...range }) => ({ ...range, text: withReferences(other) }));
  return Buffer.from(applied(latin, ascii), 'latin1');
}

/** Writes other characters than ASCII as references. */
function withReferences(text: string): string {
  return text.replace(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`);
}

function partBytes(
  bytes: Buffer,
  { isBase64 }: PartPlace,
  level: Level,
  mode: RedactionMode,
  pseudonymOf: PseudonymOf,
  otherBytes: (bytes: Buffer) => Buffer,
): Buffer {
  if (level === undefined || (level === 'open' && mode === 'none')) return bytes;
  if (level !== 'personal') return Buffer.from(hiddenText);
  if (!isBase64) return otherBytes(bytes);
  return Buffer.from(pseudonymOf(bytes.toString('latin1'), builtInTypes.get('base64Binary')), 'latin1');
}

/** Joins the parts of a multipart message again. The headers of parts keep only what readers need. */
function rejoined(
  body: Buffer,
  boundary: string,
  places: readonly PartPlace[],
  contents: readonly Buffer[],
): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const [index, { start, end }] of places.entries()) {
    const before = withoutHeaders(body.subarray(from, start), `--${boundary}`, index > 0);
    pieces.push(Buffer.from(index > 0 ? `\r\n${before}` : before, 'latin1'));
    pieces.push(contents[index] ?? Buffer.alloc(0));
    from = end;
  }
  return Buffer.concat([...pieces, Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1')]);
}

/** Returns the boundary before a part, and hides its headers except those that describe its content. */
function withoutHeaders(bytes: Buffer, delimiter: string, isAttachment: boolean): string {
  const all = bytes.toString('latin1').split('\r\n');
  const isDelimiter = (line: string): boolean => line.trimEnd() === delimiter;
  // the lines before the first boundary are no part of the message
  const lines = all.slice(all.findIndex(isDelimiter));
  let isKept = true;
  const shown = lines.map((line) => {
    if (line === '' || isDelimiter(line)) return line;
    if (line.startsWith(' ') || line.startsWith('\t'))
      return isKept && !isAttachment ? line : ` ${hiddenText}`;
    const [name = ''] = line.split(':', 1);
    isKept = /^(?:content-id|content-type|content-transfer-encoding)$/i.test(name);
    if (!isKept) return `${name}: ${hiddenText}`;
    return isAttachment && /^content-type$/i.test(name) ? line.split(';', 1)[0] : line;
  });
  return shown.join('\r\n');
}
