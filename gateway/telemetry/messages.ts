import { compileRedact } from '../../mappings/codec/redact.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import type { CredentialValues, Input } from '../../mappings/http-mapping/call.ts';
import type { MessageCredentials } from '../call/credentials.ts';
import type { MessageHead } from '../call/head.ts';
import { allCredentials, hideCredentials, hideGiven } from '../call/hidden-credentials.ts';
import type { LineBuffer } from './line-buffer.ts';
import type { Observer } from './observer.ts';

/** Formats messages for the log as JSON with JSON member names, for every format of the caller. */
export interface ShownMessages {
  readonly request: (
    head: MessageHead,
    operation: CompiledOperation,
    input: Input,
    inMessage: MessageCredentials,
  ) => string;
  readonly reply: (
    operation: CompiledOperation,
    json: Buffer,
    values: CredentialValues | undefined,
    /** Secrets that the gateway itself sent upstream with the call. */
    ownSecrets: readonly string[],
  ) => string;
}

/** Compiles functions that remove from requests and replies the values that must not be logged. */
export function compileShownMessages({ contract, limits }: CompiledContract): ShownMessages {
  const { credentials } = contract;
  const redact = compileRedact(contract, limits);
  return {
    request: (head, operation, input, inMessage) => {
      const hide = hideGiven(credentials, inMessage, head, allCredentials);
      return redact(operation.jsonOf(input), operation.requestType, hide);
    },
    reply: (operation, json, values, own) => {
      const text = json.length === 0 ? 'null' : json.toString('utf8');
      return redact(text, operation.replyType, hideCredentials(credentials, values, allCredentials, own));
    },
  };
}

/**
 * Creates a log of messages: JSON lines with `"message":"request"` or `"message":"reply"` and the `body` without
 * redacted values. It is meant for development, when values may be logged.
 *
 * @param path path of the contract
 */
export function createMessageLog(to: LineBuffer, path: string): Observer {
  const writer =
    (message: 'request' | 'reply'): NonNullable<Observer['read']> =>
    ({ stats: { requestId } }, { operation }, body) => {
      to.write(
        `{"level":20,"time":${Date.now()},"message":"${message}","requestId":"${requestId}","contract":"${path}","operation":${JSON.stringify(operation.name)},"body":${body}}\n`,
      );
    };
  return { read: writer('request'), replied: writer('reply') };
}
