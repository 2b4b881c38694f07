import { isUtf8 } from 'node:buffer';
import { type Key, keyOf } from '../../bytes.ts';
import type { RecordType, Type } from '../../contract/model.ts';
import type { Input } from '../../http-mapping/call.ts';
import { XmlError } from '../../xml/error.ts';
import { Output } from '../../xml/output.ts';
import { type Reading, startReading } from '../problem.ts';
import { Form, formOf, Marks, type TextValue } from './placeholders.ts';
import { mostBytes, Texts } from './text-tokenizer.ts';

/** What a request of one form comes to. */
interface Outcome {
  readonly text: Form;
  readonly slots: readonly (Form | undefined)[];
  readonly credentials: readonly (Form | undefined)[] | undefined;
}

/** What requests are read by their forms with, one at a time. */
export interface Desk {
  readonly texts: Texts;
  readonly output: Output;
}

export function createDesk(): Desk {
  return { texts: new Texts(), output: new Output() };
}

/** Markup as it stood in requests before, and what came after it. */
interface Run {
  readonly markup: string;
  readonly key: Key;
  /** Of the text after it; undefined at the end of a document. */
  readonly value: TextValue | undefined;
  readonly outcome: Outcome | undefined;
  /** What stood behind that text, the longest first. */
  readonly next: Run[];
}

/** In characters, of all documents that were kept. */
const mostKept = 32_768;
/** One in so many requests of an unknown form is kept, so that callers who never write twice alike cost next to nothing. */
const keptOneIn = 8;

/**
 * The forms of the requests that were read behind one beginning: markup that is the same to the last character, and
 * texts between. A caller's requests for an operation mostly differ in their texts alone, and markup that was read before
 * comes to the same JSON again. Whatever isn't exactly as before is left to the codec, which also says what is wrong.
 */
export class Templates {
  readonly #input: RecordType;
  readonly #desk: Desk;
  #isMadeOfTexts: boolean | undefined;
  #runs: Run[] = [];
  #kept = 0;
  #unknown = 0;

  /**
   * @param input what the requests are of
   * @param desk the one for all
   */
  constructor(input: RecordType, desk: Desk) {
    this.#input = input;
    this.#desk = desk;
  }

  /** Whether a document may be of a form that is known. */
  mayKnow(document: Buffer): boolean {
    return this.#kept !== 0 && document.length <= mostBytes && isUtf8(document);
  }

  /**
   * Reads what follows the beginning; undefined where its form is unknown or a text isn't of its type.
   *
   * @param document one that it may know
   * @param from where the beginning ends
   * @param limit as `startReading` has it
   * @param illegalReferences as `XmlReader` has it
   */
  read(document: Buffer, from: number, limit: number, illegalReferences: boolean): Input | undefined {
    try {
      this.#desk.texts.start(document, illegalReferences);
      const outcome = this.#walk(from);
      return outcome === undefined ? undefined : inputOf(outcome, this.#desk, limit);
    } catch (error) {
      if (error instanceof XmlError) return undefined;
      throw error;
    }
  }

  /** Reads the texts on the way to the end of the document, where what they come to is known. */
  #walk(from: number): Outcome | undefined {
    const { texts } = this.#desk;
    let runs = this.#runs;
    let at = from;
    for (;;) {
      const run = runAt(runs, texts, at);
      if (run === undefined) return undefined;
      at += run.key.length;
      const { value } = run;
      if (value === undefined) return texts.isEnd(at) ? run.outcome : undefined;
      at = texts.read(at, value);
      if (at < 0) return undefined;
      runs = run.next;
    }
  }

  /**
   * Takes note of a request that was read without fault.
   *
   * @param readMarked reads it once more, from `from` on
   */
  note(text: string, from: number, limit: number, readMarked: (reading: Reading) => Input): void {
    if (++this.#unknown % keptOneIn !== 0 || text.length > mostBytes) return;
    this.#isMadeOfTexts ??= isMadeOfTexts(this.#input, new Set());
    if (!this.#isMadeOfTexts) return;
    const marks = new Marks(text);
    const reading = startReading(limit);
    reading.marks = marks;
    const { text: json } = readMarked(reading);
    const pieces = markupOf(text, from, marks);
    if (pieces.some(holdsText)) return;
    if (this.#kept + text.length > mostKept) {
      this.#runs = [];
      this.#kept = 0;
    }
    this.#kept += text.length;
    const { slots, credentials } = reading;
    const outcome: Outcome = {
      text: new Form(json.toString()),
      slots: slots.map(formOf),
      credentials: credentials?.map(formOf),
    };
    let runs = this.#runs;
    for (const [index, markup] of pieces.entries()) {
      const value = marks.texts[index]?.value;
      runs = runOf(runs, markup, value, value === undefined ? outcome : undefined).next;
    }
  }
}

/** What stands between the texts of a document. */
function markupOf(text: string, from: number, { texts }: Marks): readonly string[] {
  return [...texts, { start: text.length }].map(({ start }, index) =>
    text.slice(texts[index - 1]?.end ?? from, start),
  );
}

/** Whether there is text in markup, a comment or a CDATA section: its token isn't of marked text alone. */
function holdsText(markup: string): boolean {
  return /<!|(?:^|>)[^<>]*[^<>\s]/.test(markup);
}

/** The run of a markup among others, new where it isn't one of them. */
function runOf(runs: Run[], text: string, value: TextValue | undefined, outcome: Outcome | undefined): Run {
  const known = runs.find(({ markup }) => markup === text);
  if (known !== undefined) return known;
  // a text of its own: a part of the document would keep all of the document in memory
  const markup = Buffer.from(text).toString();
  const run: Run = { markup, key: keyOf(markup), value, outcome, next: [] };
  const shorter = runs.findIndex((other) => other.markup.length < markup.length);
  runs.splice(shorter < 0 ? runs.length : shorter, 0, run);
  return run;
}

function runAt(runs: readonly Run[], texts: Texts, at: number): Run | undefined {
  for (const run of runs) if (texts.matches(at, run.key)) return run;
  return undefined;
}

function inputOf({ text, slots, credentials }: Outcome, desk: Desk, limit: number): Input {
  const reading = startReading(limit);
  for (let slot = 0; slot < slots.length; slot++) {
    const json = textOf(slots[slot], desk);
    if (json !== undefined) reading.slots[slot] = json;
  }
  reading.credentials = credentials?.map((form) => textOf(form, desk));
  reading.quirks = desk.texts.quirks;
  return { text: fill(text, desk).take(), reading, closes: undefined };
}

/** A form with the tokens in their places. */
function fill(form: Form, { texts, output }: Desk): Output {
  const { tokens, view, ends } = texts;
  output.start(0);
  for (const part of form.pieces) {
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

function textOf(form: Form | undefined, desk: Desk): string | undefined {
  if (form === undefined) return undefined;
  const { pieces } = form;
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === 'number') return desk.texts.token(only);
  return fill(form, desk).take().toString();
}

/** Whether values of a type are made of texts that nothing but their own types looks at: those have templates. */
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
        type.others === undefined &&
        type.fields.every((field) => field.rules === undefined && isMadeOfTexts(field.type, seen))
      );
    default:
      return false;
  }
}
