import type { WrittenFault } from '../../compiled.ts';
import type { AdoptedFault } from '../../contract/adopted.ts';
import type { Limits } from '../../contract/limits.ts';
import { freeName, isObjectType } from '../../contract/members.ts';
import type { ElementDeclaration } from '../../contract/type-graph.ts';
import { membersOf } from '../../json/parts.ts';
import { JsonReader } from '../../json/reader.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { Scratch } from '../element.ts';
import { MismatchError, type Reading, twice } from '../problem.ts';
import { someNames } from '../scalars/text.ts';
import type { Contexts } from './contexts.ts';
import { faultMembers, hasFaultWords, readFaultWords } from './fault-words.ts';
import { elementCodec, noCounts } from './write-element.ts';

/** Codecs of the faults that an operation declares (A29). */

/** Returns the error for the first member that occurs twice. */
function twiceOf(members: readonly (readonly [string, string])[]): MismatchError {
  const met = new Set<string>();
  const again = members.find(([name]) => met.size === met.add(name).size);
  return twice(again?.[0] ?? '');
}

/** The codecs of an operation's declared faults (A29). */
export interface FaultCodecs {
  /**
   * Writes an error answer with `@fault`, or with other members of a fault, as that fault. Returns undefined for any
   * other answer. Throws MismatchError, also for a `@fault` that is not declared, and JsonError.
   */
  readonly write: (json: string) => WrittenFault | undefined;
  /**
   * Reads a declared detail element, from its start tag past its end tag, as the error answer. Returns undefined for
   * another element, without reading it.
   */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
}

/**
 * Returns the JSON names of an operation's faults by their elements (A29). A fault has the local name of its element. If
 * two elements have the same local name, a fault has the name of its `wsdl:fault`. Faults with the same global element
 * are one.
 */
export function faultNames(faults: readonly AdoptedFault[]): ReadonlyMap<ElementDeclaration, string> {
  const elements = new Map(faults.toReversed().map(({ element, name }) => [element, name]));
  const byLocal = Map.groupBy(elements.keys(), ({ name }) => name.local);
  const isAlone = ({ name }: ElementDeclaration): boolean => byLocal.get(name.local)?.length === 1;
  const names = new Map<ElementDeclaration, string>();
  const taken = new Set<string>();
  for (const element of elements.keys()) {
    if (!isAlone(element)) continue;
    names.set(element, element.name.local);
    taken.add(element.name.local);
  }
  for (const { element, name } of faults)
    if (!names.has(element)) names.set(element, freeName(name === '' ? element.name.local : name, taken));
  return names;
}

export function compileFaults(
  contexts: Contexts,
  faults: readonly AdoptedFault[],
  scratch: Scratch,
  limits: Limits,
): FaultCodecs {
  const codecs = faults.map((fault) => compileFault(contexts, fault, scratch));
  const names = faultNames(faults);
  const byName = codecsByName(codecs, names);
  const declared = someNames(codecs.map(({ element }) => element.name.local));
  const expected = codecs.length === 0 ? 'none, as no fault is declared' : `a declared fault (${declared})`;
  return {
    write: (json) => {
      const all = membersOf(json, limits) ?? [];
      const members = new Map(all);
      const given = members.get('@fault') ?? 'null';
      if (given === 'null' && !hasFaultWords(members)) return undefined;
      if (members.size < all.length) throw twiceOf(all);
      const words = readFaultWords(members, limits);
      if (given === 'null') {
        let dropped = 0;
        for (const member of members.keys()) if (!faultMembers.has(member)) dropped++;
        return { ...words, isDeclared: false, ...noCounts, dropped };
      }
      const name = given.startsWith('"') ? new JsonReader(given, limits).string() : undefined;
      const codec = name === undefined ? undefined : byName.get(name);
      if (codec === undefined) throw new MismatchError({ expected, got: 'another' }).at('@fault');
      const token = codec.isBare ? (members.get('value') ?? 'null') : json;
      const { xml, ...counts } = writeDetail(codec, token);
      if (codec.isBare)
        for (const member of members.keys())
          if (member !== 'value' && !faultMembers.has(member)) counts.dropped++;
      const { message = name, detail } = words;
      const { action } = codec;
      return { ...words, isDeclared: true, message, detail: xml.toString() + detail, action, ...counts };
    },
    read: (xml, reading) => {
      const codec = codecs.find(
        ({ element }) => element.name.local === xml.local && element.name.namespace === xml.namespace,
      );
      if (codec === undefined) return undefined;
      const token = codec.read(xml, reading) ?? 'null';
      const start = `{"@fault":${JSON.stringify(names.get(codec.element))}`;
      if (!codec.isBare && token.startsWith('{'))
        return token === '{}' ? `${start}}` : `${start},${token.slice(1)}`;
      return `${start},"value":${token}}`;
    },
  };
}

type FaultCodec = ReturnType<typeof compileFault>;

function compileFault(contexts: Contexts, { name, element, use, action }: AdoptedFault, scratch: Scratch) {
  const context = contexts.of(use);
  const typeName = context.typeNameOf(element.type);
  return {
    ...elementCodec(context, element, scratch),
    name,
    action,
    typeName,
    isBare: !isObjectType(element.type),
  };
}

/** Returns the codecs by all names that `@fault` may have. The first codec of a name is used. */
function codecsByName(
  codecs: readonly FaultCodec[],
  names: ReadonlyMap<ElementDeclaration, string>,
): ReadonlyMap<string, FaultCodec> {
  const byName = new Map<string, FaultCodec>();
  const enter = (name: string | undefined, codec: FaultCodec): void => {
    if (name !== undefined && !byName.has(name)) byName.set(name, codec);
  };
  for (const codec of codecs) enter(names.get(codec.element), codec);
  for (const codec of codecs) enter(codec.element.name.local, codec);
  for (const codec of codecs) enter(codec.typeName, codec);
  for (const codec of codecs) enter(codec.name, codec);
  return byName;
}

/** Writes the detail element of a fault. Throws MismatchError, JsonError. */
function writeDetail({ write, isBare }: FaultCodec, token: string) {
  try {
    return write(Buffer.from(token), faultMembers);
  } catch (error) {
    throw isBare && error instanceof MismatchError ? error.at('value') : error;
  }
}
