import type { Duplicate } from '../../mappings/compare/blend.ts';
import type { Comparison, ReplyBytes } from '../../mappings/compare/comparison.ts';
import type { SoapVersion } from '../protocols/soap/versions.ts';
import type { RecordTask, RedactedExchange } from './recording/record-task.ts';
import type { TaskHead } from './task-head.ts';

/** A reply as it was received, possibly compressed. */
export interface ReceivedReply extends ReplyBytes {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Its Content-Encoding; undefined for none. */
  readonly coding: string | undefined;
  /** Its Retry-After; undefined for none. */
  readonly retryAfter?: string | undefined;
}

/** The form of the caller's message, which decides about the form of the reply. */
export interface WrittenAs {
  readonly version: SoapVersion['name'];
  /** True for an MTOM message. */
  readonly isMtom: boolean;
}

/** Two replies to compare. The memory of their bodies is transferred. */
export interface RepliesTask extends TaskHead {
  readonly legacy: ReceivedReply;
  readonly other: ReceivedReply;
  /** Form in which `other`, a reply of the upstream, is written; undefined for a reply of the legacy service (G46). */
  readonly writtenAs: WrittenAs | undefined;
}

/** Items of both lists of a blended reply to compare (G30). */
export interface DuplicatesTask extends TaskHead {
  /** Names of members from the reply to the list. */
  readonly list: readonly string[];
  readonly duplicates: readonly Duplicate[];
}

/** A task of the comparison thread. */
export type CompareTask = RepliesTask | DuplicatesTask | RecordTask;

/** Result of a comparison. `size`: a reply is larger than `compareBytes` after decompression. */
export type CompareResult = Comparison | 'size';

/** Result of a task of the thread. */
export type ThreadResult = CompareResult | RedactedExchange;
