import { compileRedact } from '../../mappings/codec/redact.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import type { CredentialValues, Input } from '../../mappings/http-mapping/call.ts';
import { allCredentials, hideCredentials, hideGiven, type MessageCredentials } from '../call/credentials.ts';
import type { MessageHead } from '../call/head.ts';
import type { LineBuffer } from './line-buffer.ts';
import type { Observer } from './observer.ts';

/** What the log may show of a message: JSON with the members by their JSON names, whatever form the caller speaks. */
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
    /** What the gateway itself sent upstream with the call. */
    ownSecrets: readonly string[],
  ) => string;
}

/** One function for each direction that takes out of a message what no log may show. */
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
 * Lines of JSON, `"message":"request"` and `"message":"reply"`, with what a log may show of the `body`: for development, when
 * values may stand in the log.
 *
 * @param path the contract's
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
