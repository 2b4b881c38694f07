import { deepStrictEqual } from 'node:assert';
import { Fault } from '../../../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';
import type { Input } from '../../../../mappings/codec/input.ts';
import type { CompiledContract, CompiledOperation } from '../../../../mappings/compile.ts';
import { UnsupportedCharset } from '../../../../mappings/xml/error.ts';
import { createSoapReader, type ReadSoap } from '../../../read-soap.ts';
import { withoutByteReader } from '../codec-calls.ts';

/** The body of an HTTP request. */
export interface Body {
  readonly bytes: Buffer;
  readonly charset: string | undefined;
}

/** Returns the upstream body of an input with its credentials, if it is a text or bytes. */
function sentBody(operation: CompiledOperation, input: Input): string | undefined {
  const given = [...operation.credentialsOf(input)].filter(([, value]) => value !== '');
  const { body } = operation.request(input, { all: new Map(given), fromHeaders: new Set() }) ?? {};
  return typeof body === 'string' || Buffer.isBuffer(body) ? body.toString() : undefined;
}

/** Returns the result of a request, including error messages. */
export function outcomeOf(read: ReadSoap, { bytes, charset }: Body): unknown {
  try {
    const call = read(bytes, charset, soap11, ['x']);
    const { input, operation } = call;
    return {
      ...call,
      operation: operation.operation.name,
      version: call.version.name,
      input: {
        reading: { ...input.reading, isReadTwice: false },
        closes: input.closes,
        text: input.text.toString(),
      },
      json: operation.jsonOf(input),
      credentials: [...operation.credentialsOf(input)],
      sent: sentBody(operation, input),
    };
  } catch (error) {
    if (error instanceof Fault) return { code: error.code, version: error.version.name, says: error.message };
    if (error instanceof UnsupportedCharset) return { says: error.message };
    throw error;
  }
}

/** Reads all bodies three times, and compares with what the usual reader makes of them. */
export function assertEqual(compiled: CompiledContract, bodies: readonly Body[]): void {
  const read = createSoapReader(compiled);
  const readAsUsual = createSoapReader(withoutByteReader(compiled));
  const usual = bodies.map((body) => outcomeOf(readAsUsual, body));
  for (let time = 0; time < 3; time++)
    for (const [index, body] of bodies.entries()) deepStrictEqual(outcomeOf(read, body), usual[index]);
}
