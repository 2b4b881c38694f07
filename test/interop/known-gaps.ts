import type { Version } from './checks.ts';

/** A check that a stack can't pass whatever the gateway does. One that passes after all fails the run. */
export interface KnownGap {
  readonly stack: string;
  /** Undefined where it's all of them. */
  readonly version?: Version;
  /** The check's name: an operation or a situation. */
  readonly check: string;
  readonly reason: string;
}

export const knownGaps: readonly KnownGap[] = [
  {
    stack: 'zeep',
    check: 'null-absent',
    reason: 'zeep reads an empty text as None, a nil array as an empty one',
  },
  { stack: 'zeep', check: 'empty-array', reason: 'zeep reads an empty array as None' },
  { stack: 'curl', check: 'import', reason: 'curl reads no WSDL: it stands for envelopes written by hand' },
];
