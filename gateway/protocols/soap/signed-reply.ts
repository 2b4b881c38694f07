import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { CompiledContract } from '../../../mappings/compile.ts';
import type { ReplySigning } from '../../../mappings/contract/credentials.ts';
import type { ReplySigner } from '../../../mappings/security/sign.ts';
import { Fault } from './faults.ts';
import type { ReplyHeader } from './headers/reply-header.ts';
import type { SoapVersion } from './versions.ts';

const signers = new WeakMap<ReplySigning, ReplySigner>();

/** Returns the signer of a contract's replies. Its module is loaded only for a contract that signs replies. */
function signerOf(settings: ReplySigning): ReplySigner {
  let signer = signers.get(settings);
  if (signer === undefined) {
    const { ReplySigner: Signer }: typeof import('../../../mappings/security/sign.ts') = createRequire(
      import.meta.url,
    )(`../../../mappings/security/sign${extname(import.meta.url)}`);
    signer = new Signer(settings);
    signers.set(settings, signer);
  }
  return signer;
}

/**
 * Returns the signed envelope of a reply; undefined for a reply that is not signed (X30). Throws Fault for a reply over
 * `wsseSignedReplyBytes`, because a signature needs the whole reply (X34).
 *
 * @param envelope bytes of the envelope, or a text with one character per byte
 * @param parts base64 of the parts of an MTOM message
 */
export function signedEnvelope(
  version: SoapVersion,
  envelope: Buffer | string | readonly Buffer[],
  header: ReplyHeader | undefined,
  { contract, limits }: CompiledContract,
  parts: readonly Buffer[] = [],
): Buffer | undefined {
  const answered = header?.security?.answered;
  const { sign } = contract.wsse ?? {};
  if (answered === undefined || sign === undefined) return undefined;
  if (answered.encryption !== undefined && parts.length > 0)
    throw new Fault(
      version,
      'receiver',
      { detail: 'the parts of the reply cannot be encrypted' },
      { header },
    );
  const pieces = typeof envelope === 'string' ? [Buffer.from(envelope, 'latin1')] : [envelope].flat();
  const size = [...pieces, ...parts].reduce((sum, { length }) => sum + length, 0);
  const { wsseSignedReplyBytes } = limits;
  if (size > wsseSignedReplyBytes) {
    const detail = `the reply has ${size} bytes, and at most ${wsseSignedReplyBytes} bytes are signed`;
    throw new Fault(version, 'receiver', { detail }, { header });
  }
  return Buffer.from(signerOf(sign).sign(Buffer.concat(pieces).toString(), answered, parts));
}
