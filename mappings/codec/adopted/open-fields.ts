import { anyType, builtInTypes } from '../../contract/built-in-types.ts';
import { type ElementDeclaration, plainElement, type SimpleType } from '../../contract/type-graph.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { isNcName } from '../../xml/characters.ts';
import { xmlNamespace, xmlnsNamespace } from '../../xml/namespaces.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { type Element, elementNamed, elementOf, enters } from '../element.ts';
import { pushItem, pushList } from '../json-scan.ts';
import { MismatchError, type Reading, refuseNamespaces, tryAddCharacters } from '../problem.ts';
import { escapeAttribute, quoteJson } from '../scalars/text.ts';
import type { AdoptedContext } from './context.ts';
import { elementReader, tagsOf } from './elements.ts';

/** A wildcard's elements as members of an object, for types that the overlay's `open` names (A22). */

const { nothing, plain } = nodeKinds;

/** The elements of a wildcard: their JSON by member name, in the order of the first element of each name. */
export type FieldsBag = Map<string, string[]>;

/** The codec of a wildcard's elements as an object. */
export interface OpenFields {
  /** Reads the current element into the bag, past its end tag. Records the reason if it is refused. */
  readonly read: (xml: XmlReader, reading: Reading, bag: FieldsBag) => void;
  /** Pushes the node of the object, a linked list of entries. Throws MismatchError, JsonError. */
  readonly scan: (tape: Tape) => void;
  /** Writes the elements of that node. */
  readonly write: (tape: Tape, node: number, output: Output) => void;
}

/**
 * Compiles a wildcard's elements as an object. A member has its element's local name, or `{namespace}local` in a
 * namespace other than `namespace`. An element with text only is a string, a nil element is `null`, and any other is a
 * value of `xs:anyType` (A23). Several elements of one name are an array.
 *
 * @param namespace namespace of names without `{namespace}`
 * @param repeats true if more than one element is allowed
 */
export function openFields(context: AdoptedContext, namespace: string, repeats: boolean): OpenFields {
  const any = context.codecOf(anyType, false);
  const text = context.simpleOf(builtInTypes.get('string') as SimpleType);
  const readValue = elementReader(context, fieldOf(namespace, 'any'), any, true);
  const read: OpenFields['read'] = (xml, reading, bag) => {
    const name = xml.namespace === namespace ? xml.local : `{${xml.namespace}}${xml.local}`;
    const token = readValue(xml, reading);
    if (token === undefined) return;
    const known = bag.get(name);
    if (known !== undefined) known.push(token);
    else if (tryAddCharacters(reading, context.limits, name.length)) bag.set(name, [token]);
    else refuseNamespaces(context.limits, reading);
  };
  const scanValue = (tape: Tape): void => {
    const byte = tape.peek();
    const start = tape.position;
    if (byte === 34) text.scan(tape);
    else if (byte === 110 || byte === 123 || byte === 91) any.scan(tape);
    else {
      if (byte === 116 || byte === 102) tape.literal();
      else tape.scanNumber();
      tape.pushRange(plain, start, tape.position);
    }
  };
  const scan = (tape: Tape): void => {
    if (enters(tape, 123)) scanMembers(tape, scanValue, repeats);
  };
  const write: OpenFields['write'] = (tape, node, output) => {
    if (tape.words[node] === nothing) return;
    for (let entry = tape.words[node + 1] as number; entry !== -1; entry = tape.words[entry] as number) {
      const tags = fieldTags(context, tape.made[tape.words[entry + 1] as number] ?? '', namespace);
      any.write(tags, tape, entry + 2, output);
    }
  };
  return { read, scan, write };
}

/** Formats the elements of a bag as a JSON object. */
export function fieldsJson(bag: FieldsBag): string {
  const members: string[] = [];
  for (const [name, tokens] of bag) {
    // a value that is an array is wrapped, because a bare array means several elements
    const isOne = tokens.length === 1 && tokens[0]?.startsWith('[') === false;
    members.push(`${quoteJson(name)}:${isOne ? tokens[0] : `[${tokens.join(',')}]`}`);
  }
  return `{${members.join(',')}}`;
}

/**
 * Scans the members of an object, after its opening bracket. Pushes its node, and for each element a link, the index of
 * its name in `made`, and its value.
 */
function scanMembers(tape: Tape, scanValue: (tape: Tape) => void, repeats: boolean): void {
  let link = pushList(tape);
  let count = 0;
  const names = new Set<string>();
  for (let first = true; tape.next(first, 125); first = false) {
    const name = scanName(tape);
    if (names.has(name)) throw new MismatchError({ expected: 'each name once', got: 'another' }).at(name);
    names.add(name);
    const place = tape.made.push(name) - 1;
    const scanOne = (): void => {
      if (++count > 1 && !repeats) throw new MismatchError({ expected: 'one element', got: 'several' });
      link = pushItem(tape, link);
      tape.reserve(1);
      tape.words[tape.top++] = place;
      scanValue(tape);
    };
    try {
      if (tape.peek() === 91) {
        tape.enter();
        for (let isFirst = true; tape.next(isFirst, 93); isFirst = false) scanOne();
      } else scanOne();
    } catch (error) {
      throw error instanceof MismatchError ? error.at(name) : error;
    }
  }
}

/** Reads a member's name and its colon. Throws MismatchError for a name that no element can have. */
function scanName(tape: Tape): string {
  const name = tape.name();
  const end = name.startsWith('{') ? name.lastIndexOf('}') : -1;
  if (!isNcName(name.slice(end + 1)) || name.slice(1, Math.max(1, end)) === xmlnsNamespace)
    throw new MismatchError({ expected: 'names of elements', got: 'another' });
  return name;
}

function fieldOf(namespace: string, local: string): ElementDeclaration {
  return plainElement({ namespace, local }, anyType, true);
}

/**
 * Returns the tags of an element by its member's name. An element in another namespace declares that namespace itself.
 */
function fieldTags(context: AdoptedContext, name: string, namespace: string): Element {
  if (!name.startsWith('{')) return tagsOf(context, fieldOf(namespace, name));
  const end = name.lastIndexOf('}');
  const other = name.slice(1, end);
  if (other === xmlNamespace) return elementOf(`xml:${name.slice(end + 1)}`, '', true);
  const qualified = (other === '' ? '' : 'f:') + name.slice(end + 1);
  const start = `<${qualified}${other === '' ? '' : ` xmlns:f="${escapeAttribute(other)}"`}`;
  return elementNamed(qualified, start, start);
}
