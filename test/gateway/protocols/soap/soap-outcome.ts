import { Fault } from '../../../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';
import type { CompiledContract, CompiledOperation } from '../../../../mappings/compile.ts';
import type { Input } from '../../../../mappings/http-mapping/call.ts';
import { operationOf } from '../../../mappings/codec/codec-calls.ts';
import type { ReadSoap } from '../../../read-soap.ts';

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
  return { reading: input.reading, closes: input.closes, text: input.text.toString() };
}

/** A contract whose operation counts how often its codec is asked. */
export function counting(
  compiled: CompiledContract,
  name: string,
): { readonly compiled: CompiledContract; asked: number } {
  const operation = operationOf(compiled, name);
  const counted = { compiled, asked: 0 };
  const watched: CompiledOperation = {
    ...operation,
    readXml: (xml, reading) => {
      counted.asked++;
      return operation.readXml(xml, reading);
    },
  };
  return Object.assign(counted, {
    compiled: { ...compiled, operations: new Map([...compiled.operations, [name, watched]]) },
  });
}
