import { isUtf8 } from 'node:buffer';
import { type Key, keyOf } from '../../bytes.ts';
import type { RecordType, Type } from '../../contract/model.ts';
import { XmlError } from '../../xml/error.ts';
import { Output } from '../../xml/output.ts';
import type { Input } from '../input.ts';
import { type Reading, startReading } from '../problem.ts';
import type { TextValue } from '../text-value.ts';
import { JsonTemplate, Placeholders, templateOf } from './placeholders.ts';
import { mostBytes, TextTokenizer } from './text-tokenizer.ts';

/** What a request of one shape comes to. */
interface Outcome {
  readonly text: JsonTemplate;
  readonly slots: readonly (JsonTemplate | undefined)[];
  readonly credentials: readonly (JsonTemplate | undefined)[] | undefined;
  /** What such a request lacks, as credentials that come in a header: it hangs on the markup alone. */
  readonly missing: Reading['missing'];
}

/** Scratch buffers, for one request at a time. */
export interface Scratch {
  readonly texts: TextTokenizer;
  readonly output: Output;
}

/** Scratch buffers for the shapes of all operations. */
export function createScratch(): Scratch {
  return { texts: new TextTokenizer(), output: new Output() };
}

/** Markup as it stood in requests before, and what came after it: a node of the tree of all shapes behind one beginning. */
interface Segment {
  readonly markup: string;
  readonly key: Key;
  /** Of the text after it; undefined at the end of a document. */
  readonly value: TextValue | undefined;
  readonly outcome: Outcome | undefined;
  /** What stood behind that text, the longest first. */
  readonly next: Segment[];
}

/** In characters, of all documents whose shapes are kept. */
const mostKept = 32_768;
/** One in so many requests of an unknown shape is kept, so that callers who never write twice alike cost next to nothing. */
const keptOneIn = 8;

/**
 * The shapes of the requests that were read behind one beginning: markup that is the same to the last character, and
 * texts between. A caller's requests for an operation mostly differ in their texts alone, and markup that was read before
 * comes to the same JSON again. Whatever isn't exactly as before is left to the codec, errors too.
 */
export class RequestShapes {
  readonly #input: RecordType;
  readonly #scratch: Scratch;
  readonly #limit: number;
  readonly #illegalReferences: boolean;
  #isMadeOfTexts: boolean | undefined;
  #segments: Segment[] = [];
  #kept = 0;
  #unknown = 0;

  /**
   * @param input what the requests are of
   * @param scratch the one for all
   * @param limit as `startReading` has it
   * @param illegalReferences as `XmlReader` has it
   */
  constructor(input: RecordType, scratch: Scratch, limit: number, illegalReferences: boolean) {
    this.#input = input;
    this.#scratch = scratch;
    this.#limit = limit;
    this.#illegalReferences = illegalReferences;
  }

  /**
   * The input of a document; undefined where its shape is unknown or a text isn't of its type.
   *
   * @param document any bytes that start with the beginning
   * @param from where the beginning ends, in bytes
   */
  read(document: Buffer, from: number): Input | undefined {
    if (this.#kept === 0 || document.length > mostBytes || !isUtf8(document)) return undefined;
    try {
      this.#scratch.texts.start(document, this.#illegalReferences);
      const outcome = this.#walk(from);
      return outcome === undefined ? undefined : inputOf(outcome, this.#scratch, this.#limit);
    } catch (error) {
      if (error instanceof XmlError) return undefined;
      throw error;
    }
  }

  /** Reads the texts on the way to the end of the document, where what they come to is known. */
  #walk(from: number): Outcome | undefined {
    const { texts } = this.#scratch;
    let segments = this.#segments;
    let at = from;
    for (;;) {
      const segment = segmentAt(segments, texts, at);
      if (segment === undefined) return undefined;
      at += segment.key.length;
      const { value } = segment;
      if (value === undefined) return texts.isEnd(at) ? segment.outcome : undefined;
      at = texts.read(at, value);
      if (at < 0) return undefined;
      segments = segment.next;
    }
  }

  /**
   * Takes note of a request that was read without fault, but for what it lacks.
   *
   * @param text the whole document
   * @param from where its beginning ends, in characters
   * @param readAgain reads it once more, from `from` on
   */
  note(text: string, from: number, readAgain: (reading: Reading) => Input): void {
    if (++this.#unknown % keptOneIn !== 0 || text.length > mostBytes) return;
    this.#isMadeOfTexts ??= isMadeOfTexts(this.#input, new Set());
    if (!this.#isMadeOfTexts) return;
    const placeholders = new Placeholders(text);
    const reading = startReading(this.#limit);
    reading.placeholders = placeholders;
    const { text: json } = readAgain(reading);
    const markups = markupOf(text, from, placeholders);
    if (markups.some(holdsText)) return;
    if (this.#kept + text.length > mostKept) {
      this.#segments = [];
      this.#kept = 0;
    }
    this.#kept += text.length;
    const { slots, credentials, missing } = reading;
    const outcome: Outcome = {
      text: new JsonTemplate(json.toString()),
      slots: slots.map(templateOf),
      credentials: credentials?.map(templateOf),
      missing,
    };
    let segments = this.#segments;
    for (const [index, markup] of markups.entries()) {
      const value = placeholders.texts[index]?.value;
      segments = segmentOf(segments, markup, value, value === undefined ? outcome : undefined).next;
    }
  }
}

/** What stands between the texts of a document. */
function markupOf(text: string, from: number, { texts }: Placeholders): readonly string[] {
  return [...texts, { start: text.length }].map(({ start }, index) =>
    text.slice(texts[index - 1]?.end ?? from, start),
  );
}

/** Whether there is text in markup, a comment or a CDATA section: its token isn't of one text alone. */
function holdsText(markup: string): boolean {
  return /<!|(?:^|>)[^<>]*[^<>\s]/.test(markup);
}

/** The segment of a markup among others, new where it isn't one of them. */
function segmentOf(
  segments: Segment[],
  text: string,
  value: TextValue | undefined,
  outcome: Outcome | undefined,
): Segment {
  const known = segments.find(({ markup }) => markup === text);
  if (known !== undefined) return known;
  // a text of its own: a part of the document would keep all of the document in memory
  const markup = Buffer.from(text).toString();
  const segment: Segment = { markup, key: keyOf(markup), value, outcome, next: [] };
  const shorter = segments.findIndex((other) => other.markup.length < markup.length);
  segments.splice(shorter < 0 ? segments.length : shorter, 0, segment);
  return segment;
}

function segmentAt(segments: readonly Segment[], texts: TextTokenizer, at: number): Segment | undefined {
  for (const segment of segments) if (texts.matches(at, segment.key)) return segment;
  return undefined;
}

function inputOf({ text, slots, credentials, missing }: Outcome, scratch: Scratch, limit: number): Input {
  const reading = startReading(limit);
  for (let slot = 0; slot < slots.length; slot++) {
    const json = textOf(slots[slot], scratch);
    if (json !== undefined) reading.slots[slot] = json;
  }
  reading.credentials = credentials?.map((template) => textOf(template, scratch));
  if (missing.length > 0) reading.missing.push(...missing);
  reading.quirks = scratch.texts.quirks;
  return { text: fill(text, scratch).take(), reading, closes: undefined };
}

/** A template with the tokens in their places. */
function fill(template: JsonTemplate, { texts, output }: Scratch): Output {
  const { tokens, view, ends } = texts;
  output.start(0);
  for (const part of template.pieces) {
    if (typeof part === 'number') {
      const start = ends[part] as number;
      const end = ends[part + 1] as number;
      output.reserve(end - start);
      output.copy(tokens, view, start, end);
    } else {
      output.reserve(part.length);
      output.piece(part);
    }
  }
  return output;
}

function textOf(template: JsonTemplate | undefined, scratch: Scratch): string | undefined {
  if (template === undefined) return undefined;
  const [first] = template.pieces;
  if (typeof first === 'number') return scratch.texts.token(first); // no JSON goes on behind one
  return fill(template, scratch).take().toString();
}

/** Whether values of a type are made of texts that nothing but their own types looks at: those have shapes. */
function isMadeOfTexts(type: Type, seen: Set<Type>): boolean {
  if (seen.has(type)) return true; // or it would have ended there
  seen.add(type);
  switch (type.kind) {
    case 'scalar':
    case 'enum':
      return true;
    case 'array':
      return isMadeOfTexts(type.item, seen);
    case 'record':
      return (
        type.additional === undefined &&
        type.fields.every((field) => field.rules === undefined && isMadeOfTexts(field.type, seen))
      );
    default:
      return false;
  }
}
