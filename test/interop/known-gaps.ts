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
  { stack: 'suds', check: 'null-absent', reason: 'suds reads an empty text as None' },
  { stack: 'suds', check: 'empty-array', reason: 'suds reads an empty array as None' },
  { stack: 'pysimplesoap', check: 'null-absent', reason: 'PySimpleSOAP fails on an array without items' },
  { stack: 'pysimplesoap', check: 'empty-array', reason: 'PySimpleSOAP fails on an array without items' },
  {
    stack: 'pysimplesoap',
    version: '1.2',
    check: 'fault',
    reason: 'PySimpleSOAP reads faults of SOAP 1.1 alone',
  },
  {
    stack: 'node-soap',
    check: 'int64',
    reason: 'node-soap reads an xs:long as a double; it sends one exactly, given as text',
  },
  { stack: 'node-soap', check: 'decimal', reason: 'node-soap reads an xs:decimal as a double' },
  { stack: 'node-soap', check: 'empty-array', reason: 'node-soap reads an empty array as null' },
  {
    stack: 'strong-soap',
    check: 'int64',
    reason: 'strong-soap reads an xs:long as a double; it sends one exactly, given as text',
  },
  { stack: 'strong-soap', check: 'decimal', reason: 'strong-soap reads an xs:decimal as a double' },
  { stack: 'strong-soap', check: 'null-absent', reason: 'strong-soap reads an empty text as undefined' },
  { stack: 'curl', check: 'import', reason: 'curl reads no WSDL: it stands for envelopes written by hand' },
];
