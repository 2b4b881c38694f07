import { createHash } from 'node:crypto';
import { type Reading, refuse } from '../codec/problem.ts';
import type { Limits } from '../contract/limits.ts';
import { type BodyPart, type DeepLists, fileMembers } from '../contract/model.ts';
import type { Reason } from '../contract/reason.ts';
import { itemsOf, membersOf, type Part, readPart } from '../json/parts.ts';
import { replaceCharacters, replacementsOf } from '../xml/gathered-text.ts';
import { everyText, halfCharacter, maxFormCharacters, noItem, TextBudget, Unfit } from './parameter.ts';

/** A JSON object as `multipart/form-data` (RFC 7578): its content, and the boundary between the parts. */
export interface Multipart {
  readonly boundary: string;
  readonly content: Buffer;
}

/** Converts a JSON object to parts. A member that no part can represent is recorded as a problem. */
export type WriteMultipart = (json: string, reading: Reading) => Multipart;

/** @param stated parts that the document declares; all other members are parts of the kind `others` */
export function compileMultipart(
  stated: readonly BodyPart[],
  others: BodyPart['kind'],
  limits: Limits,
): WriteMultipart {
  const plans = new Map(stated.map((part) => [part.name, part]));
  const budget = new TextBudget(maxFormCharacters(limits));
  return (json, reading) => {
    const parts: Buffer[] = [];
    budget.clear();
    const members = membersOf(json, limits);
    if (members === undefined)
      refuse(reading, 'InvalidType', { expected: 'an object of parts', got: 'another value' });
    // each item of a list has its own header with the name
    const add = (part: Buffer): boolean => {
      parts.push(part);
      if (budget.holds(part.length)) return true;
      refuse(reading, 'OutOfRange', tooMuch(limits));
      return false;
    };
    for (const [name, value] of members ?? []) {
      const plan = plans.get(name) ?? { name, kind: others, contentType: undefined };
      reading.path.push(name);
      noteHalves(name, reading);
      const items = plan.deep === undefined ? itemsOf(value, limits) : undefined;
      if (items !== undefined && plan.separator !== undefined) {
        const text = joined(items, plan.separator, reading, limits);
        if (text !== undefined) parts.push(Buffer.from(headOf(name, undefined, plan.contentType) + text));
        if (!budget.holds(text?.length ?? 0)) refuse(reading, 'OutOfRange', tooMuch(limits));
        reading.path.pop();
        continue;
      }
      if (items?.includes('null') === true && plan.kind !== 'json')
        refuse(reading, noItem.code, noItem.reason);
      const fits =
        plan.deep === undefined
          ? (plan.kind === 'json' ? [value] : (items ?? [value])).every(
              (item) => item === 'null' || add(writePart(plan, item, reading, limits)),
            )
          : everyTextFits(name, readPart(value, limits), plan.deep, reading, (whole, text) => {
              noteHalves(whole + text, reading);
              return add(Buffer.from(headOf(whole, undefined, plan.contentType) + text));
            });
      reading.path.pop();
      if (!fits) return joinParts([]);
    }
    return joinParts(parts);
  };
}

function tooMuch(limits: Limits): Reason {
  return { expected: `parts of at most ${maxFormCharacters(limits)} bytes in all`, got: 'more bytes' };
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

/** Records a problem for an unpaired surrogate, which no part can represent. */
function noteHalves(text: string, reading: Reading): void {
  if (!text.isWellFormed()) refuse(reading, halfCharacter.code, halfCharacter.reason);
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
    noteHalves(text, reading);
    if (text.includes(separator))
      refuse(reading, 'InvalidCharacter', {
        expected: `items without ${JSON.stringify(separator)}, which divides them`,
        got: 'an item with the separator',
      });
    texts.push(text);
  }
  return texts.length === 0 ? undefined : texts.join(separator);
}

function writePart(plan: BodyPart, json: string, reading: Reading, limits: Limits): Buffer {
  if (plan.kind === 'file' || plan.kind === 'bytes') return writeFile(plan, json, reading, limits);
  const part = readPart(json, limits);
  const isText = part.kind === 'text' && plan.kind === 'text';
  const contentType = plan.contentType ?? (isText ? undefined : 'application/json');
  if (isText) noteHalves(part.text, reading);
  return Buffer.from(headOf(plan.name, undefined, contentType) + (isText ? part.text : json));
}

/**
 * The valid content types of a part. The caller states it and it becomes a header. So it must not end the line, and
 * semicolons only separate parameters, so that it cannot be parsed in two ways.
 */
const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:[ \t]*;[ \t]*[\x21-\x3a\x3c-\x7e]+)*$/;

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
  if (stated !== undefined && !mediaType.test(stated)) {
    reading.path.push(fileMembers.contentType);
    refuse(reading, 'InvalidCharacter', { expected: 'a media type such as image/png', got: 'other text' });
    reading.path.pop();
  }
  noteHalves(members.get(fileMembers.fileName) ?? '', reading);
  const isFile = kind === 'file' || members.has(fileMembers.fileName);
  const fileName = isFile ? (members.get(fileMembers.fileName) ?? name) : undefined;
  const type = stated ?? contentType ?? (isFile ? 'application/octet-stream' : undefined);
  const head = headOf(name, fileName, type);
  return Buffer.concat([Buffer.from(head), Buffer.from(members.get(fileMembers.content) ?? '', 'base64')]);
}

function textOf(json: string, limits: Limits): string | undefined {
  const part = readPart(json, limits);
  return part.kind === 'text' ? part.text : undefined;
}

function headOf(name: string, fileName: string | undefined, contentType: string | undefined): string {
  const file = fileName === undefined ? '' : `; filename="${quoted(fileName)}"`;
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`;
  return `Content-Disposition: form-data; name="${quoted(name)}"${file}\r\n${type}\r\n`;
}

const controls = [...Array(32).keys(), 127].map((code) => String.fromCharCode(code));
const inNames = replacementsOf(
  Object.fromEntries(['"', ...controls].map((letter) => [letter, encodeURIComponent(letter)])),
);

/**
 * Escapes a name as browsers do (WHATWG HTML, 4.10.21.8): quotes and line ends are percent-encoded. So are other
 * control characters, which headers must not contain.
 */
function quoted(name: string): string {
  return replaceCharacters(name, inNames);
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
