import type { CompiledOperation } from '../../../mappings/compile.ts';
import type { Signing, Wsse } from '../../../mappings/contract/credentials.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { SecurityProblem } from '../../../mappings/security/problem.ts';
import type { AnsweredSignatures } from '../../../mappings/security/sign.ts';
import { decodeXml } from '../../../mappings/xml/decode.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import type { XmlTolerance } from '../../../mappings/xml/reader.ts';
import { Fault } from './faults.ts';
import type { ReplyHeader } from './headers/reply-header.ts';
import { SignedReader, type SignedReading, type SignedRefusal } from './signed-message.ts';
import type { Envelope, OpenSoap, SoapCall, SoapMessage } from './soap-call.ts';
import type { SoapAddress, SoapVersion } from './versions.ts';

/** The usual reader of the contract. */
interface UsualReader {
  readonly open: OpenSoap;
  /** Returns true if the element in Body determines the operation without an action. */
  readonly isByElement: (operation: CompiledOperation, address: SoapAddress) => boolean;
}

/** Returns the opener of a contract that verifies signatures (X1). */
export function openSigned(
  wsse: Wsse,
  signing: Signing,
  limits: Limits,
  tolerance: XmlTolerance,
  usual: UsualReader,
): OpenSoap {
  const reader = new SignedReader(wsse, signing, limits, tolerance);
  return (message, address) => openMessage(message, address, reader, usual);
}

/**
 * Opens a message. Its signatures are verified first, and the usual reader then reads only the verified document (X12).
 * Throws Fault, UnsupportedCharset.
 */
function openMessage(
  message: SoapMessage,
  address: SoapAddress,
  reader: SignedReader,
  usual: UsualReader,
): Envelope {
  const { document, charset, attachments, actions } = message;
  const now = Date.now();
  let reading: SignedReading | SignedRefusal;
  try {
    const { hasReservedKeys = false } = message;
    reading = reader.read(decodeXml(document, charset), attachments, now, hasReservedKeys);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    const { version } = address;
    const fault = new Fault(version, 'sender', error.reason, { kind: 'MalformedRequest', cause: error });
    return refuseUnread(message, address, usual, fault);
  }
  if ('problem' in reading) throw faultOf(reading, now);
  if (reading.kind === 'plain') return usual.open(message, address);
  if (reading.kind === 'malformed')
    return refuseUnread(
      message,
      address,
      usual,
      invalidAction(address.version, 'an envelope with one Header and one Body'),
    );
  const { version, signedActions, checkParts, checkAssertion, facts, answered, decrypted } = reading;
  const isSecured = facts !== undefined || decrypted !== undefined;
  if (attachments !== undefined) attachments.ignoresUnused = isSecured;
  const verified = { charset: 'utf-8', attachments } as const;
  const envelope = answering(answered, now, () =>
    usual.open({ ...verified, document: Buffer.from(reading.document), actions }, address),
  );
  if (signedActions !== undefined && !usual.isByElement(envelope.operation, address)) {
    const again = { ...verified, document: Buffer.from(signedActions()), actions: [] };
    if (operationOf(again, address, usual) !== envelope.operation)
      answering(answered, now, () => {
        throw invalidAction(version, 'a signed wsa:Action that selects the operation');
      });
  }
  if (facts === undefined && decrypted === undefined) return envelope;
  const readPayload = (): SoapCall =>
    answering(answered, now, () => {
      const call = envelope.readPayload();
      refuseProblem(version, call.header, checkParts);
      if (call.input.reading.problems.length === 0) refuseProblem(version, call.header, checkAssertion);
      return withFacts(call, reading);
    });
  return { ...envelope, readPayload };
}

/** Runs a function, and adds data of the request's Signatures to the Fault that it throws (X30). */
function answering<Result>(answered: AnsweredSignatures | undefined, now: number, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (answered === undefined || !(error instanceof Fault)) throw error;
    const security = error.header?.security ?? { timestamp: now, token: 'none', unverified: [] };
    error.header = { ...error.header, security: { ...security, answered } };
    throw error;
  }
}

/** Runs a check of a message that was read. Throws a Fault in place of a SecurityProblem. */
function refuseProblem(
  version: SoapVersion,
  header: ReplyHeader | undefined,
  check: (() => void) | undefined,
): void {
  try {
    check?.();
  } catch (error) {
    if (!(error instanceof SecurityProblem)) throw error;
    if (header?.security !== undefined) header.security.refused = error.logged;
    throw new Fault(version, error.code, error.reason, { header, cause: error });
  }
}

/** Throws the Fault of the usual reader, or another one if that reader would accept the message. */
function refuseUnread(
  message: SoapMessage,
  address: SoapAddress,
  usual: UsualReader,
  otherwise: Fault,
): never {
  usual.open(message, address).readPayload();
  throw otherwise;
}

function invalidAction(version: SoapVersion, expected: string): Fault {
  return new Fault(version, 'InvalidSecurity', { expected });
}

/** Returns the operation that the signed content alone selects; undefined for none. */
function operationOf(
  message: SoapMessage,
  address: SoapAddress,
  usual: UsualReader,
): CompiledOperation | undefined {
  try {
    return usual.open(message, address).operation;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

function withFacts(
  call: SoapCall,
  { facts, answered, decrypted }: Extract<SignedReading, { kind: 'read' }>,
): SoapCall {
  const { security } = call.header ?? {};
  if (security !== undefined) Object.assign(security, { signed: facts?.shown, answered, decrypted });
  return facts === undefined ? call : { ...call, values: { ...call.values, signed: facts.credentials } };
}

function faultOf(refusal: SignedRefusal, now: number): Fault {
  const { problem, version, hasTimestamp, addressing, answered, lock } = refusal;
  const { code, reason, logged: refused } = problem;
  const timestamp = hasTimestamp ? now : undefined;
  const header: ReplyHeader = { security: { timestamp, token: 'none', unverified: [], refused, answered } };
  if (addressing !== undefined) header.addressing = addressing;
  return new Fault(version, code, reason, { header, lock, cause: problem });
}
