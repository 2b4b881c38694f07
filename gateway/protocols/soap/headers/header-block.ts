import { collapse } from '../../../../mappings/codec/scalars/numbers.ts';
import type { Limits } from '../../../../mappings/contract/limits.ts';
import type { ContentReader } from '../../../../mappings/xml/reader.ts';
import type { HeaderValues } from '../../../call/credentials.ts';
import type { Fault } from '../faults.ts';
import type { SoapVersion } from '../versions.ts';
import type { ReplyHeader } from './reply-header.ts';

/** Matches every namespace, after blocks with a namespace of their own. */
export const anyNamespace = '*';

/**
 * A kind of header block that the gateway understands, with or without mustUnderstand (W28). Each kind is an entry of
 * the table in `headers.ts`, implemented in a file of this folder.
 */
export interface HeaderBlock {
  /** `anyNamespace` for all namespaces. */
  readonly namespace: string;
  /** `*` for all blocks of the namespace. */
  readonly local: string;
  /**
   * Reads a block from its start tag to its end tag, and records its content in `found`. Throws Fault if the rest of
   * the document becomes unreadable; records other faults in `found`. Throws XmlError.
   */
  readonly read: (xml: ContentReader, found: HeaderFindings, facts: BlockFacts) => void;
}

/** Properties of the block that is read. */
export interface BlockFacts {
  /** Version of the envelope. */
  readonly version: SoapVersion;
  /** True if the block has mustUnderstand. */
  readonly mustUnderstand: boolean;
  readonly limits: Limits;
}

/** A block that a binding of an adopted service declares (A8). */
export interface DeclaredBlock {
  readonly namespace: string;
  readonly local: string;
  readonly mustUnderstand: boolean;
}

/** Content of all header blocks of a request. */
export interface HeaderFindings {
  /** Actions that the request names (W4), starting with the HTTP message. */
  readonly actions: string[];
  /** Values that the call uses; undefined for none. */
  values: HeaderValues | undefined;
  /** Blocks that operations of an adopted service declare. They are read when the operation is known (A8). */
  readonly declared: DeclaredBlock[];
  /** Request headers that the Header of the reply answers. */
  reply: ReplyHeader | undefined;
  /** A fault of the header blocks. It is thrown after the envelope and the operation were checked (W43). */
  fault: Fault | undefined;
}

/** Returns true if a block is for this role. Only attributes in the envelope's namespace count (W28). */
export function isForUs(xml: Pick<ContentReader, 'attribute'>, version: SoapVersion): boolean {
  const given = xml.attribute(version.namespace, version.roleAttribute);
  if (given === undefined) return true;
  const role = collapse(given);
  return role === '' || version.ourRoles.includes(role);
}
