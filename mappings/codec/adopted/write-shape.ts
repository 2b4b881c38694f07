import { nodeKinds, type Tape } from '../../json/tape.ts';
import { longRange, type Output, piece } from '../../xml/output.ts';
import { type Element, lettersOf, writeText } from '../element.ts';
import { escapeXml } from '../scalars/text.ts';
import { writeContent } from './content.ts';
import type { AdoptedContext } from './context.ts';
import { type AttributeCodec, head, isNil, isTyped, type Shape, shapesOf } from './shape.ts';

/** Writes the nodes of complex types as elements (A12, A14, A24, A25). */

const { nothing, empty, plain, text: textKind, made, binary, madeBinary } = nodeKinds;

/** The end of an attribute, and of a start tag. */
const quote = piece('"');

const tagEnd = piece('>');

/** Escapes text for an attribute value so that its white space is preserved. */
export function attributeText(text: string, count: { replaced: number }): string {
  return blanksKept(escapeXml(text, count));
}

function blanksKept(content: string): string {
  return content.replaceAll('"', '&quot;').replaceAll('\t', '&#9;').replaceAll('\n', '&#10;');
}

/** Writes the element around an object's node. */
export function writeShape(
  tags: Element,
  tape: Tape,
  node: number,
  output: Output,
  context: AdoptedContext,
): void {
  const { words } = tape;
  const shape = (shapesOf.get(context) as Shape[])[words[node + 1] as number] as Shape;
  const flags = words[node + 2] as number;
  output.reserve(tags.tagBytes);
  // only used if the shape has a value
  const value = words[node + head + shape.attributes.length] as number;
  const hasPrefixes = shape.simple !== undefined && words[value] === made && words[value + 2] !== 0;
  const isBare = flags === 0 && !shape.alwaysTyped && shape.attributes.length === 0 && !shape.anyAttribute;
  if (isBare && !hasPrefixes) output.piece(tags.open);
  else {
    output.piece(tags.start);
    if (shape.alwaysTyped || (flags & isTyped) !== 0) output.tags(shape.typeTag);
    writeAttributes(shape, tape, node + head, output);
    if (hasPrefixes) output.text(tape.made[(words[value + 2] as number) - 1] as string);
    if ((flags & isNil) !== 0) {
      output.text(' i:nil="true"/>');
      return;
    }
    output.tags(tagEnd);
  }
  const start = output.length;
  let isWritten = false;
  if (shape.entries !== undefined) shape.entries.write(tape, node + head, output);
  else if (shape.kind === 'members') writeSlots(shape, tape, node, output);
  else if (value !== -1) isWritten = writeValue(tape, value, output);
  output.reserve(tags.tagBytes);
  if (isWritten || output.length !== start) output.piece(tags.close);
  else {
    output.length = start - 1;
    output.ascii('/>');
  }
}

/** Writes the content between the tags of an object's node. */
export function writeSlots(shape: Shape, tape: Tape, node: number, output: Output): void {
  writeContent(shape.content, tape, node + head + shape.attributes.length, output);
}

/** Writes a value's text. Returns true if there is text. */
function writeValue(tape: Tape, node: number, output: Output): boolean {
  const { words } = tape;
  const kind = words[node];
  if (kind === nothing || kind === empty) return false;
  if (kind === plain) {
    const start = words[node + 1] as number;
    const end = words[node + 2] as number;
    if (end - start >= longRange) output.insert(tape.bytes, start, end);
    else {
      output.reserve(end - start);
      output.copy(tape.bytes, tape.view, start, end);
    }
  } else if (kind === binary || kind === madeBinary) output.attach(lettersOf(tape, node));
  else writeText(tape, node, output);
  return true;
}

function writeAttributes(shape: Shape, tape: Tape, slots: number, output: Output): void {
  const { words } = tape;
  const { attributes } = shape;
  for (let index = 0; index < attributes.length; index++) {
    const { before, fixed } = attributes[index] as AttributeCodec;
    const node = words[slots + index] as number;
    if (node === -1 || words[node] === nothing) {
      if (fixed !== undefined) output.tags(fixed);
      continue;
    }
    if (words[node] === made && words[node + 2] !== 0)
      output.text(tape.made[(words[node + 2] as number) - 1] as string);
    output.tags(before);
    // an attribute cannot refer to an attachment
    if (words[node] === plain || words[node] === binary) {
      const start = words[node + 1] as number;
      const end = words[node + 2] as number;
      output.reserve(end - start);
      output.copy(tape.bytes, tape.view, start, end);
    } else if (words[node] === textKind)
      output.text(attributeText(tape.decode(words[node + 1] as number, words[node + 2] as number), tape));
    else if (words[node] === made || words[node] === madeBinary)
      output.text(blanksKept(tape.made[words[node + 1] as number] as string));
    output.tags(quote);
  }
  if (!shape.anyAttribute) return;
  const others = words[slots + shape.names.length - 1] as number;
  if (words[others] === made) output.text(tape.made[words[others + 1] as number] as string);
}
