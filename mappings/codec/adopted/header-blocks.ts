import type { Limits } from '../../contract/limits.ts';
import { type ElementDeclaration, expanded } from '../../contract/type-graph.ts';
import { membersOf } from '../../json/parts.ts';
import { type JsonRequestReading, withoutIgnored } from '../../json/tape.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { Scratch } from '../element.ts';
import { MismatchError, type Reading, twice } from '../problem.ts';
import type { Context } from './contexts.ts';
import {
  type ElementCodec,
  elementCodec,
  noCounts,
  noSeparateMembers,
  sumOf,
  type WrittenMessage,
} from './write-element.ts';

/** Codecs of the header blocks that a binding declares (A8). */

/** Compiles the codecs of the header blocks that a binding declares (A8). */
export function compileHeaders(context: Context, declared: readonly ElementDeclaration[], scratch: Scratch) {
  const blocks = declared.map((element) => {
    const key = `${JSON.stringify(element.name.local)}:`;
    return { key, ...elementCodec(context, element, scratch, { once: true }) };
  });
  const byName = new Map(blocks.map((block) => [expanded(block.element.name), block]));
  /** Undefined for a local name that blocks of several namespaces have. */
  const byLocal = new Map<string, Block | undefined>();
  for (const block of byName.values()) {
    const { local } = block.element.name;
    byLocal.set(local, byLocal.has(local) ? undefined : block);
  }
  const { limits } = context;
  return {
    declares: (namespace: string, local: string) => byName.has(expanded({ namespace, local })),
    readHeader: (xml: XmlReader, reading: Reading): string | undefined => {
      const { namespace, local } = xml;
      const block = byName.get(expanded({ namespace, local }));
      if (block === undefined) throw new RangeError('readHeader: expected a declared block');
      reading.path.push('@headers', local);
      const token = block.read(xml, reading);
      reading.path.length -= 2;
      return token === undefined ? undefined : block.key + token;
    },
    write: (json: Uint8Array, jsonRequest?: JsonRequestReading): Omit<WrittenMessage, 'xml'> => {
      if (blocks.length === 0) return noBlocks;
      const text = memberOf(Buffer.from(json).toString(), '@headers', limits);
      if (text === undefined || text === 'null') return noBlocks;
      try {
        return writeBlocks(byLocal, text, limits, jsonRequest);
      } catch (error) {
        throw error instanceof MismatchError ? error.at('@headers') : error;
      }
    },
  };
}

/** A declared block, and its member's name with a colon in JSON. */
interface Block extends ElementCodec {
  readonly key: string;
}

/** Writes the blocks of a message from the JSON of its `@headers`. Throws MismatchError, JsonError. */
function writeBlocks(
  byLocal: ReadonlyMap<string, Block | undefined>,
  text: string,
  limits: Limits,
  jsonRequest: JsonRequestReading | undefined,
): Omit<WrittenMessage, 'xml'> {
  const members = membersOf(text, limits);
  if (members === undefined && jsonRequest !== undefined)
    throw new MismatchError({ expected: 'an object', got: 'another value' });
  if (members === undefined) return { ...noBlocks, dropped: 1 };
  let headers = '';
  let counts = noCounts;
  const names: string[] = [];
  const kept: string[] = [];
  const written = new Set<string>();
  for (const [local, token] of members) {
    if (!byLocal.has(local))
      throw new MismatchError({ expected: 'a declared header', got: 'another' }).at(local);
    const block = byLocal.get(local);
    if (block === undefined)
      throw new MismatchError({
        expected: 'the name of one header block',
        got: 'that of several namespaces',
      }).at(local);
    if (written.has(local)) throw twice(local);
    written.add(local);
    try {
      const bytes = Buffer.from(token);
      const blockRequest: JsonRequestReading | undefined = jsonRequest && { ...jsonRequest, ignored: [] };
      const { xml, ...its } = block.write(bytes, noSeparateMembers, blockRequest);
      headers += xml.toString();
      counts = sumOf(its, counts);
      if (blockRequest === undefined) continue;
      for (const { name } of blockRequest.ignored) names.push(name);
      kept.push(block.key + withoutIgnored(bytes, blockRequest.ignored));
    } catch (error) {
      throw error instanceof MismatchError ? error.at(local) : error;
    }
  }
  return { headers, ...counts, left: names.length === 0 ? undefined : { names, blocks: kept } };
}

const noBlocks: Omit<WrittenMessage, 'xml'> = { headers: '', ...noCounts };

/** Returns the JSON of an object's member; undefined if it is absent. Throws MismatchError if it occurs twice. */
function memberOf(text: string, name: string, limits: Limits): string | undefined {
  const found = (membersOf(text, limits) ?? []).filter(([member]) => member === name);
  if (found.length > 1) throw twice(name);
  return found[0]?.[1];
}
