import type { RedactionMode } from '../../../mappings/redact/message.ts';
import type { RequestHead } from '../../call/head.ts';
import type { TaskHead } from '../task-head.ts';
import type { RecordedBody } from './recorded-body.ts';

/** The settings of a contract's redaction. */
export interface SentRedaction {
  /** Path of the contract, a part of its pseudonyms. */
  readonly path: string;
  readonly mode: RedactionMode;
  readonly key: Uint8Array | undefined;
}

/** A copied message. */
export interface CopiedMessage {
  readonly contentType: string | undefined;
  readonly coding: string | undefined;
  readonly body: RecordedBody;
}

/** An exchange before its redaction. */
export interface RecordTask extends TaskHead {
  readonly redaction: SentRedaction;
  /** Head of the request, for its JSON. */
  readonly requestHead: RequestHead;
  readonly version: '1.1' | '1.2';
  readonly endpoint: string | undefined;
  readonly request: CopiedMessage;
  readonly legacy: CopiedMessage | undefined;
  readonly new: (CopiedMessage & { readonly status: number }) | undefined;
  /** Known secrets of the call. */
  readonly secrets: readonly string[];
}

/** A redacted exchange. Bodies that are too large or unreadable are missing. */
export interface RedactedExchange {
  readonly request: RecordedBody;
  readonly requestJson: string | undefined;
  readonly legacy: RecordedBody | undefined;
  readonly new: RecordedBody | undefined;
}
