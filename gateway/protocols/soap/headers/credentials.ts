import { collapse } from '../../../../mappings/codec/scalars/numbers.ts';
import type { Contract } from '../../../../mappings/contract/model.ts';
import { refuse } from '../faults.ts';
import type { HeaderBlock } from './header-block.ts';

/**
 * The block `Credentials` of the contract's namespace, with what a caller could give in HTTP headers, for contracts whose
 * bodies have no place for it (W24); none for others.
 */
export function credentialsBlocks({ credentials, namespaces, adopted }: Contract): readonly HeaderBlock[] {
  // an adopted service has its own blocks for them
  if (credentials === undefined || credentials.member !== undefined || adopted !== undefined) return [];
  const { parts } = credentials;
  const { types } = namespaces;
  const read: HeaderBlock['read'] = (xml, found, { version, limits }) => {
    if (found.credentials !== undefined) refuse(version, 'expected Credentials once in Header, got it again');
    const given = new Map<string, string>();
    while (xml.nextChild()) {
      const { local, namespace } = xml;
      const part = parts.find((candidate) => candidate.xml === local && namespace === types);
      if (part === undefined || given.has(part.name)) {
        const expected = parts.map((candidate) => `<${candidate.xml}>`).join(', ');
        refuse(version, `expected ${expected} in Credentials, each once, got <${local.slice(0, 64)}>`);
      }
      given.set(part.name, collapse(xml.readText(limits.xmlText, false) ?? ''));
    }
    found.credentials = given;
  };
  return [{ namespace: types, local: 'Credentials', read }];
}
