import type { CompiledOperation } from '../../mappings/compile.ts';
import { fileNameOf, sampleSuffix } from '../../wsdl/kits/file-names.ts';
import { acceptedSamples, type MessageSample, type SampleFormat } from '../../wsdl/samples/samples.ts';
import type { Site } from './view.ts';

/** A sample message and its direction. */
export interface Sample extends MessageSample {
  readonly side: 'request' | 'reply';
}

/** Display names of the formats. */
export const formatNames: Readonly<Record<SampleFormat, string>> = {
  soap11: 'SOAP 1.1',
  soap12: 'SOAP 1.2',
  xml: 'XML',
  json: 'JSON',
};

/** Returns the sample messages of an operation, requests first. */
export function samplesOf(site: Site, { operation }: CompiledOperation): readonly Sample[] {
  const all = site.sampler().samplesOf(operation.name);
  if (all === undefined) return [];
  const found = acceptedSamples(site.contract, all);
  return [
    ...found.requests.map((each) => ({ ...each, side: 'request' as const })),
    ...found.replies.map((each) => ({ ...each, side: 'reply' as const })),
  ];
}

/** Returns the file name of a sample, for example `GetSearch.request.soap11.xml`. */
export function sampleFile(operation: string, { side, format }: Pick<Sample, 'side' | 'format'>): string {
  return `${fileNameOf(operation)}.${side}${sampleSuffix(format)}`;
}
