import { apacheTypes } from '../../contract/apache-types.ts';
import { anyType, builtInTypes } from '../../contract/built-in-types.ts';
import { namespaces } from '../../contract/model.ts';
import { type ComplexType, expanded, type SchemaType, type SimpleType } from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { type Element, refuseElement, scanNull } from '../element.ts';
import { MismatchError, type Reading } from '../problem.ts';
import { quoteJson } from '../scalars/text.ts';
import { typeAttribute } from '../schema-instance.ts';
import { readSimple } from '../simple-text.ts';
import { bareParts, compileShape, shapeOfSimple } from './compile-shape.ts';
import type { AdoptedContext, ValueCodec } from './context.ts';
import { itemsCodec } from './encoded-arrays.ts';
import { canonicalToken } from './open-elements.ts';
import { checkAttributes, readAttributes, readNull, readShape } from './read-shape.ts';
import { markTyped, scanEntries, scanTyped } from './scan-shape.ts';
import { type Shape, statedText, statedType } from './shape.ts';
import { writeShape } from './write-shape.ts';

/** `xs:anyType` and elements without a type: the form depends on the value (A23). */

const { record } = nodeKinds;

const mapKey = expanded({ namespace: namespaces.apacheSoap, local: 'Map' });
const stringType = builtInTypes.get('string');

/** The shapes and codecs of values of any type, which both directions share. */
interface AnyParts {
  readonly context: AdoptedContext;
  readonly shapeOf: (type: SchemaType) => Shape;
  /** The shapes of values without `@type` in JSON. */
  readonly shapes: Readonly<Record<'string' | 'boolean' | 'long' | 'decimal' | 'double', Shape>>;
  readonly untyped: Shape;
  readonly items: ValueCodec;
  readonly isInMap: boolean;
}

/**
 * Returns the codec of values of any type: text, a value of another simple type, an object with `@type`, an array, or
 * `@xml`.
 *
 * @param isInMap true if the value is in a `Map` of Apache SOAP, where an object without `@type` is a Map too
 */
export function anyCodec(
  context: AdoptedContext,
  shapeFor: (type: ComplexType) => () => Shape,
  isInMap: boolean,
): ValueCodec {
  // a value may be of any of these types
  for (const type of [...context.service.types.values(), ...apacheTypes.values()])
    if (type.kind === 'complex' && type.content.kind === 'encodedArray') context.codecOf(type, false);
    else if (type.kind === 'complex') shapeFor(type);
  const simpleShapes = new Map<SimpleType, Shape>();
  const shapeOf = (type: SchemaType): Shape => {
    if (type.kind === 'complex') return shapeFor(type)();
    const shape = simpleShapes.get(type) ?? shapeOfSimple(context, type, context.typeNameOf(type) as string);
    simpleShapes.set(type, shape);
    return shape;
  };
  const builtIn = (name: string): Shape => shapeOf(builtInTypes.get(name) as SimpleType);
  const shapes = {
    string: builtIn('string'),
    boolean: builtIn('boolean'),
    long: builtIn('long'),
    decimal: builtIn('decimal'),
    double: builtIn('double'),
  };
  const untyped = compileShape(context, {
    ...bareParts,
    anyAttribute: true,
    kind: 'mixed',
    untyped: true,
    valueName: '@xml',
  });
  const items = itemsCodec(context, anyType, anyType, () => codec);
  const parts: AnyParts = { context, shapeOf, shapes, untyped, items, isInMap };
  const shapeNamed = (name: string): Shape => namedShape(parts, name);
  const codec: ValueCodec = {
    read: (xml, reading) => readAny(parts, xml, reading),
    readNil: (xml, reading) => readNull(untyped, xml, reading),
    scan: (tape) => scanAny(parts, shapeNamed, tape),
    write: (tags: Element, tape: Tape, node: number, output: Output) => {
      if (tape.words[node] === record) writeShape(tags, tape, node, output, context);
      else items.write(tags, tape, node, output);
    },
    isLeaf: false,
  };
  return codec;
}

function readAny(parts: AnyParts, xml: XmlReader, reading: Reading): string | undefined {
  const { context, untyped, items } = parts;
  const stated = xml.attributeCount === 0 ? undefined : typeAttribute(xml);
  if (stated === undefined) return readUntyped(context, untyped, xml, reading);
  const key = statedType(stated, xml);
  const type = key === undefined ? undefined : context.typeOfKey(key);
  if (key?.endsWith('}Array') === true && isEncoding(key)) return items.read(xml, reading);
  if (type === undefined || type.name === undefined) {
    if (key?.endsWith('}anyType') === true) return readUntyped(context, untyped, xml, reading);
    if (key !== undefined) return readShape(untyped, false, xml, reading);
    return refuseElement(xml, reading, {
      expected: 'xsi:type with a bound prefix',
      got: statedText(stated, xml),
    });
  }
  if (type === stringType) {
    checkAttributes(parts.shapes.string, xml, reading);
    return readSimple(context.simpleOf(type as SimpleType), context, undefined, xml, reading);
  }
  if (type === apacheTypes.get('Vector')) return items.read(xml, reading);
  if (type.kind === 'complex' && type.content.kind === 'encodedArray')
    return context.codecOf(type, false).read(xml, reading);
  const shape = parts.shapeOf(type);
  if (shape.entries !== undefined) {
    checkAttributes(shape, xml, reading);
    return shape.entries.read(xml, reading, parts.isInMap ? '{' : shape.typeToken, shape.typeToken);
  }
  if (!shape.abstract) return readShape(shape, true, xml, reading);
  return refuseElement(xml, reading, {
    expected: "a type that isn't abstract",
    got: statedText(stated, xml),
  });
}

function scanAny(parts: AnyParts, shapeNamed: (name: string) => Shape, tape: Tape): void {
  const { shapes } = parts;
  if (scanNull(tape)) return;
  const byte = tape.peek();
  if (byte === 34) scanSimple(shapes.string, tape);
  else if (byte === 116 || byte === 102) scanSimple(shapes.boolean, tape);
  else if (byte === 91) parts.items.scan(tape);
  else if (byte === 123 && parts.isInMap && !statesItself(tape)) scanMap(parts, tape);
  else if (byte === 123) scanTyped(tape, parts.untyped, shapeNamed);
  else {
    const start = tape.position;
    const isInteger = tape.scanNumber();
    const isShort = tape.position - start < 19;
    const isDouble = !isInteger && /e/i.test(tape.slice(start, tape.position));
    tape.position = start;
    scanSimple(isDouble ? shapes.double : isInteger && isShort ? shapes.long : shapes.decimal, tape);
  }
}

function scanMap({ context, shapeOf }: AnyParts, tape: Tape): void {
  const node = tape.top;
  scanEntries(shapeOf(context.typeOfKey(mapKey) as SchemaType), tape);
  markTyped(tape, node);
}

/** Returns the shape that `@type` names. Throws MismatchError for an unknown type and for an array type. */
function namedShape({ context, shapeOf }: AnyParts, name: string): Shape {
  const type = context.typeNamed(name);
  if (type === undefined)
    throw new MismatchError({ expected: 'a type of the service', got: 'another' }).at('@type');
  if (type.kind === 'complex' && type.content.kind === 'encodedArray')
    throw new MismatchError({ expected: 'an array in place of an object with an array type' }).at('@type');
  return shapeOf(type);
}

/** Returns true if the first member of the object at the tape's position begins with `@`, for example `@type`. */
function statesItself(tape: Tape): boolean {
  const mark = tape.mark();
  tape.enter();
  const isOwn =
    tape.next(true, 125) && tape.bytes[tape.position] === 34 && tape.bytes[tape.position + 1] === 64;
  tape.rewind(mark);
  return isOwn;
}

function isEncoding(key: string): boolean {
  return key.startsWith(`{${namespaces.soap11Encoding}}`) || key.startsWith(`{${namespaces.soap12Encoding}}`);
}

/** Reads text, or the inner XML if the element has attributes or child elements. */
function readUntyped(
  context: AdoptedContext,
  untyped: Shape,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  const attributes = xml.attributeCount === 0 ? '{' : readAttributes(untyped, xml, reading, '{');
  if (attributes !== '{') return readShape(untyped, false, xml, reading);
  const { declarations, position } = xml;
  const text = xml.readText(context.limits.xmlText, true);
  if (text !== undefined) return quoteJson(text);
  const source = xml.source(position, xml.position);
  const token = canonicalToken(
    context,
    xml,
    source.slice(0, source.lastIndexOf('</')),
    declarations,
    reading,
  );
  return token === undefined ? undefined : `{"@xml":${token}}`;
}

/** Scans a bare value into a node of a simple type's shape, which has no other member. */
function scanSimple(shape: Shape, tape: Tape): void {
  tape.reserve(4);
  const node = tape.top;
  tape.words[node] = record;
  tape.words[node + 1] = shape.number;
  tape.words[node + 2] = 0;
  tape.words[node + 3] = node + 4;
  tape.top = node + 4;
  markTyped(tape, node);
  shape.simple?.scan(tape);
}
