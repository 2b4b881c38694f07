import { collapse } from '../../../../mappings/codec/scalars/numbers.ts';
import type { Limits } from '../../../../mappings/contract/limits.ts';
import type { ContentReader } from '../../../../mappings/xml/reader.ts';
import type { Fault } from '../faults.ts';
import type { SoapVersion } from '../versions.ts';
import type { ReplyHeader } from './reply-header.ts';
import type { UsernameToken } from './username-token.ts';

/** Stands for every namespace that no other row has a block of that name in. */
export const anyNamespace = '*';

/**
 * A kind of header block that is understood here, whether it has mustUnderstand or not (W28): a row of the table in
 * `headers.ts`, and a file beside this one.
 */
export interface HeaderBlock {
  /** `anyNamespace` for every one. */
  readonly namespace: string;
  /** `*` for every block of the namespace. */
  readonly local: string;
  /**
   * Reads a block that is for us, from behind its start tag to behind its end tag, and notes what it says. Throws Fault for
   * what makes the rest unreadable; any other waits in `found`. Throws XmlError.
   */
  readonly read: (xml: ContentReader, found: HeaderFindings, facts: BlockFacts) => void;
}

/** What holds for the block that is read. */
export interface BlockFacts {
  /** Of the envelope. */
  readonly version: SoapVersion;
  /** Whether it has mustUnderstand. */
  readonly mustUnderstand: boolean;
  readonly limits: Limits;
}

/** A block that a binding of an adopted service declares (A8). */
export interface DeclaredBlock {
  readonly namespace: string;
  readonly local: string;
  readonly mustUnderstand: boolean;
}

/** What the header blocks of a request say, all of them together. */
export interface HeaderFindings {
  /** Hints at the operation (W4), those in the HTTP message first. */
  readonly actions: string[];
  /** Credentials by name, as the body would give them (W24). */
  credentials: ReadonlyMap<string, string> | undefined;
  /** What a UsernameToken gives (W47). */
  token: UsernameToken | undefined;
  /** Whether there was a Security block for us that the contract doesn't read (W45). */
  isSecurityUnread: boolean;
  /** Blocks that operations of an adopted service declare, to be read once the operation is known (A8). */
  readonly declared: DeclaredBlock[];
  /** What the reply's Header answers. */
  reply: ReplyHeader | undefined;
  /** A fault of the header blocks waits until the envelope and the operation are known (W43). */
  fault: Fault | undefined;
}

/** Whether a block is for us: only the envelope's own attributes count (W28). */
export function isForUs(xml: ContentReader, version: SoapVersion): boolean {
  const given = xml.attribute(version.namespace, version.roleAttribute);
  if (given === undefined) return true;
  const role = collapse(given);
  return role === '' || version.ourRoles.includes(role);
}
