import type { ReplyBytes } from '../../mappings/compare/comparison.ts';
import type { CompiledContract, CompiledOperation, Frame } from '../../mappings/compile.ts';
import { CallError, failureOf } from '../call/error.ts';
import { type Outcome, readReply } from '../call/outcome.ts';
import { EncodedPiece, type Reply } from '../http/reply.ts';
import { soapReply } from '../protocols/reply.ts';
import { inPackage } from '../protocols/soap/attached-reply.ts';
import { mtomFrame, replyFrame } from '../protocols/soap/envelope.ts';
import { type SoapVersion, versionNamed } from '../protocols/soap/versions.ts';
import type { UpstreamReply } from '../upstream/upstream.ts';
import type { WrittenAs } from './compare-task.ts';
import { withFaultCode } from './faults.ts';
import { noRouting, type Routing } from './routing.ts';
import type { StatedCompare } from './task-head.ts';

/** No text of a reply leaves a comparison, except values of members that the contract declares. */
const hide = (text: string): string => text;

/** Writes replies of the upstream as mode `new` writes them for the caller (G33). */
export class NewReplyWriter {
  readonly #compiled: CompiledContract;
  readonly #routing: Routing;

  /** @param replies `migration.replies` as written in the file */
  constructor(compiled: CompiledContract, replies: NonNullable<StatedCompare['replies']>) {
    const { faultCode = new Map(), package: packaging } = replies;
    this.#compiled = compiled;
    this.#routing = { ...noRouting(), faultCodes: faultCode, packaging };
  }

  write(reply: UpstreamReply, operationName: string, { version: name, isMtom }: WrittenAs): ReplyBytes {
    const compiled = this.#compiled;
    const operation = compiled.operations.get(operationName);
    if (operation === undefined) throw new Error('an operation that is unknown in the comparison thread');
    const version = versionNamed(name);
    const { packaging = compiled.contract.settings.mtomReplies } = this.#routing;
    const isAttached = packaging === 'always' || (isMtom && packaging === 'requested');
    const outcome = this.#outcomeOf(reply, operation, this.#frameOf(version, operation, isAttached));
    const isPackaged = this.#routing.packaging === 'always';
    const { status: upstreamStatus } = reply;
    const parts = { compiled, operation, requestId: '', header: undefined, upstreamStatus, asXml: false };
    const plain = soapReply(version, outcome, { ...parts, isPackaged });
    const { status, contentType, body, binary } = isPackaged ? inPackage(version, plain) : plain;
    return { status, contentType, body: bytesOf(body, binary === true) };
  }

  #frameOf(version: SoapVersion, { replyAction }: CompiledOperation, isAttached: boolean): Frame {
    const frame = replyFrame(version, replyAction, undefined);
    return isAttached ? mtomFrame(frame, this.#compiled.contract.settings.mtomThreshold) : frame;
  }

  #outcomeOf(reply: UpstreamReply, operation: CompiledOperation, frame: Frame): Outcome {
    const { contract } = this.#compiled;
    try {
      const outcome = readReply(reply, this.#compiled, operation, hide, frame);
      return withFaultCode(outcome, operation.operation, { contract, routing: this.#routing });
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return { kind: 'failure', failure: failureOf(error, '', hide) };
    }
  }
}

function bytesOf(body: Reply['body'], isBinary: boolean): Buffer {
  if (typeof body === 'string') return Buffer.from(body, isBinary ? 'latin1' : 'utf8');
  if (Buffer.isBuffer(body)) return body;
  return Buffer.concat(
    body.map((piece) => (piece instanceof EncodedPiece ? piece.subarray(0, piece.length) : piece)),
  );
}
