import { randomBytes } from 'node:crypto';
import { namespaces } from '../contract/model.ts';
import type { Reason } from '../contract/reason.ts';
import type { XmlReader } from '../xml/reader.ts';
import { FilledBody, type FilledPiece } from './filled-body.ts';
import { type AttachedParts, type Reading, refuse, refuseAt } from './problem.ts';
import { isBlankText } from './scalars/scalar.ts';
import { nilAttribute } from './schema-instance.ts';
import { StreamedFile } from './streamed-file.ts';

/** Parts of a message beside its envelope, and what in the envelope stands for them (W60 to W62). */

/** A part: the Content-ID without `<>`, and the bytes. */
export interface Attachment {
  readonly id: string | undefined;
  readonly bytes: Buffer | StreamedFile;
}

/** Characters of a Content-ID that an error shows. */
const shownId = 64;

/** The parts of one message. */
export class Attachments implements AttachedParts {
  /** MTOM: an `xop:Include` refers to a part. SwA: an `href` of an empty element. */
  readonly form: 'mtom' | 'swa';
  /** In a SwA message the element with an `href` that is being read, until its type takes it. */
  current: { isTaken: boolean } | undefined;
  readonly #parts: readonly Attachment[];
  readonly #byId = new Map<string, number>();
  readonly #used: boolean[] = [];
  /** Whether parts stay bytes until the upstream's body is written; else their base64 stands in the JSON. */
  #isHeld = false;
  /** How many parts stand for values. */
  #taken = 0;
  /** What a held part's token begins with: nobody can have written it, since it is made when the message is there. */
  #mark = '';

  constructor(form: 'mtom' | 'swa', parts: readonly Attachment[]) {
    this.form = form;
    this.#parts = parts;
    for (const [index, { id }] of parts.entries()) if (id !== undefined) this.#byId.set(id, index);
  }

  /** From here on tokens stand for parts, and `fill` or `bytesOf` puts them in. */
  hold(): void {
    this.#isHeld = true;
    if (this.#mark === '') this.#mark = `part ${randomBytes(16).toString('hex')} `;
  }

  /** What an `href` refers to, as a JSON string; undefined, and noted, where it refers to nothing or a second time (W61). */
  take(href: string, reading: Reading): string | undefined {
    const index = this.#find(href, reading);
    if (index === undefined) return undefined;
    if (this.#used[index] === true)
      return refuse(reading, 'DuplicateElement', {
        expected: `one reference to the part ${quoted(href)}`,
        got: 'another',
      });
    this.#used[index] = true;
    this.#taken++;
    if (this.#isHeld) return `"${this.#mark}${index}"`;
    const bytes = this.#parts[index]?.bytes;
    return bytes instanceof StreamedFile ? '""' : `"${bytes?.toString('base64')}"`; // of a file there is nothing yet
  }

  #find(href: string, reading: Reading): number | undefined {
    if (!isCid(href))
      return refuse(reading, 'InvalidType', { expected: 'a reference to a part, cid:…', got: quoted(href) });
    const index = this.#indexOf(href);
    if (index === undefined)
      refuse(reading, 'InvalidType', {
        expected: 'a part of the message',
        got: `no such part: ${quoted(href)}`,
      });
    return index;
  }

  #indexOf(href: string): number | undefined {
    const written = href.slice(4);
    const id = written.startsWith('<') && written.endsWith('>') ? written.slice(1, -1) : written;
    return this.#byId.get(id) ?? this.#byId.get(decoded(id));
  }

  /** Notes that a header block refers to a part, which is for who understands the block. */
  mention(href: string): void {
    const index = isCid(href) ? this.#indexOf(href) : undefined;
    if (index !== undefined) this.#used[index] = true;
  }

  /** Whether each part stands for a value, so that none is left out, nor mentioned alone. */
  get areTaken(): boolean {
    return this.#taken === this.#parts.length;
  }

  get hasUnused(): boolean {
    return this.#parts.some((_, index) => this.#used[index] !== true);
  }

  /** Notes the parts that nothing refers to (W61): refused, or left out. */
  noteUnused(reading: Reading, isRefused: boolean): void {
    for (const [index, { id }] of this.#parts.entries()) {
      if (this.#used[index] === true) continue;
      const name = id === undefined ? `part ${index + 2}` : `cid:${id.slice(0, shownId)}`;
      if (!isRefused) {
        reading.ignored.push(name);
        continue;
      }
      refuseAt(reading, name, 'UnknownElement', { detail: 'nothing in the message refers to it' });
    }
  }

  /** The bytes that a JSON token stands for; undefined for a token of another value. */
  bytesOf(token: string): Buffer | StreamedFile | undefined {
    if (!this.#isHeld || !token.startsWith(`"${this.#mark}`)) return undefined;
    return this.#parts[Number(token.slice(this.#mark.length + 1, -1))]?.bytes;
  }

  /** An upstream's body with base64 in place of tokens; the same where it has none. */
  fill(body: string | Buffer): string | Buffer | FilledBody {
    if (!this.#isHeld || typeof body !== 'string') return body;
    const pieces: FilledPiece[] = [];
    let from = 0;
    for (let at = body.indexOf(this.#mark); at !== -1; at = body.indexOf(this.#mark, from)) {
      const end = body.indexOf('"', at);
      const part = this.#parts[Number(body.slice(at + this.#mark.length, end))];
      if (part === undefined || part.bytes instanceof StreamedFile)
        throw new RangeError('a token of a part that the message lacks, or whose bytes are no member');
      pieces.push({ text: Buffer.from(body.slice(from, at)), part: part.bytes });
      from = end;
    }
    if (pieces.length === 0) return body;
    return new FilledBody(pieces, Buffer.from(body.slice(from)));
  }
}

/** Whether a reference is to a part of the message: the scheme `cid`, in any case. */
export function isCid(href: string): boolean {
  return href.slice(0, 4).toLowerCase() === 'cid:';
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id; // not percent-encoded, so there is nothing more to look for
  }
}

function quoted(href: string): string {
  return JSON.stringify(href.slice(0, shownId + 4));
}

/** Whether the current element is an `xop:Include`. */
export function isInclude(xml: XmlReader): boolean {
  return xml.local === 'Include' && xml.namespace === namespaces.xop;
}

export const includeElsewhere: Reason = { detail: 'xop:Include stands for base64 only' };

/**
 * Reads the current element of type `xs:base64Binary` where it holds an `xop:Include` or, in a SwA message, is empty with
 * an `href`: a JSON string, or undefined, and noted, where that is wrong. `'text'`, and nothing was read, for any other.
 */
export function readAttached(
  attachments: AttachedParts,
  xml: XmlReader,
  reading: Reading,
): string | undefined | typeof asText {
  if (attachments.form === 'swa') {
    const href = hrefOf(attachments, xml);
    if (href === undefined) return asText;
    const { current } = attachments;
    if (current !== undefined) current.isTaken = true;
    const text = xml.readText(Number.POSITIVE_INFINITY, false);
    if (text === undefined || !isBlankText(text))
      return refuse(reading, 'InvalidType', { expected: 'no content beside href="cid:…"', got: 'some' });
    return attachments.take(href, reading);
  }
  if (!xml.beginsWithElement || !xml.nextChild()) return asText;
  if (!isInclude(xml)) {
    refuse(reading, 'InvalidType', {
      expected: 'base64 or xop:Include',
      got: `<${xml.local.slice(0, shownId)}>`,
    });
    skipRest(xml);
    return undefined;
  }
  const href = xml.attribute('', 'href');
  const isEmpty = isEmptyElement(xml);
  const isAlone = isEmptyElement(xml);
  if (!isEmpty || !isAlone || href === undefined) {
    const got = href === undefined ? 'one without href' : isEmpty ? 'more beside it' : 'content in it';
    return refuse(reading, 'InvalidType', { expected: 'one empty xop:Include with href alone', got });
  }
  return attachments.take(href, reading);
}

/** Stands for an element that holds no reference. */
export const asText: unique symbol = Symbol('text');

/** The reference to a part that an element's `href` is, in a SwA message. */
export function hrefOf({ form }: AttachedParts, xml: XmlReader): string | undefined {
  if (form !== 'swa' || xml.attributeCount === 0) return undefined;
  const href = xml.attribute('', 'href');
  return href !== undefined && isCid(href) && nilAttribute(xml) === undefined ? href : undefined;
}

/** Whether the first thing in the current element, which is of another type than base64, is an Include: noted, and passed. */
export function refusesInclude(xml: XmlReader, expected: string, reading: Reading): boolean {
  if (reading.attachments?.form !== 'mtom' || !xml.beginsWithElement || !xml.nextChild()) return false;
  refuse(reading, 'InvalidType', isInclude(xml) ? includeElsewhere : { expected, got: 'elements' });
  skipRest(xml);
  return true;
}

/** From a child's start tag past the end tag of the element around it. */
function skipRest(xml: XmlReader): void {
  xml.skip();
  while (xml.nextChild()) xml.skip();
}

/** From a start tag, or from behind a child, past the end tag: whether nothing but blanks and comments was on the way. */
function isEmptyElement(xml: XmlReader): boolean {
  let isEmpty = true;
  while (xml.nextChild()) {
    isEmpty = false;
    xml.skip();
  }
  return isEmpty && !xml.stray;
}
