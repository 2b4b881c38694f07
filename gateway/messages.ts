import type { Input } from '../mappings/codec/call.ts';
import type { CompiledContract, CompiledOperation } from '../mappings/codec/operation.ts';
import { compileRedact } from '../mappings/codec/redact.ts';
import type { LineWriter } from './line-buffer.ts';

/** Tells of what was read of a call and of its reply: for development, when values may stand in the log. */
export interface MessageLog {
  readonly request: (requestId: string, operation: CompiledOperation, input: Input, hide: Hide) => void;
  readonly reply: (requestId: string, operation: CompiledOperation, json: Buffer, hide: Hide) => void;
}

/** Takes the caller's secrets out of a text (W25). */
type Hide = (text: string) => string;

/**
 * Lines of JSON, `"message":"request"` and `"message":"reply"`, with what a log may show of the `body`: members by
 * their JSON names, whatever form the caller speaks.
 *
 * @param path the contract's
 */
export function createMessageLog(
  to: LineWriter,
  { contract, limits }: CompiledContract,
  path: string,
): MessageLog {
  const redact = compileRedact(contract, limits);
  const write = (
    message: string,
    requestId: string,
    { operation }: CompiledOperation,
    body: string,
  ): void => {
    to.write(
      `{"level":20,"time":${Date.now()},"message":"${message}","requestId":"${requestId}","contract":"${path}","operation":${JSON.stringify(operation.name)},"body":${body}}\n`,
    );
  };
  return {
    request: (requestId, operation, input, hide) => {
      const body = redact(operation.jsonOf(input), operation.operation.input, hide);
      write('request', requestId, operation, body);
    },
    reply: (requestId, operation, json, hide) => {
      const text = json.length === 0 ? 'null' : json.toString('utf8');
      write('reply', requestId, operation, redact(text, operation.replyType, hide));
    },
  };
}
