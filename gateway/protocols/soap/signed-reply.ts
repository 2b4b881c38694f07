import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { CompiledContract, Frame } from '../../../mappings/compile.ts';
import type { ReplySigning } from '../../../mappings/contract/credentials.ts';
import type { AnsweredSignatures, ReplySigner } from '../../../mappings/security/sign.ts';
import type { Outcome } from '../../call/outcome.ts';
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

/** The envelope of a reply: bytes, or a text with one character per byte. */
type WrittenEnvelope = Buffer | string | readonly Buffer[];

/**
 * Returns the signed envelope of a reply; undefined for a reply that is not signed (X30). Throws Fault for a reply that
 * cannot be signed.
 *
 * @param parts base64 of the parts of an MTOM message
 */
export function signedEnvelope(
  version: SoapVersion,
  envelope: WrittenEnvelope,
  header: ReplyHeader | undefined,
  compiled: CompiledContract,
  parts: readonly Buffer[] = [],
): Buffer | undefined {
  const answered = header?.security?.answered;
  if (answered === undefined) return undefined;
  const signed = sign(envelope, answered, compiled, parts);
  if (typeof signed === 'string') throw new Fault(version, 'receiver', { detail: signed }, { header });
  return signed;
}

/**
 * Signs a reply that a worker thread read. Returns a reply that cannot be signed unchanged, so that `signedEnvelope`
 * throws its Fault.
 */
export function signOutcome(outcome: Outcome, { answered }: Frame, compiled: CompiledContract): Outcome {
  if (answered === undefined || outcome.kind === 'failure' || outcome.xml === undefined) return outcome;
  const xml = sign(outcome.xml, answered, compiled, outcome.attached);
  return typeof xml === 'string' ? outcome : { ...outcome, xml, isSigned: true };
}

/** Returns the signed envelope, or the reason why it cannot be signed (X32, X34). A signature needs the whole reply. */
function sign(
  envelope: WrittenEnvelope,
  answered: AnsweredSignatures,
  { contract, limits }: CompiledContract,
  parts: readonly Buffer[] = [],
): Buffer | string {
  const settings = contract.wsse?.sign;
  if (settings === undefined) throw new RangeError('expected a contract with wsse.sign');
  if (answered.encryption !== undefined && parts.length > 0)
    return 'the parts of the reply cannot be encrypted';
  const pieces = typeof envelope === 'string' ? [Buffer.from(envelope, 'latin1')] : [envelope].flat();
  const size = [...pieces, ...parts].reduce((sum, { length }) => sum + length, 0);
  const { wsseSignedReplyBytes: most } = limits;
  if (size > most) return `the reply has ${size} bytes, and at most ${most} bytes are signed`;
  return Buffer.from(signerOf(settings).sign(Buffer.concat(pieces).toString(), answered, parts));
}
