import { createSoapReader as createReader, type SoapCall } from '../gateway/protocols/soap/soap-reader.ts';
import type { SoapVersion } from '../gateway/protocols/soap/versions.ts';
import type { Attachments } from '../mappings/codec/attachments.ts';
import type { CompiledContract } from '../mappings/compile.ts';

export type { SoapCall };

/** Reads a whole SOAP message for a version's path. */
export type ReadSoap = (
  document: Buffer,
  charset: string | undefined,
  version: SoapVersion,
  actions: readonly string[],
  endpoint?: string,
  attachments?: Attachments,
) => SoapCall;

/** Creates a reader of whole SOAP messages of a contract. */
export function createSoapReader(compiled: CompiledContract, mostSteps?: number): ReadSoap {
  const open = createReader(compiled, mostSteps);
  return (document, charset, version, actions, endpoint, attachments) =>
    open({ document, charset, actions, attachments }, { version, endpoint }).readPayload();
}
