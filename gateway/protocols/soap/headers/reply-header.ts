import { escapeXml } from '../../../../mappings/codec/scalars/text.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import { writeTimestamp } from './timestamp.ts';

/**
 * What the Header of a reply or a fault answers of its request's, a member for each kind of block that is answered. Plain
 * data, as the request may be read in another thread.
 */
export interface ReplyHeader {
  addressing?: Addressing;
  /** Of a Security block that was read. */
  security?: SecurityFacts;
}

/** What was read of a request's Security block, for its reply and its line of the log. */
export interface SecurityFacts {
  /** When the request was read, in ms since 1970, where the block held a Timestamp, right or wrong (W53). */
  timestamp: number | undefined;
  /** What the block held of a UsernameToken. */
  token: 'text' | 'digest' | 'none';
  /** Names of what was left out unchecked (W50). */
  readonly unverified: string[];
}

/** WS-Addressing of one request, to be answered in its own version (W28). */
export interface Addressing {
  readonly namespace: string;
  messageId: string | undefined;
}

/** The Header of an operation's reply; empty where there is nothing to answer. */
export function headerOfReply({ addressing, security }: ReplyHeader, operation: string): string {
  return headerElement(addressing, `${operation}Response`, '', security);
}

/**
 * The Header of a fault; empty where there is nothing in it.
 *
 * @param isOfAddressing whether the fault's code is one of WS-Addressing's own (WS-Addressing SOAP Binding, 6)
 * @param blocks what SOAP itself has in it, as text
 */
export function headerOfFault(
  { addressing, security }: ReplyHeader,
  isOfAddressing: boolean,
  blocks: string,
): string {
  const isShort = isOfAddressing || addressing?.namespace === namespaces.addressing2004;
  return headerElement(
    addressing,
    `${addressing?.namespace}${isShort ? '' : '/soap'}/fault`,
    blocks,
    security,
  );
}

/** Its Timestamp stands last (W53). */
function headerElement(
  addressing: Addressing | undefined,
  action: string,
  blocks: string,
  security: SecurityFacts | undefined,
): string {
  const time = security?.timestamp === undefined ? '' : writeTimestamp(security.timestamp);
  if (addressing === undefined) {
    const content = blocks + time;
    return content === '' ? '' : `<s:Header>${content}</s:Header>`;
  }
  const { namespace, messageId } = addressing;
  const relates =
    messageId === undefined ? '' : `<w:RelatesTo>${escapeXml(messageId, { replaced: 0 })}</w:RelatesTo>`;
  return `<s:Header xmlns:w="${namespace}"><w:Action>${action}</w:Action>${relates}${blocks}${time}</s:Header>`;
}
