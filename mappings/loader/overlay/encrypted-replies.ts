import type { Wsse } from '../../contract/credentials.ts';
import type { Report } from '../document/error.ts';

/**
 * Reports a setting for replies with parts in a contract that encrypts replies, because only Body is encrypted (X32).
 *
 * @param packaging undefined for the default of another setting
 */
export function checkEncryptedReplies(
  packaging: 'never' | 'requested' | 'always' | undefined,
  wsse: Partial<Wsse> | undefined,
  pointer: string,
  report: Report,
): void {
  if (wsse?.decrypt !== undefined && packaging !== undefined && packaging !== 'never')
    report(pointer, 'expected never with /wsse/decrypt, because parts of replies are not encrypted');
}
