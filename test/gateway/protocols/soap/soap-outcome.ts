import { Fault } from '../../../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';
import type { CompiledContract, CompiledOperation } from '../../../../mappings/compile.ts';
import type { Input } from '../../../../mappings/http-mapping/call.ts';
import { operationOf } from '../../../mappings/codec/codec-calls.ts';
import type { ReadSoap } from '../../../read-soap.ts';

/** Returns the result of reading a SOAP request, with the positions of errors. */
export function outcomeOf(read: ReadSoap, text: string): unknown {
  try {
    const { version, operation, input, header, values } = read(Buffer.from(text), undefined, soap11, []);
    const { name } = operation.operation;
    return { version: version.name, operation: name, input: plainInput(input), header, values };
  } catch (error) {
    if (error instanceof Fault) return { code: error.code, version: error.version.name, says: error.message };
    throw error;
  }
}

/** Returns an input with its text as a string. */
export function plainInput(input: Input): Input {
  return {
    reading: { ...input.reading, isReadTwice: false },
    closes: input.closes,
    text: input.text.toString(),
  };
}

/** Returns a contract that counts how often the codec of an operation is used. */
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
