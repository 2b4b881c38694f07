import type { Attachments } from '../../../mappings/codec/attachments.ts';
import type { CompiledOperation } from '../../../mappings/compile.ts';
import type { Input } from '../../../mappings/http-mapping/call.ts';
import type { HeaderValues } from '../../call/credentials.ts';
import type { Findings } from './envelope.ts';
import type { ReplyHeader } from './headers/reply-header.ts';
import type { SoapAddress, SoapVersion } from './versions.ts';

/** A received SOAP message: the document of its envelope, and data of its HTTP message. */
export interface SoapMessage {
  readonly document: Buffer;
  /** The charset of the Content-Type; undefined means that the XML declaration applies. */
  readonly charset: string | undefined;
  /** Actions that the HTTP message names (W4). */
  readonly actions: readonly string[];
  /** The other parts of a multipart message (W57); undefined for any other message. */
  readonly attachments: Attachments | undefined;
  /** True if the encrypted keys of the message are reserved, so that they may be used (X24). Default: false. */
  readonly hasReservedKeys?: boolean;
}

/** An envelope that was read up to its payload. */
export interface Envelope {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  /** Reads the payload and the rest of the document. Throws Fault, TooManySteps. */
  readonly readPayload: () => SoapCall;
  /** Data of the header blocks; undefined for none. */
  readonly findings: Findings | undefined;
}

/** A SOAP request that was read completely. */
export interface SoapCall {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  readonly input: Input;
  /** Request headers that the Header of the reply answers; undefined for none. */
  readonly header: ReplyHeader | undefined;
  /** Values of the header blocks that the call uses; undefined for none. */
  readonly values: HeaderValues | undefined;
  /** True if the request was an MTOM message (W65). */
  readonly isMtom: boolean;
}

/**
 * Opens SOAP messages of a contract. Throws Fault in the version of the envelope, or of the address while the envelope
 * is unread (W3). Throws UnsupportedCharset.
 */
export type OpenSoap = (message: SoapMessage, address: SoapAddress) => Envelope;
