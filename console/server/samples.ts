import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import { writeSample } from '../../wsdl/sample.ts';

/** The forms of a message, in the order in which pages show them. */
export const formats = ['soap11', 'soap12', 'xml', 'json'] as const;

/** A form of a message. */
export type SampleFormat = (typeof formats)[number];

/** A sample message. */
export interface Sample {
  readonly side: 'request' | 'reply';
  readonly format: SampleFormat;
  readonly body: string;
}

/** What a form is called, for people. */
export const formatNames: Readonly<Record<SampleFormat, string>> = {
  soap11: 'SOAP 1.1',
  soap12: 'SOAP 1.2',
  xml: 'XML',
  json: 'JSON',
};

/** Sample messages of an operation. */
export function samplesOf(compiled: CompiledContract, { operation }: CompiledOperation): readonly Sample[] {
  if (compiled.contract.adopted !== undefined) return [];
  return [{ side: 'request', format: 'soap11', body: writeSample(compiled.contract, operation) }];
}

/** What a sample's file is called, such as `GetSearch.request.soap11.xml`. */
export function sampleFile(operation: string, { side, format }: Omit<Sample, 'body'>): string {
  return `${operation}.${side}.${format}.${format === 'json' ? 'json' : 'xml'}`.replace('.xml.xml', '.xml');
}
