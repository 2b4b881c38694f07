import type { Wsse } from '../../../../mappings/contract/credentials.ts';
import { type Contract, namespaces } from '../../../../mappings/contract/model.ts';
import type { Reason } from '../../../../mappings/contract/reason.ts';
import type { ContentReader } from '../../../../mappings/xml/reader.ts';
import { Fault, type FaultCode } from '../faults.ts';
import type { BlockFacts, HeaderBlock, HeaderFindings } from './header-block.ts';
import { readTimestamp } from './timestamp.ts';
import { readUsernameToken } from './username-token.ts';

/** Returns the Security block of WS-Security, if the contract reads it (W45). */
export function securityBlocks({ wsse }: Contract): readonly HeaderBlock[] {
  if (wsse === undefined) return [];
  return [
    {
      namespace: namespaces.wsse,
      local: 'Security',
      read: (xml, found, facts) => readSecurity(xml, wsse, found, facts),
    },
  ];
}

/**
 * Reads a Security block after its start tag. Errors are recorded, and reported after the envelope was checked (W46,
 * W51).
 */
function readSecurity(
  xml: ContentReader,
  wsse: Wsse,
  found: HeaderFindings,
  { version, limits }: BlockFacts,
): void {
  const refuse = (code: FaultCode, reason: Reason): void => {
    found.fault ??= new Fault(version, code, reason);
  };
  found.reply ??= {};
  if (found.reply.security !== undefined)
    refuse('InvalidSecurity', { expected: 'one Security block for this service', got: 'two blocks' });
  found.reply.security ??= { timestamp: undefined, token: 'none', unverified: [] };
  const facts = found.reply.security;
  const now = Date.now();
  let tokens = 0;
  let timestamps = 0;
  while (xml.nextChild()) {
    const { namespace, local } = xml;
    if (namespace === namespaces.wsu && local === 'Timestamp') {
      facts.timestamp = now;
      if (++timestamps > 1)
        refuse('InvalidSecurity', { expected: 'at most one Timestamp in Security', got: 'two Timestamps' });
      const wrong = readTimestamp(xml, now, limits);
      if (wrong !== undefined) refuse(wrong.code, wrong.reason);
    } else if (namespace === namespaces.wsse && local === 'UsernameToken') {
      if (++tokens > 1)
        refuse('InvalidSecurity', {
          expected: 'at most one UsernameToken in Security',
          got: 'two UsernameTokens',
        });
      const token = readUsernameToken(xml, wsse, now, limits);
      if ('problem' in token) refuse(token.problem.code, token.problem.reason);
      else {
        facts.token = token.kind;
        const { values, digest } = token;
        found.values = { ...found.values, token: values, digest };
      }
    } else if (wsse.unverified.some((name) => name === local)) {
      facts.unverified.push(local);
      xml.skip();
    } else {
      refuse('UnsupportedSecurityToken', unsupported(local));
      xml.skip();
    }
  }
  if (xml.hasText) refuse('InvalidSecurity', { expected: 'only elements in Security', got: 'text' });
}

/**
 * Returns the reason for an element that the gateway neither verifies nor decrypts (W50).
 *
 * @param read the elements that the gateway reads
 */
export function unsupported(local: string, read = 'a UsernameToken and a Timestamp'): Reason {
  const verb = local.startsWith('Encrypted') ? 'decrypt' : 'verify';
  return {
    detail: `the gateway does not ${verb} <${local.slice(0, 64)}>. The gateway reads only ${read}`,
  };
}

/** Returns the reason for a missing Timestamp, if the contract requires one (W48); undefined otherwise. */
export function missingTimestamp({ wsse }: Contract, { reply }: HeaderFindings): Reason | undefined {
  if (wsse?.timestamp !== 'required' || reply?.security?.timestamp !== undefined) return undefined;
  return { expected: 'a Timestamp in a Security block of the Header', got: 'none' };
}
