import { Buffer, isUtf8 } from 'node:buffer';
import { type Key, keyOf } from '../../bytes.ts';
import type { RecordType, Type } from '../../contract/model.ts';
import { XmlError } from '../../xml/error.ts';
import { Output } from '../../xml/output.ts';
import type { Input, WriteCredentialsMember } from '../input.ts';
import { type Reading, startReading } from '../problem.ts';
import type { TextValue } from '../text-value.ts';
import { JsonTemplate, Placeholders, templateOf } from './placeholders.ts';
import { mostBytes, TextTokenizer } from './text-tokenizer.ts';

/** What a request of one shape comes to. */
interface Outcome {
  /** The body's JSON; without its last brace where `credentialsMember` follows. */
  readonly text: JsonTemplate;
  /** The member for credentials and the brace; undefined where they don't go upstream in the body. */
  readonly credentialsMember: JsonTemplate | undefined;
  readonly slots: readonly (JsonTemplate | undefined)[];
  readonly credentials: CredentialTexts | undefined;
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
  readonly #writeCredentials: WriteCredentialsMember | undefined;
  #isMadeOfTexts: boolean | undefined;
  #segments: Segment[] = [];
  #kept = 0;
  #unknown = 0;

  /**
   * @param input what the requests are of
   * @param scratch the one for all
   * @param limit as `startReading` has it
   * @param illegalReferences as `XmlReader` has it
   * @param writeCredentials undefined where credentials don't go upstream in the body
   */
  constructor(
    input: RecordType,
    scratch: Scratch,
    limit: number,
    illegalReferences: boolean,
    writeCredentials: WriteCredentialsMember | undefined,
  ) {
    this.#input = input;
    this.#scratch = scratch;
    this.#limit = limit;
    this.#illegalReferences = illegalReferences;
    this.#writeCredentials = writeCredentials;
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
    if (reading.deviations !== undefined) return;
    const markups = markupOf(text, from, placeholders);
    if (markups.some(holdsText)) return;
    if (this.#kept + text.length > mostKept) {
      this.#segments = [];
      this.#kept = 0;
    }
    this.#kept += text.length;
    const { slots, credentials, missing } = reading;
    const member = credentials === undefined ? undefined : this.#writeCredentials?.(credentials);
    const whole = json.toString();
    const outcome: Outcome = {
      text: new JsonTemplate(member === undefined ? whole : whole.slice(0, -1)),
      credentialsMember: templateOf(
        member === undefined ? undefined : `${whole === '{}' ? '' : ','}${member}}`,
      ),
      slots: slots.map(templateOf),
      credentials: credentials === undefined ? undefined : new CredentialTexts(credentials.map(templateOf)),
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

function inputOf(outcome: Outcome, scratch: Scratch, limit: number): Input {
  const { text, credentialsMember, slots, credentials, missing } = outcome;
  const reading = startReading(limit);
  for (let slot = 0; slot < slots.length; slot++) {
    const json = textOf(slots[slot], scratch);
    if (json !== undefined) reading.slots[slot] = json;
  }
  reading.credentials = credentials?.read(scratch);
  if (missing.length > 0) reading.missing.push(...missing);
  reading.quirks = scratch.texts.quirks;
  const { output } = scratch;
  output.start(0);
  fill(text, scratch);
  if (credentialsMember === undefined) return { text: output.take(), reading, closes: undefined };
  const end = output.length;
  fill(credentialsMember, scratch);
  return new InputWithCredentials(output.take(), end, reading);
}

/** The tokens of a request's credentials as texts. */
class CredentialTexts {
  readonly #templates: readonly (JsonTemplate | undefined)[];
  /** The first of their tokens where those are all there is to them, one behind the other; looked at once a request needs it. */
  #first: number | undefined;
  #count = -1;

  constructor(templates: readonly (JsonTemplate | undefined)[]) {
    this.#templates = templates;
  }

  read(scratch: Scratch): (string | undefined)[] {
    if (this.#count < 0) this.#look();
    if (this.#first === undefined) return this.#templates.map((template) => textOf(template, scratch));
    const texts = scratch.texts.tokensFrom(this.#first, this.#count);
    let next = 0;
    return this.#templates.map((template) => (template === undefined ? undefined : texts[next++]));
  }

  #look(): void {
    const given = this.#templates.filter((template) => template !== undefined);
    const [first] = given[0]?.pieces ?? [];
    this.#count = given.length;
    if (typeof first !== 'number') return;
    const isRow = given.every(({ pieces }, index) => pieces.length === 1 && pieces[0] === first + index);
    if (isRow) this.#first = first;
  }
}

/** An input whose JSON by itself is seldom asked for. */
class InputWithCredentials implements Input {
  readonly withCredentials: Buffer;
  readonly reading: Reading;
  readonly closes = undefined;
  readonly #end: number;
  #text: string | Buffer | undefined;

  /** @param end where the JSON has its last brace in place of what follows */
  constructor(withCredentials: Buffer, end: number, reading: Reading) {
    this.withCredentials = withCredentials;
    this.reading = reading;
    this.#end = end;
  }

  get text(): string | Buffer {
    this.#text ??= Buffer.concat([this.withCredentials.subarray(0, this.#end), lastBrace]);
    return this.#text;
  }

  set text(text: string | Buffer) {
    this.#text = text;
  }
}

const lastBrace = Buffer.from('}');

/** Writes a template with the tokens in their places. */
function fill(template: JsonTemplate, { texts, output }: Scratch): void {
  const { tokens, view, ends } = texts;
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
}

function textOf(template: JsonTemplate | undefined, scratch: Scratch): string | undefined {
  if (template === undefined) return undefined;
  const [first] = template.pieces;
  if (typeof first === 'number') return scratch.texts.token(first); // no JSON goes on behind one
  const { output } = scratch;
  output.start(0);
  fill(template, scratch);
  return output.take().toString();
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
