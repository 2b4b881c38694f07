import { createHash } from 'node:crypto';
import { type Reading, refuse, refuseAt } from '../codec/problem.ts';
import type { Limits } from '../contract/limits.ts';
import { type BodyPart, type DeepLists, fileMembers } from '../contract/model.ts';
import { itemsOf, membersOf, type Part, readPart } from '../json/parts.ts';
import { replaceCharacters, replacementsOf } from '../xml/gathered-text.ts';
import { everyText, maxFormCharacters, noItem, TextBudget, Unfit, unpairedSurrogate } from './parameter.ts';

/** A JSON object as `multipart/form-data` (RFC 7578): its content, and the boundary between the parts. */
export interface Multipart {
  readonly boundary: string;
  readonly content: Buffer;
}

/** Converts a JSON object to parts. A member that no part can represent is recorded as a problem. */
export type WriteMultipart = (json: string, reading: Reading) => Multipart;

/**
 * Compiles the writer of a `multipart/form-data` body.
 *
 * @param declared parts that the document declares; all other members are parts of the kind `others`
 */
export function compileMultipart(
  declared: readonly BodyPart[],
  others: BodyPart['kind'],
  limits: Limits,
): WriteMultipart {
  const settings = new Map(declared.map((part) => [part.name, part]));
  const budget = new TextBudget(maxFormCharacters(limits));
  return (json, reading) => {
    const members = membersOf(json, limits);
    if (members === undefined)
      refuse(reading, 'InvalidType', { expected: 'an object of parts', got: 'another value' });
    const list = new PartList(budget, reading, limits);
    for (const [name, value] of members ?? []) {
      const part = settings.get(name) ?? { name, kind: others, contentType: undefined };
      reading.path.push(name);
      checkSurrogates(name, reading);
      const fits = addMember(list, part, value, reading, limits);
      reading.path.pop();
      if (!fits) return joinParts([]);
    }
    return joinParts(list.parts);
  };
}

/** The parts of one body. If they are too large, a problem is recorded. */
class PartList {
  readonly parts: Buffer[] = [];
  readonly #budget: TextBudget;
  readonly #reading: Reading;
  readonly #limits: Limits;

  constructor(budget: TextBudget, reading: Reading, limits: Limits) {
    this.#budget = budget;
    this.#reading = reading;
    this.#limits = limits;
    budget.clear();
  }

  /** Adds a part. Returns false if the limit is exceeded. */
  add(part: Buffer): boolean {
    this.parts.push(part);
    return this.count(part.length);
  }

  /** Counts bytes or characters toward the limit. Returns false if it is exceeded. */
  count(length: number): boolean {
    if (this.#budget.holds(length)) return true;
    refuse(this.#reading, 'OutOfRange', {
      expected: `parts of at most ${maxFormCharacters(this.#limits)} bytes in all`,
      got: 'more bytes',
    });
    return false;
  }
}

/**
 * Adds the parts of a member: one part, a part for each item of a list, or a part for each nested text. Returns false if
 * a nested text is invalid, or if the limit of the body is exceeded.
 */
function addMember(list: PartList, part: BodyPart, value: string, reading: Reading, limits: Limits): boolean {
  const { name, kind, contentType, separator, deep } = part;
  if (deep !== undefined)
    return everyTextFits(name, readPart(value, limits), deep, reading, (nestedName, text) => {
      checkSurrogates(nestedName + text, reading);
      return list.add(Buffer.from(headOf(nestedName, undefined, contentType) + text));
    });
  const items = itemsOf(value, limits);
  if (items !== undefined && separator !== undefined) {
    const text = joined(items, separator, reading, limits);
    if (text !== undefined) list.parts.push(Buffer.from(headOf(name, undefined, contentType) + text));
    list.count(text?.length ?? 0); // the next members are checked too
    return true;
  }
  if (items?.includes('null') === true && kind !== 'json') refuse(reading, noItem.code, noItem.reason);
  // each item has its own head with the name
  const values = kind === 'json' ? [value] : (items ?? [value]);
  return values.every((item) => item === 'null' || list.add(writePart(part, item, reading, limits)));
}

/** Calls `everyText`, and records a refusal as a problem. */
function everyTextFits(
  name: string,
  part: Part,
  lists: DeepLists,
  reading: Reading,
  use: (name: string, text: string) => boolean,
): boolean {
  try {
    return everyText(name, part, lists, String, use);
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    refuse(reading, error.refusal.code, error.refusal.reason);
    return false;
  }
}

/** Records a problem if a text has an unpaired surrogate, which no part can represent. */
function checkSurrogates(text: string, reading: Reading): void {
  if (!text.isWellFormed()) refuse(reading, unpairedSurrogate.code, unpairedSurrogate.reason);
}

/** Joins scalars to one text; undefined for none. An item must not contain the separator. */
function joined(
  items: readonly string[],
  separator: string,
  reading: Reading,
  limits: Limits,
): string | undefined {
  const texts: string[] = [];
  for (const item of items) {
    if (item === 'null') {
      refuse(reading, noItem.code, noItem.reason);
      continue;
    }
    const part = readPart(item, limits);
    const text = part.kind === 'text' ? part.text : item;
    checkSurrogates(text, reading);
    if (text.includes(separator))
      refuse(reading, 'InvalidCharacter', {
        expected: `items without ${JSON.stringify(separator)}, which divides them`,
        got: 'an item with the separator',
      });
    texts.push(text);
  }
  return texts.length === 0 ? undefined : texts.join(separator);
}

/** Writes one part: its head and its content. */
function writePart(part: BodyPart, json: string, reading: Reading, limits: Limits): Buffer {
  if (part.kind === 'file' || part.kind === 'bytes') return writeFile(part, json, reading, limits);
  const value = readPart(json, limits);
  const isText = value.kind === 'text' && part.kind === 'text';
  const contentType = part.contentType ?? (isText ? undefined : 'application/json');
  if (isText) checkSurrogates(value.text, reading);
  return Buffer.from(headOf(part.name, undefined, contentType) + (isText ? value.text : json));
}

/**
 * The content types that a caller may state for a file. The text becomes a header, so it has no line ends. Semicolons
 * only separate parameters, so that all parsers read the same parameters.
 */
const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:[ \t]*;[ \t]*[\x21-\x3a\x3c-\x7e]+)*$/;

/** Writes a part from an object with the members `fileMembers`. Its content is base64. */
function writeFile(
  { name, kind, contentType }: BodyPart,
  json: string,
  reading: Reading,
  limits: Limits,
): Buffer {
  const members = new Map(
    (membersOf(json, limits) ?? []).map(([key, value]) => [key, textOf(value, limits)] as const),
  );
  const stated = members.get(fileMembers.contentType);
  if (stated !== undefined && !mediaType.test(stated))
    refuseAt(reading, fileMembers.contentType, 'InvalidCharacter', {
      expected: 'a media type such as image/png',
      got: 'other text',
    });
  checkSurrogates(members.get(fileMembers.fileName) ?? '', reading);
  const isFile = kind === 'file' || members.has(fileMembers.fileName);
  const fileName = isFile ? (members.get(fileMembers.fileName) ?? name) : undefined;
  const type = stated ?? contentType ?? (isFile ? 'application/octet-stream' : undefined);
  const head = headOf(name, fileName, type);
  return Buffer.concat([Buffer.from(head), Buffer.from(members.get(fileMembers.content) ?? '', 'base64')]);
}

/** Returns a scalar as text; undefined for another value. */
function textOf(json: string, limits: Limits): string | undefined {
  const part = readPart(json, limits);
  return part.kind === 'text' ? part.text : undefined;
}

/** Returns the headers of a part, with the empty line at their end. */
function headOf(name: string, fileName: string | undefined, contentType: string | undefined): string {
  const file = fileName === undefined ? '' : `; filename="${quoted(fileName)}"`;
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`;
  return `Content-Disposition: form-data; name="${quoted(name)}"${file}\r\n${type}\r\n`;
}

const controls = [...Array(32).keys(), 127].map((code) => String.fromCharCode(code));
/** Escapes of characters in names. */
const nameEscapes = replacementsOf(
  Object.fromEntries(['"', ...controls].map((letter) => [letter, encodeURIComponent(letter)])),
);

/**
 * Escapes a name as browsers do (WHATWG HTML, 4.10.21.8): quotes and line ends are percent-encoded. So are other
 * control characters, which headers must not contain.
 */
function quoted(name: string): string {
  return replaceCharacters(name, nameEscapes);
}

/** Joins the parts with a boundary that none of them contains: a digest of the parts, hashed again if necessary. */
function joinParts(parts: readonly Buffer[]): Multipart {
  let digest = createHash('sha256');
  for (const part of parts) digest = digest.update(part);
  let boundary = digest.digest('hex').slice(0, 32);
  while (parts.some((part) => part.includes(boundary)))
    boundary = createHash('sha256').update(boundary).digest('hex').slice(0, 32);
  const pieces = parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), part, Buffer.from('\r\n')]);
  return { boundary, content: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]) };
}
