import { escapeXml } from '../../../../mappings/codec/scalars/text.ts';
import type { FaultAction } from '../../../../mappings/contract/adopted.ts';
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

/** The Header of an operation's reply with its action (W28); empty where there is nothing to answer. */
export function headerOfReply({ addressing, security }: ReplyHeader, action: string): string {
  return headerElement(addressing, action, '', security);
}

/**
 * The Header of a fault; empty where there is nothing in it.
 *
 * @param isOfAddressing whether the fault's code is one of WS-Addressing's own (WS-Addressing SOAP Binding, 6)
 * @param blocks what SOAP itself has in it, as text
 * @param declared the actions of a fault that the WSDL declares (A34); undefined for any other fault
 */
export function headerOfFault(
  { addressing, security }: ReplyHeader,
  isOfAddressing: boolean,
  blocks: string,
  declared: FaultAction | undefined,
): string {
  return headerElement(addressing, faultAction(addressing, isOfAddressing, declared), blocks, security);
}

/** Returns the action of a fault. The version of 2004 has no default pattern for faults (3.3.2 there). */
function faultAction(
  addressing: Addressing | undefined,
  isOfAddressing: boolean,
  declared: FaultAction | undefined,
): string {
  const is2004 = addressing?.namespace === namespaces.addressing2004;
  const action = declared?.declared ?? (is2004 ? undefined : declared?.default);
  return action ?? `${addressing?.namespace}${isOfAddressing || is2004 ? '' : '/soap'}/fault`;
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
  return `<s:Header xmlns:w="${namespace}"><w:Action>${escapeXml(action, { replaced: 0 })}</w:Action>${relates}${blocks}${time}</s:Header>`;
}
