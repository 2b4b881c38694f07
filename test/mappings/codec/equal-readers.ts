import { deepStrictEqual } from 'node:assert';
import { Fault } from '../../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../../gateway/protocols/soap/versions.ts';
import type { Input } from '../../../mappings/codec/input.ts';
import type { CompiledContract, CompiledOperation } from '../../../mappings/compile.ts';
import { UnsupportedCharset } from '../../../mappings/xml/error.ts';
import { createSoapReader, type ReadSoap } from '../../read-soap.ts';

/** Often enough for a beginning and the shapes behind it to be learned. */
export const often = 20;

/** A request as HTTP brings it. */
export interface Body {
  readonly bytes: Buffer;
  readonly charset: string | undefined;
}

/** The body upstream of an input, its own credentials in it, where that is a text or bytes. */
function sentBody(operation: CompiledOperation, input: Input): string | undefined {
  const given = [...operation.credentialsOf(input)].filter(([, value]) => value !== '');
  const { body } = operation.request(input, { all: new Map(given), fromHeaders: new Set() }) ?? {};
  return typeof body === 'string' || Buffer.isBuffer(body) ? body.toString() : undefined;
}

/** What comes of a request to the last byte, errors with their words. */
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

/** Reads each body as often as it takes to learn it, then all in turn, and compares with readers that know nothing. */
export function assertEqual(compiled: CompiledContract, bodies: readonly Body[], times = often): void {
  const warm = createSoapReader(compiled);
  const cold = bodies.map((body) => outcomeOf(createSoapReader(compiled), body));
  for (const repeated of [times, 1, 1]) {
    for (const [index, body] of bodies.entries()) {
      for (let time = 0; time < repeated; time++) deepStrictEqual(outcomeOf(warm, body), cold[index]);
    }
  }
}
