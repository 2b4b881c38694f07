import { deepStrictEqual } from 'node:assert';
import { Fault } from '../../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../../gateway/protocols/soap/versions.ts';
import type { Input } from '../../../mappings/codec/input.ts';
import type { CompiledContract, CompiledOperation } from '../../../mappings/compile.ts';
import { UnsupportedCharset } from '../../../mappings/xml/error.ts';
import { createSoapReader, type ReadSoap } from '../../read-soap.ts';

/** Number of readings after which a prefix and the shapes after it are cached. */
export const often = 20;

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
      input: { reading: input.reading, closes: input.closes, text: input.text.toString() },
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

/** Reads each body until it is cached, then all in rotation, and compares with readers without a cache. */
export function assertEqual(compiled: CompiledContract, bodies: readonly Body[], times = often): void {
  const warm = createSoapReader(compiled);
  const cold = bodies.map((body) => outcomeOf(createSoapReader(compiled), body));
  for (const repeated of [times, 1, 1]) {
    for (const [index, body] of bodies.entries()) {
      for (let time = 0; time < repeated; time++) deepStrictEqual(outcomeOf(warm, body), cold[index]);
    }
  }
}
