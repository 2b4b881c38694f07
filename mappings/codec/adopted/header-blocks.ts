import type { Limits } from '../../contract/limits.ts';
import { type ElementDeclaration, expanded } from '../../contract/type-graph.ts';
import { membersOf } from '../../json/parts.ts';
import { type JsonRequestReading, withoutIgnored } from '../../json/tape.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { Scratch } from '../element.ts';
import { MismatchError, type Reading } from '../problem.ts';
import type { Context } from './contexts.ts';
import { elementReader, tagsOf } from './elements.ts';
import {
  declarationsOf,
  noCounts,
  noSeparateMembers,
  sumOf,
  twice,
  type WrittenMessage,
  writeElement,
} from './write-element.ts';

/** Codecs of the header blocks that a binding declares (A8). */

/** Compiles the codecs of the header blocks that a binding declares (A8). */
export function compileHeaders(context: Context, declared: readonly ElementDeclaration[], scratch: Scratch) {
  const blocks = declared.map((element) => compileBlock(context, element));
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
        return writeBlocks(context, byLocal, text, scratch, jsonRequest);
      } catch (error) {
        throw error instanceof MismatchError ? error.at('@headers') : error;
      }
    },
  };
}

type Block = ReturnType<typeof compileBlock>;

function compileBlock(context: Context, element: ElementDeclaration) {
  const value = context.elementOf(element, true);
  return {
    element,
    key: `${JSON.stringify(element.name.local)}:`,
    read: elementReader(context, element, value, false),
    value,
    tags: tagsOf(context, element, declarationsOf(context, element)),
  };
}

/** Writes the blocks of a message from the JSON of its `@headers`. Throws MismatchError, JsonError. */
function writeBlocks(
  context: Context,
  byLocal: ReadonlyMap<string, Block | undefined>,
  text: string,
  scratch: Scratch,
  jsonRequest: JsonRequestReading | undefined,
): Omit<WrittenMessage, 'xml'> {
  const members = membersOf(text, context.limits);
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
    if (written.has(local)) throw twice().at(local);
    written.add(local);
    try {
      const bytes = Buffer.from(token);
      const blockRequest: JsonRequestReading | undefined = jsonRequest && { ...jsonRequest, ignored: [] };
      const { value, tags } = block;
      const { xml, ...its } = writeElement(
        context,
        value,
        tags,
        bytes,
        scratch,
        noSeparateMembers,
        blockRequest,
      );
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
  if (found.length > 1) throw twice().at(name);
  return found[0]?.[1];
}
