import type { ReplyHead } from './reply-head.ts';

/** Receives copies of a request and its reply while they are passed on. Its methods neither fail nor wait. */
export interface ExchangeCopy {
  /** Copies a piece of the caller's message. */
  readonly sent: (piece: Buffer) => void;
  /** The caller's message is complete. */
  readonly sentAll: () => void;
  /**
   * The head of the reply has arrived.
   *
   * @param announced announced length of the body in bytes; 0 for none
   */
  readonly began: (head: ReplyHead, announced: number) => void;
  /** Copies a piece of the reply. */
  readonly received: (piece: Buffer) => void;
  /**
   * The reply is complete.
   *
   * @param ms duration of the call; by default that of the caller's call
   */
  readonly complete: (ms?: number) => void;
  /** The call has ended. */
  readonly close: () => void;
}

/** Returns a copy that passes everything to both copies; undefined for none. */
export function copyToBoth(
  first: ExchangeCopy | undefined,
  second: ExchangeCopy | undefined,
): ExchangeCopy | undefined {
  if (first === undefined) return second;
  if (second === undefined) return first;
  const all = [first, second];
  return {
    sent: (piece) => {
      for (const copy of all) copy.sent(piece);
    },
    sentAll: () => {
      for (const copy of all) copy.sentAll();
    },
    began: (head, announced) => {
      for (const copy of all) copy.began(head, announced);
    },
    received: (piece) => {
      for (const copy of all) copy.received(piece);
    },
    complete: () => {
      for (const copy of all) copy.complete();
    },
    close: () => {
      for (const copy of all) copy.close();
    },
  };
}
