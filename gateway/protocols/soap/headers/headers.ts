import { collapse } from '../../../../mappings/codec/scalars/numbers.ts';
import type { CompiledContract } from '../../../../mappings/compile.ts';
import { type Contract, namespaces } from '../../../../mappings/contract/model.ts';
import { quoteElement, quoteValue } from '../../../../mappings/contract/reason.ts';
import type { ContentReader } from '../../../../mappings/xml/reader.ts';
import { Fault, refuse } from '../faults.ts';
import type { SoapVersion } from '../versions.ts';
import { addressingBlocks } from './addressing.ts';
import { credentialsBlocks } from './credentials.ts';
import { declaredBlocks } from './declared.ts';
import { anyNamespace, type HeaderBlock, type HeaderFindings, isForUs } from './header-block.ts';
import { protocolOf } from './protocols.ts';
import { securityBlocks } from './security.ts';

/** Returns the table of all header blocks that the gateway understands. */
function blocksOf(contract: Contract): readonly HeaderBlock[] {
  return [
    ...addressingBlocks,
    ...credentialsBlocks(contract),
    ...securityBlocks(contract),
    ...declaredBlocks(contract),
  ];
}

/**
 * Reads a Header from its start tag to its end tag, and records the content of its blocks. Throws Fault; XmlError.
 *
 * @returns the number of blocks
 */
export type ReadHeader = (xml: ContentReader, version: SoapVersion, found: HeaderFindings) => number;

/** Maximum number of children of soap:Header. */
export const maxHeaderBlocks = 32;

/** Returns a function that reads the Headers of a contract's requests, using the table of blocks (W28). */
export function compileReadHeader({ contract, limits }: CompiledContract): ReadHeader {
  const { soapHeaderBlocks = maxHeaderBlocks } = limits;
  const blocks = new Map<string, Map<string, HeaderBlock>>();
  for (const block of blocksOf(contract)) {
    const ofNamespace = blocks.get(block.namespace) ?? new Map<string, HeaderBlock>();
    ofNamespace.set(block.local, block);
    blocks.set(block.namespace, ofNamespace);
  }
  return (xml, version, found) => {
    const endTag = `</${xml.prefix}:${xml.local}>`.length - (xml.prefix === '' ? 1 : 0);
    const start = xml.position;
    let count = 0;
    while (xml.nextChild()) {
      if (++count > soapHeaderBlocks)
        refuse(version, { detail: `more than ${soapHeaderBlocks} header blocks` }, 'InvalidHeader');
      const mustUnderstand = readMustUnderstand(xml, version, found);
      if (!isForUs(xml, version)) {
        xml.skip();
        continue;
      }
      const ofNamespace = blocks.get(xml.namespace);
      const block =
        ofNamespace?.get(xml.local) ?? ofNamespace?.get('*') ?? blocks.get(anyNamespace)?.get(xml.local);
      if (block !== undefined) block.read(xml, found, { version, mustUnderstand, limits });
      else {
        if (xml.local === 'Security' && xml.namespace === namespaces.wsse)
          found.values = { ...found.values, isSecurityUnread: true };
        if (mustUnderstand) found.fault ??= notUnderstood(xml, version);
        xml.skip();
      }
    }
    if (xml.hasText) refuse(version, { expected: 'only elements in Header', got: 'text' }, 'InvalidHeader');
    if (xml.position - endTag - start > limits.soapHeaderText)
      refuse(version, { detail: `Header longer than ${limits.soapHeaderText} characters` }, 'InvalidHeader');
    return count;
  };
}

function notUnderstood({ namespace, local }: ContentReader, version: SoapVersion): Fault {
  const protocol = protocolOf(namespace);
  let detail = protocol === undefined ? undefined : `${protocol.problem}; ${protocol.instead}`;
  if (local === 'Security') detail = 'the contract does not read WS-Security';
  return new Fault(
    version,
    'MustUnderstand',
    {
      expected: 'mustUnderstand only on header blocks that the contract reads',
      got: quoteElement(local),
      detail,
    },
    { block: { namespace, local } },
  );
}

/** Returns true if the block has mustUnderstand. Only the attribute in the envelope's namespace counts (W28). */
function readMustUnderstand(xml: ContentReader, version: SoapVersion, found: HeaderFindings): boolean {
  const flag = xml.attribute(version.namespace, 'mustUnderstand');
  if (flag === undefined) return false;
  const word = collapse(flag);
  if (word === '1' || word === 'true') return true;
  // an invalid message is reported before a block that is not understood, whatever their order
  if (word !== '0' && word !== 'false' && found.fault?.code !== 'sender')
    found.fault = new Fault(
      version,
      'sender',
      { expected: '0, 1, true or false in mustUnderstand', got: quoteValue(`"${word.slice(0, 32)}"`) },
      {
        kind: 'InvalidHeader',
      },
    );
  return false;
}
