import { maxLoopSteps, TooManySteps } from '../../mappings/codec/problem.ts';
import type { CompiledContract } from '../../mappings/compile.ts';
import { XmlError } from '../../mappings/xml/error.ts';
import type { FoundCredentials, MessageCredentials } from '../call/credentials.ts';
import { CallError } from '../call/error.ts';
import { type RequestHead, readHead } from '../call/head.ts';
import { hideCredentials, secrets } from '../call/hidden-credentials.ts';
import { requestOf } from '../call/request.ts';
import { compileReaders, readCallBody, readSoapCall, withoutKeys } from './read-call.ts';
import { Fault } from './soap/faults.ts';
import { soap11, soap12 } from './soap/versions.ts';

/** A request to preview. */
export interface PreviewedRequest {
  /** The name of the operation, for a request that is not SOAP. */
  readonly operation: string;
  readonly format: 'soap11' | 'soap12' | 'xml' | 'json';
  /** Keys are names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the upstream request for a request. Sends and stores nothing. */
export type Preview = (request: PreviewedRequest) => string;

/**
 * Returns a function that shows the upstream request of a request: method and path, headers, and body, with `***` in
 * place of secret credentials. It returns an error message if the request is rejected, or encrypted. It reads on the event loop like
 * the gateway, so the caller must limit the size of bodies.
 */
export function createPreview(compiled: CompiledContract): Preview {
  const readers = compileReaders(withoutKeys(compiled), compiled.limits.loopSteps ?? maxLoopSteps);
  const { credentials } = compiled.contract;
  return (request) => {
    const head = readHead({ headers: request.headers, rawHeaders: [] });
    try {
      const { operation, input, given, isXml } = read(request, head);
      let values: FoundCredentials | undefined;
      const call = requestOf(readers, head, operation, input, given, isXml ? 'xml' : 'json', (checked) => {
        values = checked;
      });
      const headers = Object.entries(call.headers).map(([name, value]) => `${name}: ${value}`);
      const text = [`${call.method} ${call.path}`, ...headers, '', String(call.body ?? '')].join('\n');
      return hideCredentials(credentials, values, secrets)(text);
    } catch (error) {
      if (error instanceof CallError || error instanceof Fault || error instanceof XmlError)
        return error.message;
      if (error instanceof TooManySteps) return 'its rules take too long for the preview';
      throw error;
    }
  };

  function read({ operation: name, format, body }: PreviewedRequest, head: RequestHead) {
    const bytes = Buffer.from(body);
    if (format === 'soap11' || format === 'soap12') {
      const version = format === 'soap11' ? soap11 : soap12;
      const endpoint = compiled.contract.ports.find(({ soap }) => soap === version.name)?.path;
      const call = readSoapCall(readers, head, { version, endpoint }, bytes);
      const { operation, input } = call;
      const given: MessageCredentials = { body: operation.credentialsOf(input), ...call.values };
      return { operation, input, given, isXml: true };
    }
    const operation = compiled.operations.get(name);
    if (operation === undefined) throw new CallError('OperationNotFound');
    const { input } = readCallBody(readers, head, operation, bytes, format);
    return { operation, input, given: { body: operation.credentialsOf(input) }, isXml: format === 'xml' };
  }
}
