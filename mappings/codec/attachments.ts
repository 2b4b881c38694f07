import { randomBytes } from 'node:crypto';
import { namespaces } from '../contract/model.ts';
import { quoteElement, quoteValue, type Reason } from '../contract/reason.ts';
import type { XmlReader } from '../xml/reader.ts';
import { FilledBody, type FilledPiece } from './filled-body.ts';
import { type AttachedParts, type Reading, refuse, refuseAt } from './problem.ts';
import { isBlankText } from './scalars/scalar.ts';
import { nilAttribute } from './schema-instance.ts';
import { StreamedFile } from './streamed-file.ts';

/** Attachments of a message, and their references in the envelope (W60 to W62). */

/** A part: the Content-ID without `<>`, and its bytes. */
export interface Attachment {
  readonly id: string | undefined;
  readonly bytes: Buffer | StreamedFile;
  /** The Content-Type of the part's header; undefined if it is absent or not known. */
  readonly contentType?: string | undefined;
  /** Text that represents the part in a comparison, in place of its base64; undefined for a part with its bytes. */
  readonly digest?: string | undefined;
}

/** Maximum number of characters of a Content-ID in an error. */
const shownId = 64;

/** The attachments of one message. */
export class Attachments implements AttachedParts {
  /** MTOM: an `xop:Include` refers to a part. SwA: an `href` of an empty element. */
  readonly form: 'mtom' | 'swa';
  /** The element with an `href` that is being read in a SwA message, until its type takes the reference. */
  current: { isTaken: boolean } | undefined;
  readonly parts: readonly Attachment[];
  /** Positions of the parts that are used as values. */
  readonly taken: number[] = [];
  /** True for a signed or decrypted message: parts without a reference are ignored, whatever the contract says (X22). */
  ignoresUnused = false;
  readonly #byId = new Map<string, number>();
  readonly #used: boolean[] = [];
  /** True if tokens represent parts until the upstream's body is written; otherwise the JSON contains their base64. */
  #isHeld = false;
  /**
   * Prefix of the tokens of held parts. A caller cannot forge it, because it is random and made after the message was
   * received.
   */
  #mark = '';

  constructor(form: 'mtom' | 'swa', parts: readonly Attachment[]) {
    this.form = form;
    this.parts = parts;
    for (const [index, { id }] of parts.entries()) if (id !== undefined) this.#byId.set(id, index);
  }

  /** From now on tokens represent parts. `fill` or `bytesOf` replaces them. */
  hold(): void {
    this.#isHeld = true;
    if (this.#mark === '') this.#mark = `part ${randomBytes(16).toString('hex')} `;
  }

  /**
   * Returns the part that an `href` refers to, as a JSON string. Returns undefined, and records a problem, for an
   * invalid or repeated reference (W61).
   */
  take(href: string, reading: Reading): string | undefined {
    const index = this.#find(href, reading);
    if (index === undefined) return undefined;
    if (this.#used[index] === true)
      return refuse(reading, 'DuplicateElement', {
        expected: quoteValue(`one reference to the part ${shownHref(href)}`, 'one reference to each part'),
        got: 'another reference',
      });
    this.#used[index] = true;
    this.taken.push(index);
    if (this.#isHeld) return `"${this.#mark}${index}"`;
    const { bytes, digest } = this.parts[index] ?? {};
    if (digest !== undefined) return `"${digest}"`;
    return bytes instanceof StreamedFile ? '""' : `"${bytes?.toString('base64')}"`; // not available yet
  }

  #find(href: string, reading: Reading): number | undefined {
    if (!isCid(href))
      return refuse(reading, 'InvalidType', {
        expected: 'a reference to a part, cid:…',
        got: quoteValue(shownHref(href), 'a text'),
      });
    const index = this.indexOf(href);
    if (index === undefined)
      refuse(reading, 'InvalidType', {
        expected: 'a part of the message',
        got: quoteValue(`no such part: ${shownHref(href)}`),
      });
    return index;
  }

  /** Returns the position of the part that a `cid:` reference names; undefined for no part. */
  indexOf(href: string): number | undefined {
    if (!isCid(href)) return undefined;
    const written = href.slice(4);
    const id = written.startsWith('<') && written.endsWith('>') ? written.slice(1, -1) : written;
    return this.#byId.get(id) ?? this.#byId.get(decoded(id));
  }

  /** Records that a header block refers to a part. Only a receiver that understands the block uses it. */
  mention(href: string): void {
    const index = this.indexOf(href);
    if (index !== undefined) this.#used[index] = true;
  }

  /** True if each part is the value of an element. */
  get areTaken(): boolean {
    return this.taken.length === this.parts.length;
  }

  get hasUnused(): boolean {
    return this.parts.some((_, index) => this.#used[index] !== true);
  }

  /** Handles parts without a reference (W61): refuses or ignores them. */
  noteUnused(reading: Reading, isRefused: boolean): void {
    for (const [index, { id }] of this.parts.entries()) {
      if (this.#used[index] === true) continue;
      const name = id === undefined ? `part ${index + 2}` : `cid:${id.slice(0, shownId)}`;
      if (!isRefused || this.ignoresUnused) {
        reading.ignored.push(name);
        continue;
      }
      refuseAt(reading, name, 'UnknownElement', { detail: 'nothing in the message refers to it' });
    }
  }

  /** Returns the bytes of the part that a JSON token represents; undefined for a token of another value. */
  bytesOf(token: string): Buffer | StreamedFile | undefined {
    if (!this.#isHeld || !token.startsWith(`"${this.#mark}`)) return undefined;
    return this.parts[Number(token.slice(this.#mark.length + 1, -1))]?.bytes;
  }

  /** Replaces the tokens in an upstream's body with base64. Returns the same body if it has no tokens. */
  fill(body: string | Buffer): string | Buffer | FilledBody {
    if (!this.#isHeld || typeof body !== 'string') return body;
    const pieces: FilledPiece[] = [];
    let from = 0;
    for (let at = body.indexOf(this.#mark); at !== -1; at = body.indexOf(this.#mark, from)) {
      const end = body.indexOf('"', at);
      const part = this.parts[Number(body.slice(at + this.#mark.length, end))];
      if (part === undefined || part.bytes instanceof StreamedFile)
        throw new RangeError('a token of a part that the message lacks, or whose bytes are no member');
      pieces.push({ text: Buffer.from(body.slice(from, at)), part: part.bytes });
      from = end;
    }
    if (pieces.length === 0) return body;
    return new FilledBody(pieces, Buffer.from(body.slice(from)));
  }
}

/** Returns true if a reference is to a part of the message: its scheme is `cid`, in any case. */
export function isCid(href: string): boolean {
  return href.slice(0, 4).toLowerCase() === 'cid:';
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id; // not percent-encoded
  }
}

function shownHref(href: string): string {
  return JSON.stringify(href.slice(0, shownId + 4));
}

/** Returns true if the current element is an `xop:Include`. */
export function isInclude(xml: XmlReader): boolean {
  return xml.local === 'Include' && xml.namespace === namespaces.xop;
}

export const includeElsewhere: Reason = { detail: 'xop:Include is allowed for base64 only' };

/**
 * Reads the current element of type `xs:base64Binary` if it has an `xop:Include` or, in a SwA message, is empty with an
 * `href`. Returns a JSON string; undefined, and records a problem, if the reference is invalid; `asText`, without
 * reading, for any other element.
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
      return refuse(reading, 'InvalidType', { expected: 'no content next to href="cid:…"', got: 'content' });
    return attachments.take(href, reading);
  }
  if (!xml.beginsWithElement || !xml.nextChild()) return asText;
  if (!isInclude(xml)) {
    refuse(reading, 'InvalidType', {
      expected: 'base64 or xop:Include',
      got: quoteElement(xml.local),
    });
    skipRest(xml);
    return undefined;
  }
  const href = xml.attribute('', 'href');
  const isEmpty = isEmptyElement(xml);
  const isAlone = isEmptyElement(xml);
  if (!isEmpty || !isAlone || href === undefined) {
    const got =
      href === undefined
        ? 'an xop:Include without href'
        : isEmpty
          ? 'other content next to xop:Include'
          : 'content in xop:Include';
    return refuse(reading, 'InvalidType', { expected: 'one empty xop:Include with href alone', got });
  }
  return attachments.take(href, reading);
}

/** The result for an element without a reference. */
export const asText: unique symbol = Symbol('text');

/** Returns the `href` of an element in a SwA message if it refers to a part. */
export function hrefOf({ form }: AttachedParts, xml: XmlReader): string | undefined {
  if (form !== 'swa' || xml.attributeCount === 0) return undefined;
  const href = xml.attribute('', 'href');
  return href !== undefined && isCid(href) && nilAttribute(xml) === undefined ? href : undefined;
}

/**
 * Returns true if an element that must not have an Include begins with a child element. Records a problem and passes
 * it.
 */
export function refusesInclude(xml: XmlReader, expected: string, reading: Reading): boolean {
  if (reading.attachments?.form !== 'mtom' || !xml.beginsWithElement || !xml.nextChild()) return false;
  refuse(reading, 'InvalidType', isInclude(xml) ? includeElsewhere : { expected, got: 'elements' });
  skipRest(xml);
  return true;
}

/** Moves from a child's start tag past the end tag of its parent. */
function skipRest(xml: XmlReader): void {
  xml.skip();
  while (xml.nextChild()) xml.skip();
}

/** Moves past the end tag of an element. Returns true if only blanks and comments were passed. */
function isEmptyElement(xml: XmlReader): boolean {
  let isEmpty = true;
  while (xml.nextChild()) {
    isEmpty = false;
    xml.skip();
  }
  return isEmpty && !xml.hasText;
}
