import type { Limits } from '../contract/limits.ts';
import { type Reason, sentence } from '../contract/reason.ts';
import type { FilledBody } from './filled-body.ts';
import type { StreamedFile } from './streamed-file.ts';

/** Codes of problems of a request (W29). */
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

/** A problem of a request, as its error lists it (W29). */
export interface Problem extends Reason {
  readonly code: ProblemCode;
  /**
   * Dotted path in the caller's spelling, array indexes from 0: `Request.Permissions[1]`. Empty for the request itself.
   */
  readonly path: string;
  /** The rest of a sentence that begins with the path, for example `is missing`. It replaces `expected` and `got`. */
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

/** Part of a path: a member's name or an array index. */
export type Step = string | number;

/** Index of the slot that holds the credentials of the input. */
export const credentialsSlot = 0;

/** State and results of reading one request, besides its JSON. */
export interface Reading {
  /** Path of the current value, in the caller's spelling. */
  readonly path: Step[];
  readonly problems: Problem[];
  /** Missing required members. They are reported only if there are no `problems` (W43). */
  readonly missing: Problem[];
  /** Names of elements that `unknownElements: ignore` left out (W12). */
  readonly ignored: string[];
  /** By slot: the JSON of the inputs that are not sent in the body object. */
  readonly slots: (string | undefined)[];
  /** The JSON of each member of the credentials, in the order of the type's fields (W24). */
  credentials: readonly (string | undefined)[] | undefined;
  /** By slot: the range of its value in the text of a JSON request. */
  readonly spans: ({ readonly start: number; readonly end: number } | undefined)[];
  /** Replacements in the text of a JSON request (W37), in order. */
  readonly edits: Edit[];
  readonly limit: number;
  /** Steps of patterns so far, estimated before each match (`validate: strict`). */
  patternSteps: number;
  /** Steps of patterns and characters that rules read, compared with `mostSteps`. */
  steps: number;
  /** Maximum number of steps. If it is exceeded, `TooManySteps` is thrown. */
  readonly mostSteps: number;
  /** Number of characters of lists and objects that rules read again (`validate: strict`). */
  rereadText: number;
  /** Number of characters of XML as text, and of reference targets (adopted services). */
  openText: number;
  /** True if an unknown attribute is refused; otherwise it is a tolerated deviation (W11). */
  refusesAttributes: boolean;
  /** Number of character references that XML forbids but that were accepted (W10). */
  illegalReferences: number;
  /** True in an rpc message: elements in another namespace are found by local name (A30). */
  isRpc: boolean;
  /** Tolerated deviations of the request, each name once; undefined for none. Recorded in the log and in metrics. */
  deviations: Set<Deviation> | undefined;
  /** True for a request that the byte reader gave up. */
  isReadTwice: boolean;
  /** True for a request with elements in another order than that of an OpenAPI contract (W11). */
  isReordered: boolean;
  /** The MIME parts of the message after its envelope (W60); undefined for a message that cannot have any. */
  attachments: AttachedParts | undefined;
  /** True for a reply that is compared: a value that violates the contract is recorded, and read as text (G34). */
  keepsRefused: boolean;
  /** Paths of empty elements that have their declared default (A25), at most `limit`; recorded with `keepsRefused`. */
  defaults: string[] | undefined;
  /** True for a reply of which attributes of foreign namespaces are no violations (G31). */
  passesForeign?: boolean;
}

/** The attachments of a message, as readers of values use them. `attachments.ts` implements them. */
export interface AttachedParts {
  /** MTOM: an `xop:Include` refers to a part. SwA: an `href` of an empty element. */
  readonly form: 'mtom' | 'swa';
  /** The element with an `href` that is being read in a SwA message, until its type takes the reference. */
  current: { isTaken: boolean } | undefined;
  /**
   * Returns the part that an `href` refers to, as a JSON string. Returns undefined, and records a problem, for an
   * invalid or repeated reference (W61).
   */
  take(href: string, reading: Reading): string | undefined;
  /** Returns the bytes of the part that a JSON token represents; undefined for a token of another value. */
  bytesOf(token: string): Buffer | StreamedFile | undefined;
  /** Replaces the tokens in an upstream's body with base64. Returns the same body if it has no tokens. */
  fill(body: string | Buffer): string | Buffer | FilledBody;
}

/** A replacement for a range of a JSON request's text, with offsets in characters (W37). */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Applies edits to `text`. They are in order; `offset` is the position of `text` in the string that they count from.
 */
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
 * Returns an empty reading for a request.
 *
 * @param limit maximum number of problems that are recorded
 * @param mostSteps maximum number of steps of rules before `TooManySteps` is thrown
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
    illegalReferences: 0,
    isRpc: false,
    deviations: undefined,
    isReadTwice: false,
    isReordered: false,
    attachments: undefined,
    keepsRefused: false,
    defaults: undefined,
  };
}

/** Records that the request has a tolerated deviation. The request is still accepted. */
export function recordDeviation(reading: Reading, deviation: Deviation): void {
  reading.deviations ??= new Set();
  reading.deviations.add(deviation);
}

/** Returns true if the maximum number of problems is recorded; further problems need no message. */
export function isFull(reading: Reading): boolean {
  return reading.problems.length >= reading.limit;
}

/** Records that the value at the current path is invalid. Returns undefined, because an invalid value has no JSON. */
export function refuse(reading: Reading, code: ProblemCode, reason: Reason): undefined {
  if (isFull(reading)) return;
  reading.problems.push({ code, path: fieldPath(reading.path), ...reason });
}

/** Records a problem of a member of the current value. */
export function refuseAt(reading: Reading, step: Step, code: ProblemCode, reason: Reason): void {
  reading.path.push(step);
  refuse(reading, code, reason);
  reading.path.pop();
}

/**
 * Records that the required member at `path` is missing or empty.
 *
 * @param distinguishesAbsent true if the message says that it is missing; the first dialect has one sentence for both (W42)
 */
export function miss(reading: Reading, path: readonly Step[], distinguishesAbsent = false): void {
  if (reading.missing.length >= reading.limit) return;
  const reason = distinguishesAbsent
    ? ({ got: 'none', predicate: 'is missing' } as const)
    : ({ got: 'an empty value', predicate: 'must not be empty' } as const);
  reading.missing.push({ code: 'NotEmpty', path: fieldPath(path), expected: 'a value', ...reason });
}

/** Formats a path for a message: `Request.Permissions[1]`. */
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

/** Counts steps before rules execute them. Throws TooManySteps. */
export function countSteps(reading: Reading, steps: number): void {
  reading.steps += steps;
  if (reading.steps > reading.mostSteps) throw new TooManySteps();
}

/**
 * Characters of a request that are read again or added: lists and objects that rules compare, elements behind references
 * (`href`), XML as text, and the namespaces of names.
 */
export const maxRereadCharacters = 32 * 1024 * 1024;

/** Counts characters that conversion adds to a request. Returns false if the limit is exceeded. */
export function tryAddCharacters(
  reading: Reading,
  { rereadText = maxRereadCharacters }: Limits,
  characters: number,
): boolean {
  countSteps(reading, characters);
  reading.openText += characters;
  return reading.openText <= rereadText;
}

/** Records that the limit of XML as text is exceeded. The namespaces of names count toward it. */
export function refuseNamespaces({ rereadText = maxRereadCharacters }: Limits, reading: Reading): undefined {
  const expected = `at most ${rereadText} characters of XML as text and of namespaces in all`;
  return refuse(reading, 'OutOfRange', { expected, got: 'more characters' });
}

/**
 * Thrown if the rules of a request take too many steps for this thread. The request must be read again in another
 * thread.
 */
export class TooManySteps extends Error {
  constructor() {
    super('rules take more steps than may be taken here');
    this.name = 'TooManySteps';
  }
}

/** Returns the error for a member of a reply that occurs twice. */
export function twice(name: string): MismatchError {
  return new MismatchError({ expected: 'the member once', got: 'it again' }).at(name);
}

/** A reply that does not match the contract's type (W22). */
export class MismatchError extends Error {
  readonly path: Step[] = [];
  /** The error's data without the path. */
  readonly reason: Reason;
  /** The code if the value was part of a request. */
  readonly code: ProblemCode;

  constructor(reason: Reason, code: ProblemCode = 'InvalidType') {
    super(sentence(reason));
    this.name = 'MismatchError';
    this.reason = reason;
    this.code = code;
  }

  /** Adds a step in front of the path. Called by each record and array that the error passes. */
  at(step: Step): this {
    this.path.unshift(step);
    this.message = `${fieldPath(this.path)}: ${sentence(this.reason)}`;
    return this;
  }
}
