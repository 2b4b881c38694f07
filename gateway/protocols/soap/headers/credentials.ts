import { collapse } from '../../../../mappings/codec/scalars/numbers.ts';
import type { Contract } from '../../../../mappings/contract/model.ts';
import { quoteElement } from '../../../../mappings/contract/reason.ts';
import type { ContentReader } from '../../../../mappings/xml/reader.ts';
import { Fault, refuse } from '../faults.ts';
import { anyNamespace, type HeaderBlock } from './header-block.ts';

/**
 * Returns the header block for callers' credentials, for contracts with credentials that are not members of the body
 * (W24). A block of this name in another namespace is a fault, because the credentials would otherwise be ignored
 * silently.
 */
export function credentialsBlocks({ credentials, namespaces }: Contract): readonly HeaderBlock[] {
  const block = credentials?.block;
  if (credentials === undefined || block === undefined) return [];
  const { parts } = credentials;
  const { types } = namespaces;
  const local = block.element;
  const place = `namespace "${types}"`;
  const read: HeaderBlock['read'] = (xml, found, { version, limits }) => {
    if (found.values?.block !== undefined)
      refuse(version, { expected: `${local} once in Header`, got: 'the block again' }, 'InvalidHeader');
    const given = new Map<string, string>();
    while (xml.nextChild()) {
      const part = parts.find((candidate) => candidate.xml === xml.local && xml.namespace === types);
      if (part === undefined || given.has(part.name)) {
        const expected = parts.map((candidate) => `<${candidate.xml}>`).join(', ');
        const why = part !== undefined ? ' again' : xml.namespace === types ? '' : ` in ${gotNamespace(xml)}`;
        refuse(
          version,
          {
            expected: `${expected} of ${place} in ${local}, each once`,
            got: quoteElement(xml.local, why),
          },
          'InvalidHeader',
        );
      }
      given.set(part.name, collapse(xml.readText(limits.xmlText, false) ?? ''));
    }
    found.values = { ...found.values, block: given };
  };
  const readMisplaced: HeaderBlock['read'] = (xml, found, { version }) => {
    found.fault ??= new Fault(
      version,
      'sender',
      { expected: `the header block ${local} in ${place}`, got: `the block in ${gotNamespace(xml)}` },
      { kind: 'InvalidHeader' },
    );
    xml.skip();
  };
  return [
    { namespace: types, local, read },
    { namespace: anyNamespace, local, read: readMisplaced },
  ];
}

function gotNamespace({ namespace }: ContentReader): 'no namespace' | 'another namespace' {
  return namespace === '' ? 'no namespace' : 'another namespace';
}
