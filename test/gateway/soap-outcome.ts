import { Fault, type ReadSoap, soap11 } from '../../gateway/soap.ts';

/** What came of reading a SOAP request, errors with their places. */
export function outcomeOf(read: ReadSoap, text: string): unknown {
  try {
    const { version, operation, input, addressing, credentials } = read(
      Buffer.from(text),
      undefined,
      soap11,
      [],
    );
    return { version: version.name, operation: operation.operation.name, input, addressing, credentials };
  } catch (error) {
    if (error instanceof Fault) return { code: error.code, version: error.version.name, says: error.message };
    throw error;
  }
}
