import type { Limits } from '../contract/limits.ts';
import { type Reason, sentence } from '../contract/reason.ts';
import type { FilledBody } from './filled-body.ts';
import type { StreamedFile } from './streamed-file.ts';
import type { TokenPlaceholders } from './text-value.ts';

/** What can be wrong with a member of a request (W29). */
export type ProblemCode =
  | 'NotEmpty'
  | 'InvalidType'
  | 'OutOfRange'
  | 'UnknownElement'
  | 'UnknownAttribute'
  | 'DuplicateElement'
  | 'InvalidEnum'
  | 'InvalidCharacter'
  | 'UnknownParameter'
  | 'DuplicateParameter';

/** One thing that is wrong with a request, as its error lists it (W29). */
export interface Problem extends Reason {
  readonly code: ProblemCode;
  /** Dotted path in the caller's own spelling, array positions from 0: `Request.Permissions[1]`; empty for the request. */
  readonly path: string;
  /** The rest of a sentence that begins with the path: `is missing`, in place of what was expected. */
  readonly predicate?: string;
}

/** Writes the sentence of a problem: `path: expected …, got …`. */
export function problemText(problem: Problem): string {
  const { path, predicate } = problem;
  if (predicate !== undefined) return `${path} ${predicate}`;
  return path === '' ? sentence(problem) : `${path}: ${sentence(problem)}`;
}

/** Mistakes of clients that the gateway accepts because their meaning is certain. `docs/operations.md` documents each. */
export const deviations = [
  'attributeNamespace',
  'dateZone',
  'decimalExponent',
  'nilOperation',
  'operationElement',
  'partNamespace',
  'unknownAttribute',
  'wrapperNamespace',
] as const;

export type Deviation = (typeof deviations)[number];

/** Part of a path: a member's name, or a position in an array. */
export type Step = string | number;

/** The slot of the input that holds the credentials. */
export const credentialsSlot = 0;

/** What reading one request gathers besides the JSON it gives. */
export interface Reading {
  /** Where the reader is, in the caller's spelling. */
  readonly path: Step[];
  readonly problems: Problem[];
  /** Required members that aren't there: a later stage than `problems` (W43). */
  readonly missing: Problem[];
  /** Names of elements left out under `unknownElements: ignore` (W12). */
  readonly ignored: string[];
  /** The JSON of the inputs that don't travel in the body object, by slot. */
  readonly slots: (string | undefined)[];
  /** Of the slot with the credentials each member's JSON, in the order of the type's fields (W24). */
  credentials: readonly (string | undefined)[] | undefined;
  /** Where each slot's value stands in the text of a JSON request. */
  readonly spans: ({ readonly start: number; readonly end: number } | undefined)[];
  /** What to replace in the text of a JSON request (W37), in order. */
  readonly edits: Edit[];
  readonly limit: number;
  /** Steps that patterns took, as far as they can be known before (`validate: strict`). */
  patternSteps: number;
  /** These and the characters that rules look at, as `loopSteps` counts them. */
  steps: number;
  /** Those beyond which it isn't to be read on here: `TooManySteps` is thrown. */
  readonly mostSteps: number;
  /** Characters of lists and objects that rules read once more (`validate: strict`). */
  rereadText: number;
  /** Characters of XML that travel as text, and of what references led to (adopted services). */
  openText: number;
  /** Whether an attribute that the contract doesn't know is refused; otherwise it is a tolerated deviation (W11). */
  refusesAttributes: boolean;
  /** Character references of clients that XML forbids and that were read all the same (W10). */
  quirks: number;
  /** True in a message of style rpc, whose elements are found by local name if they are in another namespace (A30). */
  isRpc: boolean;
  /** Tolerated deviations of the request, each name once; undefined for none. Recorded in the log and in metrics. */
  deviations: Set<Deviation> | undefined;
  /** While the shape of a request is learned (`fast-path/`): texts give placeholders instead of their tokens. */
  placeholders: TokenPlaceholders | undefined;
  /** The parts of the message beside its envelope (W60); undefined for a message that can't have any. */
  attachments: AttachedParts | undefined;
}

/** The parts of a message beside its envelope, as readers of values use them; `attachments.ts` has them. */
export interface AttachedParts {
  /** MTOM: an `xop:Include` refers to a part. SwA: an `href` of an empty element. */
  readonly form: 'mtom' | 'swa';
  /** In a SwA message the element with an `href` that is being read, until its type takes it. */
  current: { isTaken: boolean } | undefined;
  /** What an `href` refers to, as a JSON string; undefined, and noted, where it refers to nothing or a second time (W61). */
  take(href: string, reading: Reading): string | undefined;
  /** The bytes that a JSON token stands for; undefined for a token of another value. */
  bytesOf(token: string): Buffer | StreamedFile | undefined;
  /** An upstream's body with base64 in place of tokens; the same where it has none. */
  fill(body: string | Buffer): string | Buffer | FilledBody;
}

/** A part of a JSON request's text, by offsets in characters, and what stands there for upstream (W37). */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** `text` with the edits put in; they are in order, `offset` is where `text` starts in what they count from. */
export function applyEdits(text: string, edits: readonly Edit[], offset = 0): string {
  if (edits.length === 0) return text;
  let edited = '';
  let from = 0;
  for (const edit of edits) {
    edited += text.slice(from, edit.start - offset) + edit.text;
    from = edit.end - offset;
  }
  return edited + text.slice(from);
}

/** Maximum number of problems that are recorded for a request, and of items of `errors` in a reply. */
export const maxReportedProblems = 20;

/**
 * A reading of one request that has nothing yet.
 *
 * @param limit maximum number of problems that are recorded
 * @param mostSteps as many steps as rules may take before `TooManySteps` is thrown
 */
export function startReading(limit: number, mostSteps: number = Number.POSITIVE_INFINITY): Reading {
  return {
    path: [],
    problems: [],
    missing: [],
    ignored: [],
    slots: [],
    credentials: undefined,
    spans: [],
    edits: [],
    limit,
    patternSteps: 0,
    steps: 0,
    mostSteps,
    rereadText: 0,
    openText: 0,
    refusesAttributes: false,
    quirks: 0,
    isRpc: false,
    deviations: undefined,
    placeholders: undefined,
    attachments: undefined,
  };
}

/**
 * Records that the request has a tolerated deviation. The request is still accepted. The fast path (`fast-path/`) keeps
 * no shape of such a request, so a repeated request is recorded again.
 */
export function recordDeviation(reading: Reading, deviation: Deviation): void {
  reading.deviations ??= new Set();
  reading.deviations.add(deviation);
}

/** Whether as many problems are noted as an error lists: a further one needs no message. */
export function isFull(reading: Reading): boolean {
  return reading.problems.length >= reading.limit;
}

/** Notes that the value at the current path is wrong. Returns undefined, as a wrong value has no JSON. */
export function refuse(reading: Reading, code: ProblemCode, reason: Reason): undefined {
  if (isFull(reading)) return;
  reading.problems.push({ code, path: fieldPath(reading.path), ...reason });
}

/** The same of what stands a step below the current path. */
export function refuseAt(reading: Reading, step: Step, code: ProblemCode, reason: Reason): void {
  reading.path.push(step);
  refuse(reading, code, reason);
  reading.path.pop();
}

/**
 * Notes that the required member at `path` isn't there, or is empty.
 *
 * @param tellsAbsent whether to say that there is none: the first dialect has one sentence for both (W42)
 */
export function miss(reading: Reading, path: readonly Step[], tellsAbsent = false): void {
  if (reading.missing.length >= reading.limit) return;
  const told = tellsAbsent
    ? { got: 'none', predicate: 'is missing' }
    : { got: 'an empty one', predicate: 'must not be empty' };
  reading.missing.push({ code: 'NotEmpty', path: fieldPath(path), expected: 'a value', ...told });
}

/** A path as a message tells it: `Request.Permissions[1]`. */
export function fieldPath(path: readonly Step[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/**
 * Maximum number of steps on the event loop per request. A worker thread reads a request again that needs more. Steps are
 * instructions of patterns, characters that rules read, and 64 for each rule of a value.
 */
export const maxLoopSteps = 1_000_000;

/** Counts steps that rules are about to take. Throws TooManySteps. */
export function countSteps(reading: Reading, steps: number): void {
  reading.steps += steps;
  if (reading.steps > reading.mostSteps) throw new TooManySteps();
}

/**
 * Characters of a request that are read again or added: lists and objects that rules compare, elements behind references
 * (`href`), XML as text, and the namespaces of names.
 */
export const maxRereadCharacters = 32 * 1024 * 1024;

/** Counts characters that a request may become longer by, which take time to make; false once that is too much in all. */
export function hasRoom(
  reading: Reading,
  { rereadText = maxRereadCharacters }: Limits,
  characters: number,
): boolean {
  countSteps(reading, characters);
  reading.openText += characters;
  return reading.openText <= rereadText;
}

/** Notes that there is no room for more XML as text, of which names with their namespaces are a part. */
export function refuseNamespaces({ rereadText = maxRereadCharacters }: Limits, reading: Reading): undefined {
  const expected = `at most ${rereadText} characters of XML as text and of namespaces in all`;
  return refuse(reading, 'OutOfRange', { expected, got: 'more' });
}

/** A request whose rules take longer than whoever reads it can wait: it is to be read elsewhere, from its beginning. */
export class TooManySteps extends Error {
  constructor() {
    super('rules take more steps than may be taken here');
    this.name = 'TooManySteps';
  }
}

/** A reply that isn't of the contract's type (W22). */
export class MismatchError extends Error {
  readonly path: Step[] = [];
  /** Data of the error, without the path. */
  readonly reason: Reason;
  /** What it is where it was a request's. */
  readonly code: ProblemCode;

  constructor(reason: Reason, code: ProblemCode = 'InvalidType') {
    super(sentence(reason));
    this.name = 'MismatchError';
    this.reason = reason;
    this.code = code;
  }

  /** Called by each record and array on the way out. */
  at(step: Step): this {
    this.path.unshift(step);
    this.message = `${fieldPath(this.path)}: ${sentence(this.reason)}`;
    return this;
  }
}
