import { namespaces } from '../../contract/model.ts';
import { quoteValue } from '../../contract/reason.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { endNil } from '../element.ts';
import { unknownReason } from '../nearest.ts';
import {
  isFull,
  miss,
  type Reading,
  recordDeviation,
  refuse,
  refuseNamespaces,
  tryAddCharacters,
} from '../problem.ts';
import { isBlankText } from '../scalars/scalar.ts';
import { namespaceText, quoteJson } from '../scalars/text.ts';
import { isInstanceNamespace } from '../schema-instance.ts';
import { isReferring, readAttribute, readSimple } from '../simple-text.ts';
import type { AdoptedContext } from './context.ts';
import { readInnerXml } from './open-elements.ts';
import { readContent } from './read-content.ts';
import type { AttributeCodec, Shape } from './shape.ts';

/** Reads elements of complex types as JSON objects (A12, A14, A24, A25). */

/** Reads the current element as the shape's object, from its start tag past its end tag. */
export function readShape(
  shape: Shape,
  typed: boolean,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  let json = typed ? shape.typeToken : '{';
  if (xml.attributeCount !== 0 || shape.attributes.length !== 0)
    json = readAttributes(shape, xml, reading, json);
  if (shape.kind === 'members') return `${readContent(shape.content, xml, reading, json)}}`;
  const token =
    shape.simple === undefined
      ? readInnerXml(shape.context, xml, reading)
      : readSimple(shape.simple, shape.context, undefined, xml, reading);
  if (token === undefined) {
    const isEmpty = shape.context.settings.emptyElements === 'absent';
    return isEmpty && json.length > 1 ? `${json}}` : undefined;
  }
  return `${json}${json.length === 1 ? '' : ','}${JSON.stringify(shape.valueName)}:${token}}`;
}

/** Appends the attributes of the current start tag to the object's text (A12). */
export function readAttributes(shape: Shape, xml: XmlReader, reading: Reading, start: string): string {
  const { attributes, context } = shape;
  let json = start;
  let others = '';
  let renamed: Set<AttributeCodec> | undefined;
  const count = xml.attributeCount;
  let found = 0;
  for (let at = 0; at < count; at++) {
    const local = xml.attributeLocal(at);
    const namespace = xml.attributeNamespace(at);
    let attribute = attributes.find((one) => one.local === local && one.namespace === namespace);
    if (attribute === undefined) {
      if (
        isInstanceNamespace(namespace) ||
        namespace === namespaces.soap11 ||
        namespace === namespaces.soap12
      )
        continue;
      const namesake = shape.anyAttribute ? undefined : namesakeOf(attributes, local, namespace, xml);
      if (namesake === 'several') {
        refuseNamesake(attributes, local, namespace, reading);
        continue;
      }
      if (namesake !== undefined) {
        recordDeviation(reading, 'attributeNamespace');
        attribute = namesake;
        renamed ??= new Set();
        renamed.add(namesake);
      }
    }
    if (attribute === undefined) {
      if (context.encoded && (namespace !== '' || local === 'id')) continue;
      if (local === 'href' && namespace === '' && isReferring(shape.simple, xml, reading)) continue;
      if (shape.anyAttribute) {
        // the result repeats the namespace in each name, but the source declares it once
        if (!tryAddCharacters(reading, context.limits, namespace.length)) {
          refuseNamespaces(context.limits, reading);
          continue;
        }
        const name = namespace === '' ? local : `{${namespace}}${local}`;
        others += `${others === '' ? '' : ','}${quoteJson(name)}:${quoteJson(xml.attributeValue(at))}`;
      } else passAttribute(shape, local, namespace === xml.namespace ? '' : namespace, reading);
      continue;
    }
    found++;
    reading.path.push(attribute.json);
    const token = readAttribute(attribute.simple, context, xml.attributeValue(at), xml, reading);
    reading.path.pop();
    if (token !== undefined) json += `${json.length === 1 ? '' : ','}${attribute.jsonKey}${token}`;
  }
  if (others !== '') json += `${json.length === 1 ? '' : ','}"@attributes":{${others}}`;
  if (found < attributes.length || context.settings.emptyElements === 'absent')
    for (const attribute of attributes)
      if (attribute.required && renamed?.has(attribute) !== true && isAbsent(attribute, context, xml))
        miss(reading, [...reading.path, attribute.json], true);
  return json;
}

/** Returns true if an attribute is missing, or is empty and `emptyElements` is `absent`. */
function isAbsent(
  { namespace, local, simple }: AttributeCodec,
  { settings }: AdoptedContext,
  xml: XmlReader,
): boolean {
  const text = xml.attribute(namespace, local);
  if (text === undefined) return true;
  return settings.emptyElements === 'absent' && !simple.takesEmpty && isBlankText(text);
}

/** URI prefixes of namespaces with attributes about XML, messages or security, not about the value: `xml`, `wsu`. */
const otherSubjects = ['http://www.w3.org/', 'http://schemas.xmlsoap.org/', 'http://docs.oasis-open.org/'];

/**
 * Returns the declared attribute that an attribute in a wrong namespace means: the only one with its local name
 * (A12). Returns `several` if that is ambiguous, because the element also has the declared attribute or has the name
 * twice. Returns undefined if no declared attribute has the name.
 */
function namesakeOf(
  attributes: readonly AttributeCodec[],
  local: string,
  namespace: string,
  xml: XmlReader,
): AttributeCodec | 'several' | undefined {
  if (otherSubjects.some((start) => namespace.startsWith(start))) return undefined;
  const named = attributes.filter((one) => one.local === local);
  const [only] = named;
  if (only === undefined) return undefined;
  let count = 0;
  for (let at = 0; at < xml.attributeCount; at++) {
    const other = xml.attributeNamespace(at);
    if (xml.attributeLocal(at) === local && !otherSubjects.some((start) => other.startsWith(start))) count++;
  }
  const isThere = xml.attribute(only.namespace, local) !== undefined;
  return named.length === 1 && count === 1 && !isThere ? only : 'several';
}

function refuseNamesake(
  attributes: readonly AttributeCodec[],
  local: string,
  namespace: string,
  reading: Reading,
): void {
  const known = attributes.find((one) => one.local === local);
  reading.path.push(local.slice(0, 64));
  const expected = namespaceText(known?.namespace ?? '');
  refuse(reading, 'UnknownElement', {
    expected: `the attribute in ${expected}`,
    got: quoteValue(`it in ${namespaceText(namespace)}`),
  });
  reading.path.pop();
}

/** Checks the attributes of an element that has no attribute members. */
export function checkAttributes(shape: Shape, xml: XmlReader, reading: Reading): void {
  if (xml.attributeCount !== 0) readAttributes(shape, xml, reading, '{');
}

/**
 * Ignores an attribute of a foreign namespace, and refuses any other unknown attribute (A12). In a reply that is compared
 * each one is a violation (G34), unless the reading passes those of foreign namespaces (G31).
 *
 * @param namespace `''` for an attribute without a namespace, or in that of its element
 */
function passAttribute(
  { attributes, context }: Shape,
  local: string,
  namespace: string,
  reading: Reading,
): void {
  const isForeign = namespace !== '' && (!reading.keepsRefused || reading.passesForeign === true);
  if (isForeign || context.settings.unknownElements === 'ignore') {
    reading.ignored.push(local);
    return;
  }
  if (isFull(reading)) return;
  reading.path.push(local.slice(0, 64));
  refuse(
    reading,
    'UnknownElement',
    unknownReason(
      'attribute',
      local,
      attributes.map((one) => one.local),
    ),
  );
  reading.path.pop();
}

/** Reads past an element with `xsi:nil`: `null`, or an object with its attributes (A25). */
export function readNull(shape: Shape, xml: XmlReader, reading: Reading): string {
  const json = readAttributes(shape, xml, reading, '{');
  endNil(xml, reading);
  return json === '{' ? 'null' : `{"@nil":true,${json.slice(1)}}`;
}
