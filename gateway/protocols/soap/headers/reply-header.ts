import { escapeXml } from '../../../../mappings/codec/scalars/text.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';

/**
 * What the Header of a reply or a fault answers of its request's, a member for each kind of block that is answered. Plain
 * data, as the request may be read in another thread.
 */
export interface ReplyHeader {
  addressing?: Addressing;
}

/** WS-Addressing of one request, to be answered in its own version (W28). */
export interface Addressing {
  readonly namespace: string;
  messageId: string | undefined;
}

/** The Header of an operation's reply; empty where there is nothing to answer. */
export function headerOfReply({ addressing }: ReplyHeader, operation: string): string {
  if (addressing === undefined) return '';
  return headerElement(addressing, `${operation}Response`, '');
}

/**
 * The Header of a fault; empty where there is nothing in it.
 *
 * @param isOfAddressing whether the fault's code is one of WS-Addressing's own (WS-Addressing SOAP Binding, 6)
 * @param blocks what SOAP itself has in it, as text
 */
export function headerOfFault({ addressing }: ReplyHeader, isOfAddressing: boolean, blocks: string): string {
  if (addressing === undefined) return blocks === '' ? '' : `<s:Header>${blocks}</s:Header>`;
  const { namespace } = addressing;
  const isShort = isOfAddressing || namespace === namespaces.addressing2004;
  return headerElement(addressing, `${namespace}${isShort ? '' : '/soap'}/fault`, blocks);
}

function headerElement({ namespace, messageId }: Addressing, action: string, blocks: string): string {
  const relates =
    messageId === undefined ? '' : `<w:RelatesTo>${escapeXml(messageId, { replaced: 0 })}</w:RelatesTo>`;
  return `<s:Header xmlns:w="${namespace}"><w:Action>${action}</w:Action>${relates}${blocks}</s:Header>`;
}
