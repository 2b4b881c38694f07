import type { CredentialValues, Input } from '../codec/input.ts';
import { type Reading, refuse } from '../codec/problem.ts';
import type { StreamedFile } from '../codec/streamed-file.ts';
import type { Limits } from '../contract/limits.ts';
import type { Contract, Operation, RequestBody, TextCharset, Type } from '../contract/model.ts';
import { itemsOf, readPart } from '../json/parts.ts';
import { replaceCharacters, replacementsOf } from '../xml/gathered-text.ts';
import { compileMembers, credentialsMemberOf } from './body-members.ts';
import { compileForm } from './form.ts';
import { compileMultipart } from './multipart.ts';
import { unpairedSurrogate } from './parameter.ts';

/** A body for the upstream. */
export interface WrittenBody {
  readonly mediaType: string;
  readonly content: string | Buffer | StreamedFile;
}

/** Writes the body of a call; undefined for none. */
export type WriteBody = (input: Input, credentials: CredentialValues | undefined) => WrittenBody | undefined;

/** Compiles the function that writes an operation's upstream body from its inputs. */
export function compileBody(
  contract: Contract,
  operation: Operation,
  slots: ReadonlyMap<string, number>,
  limits: Limits,
): WriteBody {
  const { credentials } = contract;
  const { input: inputs, upstream } = operation;
  const { body } = upstream;
  if (body.kind === 'none') return () => undefined;
  const { mediaType } = body;
  if (body.kind === 'members') {
    const member = credentialsMemberOf(contract, operation);
    const names = credentials?.parts.map(({ name }) => name) ?? [];
    const write = compileMembers(member, names, limits);
    return (input, values) => ({ mediaType, content: write(input, values) });
  }
  const slot = slots.get(body.field) ?? -1;
  const type = inputs.fields.find(({ json }) => json === body.field)?.type;
  const write = fieldWriter(body, type, limits);
  return ({ reading }) => {
    const json = reading.slots[slot];
    if (json === undefined) return undefined;
    reading.path.push(body.field);
    const written = write(json, reading);
    reading.path.pop();
    return written;
  };
}

/** Writes a body that consists of one input, from its JSON. */
type WriteField = (json: string, reading: Reading) => WrittenBody | undefined;

function fieldWriter(
  body: Extract<RequestBody, { field: string }>,
  type: Type | undefined,
  limits: Limits,
): WriteField {
  const { mediaType } = body;
  switch (body.kind) {
    case 'json':
      return (json) => ({ mediaType: json.startsWith('[') ? body.arrays : mediaType, content: json });
    case 'lines': {
      const before = /json-seq/i.test(mediaType) ? recordSeparator : '';
      return unlessNull((json, reading) => ({
        mediaType,
        content: writeLines(json, before, reading, limits),
      }));
    }
    case 'form': {
      const write = compileForm(body, type, limits);
      // an empty form is no body and has no media type
      return unlessNull((json, reading) => {
        const content = write(json, reading);
        return content === '' ? undefined : { mediaType, content };
      });
    }
    case 'multipart': {
      const write = compileMultipart(body.parts, body.others, limits);
      return unlessNull((json, reading) => {
        const { boundary, content } = write(json, reading);
        return { mediaType: `${mediaType}; boundary=${boundary}`, content };
      });
    }
    case 'text': {
      const encode = textEncoder(body.charset);
      return unlessNull((json, reading) => ({
        mediaType,
        content: encode(textOf(json, limits), reading),
      }));
    }
    case 'binary':
      return unlessNull((json, { attachments }) => ({
        mediaType,
        content: attachments?.bytesOf(json) ?? Buffer.from(textOf(json, limits), 'base64'),
      }));
  }
}

/** Starts each value of a sequence (RFC 7464). */
export const recordSeparator = '\x1e';

/** Writes an array's items, one per line. */
function writeLines(json: string, before: string, reading: Reading, limits: Limits): string {
  const items = itemsOf(json, limits);
  if (items === undefined)
    refuse(reading, 'InvalidType', { expected: 'an array of lines', got: 'another value' });
  // strings in JSON contain no line feeds, so each one is a blank
  return (items ?? []).map((item) => `${before}${replaceCharacters(item, blanks)}\n`).join('');
}

const blanks = replacementsOf({ '\n': ' ', '\r': ' ' });

/** Returns the text of a JSON string. */
function textOf(json: string, limits: Limits): string {
  const part = readPart(json, limits);
  return part.kind === 'text' ? part.text : json;
}

/** Characters that a charset does not have. */
const beyond = { 'iso-8859-1': /[\u0100-\uffff]/, 'us-ascii': /[\u0080-\uffff]/ } as const;

/**
 * Returns a function that encodes text in a charset. Characters that the charset does not have are recorded as a
 * problem.
 */
export function textEncoder(charset: TextCharset): (text: string, reading: Reading) => Buffer {
  if (charset === 'utf-8')
    return (text, reading) => {
      if (!text.isWellFormed()) refuse(reading, unpairedSurrogate.code, unpairedSurrogate.reason);
      return Buffer.from(text);
    };
  const lacks = beyond[charset];
  return (text, reading) => {
    if (lacks.test(text))
      refuse(reading, 'InvalidCharacter', { expected: `characters of ${charset}`, got: 'other characters' });
    return Buffer.from(text, 'latin1');
  };
}

/** Returns no body for null, which only JSON can represent. */
function unlessNull(write: WriteField): WriteField {
  return (json, reading) => (json === 'null' ? undefined : write(json, reading));
}
