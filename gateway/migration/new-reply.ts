import type { ReplyBytes } from '../../mappings/compare/comparison.ts';
import type { CompiledContract } from '../../mappings/compile.ts';
import { CallError, failureOf } from '../call/error.ts';
import { type Outcome, readReply } from '../call/outcome.ts';
import { EncodedPiece, type Reply } from '../http/reply.ts';
import { soapReply } from '../protocols/reply.ts';
import { mtomFrame, replyFrame } from '../protocols/soap/envelope.ts';
import { versionNamed } from '../protocols/soap/versions.ts';
import type { UpstreamReply } from '../upstream/upstream.ts';
import type { WrittenAs } from './compare-task.ts';

/** No credential is in the texts of a comparison, because only paths and declared members leave it. */
const hide = (text: string): string => text;

/** Writes a reply of the upstream as mode `new` would write it for the caller (G33). */
export function writeNewReply(
  reply: UpstreamReply,
  compiled: CompiledContract,
  operationName: string,
  { version: name, isMtom }: WrittenAs,
): ReplyBytes {
  const operation = compiled.operations.get(operationName);
  if (operation === undefined) throw new Error('an operation that is unknown in the comparison thread');
  const { mtomReplies, mtomThreshold } = compiled.contract.settings;
  const version = versionNamed(name);
  const plain = replyFrame(version, operation.replyAction, undefined);
  const frame = isMtom && mtomReplies === 'requested' ? mtomFrame(plain, mtomThreshold) : plain;
  let outcome: Outcome;
  try {
    outcome = readReply(reply, compiled, operation, hide, frame);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    outcome = { kind: 'failure', failure: failureOf(error, '', hide) };
  }
  const { status: upstreamStatus } = reply;
  const parts = { compiled, operation, requestId: '', header: undefined, upstreamStatus, asXml: false };
  const { status, contentType, body, binary } = soapReply(version, outcome, parts);
  return { status, contentType, body: bytesOf(body, binary === true) };
}

function bytesOf(body: Reply['body'], isBinary: boolean): Buffer {
  if (typeof body === 'string') return Buffer.from(body, isBinary ? 'latin1' : 'utf8');
  if (Buffer.isBuffer(body)) return body;
  return Buffer.concat(
    body.map((piece) => (piece instanceof EncodedPiece ? piece.subarray(0, piece.length) : piece)),
  );
}
