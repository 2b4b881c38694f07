import { anyType } from '../../contract/built-in-types.ts';
import { isInnerXml, loneMember, membersOf, noMembers } from '../../contract/members.ts';
import { namespaces } from '../../contract/model.ts';
import type { Reason } from '../../contract/reason.ts';
import {
  type ComplexType,
  isDerived,
  type Members,
  type SchemaType,
  type SimpleType,
} from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Steps } from '../../steps.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ReplyWriter } from '../context.ts';
import { refuseElement, scanNull, writeElement } from '../element.ts';
import { MismatchError, type Reading, refuse } from '../problem.ts';
import { namespaceText } from '../scalars/text.ts';
import { typeAttribute } from '../schema-instance.ts';
import { isReferring, readSimple } from '../simple-text.ts';
import { anyCodec } from './any-type.ts';
import { contentOf, shapeOfContent, shapeOfType } from './compile-shape.ts';
import type { CompiledContent } from './content-model.ts';
import type { AdoptedContext, ValueCodec } from './context.ts';
import { leaf, writeLeaf } from './elements.ts';
import { itemsCodec, noDimensions } from './encoded-arrays.ts';
import { readInnerXml, scanInnerXml } from './open-elements.ts';
import { readLone } from './read-content.ts';
import { checkAttributes, readNull, readShape } from './read-shape.ts';
import { scanEntries, scanMembers, scanTyped } from './scan-shape.ts';
import { type Shape, statedText, statedType } from './shape.ts';
import type { SimpleCodec } from './simple-types.ts';
import { writeShape } from './write-shape.ts';

/** The codecs of simple and complex types, and the choice of a value's actual type (A18). */

const { record } = nodeKinds;

/** Compiles types on first use. The content of types is compiled by `finish`, so that a type may contain itself. */
export interface TypeCompiler {
  readonly codecOf: AdoptedContext['codecOf'];
  readonly mapValues: AdoptedContext['mapValues'];
  readonly shapeFor: (type: ComplexType) => () => Shape;
  readonly finish: () => Steps<void>;
}

export function typeCompiler(contextOf: () => AdoptedContext): TypeCompiler {
  const codecs = new Map<SchemaType, ValueCodec>();
  const codecsOnce = new Map<SchemaType, ValueCodec>();
  const shapes = new Map<ComplexType, () => Shape>();
  const waiting: (() => void)[] = [];

  const shapeFor = (type: ComplexType): (() => Shape) => {
    const known = shapes.get(type);
    if (known !== undefined) return known;
    let made: Shape | undefined;
    const shape = (): Shape => made as Shape;
    shapes.set(type, shape);
    waiting.push(() => {
      made = shapeOfType(contextOf(), type);
      for (const derived of type.derived) shapeFor(derived);
    });
    return shape;
  };

  const codecOf = (type: SchemaType, once: boolean): ValueCodec => {
    const compiled = once ? codecsOnce : codecs;
    const known = compiled.get(type);
    if (known !== undefined) return known;
    const isArray = once && type.kind === 'complex' && loneMember(type) !== undefined;
    const codec = once && !isArray ? codecOf(type, false) : compile(contextOf(), type, isArray);
    compiled.set(type, codec);
    return codec;
  };

  const compile = (context: AdoptedContext, type: SchemaType, asArray: boolean): ValueCodec => {
    if (type.kind === 'simple') return simpleCodec(context, type);
    const { content } = type;
    if (type === anyType) return anyCodec(context, shapeFor, false);
    if (content.kind === 'encodedArray') {
      return content.dimensions > 1 ? severalDimensions : arrayCodec(context, type, content.item, waiting);
    }
    if (content.kind === 'map') return mapCodec(context, shapeFor(type));
    if (asArray && content.kind === 'elements')
      return loneCodec(context, membersOf(content.particle), (work) => waiting.push(work));
    return complexCodec(context, type, shapeFor);
  };

  let inMaps: ValueCodec | undefined;
  const mapValues = (): ValueCodec => {
    inMaps ??= anyCodec(contextOf(), shapeFor, true);
    return inMaps;
  };

  function* finish(): Steps<void> {
    for (let at = 0; at < waiting.length; at++) {
      waiting[at]?.();
      yield;
    }
    waiting.length = 0;
  }
  return { codecOf, mapValues, shapeFor, finish };
}

function arrayCodec(
  context: AdoptedContext,
  type: SchemaType,
  itemType: SchemaType,
  waiting: (() => void)[],
): ValueCodec {
  let item: ValueCodec | undefined;
  waiting.push(() => {
    item = context.codecOf(itemType, false);
  });
  return itemsCodec(context, type, itemType, () => item as ValueCodec);
}

/** The codec of arrays of several dimensions: each value is refused. */
const severalDimensions: ValueCodec = {
  read: (xml, reading) => refuseElement(xml, reading, noDimensions),
  readNil: (xml) => {
    xml.skip();
    return 'null';
  },
  scan: (tape) => {
    if (!scanNull(tape)) throw new MismatchError(noDimensions);
  },
  write: writeLeaf,
  isLeaf: false,
};

// --- simple types -------------------------------------------------------------------------------------

/**
 * Returns the codec of a simple type.
 *
 * @param text the declared default, which is the value of an empty element (A25)
 */
export function simpleCodec(context: AdoptedContext, type: SimpleType, text?: string): ValueCodec {
  const simple = context.simpleOf(type);
  const bare = bareShape(context);
  const given = text === undefined ? undefined : simple.fromXml(text, () => undefined);
  const token = typeof given === 'string' ? given : undefined;
  return {
    read: (xml, reading) => readSimpleElement(context, simple, bare, type, token, xml, reading),
    readNil: (xml, reading) => readNull(bare, xml, reading),
    scan: simple.scan,
    write: writeLeaf,
    isLeaf: !simple.usesPrefixes,
  };
}

/** Returns the empty shape for elements without attributes. Each service has one. */
function bareShape(context: AdoptedContext): Shape {
  const shape = bareShapes.get(context) ?? shapeOfContent(context, noMembers);
  bareShapes.set(context, shape);
  return shape;
}

const bareShapes = new WeakMap<AdoptedContext, Shape>();

function readSimpleElement(
  context: AdoptedContext,
  simple: SimpleCodec,
  bare: Shape,
  type: SimpleType,
  defaultToken: string | undefined,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  if (xml.attributeCount !== 0 && !isReferring(simple, xml, reading)) {
    checkAttributes(bare, xml, reading);
    const stated = typeAttribute(xml);
    if (stated !== undefined && !context.encoded && !isOfSimple(context, stated, type, xml))
      return refuseElement(xml, reading, {
        expected: `${simpleCalled(type, simple)} or a type derived from it`,
        got: statedText(stated, xml),
      });
  }
  return readSimple(simple, context, defaultToken, xml, reading);
}

/** Returns the type that `xsi:type` names; undefined for an unknown one. */
function typeStated(context: AdoptedContext, stated: string, xml: XmlReader): SchemaType | undefined {
  return context.typeOfKey(statedType(stated, xml) ?? '');
}

/** Formats a named type for a message: `Dog in namespace "urn:t"`. Undefined for an anonymous type. */
function typeText({ name }: SchemaType): string | undefined {
  return name === undefined ? undefined : `${name.local} in ${namespaceText(name.namespace)}`;
}

function simpleCalled(type: SimpleType, { expected }: SimpleCodec): string {
  if (type.name?.namespace === namespaces.xsd) return expected;
  return typeText(type) ?? expected;
}

/**
 * Returns true if `xsi:type` names a simple type or a type derived from it (XSD Part 1, 2.6.1). Any type is accepted
 * for `xs:anySimpleType`, for lists and for unions.
 */
function isOfSimple(context: AdoptedContext, stated: string, declared: SimpleType, xml: XmlReader): boolean {
  const type = typeStated(context, stated, xml);
  return (type?.kind === 'simple' && isDerived(type, declared)) || declared.builtIn === 'anySimpleType';
}

// --- complex types ------------------------------------------------------------------------------------

/** Returns the codec of a type that consists of one repeated member: an array (A13). */
function loneCodec(context: AdoptedContext, members: Members, later: (work: () => void) => void): ValueCodec {
  let compiled: CompiledContent | undefined;
  later(() => {
    compiled = contentOf(context, members);
  });
  const content = (): CompiledContent => compiled as CompiledContent;
  const items: ReplyWriter = {
    ...leaf,
    write: (tape, node, output) => content().members[0]?.write(tape, node, output),
  };
  const bare = bareShape(context);
  return {
    read: (xml, reading) => {
      checkAttributes(bare, xml, reading);
      return readLone(content(), xml, reading);
    },
    readNil: (xml, reading) => readNull(bare, xml, reading),
    scan: (tape) => content().members[0]?.scan(tape),
    write: (tags, tape, node, output) => writeElement(tags, items, tape, node, output),
    isLeaf: false,
  };
}

/** Returns the codec of a `Map` of Apache SOAP (A23): an object, or a list of keys and values. */
function mapCodec(context: AdoptedContext, shape: () => Shape): ValueCodec {
  const bare = bareShape(context);
  return {
    read: (xml, reading) => {
      checkAttributes(bare, xml, reading);
      return shape().entries?.read(xml, reading, '{', '');
    },
    readNil: (xml, reading) => readNull(bare, xml, reading),
    scan: (tape) => {
      if (scanNull(tape)) return;
      const byte = tape.peek();
      if (byte === 123 || byte === 91) scanEntries(shape(), tape);
      else throw new MismatchError({ expected: 'an object or an array', got: tape.kind() });
    },
    write: objectWriter(context),
    isLeaf: false,
  };
}

/** Returns the function that writes the node of an object or of a null. */
function objectWriter(context: AdoptedContext): ValueCodec['write'] {
  return (tags, tape, node, output) => {
    if (tape.words[node] === record) writeShape(tags, tape, node, output, context);
    else writeLeaf(tags, tape, node, output);
  };
}

/**
 * Returns the type that the `@type` of a reply names. Throws MismatchError for a type that is not derived from `type`.
 */
function derivedType(context: AdoptedContext, type: ComplexType, name: string): ComplexType {
  const actual = context.typeNamed(name);
  if (actual?.kind === 'complex' && isDerived(actual, type)) return actual;
  const expected = `${declaredName(type)} or a type derived from it`;
  throw new MismatchError({ expected, got: 'another' }).at('@type');
}

function declaredName({ name }: ComplexType): string {
  return name?.local ?? 'the declared type';
}

/** Returns the codec of an object of a type or of a type derived from it. */
function complexCodec(
  context: AdoptedContext,
  type: ComplexType,
  shapeFor: TypeCompiler['shapeFor'],
): ValueCodec {
  const declared = shapeFor(type);
  const isText = isInnerXml(type);
  const isAlone = type.derived.length === 0 && !type.abstract;
  const isAlways = context.settings.types === 'always' && context.typeNameOf(type) !== undefined;
  const called = declaredName(type);

  const read = (xml: XmlReader, reading: Reading): string | undefined => {
    let shape = declared();
    let typed = isAlways;
    const stated = xml.attributeCount === 0 ? undefined : typeAttribute(xml);
    if (stated !== undefined) {
      const actual = typeStated(context, stated, xml);
      if (actual?.kind === 'complex' && actual !== type && isDerived(actual, type)) {
        shape = shapeFor(actual)();
        typed = true;
      } else if (actual !== type && !context.encoded) {
        const expected = `${typeText(type) ?? called} or a type derived from it`;
        const reason: Reason = { expected, got: statedText(stated, xml) };
        if (!reading.keepsRefused) return refuseElement(xml, reading, reason);
        refuse(reading, 'InvalidType', reason);
      }
    }
    if (shape.abstract) {
      const reason: Reason = { expected: `xsi:type with a type derived from ${called}`, got: 'none' };
      if (!reading.keepsRefused) return refuseElement(xml, reading, reason);
      refuse(reading, 'InvalidType', reason);
    }
    if (!isText) return readShape(shape, typed, xml, reading);
    checkAttributes(shape, xml, reading);
    return readInnerXml(context, xml, reading);
  };

  const scan = (tape: Tape): void => {
    if (scanNull(tape)) return;
    if (isText) scanInnerXml(context, tape);
    else if (tape.peek() !== 123) throw new MismatchError({ expected: 'an object', got: tape.kind() });
    else if (isAlone) {
      tape.enter();
      scanMembers(declared(), undefined, tape);
    } else scanTyped(tape, declared(), shapeNamed);
  };

  const shapeNamed = (name: string): Shape => shapeFor(derivedType(context, type, name))();
  return {
    read,
    readNil: (xml, reading) => readNull(declared(), xml, reading),
    scan,
    write: objectWriter(context),
    isLeaf: false,
  };
}
