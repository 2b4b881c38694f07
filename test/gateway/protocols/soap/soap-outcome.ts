import type { ReadSoap } from '../../../../gateway/protocols/soap/envelope.ts';
import { Fault } from '../../../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';
import type { Input } from '../../../../mappings/http-mapping/call.ts';

/** What came of reading a SOAP request, errors with their places. */
export function outcomeOf(read: ReadSoap, text: string): unknown {
  try {
    const { version, operation, input, header, credentials } = read(Buffer.from(text), undefined, soap11, []);
    const { name } = operation.operation;
    return { version: version.name, operation: name, input: plainInput(input), header, credentials };
  } catch (error) {
    if (error instanceof Fault) return { code: error.code, version: error.version.name, says: error.message };
    throw error;
  }
}

/** An input with its text as a string, however it was read. */
export function plainInput(input: Input): Input {
  return { ...input, text: input.text.toString() };
}
