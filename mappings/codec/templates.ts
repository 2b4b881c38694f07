import type { RecordType, Type } from '../model.ts';
import { findIllegal } from '../xml/characters.ts';
import { XmlError } from '../xml/error.ts';
import { Scanner } from '../xml/scanner.ts';
import type { Input } from './call.ts';
import { type Form, fill, formOf, Marks, saysHowMuch, type TextValue } from './marks.ts';
import { type Reading, startReading } from './problem.ts';

/** What a request of one form comes to. */
interface Outcome {
  readonly text: Form | undefined;
  readonly slots: readonly (Form | undefined)[];
  readonly credentials: readonly (Form | undefined)[] | undefined;
}

/** Markup as it stood in requests before, and what came after it. */
interface Run {
  readonly markup: string;
  /** Of the text after it; undefined at the end of a document. */
  readonly value: TextValue | undefined;
  readonly outcome: Outcome | undefined;
  /** What stood behind that text, the longest first. */
  readonly next: Run[];
}

/** In characters, of a document: in a larger one, most of the time goes into its texts. */
const mostCharacters = 8_192;
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
  #isMadeOfTexts: boolean | undefined;
  #runs: Run[] = [];
  #kept = 0;
  #unknown = 0;

  /** @param input what the requests are of */
  constructor(input: RecordType) {
    this.#input = input;
  }

  /** Whether a document of so many characters or bytes may be of a form that is known. */
  mayKnow(length: number): boolean {
    return this.#kept !== 0 && length <= mostCharacters;
  }

  /**
   * Reads what follows the beginning; undefined where its form is unknown or a text isn't of its type.
   *
   * @param limit as `startReading` has it
   * @param illegalReferences as `XmlReader` has it
   */
  read(text: string, limit: number, illegalReferences: boolean): Input | undefined {
    if (findIllegal(text) >= 0) return undefined;
    const scanner = new Scanner(text, illegalReferences);
    const tokens: string[] = [];
    try {
      const outcome = this.#walk(text, scanner, tokens);
      return outcome === undefined ? undefined : inputOf(outcome, tokens, scanner, limit);
    } catch (error) {
      if (error instanceof XmlError) return undefined;
      throw error;
    }
  }

  /** Reads the texts on the way to the end of the document, where what they come to is known. */
  #walk(text: string, scanner: Scanner, tokens: string[]): Outcome | undefined {
    let runs = this.#runs;
    let at = 0;
    for (;;) {
      const run = runAt(runs, text, at);
      if (run === undefined) return undefined;
      at += run.markup.length;
      const { value } = run;
      if (value === undefined) return at === text.length ? run.outcome : undefined;
      const end = text.indexOf('<', at);
      if (end < 0) return undefined;
      const content = scanner.isPlain(at, end)
        ? text.slice(at, end)
        : scanner.resolveText(at, end, value.maxLength, value.lenient);
      const token = content.length > value.maxLength ? undefined : value.tokenOf(content);
      if (token === undefined || saysHowMuch(token)) return undefined;
      tokens.push(token);
      at = end;
      runs = run.next;
    }
  }

  /**
   * Takes note of a request that was read without fault.
   *
   * @param readMarked reads it once more, from `from` on
   */
  note(text: string, from: number, limit: number, readMarked: (reading: Reading) => Input): void {
    if (++this.#unknown % keptOneIn !== 0 || text.length > mostCharacters) return;
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
      text: formOf(json),
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
  const run: Run = { markup, value, outcome, next: [] };
  const shorter = runs.findIndex((other) => other.markup.length < markup.length);
  runs.splice(shorter < 0 ? runs.length : shorter, 0, run);
  return run;
}

function runAt(runs: readonly Run[], text: string, at: number): Run | undefined {
  for (const run of runs) {
    // a slice is compared as memory is, startsWith character by character
    if (text.slice(at, at + run.markup.length) === run.markup) return run;
  }
  return undefined;
}

function inputOf(
  { text, slots, credentials }: Outcome,
  tokens: readonly string[],
  { joinedSurrogates, illegalReferences }: Scanner,
  limit: number,
): Input {
  const reading = startReading(limit);
  for (let slot = 0; slot < slots.length; slot++) {
    const json = fill(slots[slot], tokens);
    if (json !== undefined) reading.slots[slot] = json;
  }
  reading.credentials = credentials?.map((form) => fill(form, tokens));
  reading.quirks = joinedSurrogates + illegalReferences;
  return { text: fill(text, tokens) ?? '{}', reading, closes: undefined };
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
