import type { IncomingMessage } from 'node:http';
import type { CredentialValues, Input } from '../mappings/codec/call.ts';
import type { CompiledContract, CompiledOperation } from '../mappings/codec/operation.ts';
import { compileRedact } from '../mappings/codec/redact.ts';
import { hideCredentials, hideGiven } from './credentials.ts';
import type { LineBuffer } from './line-buffer.ts';

/** The call that a message is of. */
interface Call {
  readonly requestId: string;
  readonly request: IncomingMessage;
}

/** Tells of what was read of a call and of its reply: for development, when values may stand in the log. */
export interface MessageLog {
  /** @param inMessage the credentials in the message, by name */
  readonly request: (
    call: Call,
    operation: CompiledOperation,
    input: Input,
    inMessage: ReadonlyMap<string, string>,
  ) => void;
  readonly reply: (
    call: Call,
    operation: CompiledOperation,
    json: Buffer,
    values: CredentialValues | undefined,
  ) => void;
}

/**
 * Lines of JSON, `"message":"request"` and `"message":"reply"`, with what a log may show of the `body`: members by
 * their JSON names, whatever form the caller speaks.
 *
 * @param path the contract's
 */
export function createMessageLog(
  to: LineBuffer,
  { contract, limits }: CompiledContract,
  path: string,
): MessageLog {
  const { credentials } = contract;
  const redact = compileRedact(contract, limits);
  const write = (message: string, { requestId }: Call, { operation }: CompiledOperation, body: string) => {
    to.write(
      `{"level":20,"time":${Date.now()},"message":"${message}","requestId":"${requestId}","contract":"${path}","operation":${JSON.stringify(operation.name)},"body":${body}}\n`,
    );
  };
  return {
    request: (call, operation, input, inMessage) => {
      const hide = hideGiven(credentials, inMessage, call.request, hideCredentials);
      write('request', call, operation, redact(operation.jsonOf(input), operation.operation.input, hide));
    },
    reply: (call, operation, json, values) => {
      const text = json.length === 0 ? 'null' : json.toString('utf8');
      const hide = hideCredentials(credentials, values);
      write('reply', call, operation, redact(text, operation.replyType, hide));
    },
  };
}
