import { refuse as note, type Reading } from '../../../../mappings/codec/problem.ts';
import type { CompiledOperation } from '../../../../mappings/compile.ts';
import type { Contract } from '../../../../mappings/contract/model.ts';
import { quoteElement } from '../../../../mappings/contract/reason.ts';
import type { XmlReader } from '../../../../mappings/xml/reader.ts';
import { Fault } from '../faults.ts';
import type { SoapVersion } from '../versions.ts';
import { type HeaderBlock, type HeaderFindings, isForUs } from './header-block.ts';

/**
 * Returns the header blocks that bindings declare (A8). They are only recorded, because the
 * operation, which decides about them, is not known yet. `readDeclared` reads them.
 */
export function declaredBlocks({ operations }: Contract): readonly HeaderBlock[] {
  const blocks = new Map<string, HeaderBlock>();
  for (const { binding } of operations) {
    for (const name of binding.headers) {
      blocks.set(`{${name.namespace}}${name.local}`, {
        ...name,
        read: (xml, found, { mustUnderstand }) => {
          const { namespace, local } = xml;
          found.declared.push({ namespace, local, mustUnderstand });
          xml.skip();
        },
      });
    }
  }
  return [...blocks.values()];
}

/**
 * Reads the declared blocks of a request as members of `@headers`, in document order. A repeated block is recorded as a
 * problem in `reading`. A block of another operation counts as unknown: it throws Fault if it has mustUnderstand (W28).
 * The Header is read a second time.
 *
 * @param xml reader at the start of the document, after its Header was read without an error
 */
export function readDeclared(
  xml: XmlReader,
  { header }: CompiledOperation,
  { declared }: HeaderFindings,
  reading: Reading,
  version: SoapVersion,
): readonly string[] {
  const own = declared.filter(({ namespace, local }) => header?.declares(namespace, local) === true);
  const strange = declared.find((block) => block.mustUnderstand && !own.includes(block));
  if (strange !== undefined)
    throw new Fault(
      version,
      'MustUnderstand',
      { expected: 'mustUnderstand only on header blocks of the operation', got: quoteElement(strange.local) },
      { block: strange },
    );
  if (header === undefined || own.length === 0) return [];
  const tokens: string[] = [];
  const met = new Set<string>();
  xml.readRoot();
  xml.nextChild();
  while (xml.nextChild()) {
    const { namespace, local } = xml;
    if (!header.declares(namespace, local) || !isForUs(xml, version)) {
      xml.skip();
      continue;
    }
    if (met.has(local)) {
      reading.path.push('@headers', local);
      note(reading, 'DuplicateElement', { expected: 'the header block once', got: 'the block again' });
      reading.path.length -= 2;
      xml.skip();
      continue;
    }
    met.add(local);
    const token = header.read(xml, reading);
    if (token !== undefined) tokens.push(token);
  }
  return tokens;
}
