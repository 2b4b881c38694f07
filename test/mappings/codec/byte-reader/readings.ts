import { deepStrictEqual } from 'node:assert';
import { endOfStartTag, readHead } from '../../../../mappings/codec/byte-reader/head.ts';
import { maxReportedProblems, startReading } from '../../../../mappings/codec/problem.ts';
import type { CompiledContract, CompiledOperation } from '../../../../mappings/compile.ts';
import type { Input } from '../../../../mappings/http-mapping/call.ts';
import { decodeXml, hasPlainCharacters, utf8Start } from '../../../../mappings/xml/decode.ts';
import { XmlError } from '../../../../mappings/xml/error.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';

/** Reads payloads with both readers. */

const quirks = { acceptsIllegalReferences: true };

/** Reads a document whose root is the payload of an operation, from bytes to bytes; undefined if the reader gives up. */
export function readByBytes(
  { limits }: CompiledContract,
  operation: CompiledOperation,
  document: Buffer,
): Input | undefined {
  const start = hasPlainCharacters(document) ? utf8Start(document, undefined) : undefined;
  if (start === undefined) return undefined;
  const { root } = operation;
  const head = readHead(document, start, endOfStartTag(document, start), limits, quirks, (xml) => {
    xml.readRoot();
    if (xml.local !== root?.local || xml.namespace !== root.namespace)
      throw new XmlError({ line: 1, column: 1 }, {});
  });
  return head && operation.readBytes?.(document, head, startReading(limits.errors ?? maxReportedProblems));
}

/** The same by the usual reader; undefined for a document that is not well-formed. */
function readAsUsual(
  { limits }: CompiledContract,
  operation: CompiledOperation,
  document: Buffer,
): Input | undefined {
  try {
    const xml = new XmlReader(decodeXml(document, undefined), limits, quirks);
    xml.readRoot();
    const input = operation.readXml(xml, startReading(limits.errors ?? maxReportedProblems));
    xml.finish();
    return input;
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}

/** Throws if the byte reader reads a document otherwise than the usual reader. Returns true unless it gave up. */
export function assertSame(
  compiled: CompiledContract,
  operation: CompiledOperation,
  document: Buffer,
): boolean {
  const input = readByBytes(compiled, operation, document);
  if (input === undefined) return false;
  const usual = readAsUsual(compiled, operation, document);
  const text = input.text.toString();
  deepStrictEqual(
    { text, reading: input.reading },
    { text: usual?.text.toString(), reading: usual?.reading },
    document.toString(),
  );
  return true;
}
