import { namespaces } from '../../contract/model.ts';
import type { Reason } from '../../contract/reason.ts';
import { expanded } from '../../contract/type-graph.ts';
import { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { isNcName } from '../../xml/characters.ts';
import { xmlNamespace, xmlnsNamespace } from '../../xml/namespaces.ts';
import { enters } from '../element.ts';
import { type ScanOther, scanObject } from '../json-scan.ts';
import { unknownReason } from '../nearest.ts';
import { MismatchError } from '../problem.ts';
import { conflictOnTape, missingOnTape } from './content.ts';
import type { AdoptedContext } from './context.ts';
import { type AttributeCodec, head, isNil, isTyped, type Shape } from './shape.ts';
import { attributeText } from './write-shape.ts';

/** Scans JSON objects of complex types to tape nodes (A12, A14, A24, A25). */

const { nothing, record } = nodeKinds;

const untypedObject: Reason = {
  expected: '"@type" in an object where any type may stand, or "@xml" with XML as text',
  got: 'neither',
};

/** Handles `@type`: returns true if another shape must scan the object from its beginning. */
type OnType = (name: string) => boolean;

/** Moves past an object or a null and pushes one node. Throws MismatchError, JsonError. */
export function scanShape(shape: Shape, tape: Tape): void {
  if (enters(tape, 123)) scanMembers(shape, undefined, tape);
}

/**
 * Scans the members of an object, after its opening bracket. Returns true if another shape must scan the object from
 * its beginning.
 */
export function scanMembers(shape: Shape, onType: OnType | undefined, tape: Tape): boolean {
  const node = tape.top;
  const unknown = scanObject(shape, tape, scanOther, onType);
  if (unknown === false) return true;
  tape.words[node + 1] = shape.number;
  finishMembers(shape, unknown, tape, node);
  return false;
}

/**
 * Checks a scanned object and counts what it lacks. Throws MismatchError.
 *
 * @param unknown first name of a member that the type lacks; undefined for none
 */
function finishMembers(shape: Shape, unknown: string | undefined, tape: Tape, node: number): void {
  const { names } = shape;
  // only at the end, because a later "@type" may state another type
  if (unknown !== undefined && tape.jsonRequest?.ignores === false)
    throw new MismatchError(unknownReason('member', unknown, names), 'UnknownElement').at(
      unknown.slice(0, 64),
    );
  if (unknown !== undefined && shape.untyped && tape.words[node + head] === -1)
    throw new MismatchError(untypedObject);
  if (shape.content.choices !== undefined) {
    const both = conflictOnTape(shape.content, tape, node + head + shape.attributes.length);
    if (both !== undefined)
      throw new MismatchError({ expected: `it or ${both[0]}, which are a choice`, got: 'both' }).at(both[1]);
  }
  tape.missing += missingIn(shape, tape, node);
  if (((tape.words[node + 2] as number) & isNil) !== 0) {
    const surplus = countNextToNil(shape, tape, node);
    if (surplus > 0 && tape.jsonRequest !== undefined)
      throw new MismatchError({ expected: 'only attributes next to "@nil"', got: 'more' });
    tape.dropped += surplus;
  }
}

/** Moves past an object or array that is a map, and pushes one node. Throws MismatchError, JsonError. */
export function scanEntries({ number, entries }: Shape, tape: Tape): void {
  tape.reserve(head + 1);
  const node = tape.top;
  tape.words[node] = record;
  tape.words[node + 1] = number;
  tape.words[node + 2] = 0;
  tape.words[node + head] = -1;
  tape.top = node + head + 1;
  if (entries?.scan(tape, node + head) === true) tape.words[node + 2] = isNil;
}

/** Returns the number of elements and values of a nil object. They are not written (A25). */
function countNextToNil({ names, attributes, anyAttribute }: Shape, { words }: Tape, node: number): number {
  const end = names.length - (anyAttribute ? 1 : 0);
  let count = 0;
  for (let index = attributes.length; index < end; index++) {
    const its = words[node + head + index] as number;
    if (its !== -1 && words[its] !== nothing) count++;
  }
  return count;
}

/**
 * Returns the number of required attributes, elements and values that an object lacks (A28). A nil object needs only
 * its attributes.
 */
function missingIn(shape: Shape, tape: Tape, node: number): number {
  const { words } = tape;
  const slots = node + head;
  let count = 0;
  for (const index of shape.needed) {
    const its = words[slots + index] as number;
    if (its === -1 || words[its] === nothing) count++;
  }
  if (((words[node + 2] as number) & isNil) !== 0) return count;
  const { content, simple, attributes } = shape;
  if (content.required.length > 0) count += missingOnTape(content, tape, slots + attributes.length);
  if (simple === undefined || simple.takesEmpty) return count;
  const value = words[slots + attributes.length] as number;
  return value === -1 || words[value] === nothing ? count + 1 : count;
}

/**
 * Scans a member that the type lacks: a reserved member of the gateway, or one that is ignored. The names of ignored
 * members of a request are recorded (W12).
 *
 * @returns `stop` if another shape must scan the object, `unknown` for an ignored member
 */
const scanOther: ScanOther<OnType | undefined> = (name, start, node, tape, onType) => {
  if (name === '@nil' && tape.peek() === 116) {
    tape.literal();
    tape.words[node + 2] = isNil;
    return undefined;
  }
  if (name === '@type' && onType !== undefined && tape.peek() === 34)
    return onType(tape.string()) ? 'stop' : undefined;
  const isTaken = name === '@type' || (node === 0 && tape.separate.has(name));
  if (!isTaken) tape.dropped++;
  const isOfAnother = !isTaken && !(name === '@nil' && tape.peek() === 102);
  tape.skip();
  if (isOfAnother && tape.jsonRequest?.ignores === true)
    tape.jsonRequest.ignored.push({ name, start, end: tape.position });
  return isOfAnother ? 'unknown' : undefined;
};

/**
 * Scans `@attributes` into one text of attributes, with declarations of their prefixes. Refuses the type's own
 * attributes, `xsi:type` and `xsi:nil`, which have members of their own, because an attribute must not occur twice.
 */
export function scanOthers({ limits }: AdoptedContext, own: readonly AttributeCodec[], tape: Tape): void {
  const byte = tape.peek();
  if (byte !== 123 && byte !== 110) throw new MismatchError({ expected: 'an object', got: tape.kind() });
  const start = tape.position;
  tape.skip();
  if (byte === 110) {
    tape.pushKind(nothing);
    return;
  }
  const json = new JsonReader(tape.slice(start, tape.position), limits);
  let tag = '';
  let prefixes = 0;
  const names = new Set(own.map(expanded));
  json.enter();
  for (let first = true; json.next(first, 125); first = false) {
    const name = json.name();
    if (json.peek() !== 34) throw new MismatchError({ expected: 'a string', got: json.kind() }).at(name);
    const value = json.string();
    const end = name.startsWith('{') ? name.lastIndexOf('}') : -1;
    const local = name.slice(end + 1);
    const namespace = name.slice(1, Math.max(1, end));
    const key = expanded({ namespace, local });
    const isReserved = local === 'xmlns' || namespace === xmlnsNamespace || namespace === namespaces.xsi;
    if (!isNcName(local) || isReserved || names.has(key))
      throw new MismatchError({ expected: 'names of attributes, each once', got: 'another' });
    names.add(key);
    const isXml = namespace === xmlNamespace;
    const prefix = isXml ? 'xml' : namespace === '' ? '' : `a${++prefixes}`;
    if (prefix !== '' && !isXml) tag += ` xmlns:${prefix}="${attributeText(namespace, tape)}"`;
    tag += ` ${prefix}${prefix === '' ? '' : ':'}${local}="${attributeText(value, tape)}"`;
  }
  tape.pushMade(tag);
}

/**
 * Scans an object that may have `@type`, which states its type, at any position (A18). Throws MismatchError.
 *
 * @param declared the shape for an object without `@type`
 * @param shapeNamed returns the shape of a type by its JSON name; throws MismatchError for a type that is not allowed
 */
export function scanTyped(tape: Tape, declared: Shape, shapeNamed: (name: string) => Shape): void {
  let shape = declared;
  let isKnown = false;
  const onType: OnType = (name) => {
    const before = shape;
    shape = shapeNamed(name);
    if (isKnown && shape !== before)
      throw new MismatchError({ expected: 'one type', got: 'another later' }).at('@type');
    isKnown = true;
    return shape !== before;
  };
  const mark = tape.mark();
  tape.enter();
  if (scanMembers(shape, onType, tape)) {
    if (tape.isPatienceOver)
      throw new MismatchError({ expected: '"@type" as the first member', got: 'it later' });
    tape.rewind(mark);
    if (shape.entries !== undefined) scanEntries(shape, tape);
    else {
      tape.enter();
      isKnown = false; // the second pass meets `@type` again
      scanMembers(shape, onType, tape);
    }
  }
  if (shape.abstract)
    throw new MismatchError(
      isKnown
        ? { expected: '"@type" with a type that isn\'t abstract', got: 'one that is' }
        : { expected: '"@type"', got: 'none' },
    );
  if (shape !== declared) markTyped(tape, mark.top);
}

/** Marks an object's node so that its type is written. */
export function markTyped(tape: Tape, node: number): void {
  tape.words[node + 2] = (tape.words[node + 2] as number) | isTyped;
}
