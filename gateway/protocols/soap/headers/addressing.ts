import { collapse } from '../../../../mappings/codec/scalars/numbers.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import type { ContentReader } from '../../../../mappings/xml/reader.ts';
import { Fault } from '../faults.ts';
import type { BlockFacts, HeaderBlock, HeaderFindings } from './header-block.ts';

/** Addresses that mean the connection of the request, or no reply. */
const anonymousAddresses = new Set([
  `${namespaces.addressing10}/anonymous`,
  `${namespaces.addressing10}/none`,
  `${namespaces.addressing2004}/role/anonymous`,
]);

const readers: Readonly<Record<string, HeaderBlock['read']>> = {
  Action: readAction,
  MessageID: readMessageId,
  To: ignore,
  From: ignore,
  ReplyTo: readEndpoint,
  FaultTo: readEndpoint,
  RelatesTo: ignore,
};

/** Header blocks of WS-Addressing 1.0 and of August 2004, answered in the version of the request (W28). */
export const addressingBlocks: readonly HeaderBlock[] = [
  ...[namespaces.addressing10, namespaces.addressing2004].flatMap((namespace) =>
    Object.entries(readers).map(([local, read]) => ({ namespace, local, read })),
  ),
  { namespace: namespaces.addressingNone, local: '*', read: (xml) => xml.skip() },
];

/** Returns the request's addressing, which its first block creates. */
function addressingOf(namespace: string, found: HeaderFindings): { messageId: string | undefined } {
  found.reply ??= {};
  found.reply.addressing ??= { namespace, messageId: undefined };
  return found.reply.addressing;
}

function ignore(xml: ContentReader, found: HeaderFindings): void {
  addressingOf(xml.namespace, found);
  xml.skip();
}

function readAction(xml: ContentReader, found: HeaderFindings, { limits }: BlockFacts): void {
  addressingOf(xml.namespace, found);
  found.actions.push(collapse(xml.readText(limits.xmlText, false) ?? ''));
}

function readMessageId(xml: ContentReader, found: HeaderFindings, { limits }: BlockFacts): void {
  const addressing = addressingOf(xml.namespace, found);
  const text = collapse(xml.readText(limits.xmlText, false) ?? '');
  addressing.messageId ??= text;
}

/**
 * Reads an address for replies or faults. Replies are only sent on the request's connection, so another address with
 * mustUnderstand is a fault.
 */
function readEndpoint(xml: ContentReader, found: HeaderFindings, facts: BlockFacts): void {
  const { namespace, local } = xml;
  addressingOf(namespace, found);
  while (xml.nextChild()) {
    if (xml.local !== 'Address' || xml.namespace !== namespace) {
      xml.skip();
      continue;
    }
    const address = collapse(xml.readText(facts.limits.xmlText, false) ?? '');
    if (facts.mustUnderstand && !anonymousAddresses.has(address)) {
      found.fault ??= new Fault(
        facts.version,
        'OnlyAnonymousAddressSupported',
        { detail: `replies are sent on the connection of the request, but ${local} has another address` },
        { header: found.reply },
      );
    }
  }
}
